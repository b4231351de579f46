//! What a rehearsal is asked to raise or to decide, in the words of the router.

use interrupt_router::ask::STEP_MARK;
use interrupt_router::event::INTERRUPT_REQUEST_MARK;
use interrupt_router::model::Message;
use serde_json::{Map, Value, json};

use super::words::said;

/// What the last message to the model asks to put into an interrupt, if it asks for one.
pub(super) fn interrupt(messages: &[Message]) -> Option<Map<String, Value>> {
    // In a two-step answer, each step's request comes after what the agent was told.
    let last = said(messages).rfind(|text| !text.starts_with(STEP_MARK))?;
    let mut lines = last.lines();
    lines.find(|line| line.starts_with(INTERRUPT_REQUEST_MARK))?;
    let mut fields = Map::new();
    let (mut choices, mut items) = (Vec::new(), Vec::new());
    for (label, text) in lines.filter_map(|line| line.split_once(": ")) {
        let parts: Vec<&str> = text.splitn(3, " | ").collect();
        match (label, parts.as_slice()) {
            ("type" | "reason" | "answerForm", _) => {
                fields.insert(label.to_owned(), json!(text));
            }
            ("context", _) => {
                fields.insert("contextForDecision".to_owned(), json!(text));
            }
            ("choice", [value, label, description]) => {
                choices.push(json!({ "label": label, "value": value, "description": description }));
            }
            ("confirm", [id, prompt @ ..]) => {
                items.push(json!({ "id": id, "prompt": prompt.join(" | ") }));
            }
            _ => {}
        }
    }
    // What the supervisor does not offer is not made up.
    fields.insert("choices".to_owned(), choices.into());
    fields.insert("confirmationItems".to_owned(), items.into());
    Some(fields)
}

/// The decision about the interrupt that a review shows: the first of the choices, or yes, and what must be confirmed is.
pub(super) fn decision(messages: &[Message], text: &str) -> Value {
    let shown = said(messages)
        .rev()
        .find_map(|text| text.strip_prefix("[review]"));
    let shown = shown.and_then(|json| serde_json::from_str::<Value>(json).ok());
    let shown = shown.unwrap_or_default();
    let list = |field: &str, name: &str| {
        let list = shown["interrupt"][field].as_array().cloned();
        let of = |item: &Value| item[name].clone();
        list.unwrap_or_default()
            .iter()
            .map(of)
            .collect::<Vec<Value>>()
    };
    let mut choices = list("choices", "value");
    choices.truncate(1);
    if shown["interrupt"]["answerForm"] == "yes_or_no" {
        choices = vec![json!("yes")];
    }
    let items = list("confirmationItems", "id").into_iter();
    let confirmed: Vec<Value> = items
        .map(|id| json!({ "id": id, "confirmed": true }))
        .collect();
    // To an open question it has no answer: a person is asked.
    let confidence = if choices.is_empty() { 0 } else { 90 };
    json!({ "selectedChoices": choices, "text": text, "confirmations": confirmed, "confidence": confidence })
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::Message;
    use serde_json::json;

    use super::{decision, interrupt};

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
        let fields = interrupt(&messages).unwrap();
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
            assert!(interrupt(&messages).is_none(), "{last}");
        }
    }

    #[test]
    fn of_what_a_review_offers_the_first_is_taken_and_to_an_open_question_it_has_no_answer() {
        let decided = |interrupt: serde_json::Value| {
            let shown = json!({ "raisedBy": "X", "interrupt": interrupt });
            let review = format!("[review]\n{shown:#}");
            let decision = decision(&[Message::user(review), Message::user("Again.")], "why");
            let of = |field: &str| decision[field].clone();
            (of("selectedChoices"), of("confirmations"), of("confidence"))
        };
        let offered = json!({"choices": [{"value": "on"}, {"value": "off"}], "confirmationItems": [{"id": "c1"}]});
        let confirmed = json!([{"id": "c1", "confirmed": true}]);
        assert_eq!(decided(offered), (json!(["on"]), confirmed, json!(90)));
        let form = json!({"choices": [], "answerForm": "yes_or_no"});
        assert_eq!(decided(form), (json!(["yes"]), json!([]), json!(90)));
        assert_eq!(decided(json!({})), (json!([]), json!([]), json!(0)));
    }
}
