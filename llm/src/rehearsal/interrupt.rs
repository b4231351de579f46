//! When the rehearsal model raises an interrupt: because its script says so, or the router asks.

use routing_core::model::{Message, ModelCall, Role};
use serde_json::{Map, Value, json};

use super::compose::Wanted;
use super::route_choice::INTERRUPT;
use super::script::Script;

/// What begins the line in which the router asks a running agent for an interrupt.
const INTERRUPT_REQUEST_MARK: &str = "[interrupt request]";

/// The interrupt that this call is to raise, where it is to raise one.
pub(crate) fn wanted(script: Option<&Script>, call: &ModelCall) -> Option<Wanted> {
    script
        .and_then(|script| script.interrupt_for(&call.caller))
        .map(|step| step.fields())
        .or_else(|| requested(&call.messages))
        .map(|fields| Wanted {
            route: INTERRUPT,
            fields,
        })
}

/// What the last message to the model asks to put into an interrupt, where it asks for one.
fn requested(messages: &[Message]) -> Option<Map<String, Value>> {
    let last = messages
        .iter()
        .rev()
        .find(|message| message.role == Role::User)?;
    let mut lines = last.text.lines();
    lines.find(|line| line.starts_with(INTERRUPT_REQUEST_MARK))?;
    let mut fields = Map::new();
    for line in lines {
        let Some((label, text)) = line.split_once(':') else {
            continue;
        };
        let text = text.trim();
        match label.trim() {
            label @ ("type" | "reason" | "contextForDecision") if !text.is_empty() => {
                fields.insert(label.to_owned(), json!(text));
            }
            label @ ("choices" | "confirmationItems") => {
                if let Ok(list @ Value::Array(_)) = serde_json::from_str(text) {
                    fields.insert(label.to_owned(), list);
                }
            }
            _ => {}
        }
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
                "Please stop here.\n[interrupt request]\ntype: PAUSE\nreason: cost: too high\n",
            ),
        ];
        let fields = requested(&messages).unwrap();
        assert_eq!(
            json!(fields),
            json!({"type": "PAUSE", "reason": "cost: too high"})
        );
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
