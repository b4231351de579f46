//! The envelope of a CloudEvent: its attributes, checked, in any mode.

use axum::http::{HeaderMap, HeaderName, header};
use interrupts::Digest;
use percent_encoding::percent_decode;
use serde_json::{Map, Value};

use crate::problem::{Code, Problem};

/// The longest id of an event.
const LONGEST_ID: usize = 200;
/// The longest of its other attributes.
const LONGEST: usize = 2_000;
/// The prefix of the attributes in headers.
const PREFIX: &str = "ce-";

/// How an event is written into a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The body is the event.
    Structured,
    /// The headers are its attributes, the body is its data.
    Binary,
}

impl Mode {
    /// The mode of a request, by the type of its body.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let value = headers.get(header::CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok());
        let essence = value.unwrap_or_default().split(';').next();
        match essence
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "application/cloudevents+json" => Ok(Self::Structured),
            "application/json" if headers.contains_key("ce-specversion") => Ok(Self::Binary),
            _ => Err(Problem::new(
                Code::MediaType,
                "the body is not declared as a CloudEvent in JSON",
                "send `Content-Type: application/cloudevents+json`, or `ce-` headers with `application/json`",
            )),
        }
    }
}

/// The attributes in the headers of the binary mode.
pub(super) fn attributes(headers: &HeaderMap) -> Result<Map<String, Value>, Problem> {
    let mut attributes = Map::new();
    for (name, value) in headers {
        let Some(attribute) = name.as_str().strip_prefix(PREFIX) else {
            continue;
        };
        if attribute == "data" {
            return Err(wrong("data", "the data of the binary mode is the body"));
        }
        let text = percent_decode(value.as_bytes()).decode_utf8();
        let text = text.map_err(|_error| wrong(attribute, "this is no text"))?;
        let known = attributes.insert(attribute.to_owned(), Value::from(text.into_owned()));
        if known.is_some() {
            return Err(repeated(name));
        }
    }
    Ok(attributes)
}

fn repeated(name: &HeaderName) -> Problem {
    wrong(name.as_str(), "it is given more than once")
}

/// An event whose attributes were checked.
#[derive(Debug)]
pub(super) struct CloudEvent {
    /// Names it together with its source.
    pub(super) id: String,
    source: String,
    /// What it is.
    pub(super) r#type: String,
    /// What it says.
    pub(super) data: Value,
}

impl CloudEvent {
    /// The event that has these members.
    pub(super) fn of(mut members: Map<String, Value>) -> Result<Self, Problem> {
        if text(&members, "specversion", LONGEST)? != "1.0" {
            return Err(wrong("specversion", "there is `1.0`"));
        }
        let fits = |name: &str| {
            name.len() <= 100
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        for (name, value) in &members {
            if !fits(name) {
                return Err(wrong(
                    name,
                    "names of attributes are of small letters and digits",
                ));
            }
            if name == "data_base64" {
                return Err(wrong(name, "the data is JSON, in `data`"));
            }
            if name != "data" && (value.is_object() || value.is_array()) {
                return Err(wrong(
                    name,
                    "an attribute is a text, a number or a truth value",
                ));
            }
        }
        if let Some(kind) = members.get("datacontenttype") {
            let essence = kind.as_str().and_then(|kind| kind.split(';').next());
            let is_json =
                essence.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"));
            if !is_json {
                return Err(wrong("datacontenttype", "the data is `application/json`"));
            }
        }
        if members.get("time").is_some_and(|time| !is_time(time)) {
            return Err(wrong(
                "time",
                "this is no time such as 2026-11-21T12:00:00Z",
            ));
        }
        let data = members.shift_remove("data");
        Ok(Self {
            id: text(&members, "id", LONGEST_ID)?,
            source: text(&members, "source", LONGEST)?,
            r#type: text(&members, "type", LONGEST)?,
            data: data.ok_or_else(|| wrong("data", "it is missing"))?,
        })
    }

    /// The key by which a repeated event is the same.
    pub(super) fn key(&self) -> String {
        let digest = Digest::of_parts([self.source.as_bytes(), self.id.as_bytes()]);
        format!("cloud-event-{digest}")
    }
}

fn is_time(value: &Value) -> bool {
    let time = value.as_str().map(str::parse::<jiff::Timestamp>);
    time.is_some_and(|time| time.is_ok())
}

fn text(members: &Map<String, Value>, name: &str, longest: usize) -> Result<String, Problem> {
    let text = members.get(name).and_then(Value::as_str);
    match text {
        Some(text) if !text.is_empty() && text.len() <= longest => Ok(text.to_owned()),
        Some(_) => Err(wrong(name, &format!("1 to {longest} bytes are possible"))),
        None => Err(wrong(name, "it is missing, or no text")),
    }
}

fn wrong(name: &str, reason: &str) -> Problem {
    Problem::new(
        Code::Shape,
        format!("{name}: {reason}"),
        "the specification of CloudEvents 1.0 names the attributes",
    )
    .with("attribute", name)
}
