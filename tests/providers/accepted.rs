//! What each provider's published description says of the fields of a request: which there are, and which must be there. The
//! descriptions are data beside this file, each with its source and its date.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::WireForm;
use super::refusal::Refusal;

/// A provider's description of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// Where it is published.
    source: String,
    /// When it was read.
    date: String,
    objects: Vec<Described>,
}

/// What is said of the objects at one place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    /// The place: names after slashes, `*` for each entry of a list.
    at: String,
    required: Vec<String>,
    known: Vec<String>,
}

type Read = LazyLock<Description>;

fn read(text: &str) -> Description {
    let description: Description =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("a description: {error}"));
    assert!(!description.source.is_empty() && !description.date.is_empty());
    description
}

static OPENAI: Read = LazyLock::new(|| read(include_str!("accepted/openai.json")));
static RESPONSES: Read = LazyLock::new(|| read(include_str!("accepted/openai_responses.json")));
static ANTHROPIC: Read = LazyLock::new(|| read(include_str!("accepted/anthropic.json")));
static GEMINI: Read = LazyLock::new(|| read(include_str!("accepted/gemini.json")));

impl WireForm {
    fn description(self) -> &'static Description {
        match self {
            Self::OpenAi => &OPENAI,
            Self::OpenAiResponses => &RESPONSES,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
        }
    }

    /// What its provider says of a field that it does not know.
    fn unknown(self, place: &str, name: &str) -> Refusal {
        Refusal::bad_request(match self {
            Self::OpenAi | Self::OpenAiResponses => format!("Unknown parameter: '{place}{name}'."),
            Self::Anthropic => format!("{place}{name}: Extra inputs are not permitted"),
            Self::Gemini => {
                format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}'.")
            }
        })
    }

    /// What its provider says where a field is missing.
    fn missing(self, place: &str, name: &str) -> Refusal {
        Refusal::bad_request(match self {
            Self::OpenAi | Self::OpenAiResponses => {
                format!("Missing required parameter: '{place}{name}'.")
            }
            Self::Anthropic => format!("{place}{name}: Field required"),
            Self::Gemini => format!("* {place}{name}: is not specified"),
        })
    }
}

/// Refuses a body with a field that the provider does not know, or without one that it wants.
pub(super) fn check(form: WireForm, body: &Value) -> Result<(), Refusal> {
    for described in &form.description().objects {
        for (place, object) in found(body, &described.at) {
            let Some(object) = object.as_object() else {
                continue;
            };
            if let Some(name) = object.keys().find(|name| !described.known.contains(name)) {
                return Err(form.unknown(&place, name));
            }
            let missing = described.required.iter();
            if let Some(name) = missing
                .into_iter()
                .find(|name| !object.contains_key(name.as_str()))
            {
                return Err(form.missing(&place, name));
            }
        }
    }
    Ok(())
}

/// What stands at a place, each with its name as providers write it.
fn found<'b>(body: &'b Value, at: &str) -> Vec<(String, &'b Value)> {
    let mut here = vec![(String::new(), body)];
    for step in at.split('/').skip(1) {
        here = here
            .into_iter()
            .flat_map(|(place, value)| -> Vec<(String, &Value)> {
                if step == "*" {
                    let entries = value.as_array().into_iter().flatten().enumerate();
                    return entries
                        .map(|(index, entry)| (format!("{place}{index}."), entry))
                        .collect();
                }
                let child = value.get(step);
                child
                    .map(|child| (format!("{place}{step}."), child))
                    .into_iter()
                    .collect()
            })
            .collect();
    }
    here
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{WireForm, check};

    fn refused(form: WireForm, body: &Value) -> Option<String> {
        check(form, body).err().map(|refusal| refusal.message)
    }

    #[test]
    fn a_field_too_many_or_too_few_is_refused_in_the_providers_words() {
        for (form, body, words) in [
            (
                WireForm::OpenAi,
                json!({"model": "m", "messages": [{"role": "user", "content": "x", "when": 1}]}),
                Some("Unknown parameter: 'messages.0.when'."),
            ),
            (
                WireForm::OpenAi,
                json!({"messages": []}),
                Some("Missing required parameter: 'model'."),
            ),
            (
                WireForm::OpenAiResponses,
                json!({"model": "m", "input": [], "messages": []}),
                Some("Unknown parameter: 'messages'."),
            ),
            (
                WireForm::Anthropic,
                json!({"model": "m", "max_tokens": 1, "messages": [], "seed": 1}),
                Some("seed: Extra inputs are not permitted"),
            ),
            (
                WireForm::Anthropic,
                json!({"model": "m", "messages": []}),
                Some("max_tokens: Field required"),
            ),
            (
                WireForm::Gemini,
                json!({"contents": [], "generationConfig": {"max_tokens": 1}}),
                Some(
                    "Invalid JSON payload received. Unknown name \"max_tokens\" at 'generationConfig.'.",
                ),
            ),
            (
                WireForm::Gemini,
                json!({}),
                Some("* contents: is not specified"),
            ),
            (WireForm::Gemini, json!({"contents": [{"parts": []}]}), None),
        ] {
            assert_eq!(refused(form, &body).as_deref(), words, "{form:?} {body}");
        }
    }
}
