//! What an answer says, in one line.

use std::collections::BTreeMap;
use std::fmt;

use interrupt_router::answer::body;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The most characters of a gist.
const LONGEST_GIST: usize = 160;

/// The fields that say most about a record, best first: names that records of agents have in common, and some that only those of
/// the reference workflow have. A record without any of them has no gist.
const TELLING: [&str; 12] = [
    "summary",
    "assessment",
    "reason",
    "subdomainFocus",
    "discoveryResults",
    "planningResults",
    "ticketResults",
    "missingContextDescription",
    "content",
    "delegationRationale",
    "mergeSummary",
    "goal",
];

/// What an answer says, in one line: the most telling text of its one request. Nothing else of it is kept.
pub fn gist(answer: &str) -> String {
    let requests: Option<BTreeMap<String, Option<Request>>> = body(answer.as_bytes())
        .ok()
        .and_then(|json| serde_json::from_slice(json).ok());
    let text = requests
        .into_iter()
        .flat_map(BTreeMap::into_values)
        .flatten()
        .find_map(|request| request.best)
        .map(|(_, text)| text)
        .unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut gist: String = line.chars().take(LONGEST_GIST).collect();
    if gist.len() < line.len() {
        gist.push('\u{2026}');
    }
    gist
}

/// The most telling text of a request, with its field's place in the list.
#[derive(Debug, Default)]
struct Request {
    best: Option<(usize, String)>,
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Request;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Request, A::Error> {
        let mut request = Request::default();
        while let Some(name) = fields.next_key::<String>()? {
            let rank = TELLING.iter().position(|field| *field == name);
            let best = request
                .best
                .as_ref()
                .map_or(TELLING.len(), |(best, _)| *best);
            match rank.filter(|rank| *rank < best) {
                Some(rank) => {
                    if let Text(Some(text)) = fields.next_value()? {
                        request.best = Some((rank, text));
                    }
                }
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(request)
    }
}

/// A text, or something that is none.
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyText)
    }
}

struct AnyText;

impl<'de> Visitor<'de> for AnyText {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(Some(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_i64<E>(self, _value: i64) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_u64<E>(self, _value: u64) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Text, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Text, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::gist;

    fn of(answer: &Value) -> String {
        gist(&answer.to_string())
    }

    #[test]
    fn a_gist_is_one_short_line() {
        let routing = json!({ "agentResult": { "summary": "one\n two", "findings": [] } });
        assert_eq!(of(&routing), "one two");
        let long = json!({ "agentResult": { "summary": "x".repeat(1_000) } });
        assert_eq!(of(&long).chars().count(), 161);
        assert_eq!(of(&json!({})), "");
        assert_eq!(gist("no JSON"), "");
    }

    #[test]
    fn the_most_telling_text_is_taken_wherever_it_stands() {
        let routing =
            json!({ "request": { "goal": "bake", "reason": "it is late", "content": "dough" } });
        assert_eq!(of(&routing), "it is late");
        let fenced = format!("```json\n{routing}\n```");
        assert_eq!(gist(&fenced), "it is late");
        // What is no text says nothing, and what is not set neither.
        let odd = json!({
            "empty": null,
            "request": { "summary": {"a": 1}, "assessment": [1], "reason": 7, "goal": "bake" },
        });
        assert_eq!(of(&odd), "bake");
    }
}
