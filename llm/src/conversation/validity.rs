//! The rules that all providers' chat interfaces share, and the repair of what breaks them.

use interrupt_router::model::{Message, Role, ToolRequest};

use super::tools::NEVER_RAN;

/// Separates two messages of one role that are joined.
const BETWEEN: &str = "\n\n";

/// Why messages cannot go into a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryFault {
    /// There is nothing to answer.
    #[error("the last message is neither the user's nor a tool's")]
    NothingToAnswer,
    /// A message says nothing.
    #[error("message {index} is blank")]
    Blank {
        /// Where, from 0.
        index: usize,
    },
    /// Instructions come first, then user and model take turns, the user beginning.
    #[error("message {index} is not in turn")]
    OutOfTurn {
        /// Where, from 0.
        index: usize,
    },
    /// A tool was asked for, and what comes next is not its result.
    #[error("message {index} should be the result of a tool that was asked for")]
    Dangling {
        /// Where the result should be, from 0.
        index: usize,
    },
    /// A tool's result was not asked for, or a role other than the model asks for tools.
    #[error("message {index} belongs to no request for a tool")]
    Orphan {
        /// Where, from 0.
        index: usize,
    },
}

/// Whether messages may go into a call to any provider: no message is blank; at most one instruction,
/// at the front; then user and model take turns, and the user has the first word. Each tool that an answer
/// asks for has one result, right behind that answer and in the order of the requests; the model or the user continues
/// after them. The user or a tool has the last word.
///
/// # Errors
///
/// The first [`HistoryFault`].
pub fn check_history(messages: &[Message]) -> Result<(), HistoryFault> {
    let mut before = None;
    let mut open: &[ToolRequest] = &[];
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            let Some((next, rest)) = open.split_first() else {
                return Err(HistoryFault::Orphan { index });
            };
            if message.result_of.as_deref() != Some(next.id.as_str()) {
                return Err(HistoryFault::Dangling { index });
            }
            open = rest;
        } else if !open.is_empty() {
            return Err(HistoryFault::Dangling { index });
        } else if is_blank(message) {
            return Err(HistoryFault::Blank { index });
        }
        let in_turn = match message.role {
            Role::System => before.is_none(),
            Role::User => before != Some(Role::User),
            Role::Assistant => matches!(before, Some(Role::User | Role::Tool)),
            Role::Tool => matches!(before, Some(Role::Assistant | Role::Tool)),
        };
        if !in_turn {
            return Err(HistoryFault::OutOfTurn { index });
        }
        if *message != in_form(message.clone()) {
            return Err(HistoryFault::Orphan { index });
        }
        if message.role == Role::Assistant {
            open = &message.tool_requests;
        }
        before = Some(message.role);
    }
    if !open.is_empty() {
        let index = messages.len();
        return Err(HistoryFault::Dangling { index });
    }
    match before {
        Some(Role::User | Role::Tool) => Ok(()),
        Some(Role::System | Role::Assistant) | None => Err(HistoryFault::NothingToAnswer),
    }
}

/// The same messages so that [`check_history`] finds nothing, as long as the user has said something:
/// blank ones are left out, instructions come first, an answer to nothing is left out, messages of one
/// role in a row are joined, and so are answers that nothing follows left out. An unanswered request for a tool gets a
/// result that says so, and a result without a request is left out.
///
/// The same messages are always repaired alike, and repairing twice changes nothing.
pub fn repaired(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let mut repair = Repair::default();
    for message in messages {
        repair.add(in_form(message));
    }
    repair.finish()
}

#[derive(Default)]
struct Repair {
    system: Option<Message>,
    turns: Vec<Message>,
    /// The requests of the last answer, each with its result.
    open: Vec<(String, Option<Message>)>,
}

impl Repair {
    fn add(&mut self, message: Message) {
        if message.role == Role::Tool {
            return self.add_result(message);
        }
        if is_blank(&message) {
            return;
        }
        if message.role == Role::System {
            match &mut self.system {
                Some(first) => join(first, message),
                None => self.system = Some(message),
            }
            return;
        }
        self.close();
        let asked = message.tool_requests.iter();
        self.open = asked.map(|request| (request.id.clone(), None)).collect();
        match self.turns.last_mut() {
            Some(last) if last.role == message.role => join(last, message),
            Some(_) => self.turns.push(message),
            None if message.role == Role::User => self.turns.push(message),
            // An answer to nothing, and everything it asks for.
            None => self.open.clear(),
        }
    }

    fn add_result(&mut self, message: Message) {
        let of = message.result_of.as_deref();
        let waiting = self
            .open
            .iter_mut()
            .find(|(id, result)| result.is_none() && of == Some(id.as_str()));
        if let Some((_, result)) = waiting {
            *result = Some(message);
        }
    }

    /// Puts one result for each request behind the answer that asked.
    fn close(&mut self) {
        for (id, result) in self.open.drain(..) {
            let result = result.unwrap_or_else(|| Message::result(id, NEVER_RAN));
            self.turns.push(result);
        }
    }

    fn finish(mut self) -> Vec<Message> {
        self.close();
        let last = self.turns.last();
        if last.is_some_and(|last| last.role == Role::Assistant) {
            self.turns.pop();
        }
        self.system.into_iter().chain(self.turns).collect()
    }
}

/// Without what only messages of other roles have.
fn in_form(mut message: Message) -> Message {
    if message.role != Role::Assistant {
        message.tool_requests.clear();
    }
    if message.role != Role::Tool {
        message.result_of = None;
    }
    message
}

/// Whether a message says nothing, and asks for nothing. What a tool returns may be nothing.
pub(super) fn is_blank(message: &Message) -> bool {
    message.role != Role::Tool && message.text.trim().is_empty() && message.tool_requests.is_empty()
}

fn join(first: &mut Message, second: Message) {
    let says = |message: &Message| !message.text.trim().is_empty();
    let between = if says(first) && says(&second) {
        BETWEEN
    } else {
        ""
    };
    first.text = [&*first.text, between, &*second.text].concat().into();
    first.tool_requests.extend(second.tool_requests);
}

#[cfg(test)]
mod tests;
