//! The rules that all providers' chat interfaces share, and the repair of what breaks them.
//!
//! Tool calls cannot dangle: a [`Message`] holds text alone, and what a provider sends of a tool call is
//! thrown away and counted.

use routing_core::model::{Message, Role};

/// What stands between two messages of one role that are joined.
const BETWEEN: &str = "\n\n";

/// Why messages cannot go into a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryFault {
    /// There is nothing to answer.
    #[error("the last message is not the user's")]
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
}

/// Whether messages may go into a call to any provider: no message is blank; at most one instruction,
/// at the front; then user and model take turns, and the user has the first and the last word.
///
/// # Errors
///
/// The first [`HistoryFault`].
pub fn check_history(messages: &[Message]) -> Result<(), HistoryFault> {
    let mut before = None;
    for (index, message) in messages.iter().enumerate() {
        if is_blank(message) {
            return Err(HistoryFault::Blank { index });
        }
        let in_turn = match message.role {
            Role::System => before.is_none(),
            Role::User => before != Some(Role::User),
            Role::Assistant => before == Some(Role::User),
            Role::Tool => false,
        };
        if !in_turn {
            return Err(HistoryFault::OutOfTurn { index });
        }
        before = Some(message.role);
    }
    match before {
        Some(Role::User) => Ok(()),
        Some(Role::System | Role::Assistant | Role::Tool) | None => {
            Err(HistoryFault::NothingToAnswer)
        }
    }
}

/// The same messages so that [`check_history`] finds nothing, as long as the user has said something:
/// blank ones are left out, instructions come first, an answer to nothing is left out, messages of one
/// role in a row are joined, and so are answers that nothing follows left out.
///
/// The same messages are always repaired alike, and repairing twice changes nothing.
pub fn repaired(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let mut system: Option<Message> = None;
    let mut turns: Vec<Message> = Vec::new();
    for message in messages {
        if is_blank(&message) {
            continue;
        }
        match (message.role, turns.last_mut()) {
            (Role::System, _) => match &mut system {
                Some(first) => join(first, &message),
                None => system = Some(message),
            },
            (Role::Tool, _) | (Role::Assistant, None) => {}
            (role, Some(last)) if last.role == role => join(last, &message),
            (Role::User | Role::Assistant, _) => turns.push(message),
        }
    }
    if turns
        .last()
        .is_some_and(|last| last.role == Role::Assistant)
    {
        turns.pop();
    }
    system.into_iter().chain(turns).collect()
}

fn is_blank(message: &Message) -> bool {
    message.text.trim().is_empty()
}

fn join(first: &mut Message, second: &Message) {
    first.text.push_str(BETWEEN);
    first.text.push_str(&second.text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use routing_core::model::{Message, Role};

    use super::{HistoryFault, check_history, repaired};

    fn message() -> impl Strategy<Value = Message> {
        let role = prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant)];
        (role, "[a-z \n]{0,4}").prop_map(|(role, text)| Message {
            role,
            text,
            tool_requests: Vec::new(),
            result_of: None,
        })
    }

    fn said_by_user(messages: &[Message]) -> String {
        let all = messages.iter().filter(|message| message.role == Role::User);
        let words = all.flat_map(|message| message.text.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }

    proptest! {
        #[test]
        fn repairing_makes_any_messages_valid_and_repairing_twice_changes_nothing(
            messages in proptest::collection::vec(message(), 0..12)
        ) {
            let once = repaired(messages.clone());
            let says_something = !said_by_user(&messages).is_empty();
            prop_assert_eq!(check_history(&once).is_ok(), says_something, "{:?}", once);
            prop_assert_eq!(repaired(once.clone()), once.clone());
            prop_assert_eq!(said_by_user(&once), said_by_user(&messages), "the user is never cut");
        }

        #[test]
        fn what_is_valid_is_left_alone(messages in proptest::collection::vec(message(), 0..6)) {
            if check_history(&messages).is_ok() {
                prop_assert_eq!(repaired(messages.clone()), messages);
            }
        }
    }

    #[test]
    fn each_fault_is_found() {
        let check = |messages: &[Message]| check_history(messages).unwrap_err();
        assert_eq!(check(&[]), HistoryFault::NothingToAnswer);
        let answered = [Message::user("a"), Message::assistant("b")];
        assert_eq!(check(&answered), HistoryFault::NothingToAnswer);
        assert_eq!(
            check(&[Message::user(" ")]),
            HistoryFault::Blank { index: 0 }
        );
        let late = [Message::user("a"), Message::system("b")];
        assert_eq!(check(&late), HistoryFault::OutOfTurn { index: 1 });
        let twice = [Message::user("a"), Message::user("b")];
        assert_eq!(check(&twice), HistoryFault::OutOfTurn { index: 1 });
        let first = [Message::assistant("a"), Message::user("b")];
        assert_eq!(check(&first), HistoryFault::OutOfTurn { index: 0 });
    }
}
