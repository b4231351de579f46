//! The tool requests of a model and their results, within one step of an agent.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use interrupt_router::NodeId;
use interrupt_router::model::{Message, Role};

/// The exchanges of each agent's step.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    by_node: Mutex<HashMap<NodeId, StepExchanges>>,
}

/// The exchanges of one step.
#[derive(Debug, Default)]
struct StepExchanges {
    turn: u32,
    /// Each comes after so many messages of the step's own conversation.
    parts: Vec<(usize, Vec<Message>)>,
}

impl Exchanges {
    /// Begins a step anew: exchanges of an earlier step, or of an earlier start of this one, are dropped.
    pub(super) fn begin(&self, node: &NodeId, turn: u32) {
        self.change(|steps| {
            let parts = Vec::new();
            steps.insert(node.clone(), StepExchanges { turn, parts });
        });
    }

    /// A step's own conversation, with what was exchanged in between.
    pub(super) fn woven(&self, node: &NodeId, turn: u32, own: &[Message]) -> Vec<Message> {
        self.change(|steps| {
            let step = steps.get(node).filter(|step| step.turn == turn);
            let parts = step.map_or(&[][..], |step| &step.parts);
            let mut woven = Vec::with_capacity(own.len());
            for (at, message) in own.iter().enumerate() {
                woven.extend(parts.iter().filter(|part| part.0 == at).flat_map(messages));
                woven.push(message.clone());
            }
            let rest = parts.iter().filter(|part| part.0 >= own.len());
            woven.extend(rest.flat_map(messages));
            woven
        })
    }

    /// Something was exchanged after so many messages of the step's own conversation.
    pub(super) fn add(&self, node: &NodeId, turn: u32, after: usize, exchanged: Vec<Message>) {
        self.change(|steps| {
            if let Some(step) = steps.get_mut(node).filter(|step| step.turn == turn) {
                step.parts.push((after, exchanged));
            }
        });
    }

    /// All that was exchanged in a step, which is over.
    pub(super) fn take(&self, node: &NodeId) -> Vec<Message> {
        let step = self.change(|steps| steps.remove(node)).unwrap_or_default();
        step.parts.into_iter().flat_map(|part| part.1).collect()
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<NodeId, StepExchanges>) -> T) -> T {
        // Every change is one insertion or removal, so a panic elsewhere leaves it whole.
        change(&mut self.by_node.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn messages(part: &(usize, Vec<Message>)) -> impl Iterator<Item = Message> + '_ {
    part.1.iter().cloned()
}

/// The same conversation in words alone, for a call that offers no tools: providers refuse requests and results of
/// tools there.
pub(super) fn in_words(conversation: &[Message]) -> Vec<Message> {
    conversation.iter().map(worded).collect()
}

/// Whether any of it is about tools.
pub(super) fn has_tools(conversation: &[Message]) -> bool {
    let is_of_tools =
        |message: &Message| message.role == Role::Tool || !message.tool_requests.is_empty();
    conversation.iter().any(is_of_tools)
}

fn worded(message: &Message) -> Message {
    if message.role == Role::Tool {
        return Message::user(format!("[result of a tool]\n{}", message.text));
    }
    if message.tool_requests.is_empty() {
        return message.clone();
    }
    let mut text = message.text.to_string();
    for request in &message.tool_requests {
        text.push_str(&format!(
            "\n[asked for the tool `{}` with {}]",
            request.name, request.arguments
        ));
    }
    Message::assistant(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use interrupt_router::NodeId;
    use interrupt_router::model::{Message, Role, ToolRequest};

    use super::{Exchanges, has_tools, in_words};

    fn exchanged(id: &str) -> Vec<Message> {
        let request = ToolRequest::new(id, "read_file", "{}");
        vec![
            Message::asking("", vec![request]),
            Message::result(id, format!("what came of {id}")),
        ]
    }

    #[test]
    fn exchanges_stay_where_they_were_made_when_a_correction_follows() {
        let exchanges = Exchanges::default();
        let node = NodeId::new("a").unwrap();
        exchanges.begin(&node, 1);
        let mut own = vec![Message::system("s"), Message::user("u")];
        exchanges.add(&node, 1, 2, exchanged("first"));
        own.push(Message::assistant("wrong"));
        own.push(Message::user("correct it"));
        exchanges.add(&node, 1, 4, exchanged("second"));
        let woven = exchanges.woven(&node, 1, &own);
        let texts: Vec<&str> = woven.iter().map(|message| &*message.text).collect();
        assert_eq!(
            texts,
            [
                "s",
                "u",
                "",
                "what came of first",
                "wrong",
                "correct it",
                "",
                "what came of second"
            ]
        );
        assert_eq!(exchanges.take(&node).len(), 4);
        assert_eq!(exchanges.woven(&node, 1, &own), own);
    }

    #[test]
    fn a_conversation_in_words_has_no_tools_and_loses_nothing() {
        let worded = in_words(&exchanged("x"));
        assert!(!has_tools(&worded));
        assert!(worded.iter().all(|message| message.role != Role::Tool));
        assert!(worded[0].text.contains("`read_file`"));
        assert!(worded[1].text.contains("what came of x"));
    }
}
