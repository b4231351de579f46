//! The tools of a call in the provider's form. They go into the body past the client library, which takes
//! some names for tools of the provider's own.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use genai::chat::Tool;
use interrupt_router::model::{Dialect, Message, ToolOffer};
use interrupt_router::schema::{LimitViolation, tool_schema};
use serde_json::{Map, Value, json};

use super::super::wire::Wire;
use super::transcript;

/// The tools with their schemas as the provider takes them, without those whose schemas it would refuse: it would refuse
/// the whole call.
pub(super) fn taken(offers: &[ToolOffer], dialect: Dialect) -> Vec<ToolOffer> {
    let one = |offer: &ToolOffer| match tool_schema(&offer.arguments, dialect) {
        Ok(arguments) => Some(ToolOffer {
            arguments,
            ..offer.clone()
        }),
        Err(violation) => {
            leave_out(&offer.name, &violation);
            None
        }
    };
    offers.iter().filter_map(one).collect()
}

/// Says once for each tool and dialect that it is left out, and why.
fn leave_out(tool: &str, violation: &LimitViolation) {
    static TOLD: Mutex<BTreeSet<(String, &str)>> = Mutex::new(BTreeSet::new());
    let dialect = violation.dialect.name();
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.insert((tool.to_owned(), dialect)) {
        tracing::warn!(
            "the tool {tool} is left out, because this model's provider would refuse every call with it: the schema of \
             its arguments has {} at {}",
            violation.rule,
            violation.path
        );
    }
}

/// What the tools of a call add to its body.
pub(super) fn body(offers: &[ToolOffer], messages: &[Message], wire: Wire) -> Map<String, Value> {
    let mut body = Map::new();
    if offers.is_empty() {
        if wire == Wire::Anthropic {
            let asked_for = undefined(messages);
            if !asked_for.is_empty() {
                body.insert("tools".to_owned(), asked_for.into());
                body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
            }
        }
        return body;
    }
    let one = |offer| defined(offer, wire);
    let defined: Vec<Value> = offers.iter().filter_map(one).collect();
    let tools = match wire {
        Wire::Gemini => json!([{ "functionDeclarations": defined }]),
        Wire::OpenAi
        | Wire::OpenAiResponses
        | Wire::ChatCompletions
        | Wire::JsonObject
        | Wire::Anthropic => Value::Array(defined),
        Wire::Instructions => return body,
    };
    body.insert("tools".to_owned(), tools);
    body
}

/// The tools for a provider of whom only the client library knows how it takes them.
pub(super) fn through_library(offers: &[ToolOffer], wire: Wire) -> Option<Vec<Tool>> {
    let tool = |offer: &ToolOffer| {
        Tool::new(offer.name.as_str())
            .with_description(offer.description.as_str())
            .with_schema(offer.arguments.clone())
    };
    let wanted = wire == Wire::Instructions && !offers.is_empty();
    wanted.then(|| offers.iter().map(tool).collect())
}

fn defined(offer: &ToolOffer, wire: Wire) -> Option<Value> {
    let ToolOffer {
        name,
        description,
        arguments,
    } = offer;
    Some(match wire {
        Wire::OpenAi | Wire::ChatCompletions | Wire::JsonObject => {
            let function =
                json!({ "name": name, "description": description, "parameters": arguments });
            json!({ "type": "function", "function": function })
        }
        // Otherwise it would apply rules of its own to the schema.
        Wire::OpenAiResponses => json!({ "type": "function", "name": name,
            "description": description, "parameters": arguments, "strict": false }),
        Wire::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": arguments })
        }
        Wire::Gemini => {
            json!({ "name": name, "description": description, "parametersJsonSchema": arguments })
        }
        Wire::Instructions => return None,
    })
}

/// Anthropic takes no conversation in which tools were asked for unless tools are defined.
fn undefined(messages: &[Message]) -> Vec<Value> {
    let requests = messages.iter().flat_map(|message| &message.tool_requests);
    let names: BTreeSet<String> = requests
        .map(|request| transcript::name(&request.name))
        .collect();
    let schema = json!({ "type": "object" });
    names
        .into_iter()
        .map(|name| json!({ "name": name, "input_schema": schema }))
        .collect()
}
