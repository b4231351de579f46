//! The schema of the payload of a decision: what belongs to one question is made for it, the rest is text that is made
//! once.
//!
//! The request that a person may edit is described by a schema of tens of kilobytes, which is the same for all
//! questions with the same origin and target. An inbox shows it with each of them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use control::{request_schema, target_of};
use interrupt_router::{AnswerForm, InterruptDetails};
use interrupts::catalogue::Catalogue;
use interrupts::life::{Family, Interrupt};
use interrupts::{Digest, RouteName};
use journal::tool::ToolQuestionContent;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// The schema of the payload of a decision.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ResponseSchema {
    r#type: &'static str,
    properties: Properties,
    #[serde(rename = "additionalProperties")]
    additional_properties: bool,
    /// References are resolved from the top of a schema, so definitions are there.
    #[serde(rename = "$defs", skip_serializing_if = "Option::is_none")]
    definitions: Option<Text>,
}

/// A JSON text that is shared.
#[derive(Debug, Clone)]
struct Text(Arc<RawValue>);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// For a pause, the input with which the run continues; for a question, all other properties.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected_choices: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmations: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reroute_to: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_request: Option<Text>,
}

/// The schema of a request as text, and the definitions that it refers to.
#[derive(Debug, Clone)]
struct RequestText {
    request: Text,
    definitions: Option<Text>,
}

/// How many texts are kept in memory.
const MOST_KEPT: usize = 1_024;

/// The texts that are the same for all questions of a catalogue with a target.
static TEXTS: LazyLock<RwLock<HashMap<(Digest, RouteName), RequestText>>> =
    LazyLock::new(RwLock::default);

impl ResponseSchema {
    /// The schema of the answers that fit an interrupt.
    pub(crate) fn of(
        interrupt: &Interrupt,
        catalogue: Option<&Catalogue>,
        question: &InterruptDetails,
    ) -> Self {
        if interrupt.family() == Family::Stop {
            let told = "What the agent is told; without it the agent goes on with what it had.";
            let input = json!({"type": "string", "description": told});
            let properties = Properties {
                input: Some(input),
                ..Properties::default()
            };
            return Self::with(properties, None);
        }
        let choices = question.choices.iter();
        let values: Vec<&str> = choices.map(|choice| &*choice.value).collect();
        let selected_choices = if values.is_empty() {
            json!({"type": "array", "maxItems": 0})
        } else {
            let most = match question.form() {
                Some(AnswerForm::OneOf) => 1,
                Some(AnswerForm::AnyOf | AnswerForm::Words | AnswerForm::YesOrNo) | None => {
                    values.len()
                }
            };
            json!({"type": "array", "items": {"enum": values}, "uniqueItems": true, "maxItems": most})
        };
        let items = question.confirmation_items.iter().map(|item| {
            let schema = json!({"type": "boolean", "description": item.prompt});
            (item.id.clone(), schema)
        });
        let items: Map<String, Value> = items.collect();
        let routes: Vec<&str> = interrupt.routes.iter().map(RouteName::as_str).collect();
        let (edited_request, definitions) = match request_text(interrupt, catalogue) {
            Some(text) => (Some(text.request), text.definitions),
            None => (None, None),
        };
        let confirmations =
            json!({"type": "object", "properties": items, "additionalProperties": false});
        let properties = Properties {
            input: None,
            selected_choices: Some(selected_choices),
            text: Some(json!({"type": "string"})),
            confirmations: Some(confirmations),
            reroute_to: Some(json!({"enum": routes})),
            edited_request,
        };
        Self::with(properties, definitions)
    }

    const fn with(properties: Properties, definitions: Option<Text>) -> Self {
        Self {
            r#type: "object",
            properties,
            additional_properties: false,
            definitions,
        }
    }
}

/// The schema of the request of the one route that an interrupt's answer may take.
fn request_text(interrupt: &Interrupt, catalogue: Option<&Catalogue>) -> Option<RequestText> {
    if ToolQuestionContent::of(&interrupt.content).is_some() {
        // It is the tool's, and each tool has its own.
        return text_of(request_schema(interrupt, catalogue, None)?);
    }
    let place = (catalogue?.digest(), target_of(interrupt).clone());
    // A whole value is put in, so a panic elsewhere leaves the map consistent.
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.get(&place) {
        return Some(text.clone());
    }
    drop(known);
    let text = text_of(request_schema(interrupt, catalogue, None)?)?;
    let mut known = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_KEPT {
        known.clear();
    }
    known.insert(place, text.clone());
    Some(text)
}

fn text_of(mut request: Value) -> Option<RequestText> {
    let definitions = match &mut request {
        Value::Object(request) => request.shift_remove("$defs"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    };
    let text = |value: &Value| to_raw_value(value).ok().map(|text| Text(text.into()));
    Some(RequestText {
        request: text(&request)?,
        definitions: definitions.as_ref().and_then(text),
    })
}
