//! What a model reads when it fills in a request, or reviews an interrupt in place of a person.

use serde_json::{Value, json};

use super::ask_reviewer::{NO, YES};
use crate::answer_form::AnswerForm;
use crate::interrupt::InterruptDetails;
use crate::model::Message;
use crate::review::Answer;
use crate::route::RouteInfo;

/// Everything a resolution prompt says.
pub(super) struct ResolutionPrompt<'a> {
    pub(super) agent_type: &'static str,
    pub(super) target: &'static RouteInfo,
    pub(super) details: &'a InterruptDetails,
    pub(super) payload: &'a Value,
    pub(super) answer: &'a Answer,
    pub(super) last_request: Option<&'a Value>,
    pub(super) conversation: &'a [Message],
}

impl ResolutionPrompt<'_> {
    /// The messages: the conversation of the agent that raised the interrupt, then what was decided.
    pub(super) fn messages(&self) -> Vec<Message> {
        let field = self.target.field;
        let instruction = format!(
            "An agent was interrupted and the interrupt is decided. The run goes on along the route `{field}`. \
             Fill in its request so that it carries out the decision. Answer with one JSON object whose only \
             field is `{field}`."
        );
        let mut messages = vec![Message::system(instruction)];
        messages.extend(
            self.conversation
                .iter()
                .filter(|message| !is_instruction(message))
                .cloned(),
        );
        let facts = json!({
            "raisedBy": self.agent_type,
            "interrupt": self.payload,
            "decision": decision(self.details, self.answer),
            "route": { "field": field, "agentType": self.target.agent_type, "meaning": self.target.description },
            "lastRequestOfThisRoute": self.last_request,
        });
        messages.push(Message::user(format!("[resolution]\n{facts:#}")));
        messages
    }
}

fn is_instruction(message: &Message) -> bool {
    message.role == crate::model::Role::System
}

/// The answer as a model reads it: choices by their labels, confirmations by their prompts. What was not said is not
/// there, whatever the agent proposed.
fn decision(details: &InterruptDetails, answer: &Answer) -> Value {
    let chosen: Vec<Value> = details
        .choices
        .iter()
        .filter(|choice| answer.selected_choices.contains(&choice.value))
        .map(|choice| json!({ "value": choice.value, "label": choice.label, "description": choice.description }))
        .collect();
    let confirmations: Vec<Value> = details
        .confirmation_items
        .iter()
        .filter_map(|item| {
            let confirmed = answer.confirmations.get(&item.id)?;
            Some(json!({ "id": item.id, "prompt": item.prompt, "confirmed": confirmed }))
        })
        .collect();
    json!({
        "chosen": chosen,
        "text": answer.text,
        "confirmations": confirmations,
        "sentTo": answer.reroute_to,
        "editedRequest": answer.edited_request,
    })
}

/// What a reviewing model reads.
pub(super) fn review_messages(
    agent_type: &'static str,
    details: &InterruptDetails,
    payload: &Value,
    conversation: &[Message],
) -> Vec<Message> {
    let wanted = match details.form() {
        Some(AnswerForm::YesOrNo) => {
            format!(" Choose `{YES}` or `{NO}`: a yes or a no is wanted.")
        }
        Some(form) => format!(" What is wanted: {}.", form.wanted()),
        None => String::new(),
    };
    let mut messages = vec![Message::system(format!(
        "You review an agent's question in place of a person. Choose among the offered choices by their values, \
         confirm or refuse each item, say why in `text`, and say in `confidence`, from 0 to 100 percent, how sure \
         you are that a careful person would answer the same.{wanted}",
    ))];
    messages.extend(
        conversation
            .iter()
            .filter(|message| !is_instruction(message))
            .cloned(),
    );
    let facts = json!({ "raisedBy": agent_type, "interrupt": payload });
    messages.push(Message::user(format!("[review]\n{facts:#}")));
    messages
}
