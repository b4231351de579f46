//! When the rehearsal model raises an interrupt: because its script says so, or the router asks.

use routing_core::ask::STEP_MARK;
use routing_core::event::INTERRUPT_REQUEST_MARK;
use routing_core::model::{Message, ModelCaller, Role};
use serde_json::{Map, Value, json};

use super::compose::FixedRoute;
use super::route_choice::INTERRUPT;
use super::script::Script;

/// The interrupt that this call is to raise, where it is to raise one.
pub(crate) fn wanted(
    script: Option<&Script>,
    messages: &[Message],
    caller: &ModelCaller,
) -> Option<FixedRoute> {
    script
        .and_then(|script| script.interrupt_for(caller))
        .map(|step| step.fields())
        .or_else(|| requested(messages))
        .map(|fields| FixedRoute {
            route: INTERRUPT,
            fields,
        })
}

/// What the last message to the model asks to put into an interrupt, where it asks for one.
fn requested(messages: &[Message]) -> Option<Map<String, Value>> {
    let last = messages
        .iter()
        .rev()
        // In a two-step answer, each step's request comes after what the agent was told.
        .filter(|message| !message.text.starts_with(STEP_MARK))
        .find(|message| message.role == Role::User)?;
    let mut lines = last.text.lines();
    lines.find(|line| line.starts_with(INTERRUPT_REQUEST_MARK))?;
    let mut fields = Map::new();
    let mut choices = Vec::new();
    let mut confirmations = Vec::new();
    for line in lines {
        let Some((label, text)) = line.split_once(": ") else {
            continue;
        };
        match label {
            "type" | "reason" | "answerForm" => {
                fields.insert(label.to_owned(), json!(text));
            }
            "context" => {
                fields.insert("contextForDecision".to_owned(), json!(text));
            }
            "choice" => {
                let mut parts = text.splitn(3, " | ");
                let mut part = || parts.next().unwrap_or_default();
                let (value, label) = (part(), part());
                choices.push(json!({ "label": label, "value": value, "description": part() }));
            }
            "confirm" => {
                let (id, prompt) = text.split_once(" | ").unwrap_or((text, text));
                confirmations.push(json!({ "id": id, "prompt": prompt }));
            }
            _ => {}
        }
    }
    for (name, list) in [("choices", choices), ("confirmationItems", confirmations)] {
        // What the supervisor does not offer is not made up.
        fields.insert(name.to_owned(), Value::Array(list));
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use routing_core::model::Message;
    use serde_json::json;

    use super::requested;

    #[test]
    fn the_routers_request_is_read() {
        let messages = [
            Message::user("go"),
            Message::assistant("[interrupt request]"),
            Message::user(
                "Please stop here.\n[interrupt request]\ntype: PAUSE\nreason: cost: too high\n\
                 context: at step 3\nanswerForm: one_of\nchoice: on | Go on | keeps going\nconfirm: c1 | Sure?\n",
            ),
        ];
        let fields = requested(&messages).unwrap();
        let expected = json!({
            "type": "PAUSE",
            "reason": "cost: too high",
            "contextForDecision": "at step 3",
            "answerForm": "one_of",
            "choices": [{"label": "Go on", "value": "on", "description": "keeps going"}],
            "confirmationItems": [{"id": "c1", "prompt": "Sure?"}],
        });
        assert_eq!(json!(fields), expected);
    }

    #[test]
    fn an_older_or_quoted_request_is_none() {
        for last in ["go on", "it says [interrupt request]"] {
            let messages = [
                Message::user("[interrupt request]\ntype: STOP"),
                Message::user(last),
            ];
            assert!(requested(&messages).is_none(), "{last}");
        }
    }
}
