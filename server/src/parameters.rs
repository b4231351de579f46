//! Parameters of addresses and queries; problems name the invalid ones.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use control::LONGEST_PAGE;
use interrupts::store::Page;
use serde::de::DeserializeOwned;
use utoipa::openapi::{Object, ObjectBuilder, Type};

use crate::app::App;
use crate::problem::{Code, Problem};

/// The parameters after the question mark.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, app).await {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(rejection) => Err(wrong_query(&rejection.body_text())),
        }
    }
}

/// The problem of a query, with the name of the parameter if there is such a parameter.
fn wrong_query(text: &str) -> Problem {
    let text = text
        .strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(text);
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match text.split_once(": ").filter(|(name, _)| is_name(name)) {
        Some((name, reason)) => wrong(name, reason),
        None => wrong("query", text),
    }
}

/// The one variable segment of the address.
#[derive(Debug)]
pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<App> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(segment)) => Ok(Self(segment)),
            Err(rejection) => Err(wrong("path", rejection.body_text())),
        }
    }
}

/// The two variable segments of the address.
#[derive(Debug)]
pub(crate) struct Segments(pub(crate) String, pub(crate) String);

impl FromRequestParts<App> for Segments {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<(String, String)>::from_request_parts(parts, app).await {
            Ok(Path((first, second))) => Ok(Self(first, second)),
            Err(rejection) => Err(wrong("path", rejection.body_text())),
        }
    }
}

/// The problem for an invalid parameter.
pub(crate) fn wrong(name: &str, reason: impl Into<String>) -> Problem {
    Problem::new(
        Code::Parameter,
        format!("{name}: {}", reason.into()),
        "`/openapi.json` lists the parameters",
    )
    .with("parameter", name)
}

/// Checks that a parameter names one of these; an unknown value would match nothing, and look as if there were nothing.
pub(crate) fn one_of(name: &str, given: Option<&str>, possible: &[&str]) -> Result<(), Problem> {
    match given {
        Some(given) if !possible.contains(&given) => Err(Problem::new(
            Code::Parameter,
            format!("{name}: there is no `{given}`"),
            format!(
                "choose one of these, or nothing for all: {}",
                possible.join(", ")
            ),
        )
        .with("parameter", name)),
        _ => Ok(()),
    }
}

/// The schema of a parameter that names one of these.
pub(crate) fn naming(names: impl IntoIterator<Item = &'static str>) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names))
        .build()
}

/// The entries of a page if the caller does not say.
const USUAL_PAGE: u32 = 100;

/// The page that a caller asks for: this many entries after a cursor.
pub(crate) fn page(cursor: Option<&str>, limit: Option<u32>) -> Result<Page, Problem> {
    let after = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .ok()
            .filter(|&after| after <= i64::MAX as u64)
            .ok_or_else(|| wrong("cursor", "this is no cursor that was given out"))?,
    };
    let limit = limit.unwrap_or(USUAL_PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(wrong("limit", format!("1 to {LONGEST_PAGE} are possible")));
    }
    Ok(Page { after, limit })
}
