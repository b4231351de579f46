use interrupt_router::model::{Message, Role, ToolRequest};
use proptest::prelude::*;

use super::{HistoryFault, check_history, repaired};

/// Any message: also with requests and results where they do not belong, and with equal ids.
fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![
        Just(Role::System),
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Assistant),
        Just(Role::Tool),
        Just(Role::Tool),
    ];
    let id = || prop_oneof![Just(""), Just("a"), Just("b")];
    let requests = proptest::collection::vec(id(), 0..3);
    let result_of = proptest::option::weighted(0.8, id());
    (role, "[a-z \n]{0,4}", requests, result_of).prop_map(|(role, text, requests, result_of)| {
        Message {
            role,
            text: text.into(),
            tool_requests: requests
                .into_iter()
                .map(|id| ToolRequest::new(id, "list", "{}"))
                .collect(),
            result_of: result_of.map(str::to_owned),
        }
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
        messages in proptest::collection::vec(message(), 0..14)
    ) {
        let once = repaired(messages.clone());
        let says_something = !said_by_user(&messages).is_empty();
        prop_assert_eq!(check_history(&once).is_ok(), says_something, "{:?}", once);
        prop_assert_eq!(repaired(once.clone()), once.clone());
        prop_assert_eq!(said_by_user(&once), said_by_user(&messages), "the user is never cut");
        let requests: usize = once.iter().map(|message| message.tool_requests.len()).sum();
        let results = once.iter().filter(|message| message.role == Role::Tool).count();
        prop_assert_eq!(requests, results, "one result for each request");
    }

    #[test]
    fn what_is_valid_is_left_alone(messages in proptest::collection::vec(message(), 0..6)) {
        if check_history(&messages).is_ok() {
            prop_assert_eq!(repaired(messages.clone()), messages);
        }
    }
}

fn asking(ids: &[&str]) -> Message {
    let requests = ids.iter().map(|id| ToolRequest::new(*id, "list", "{}"));
    Message::asking("", requests.collect())
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
    let dangling = [Message::user("a"), asking(&["x"]), Message::user("b")];
    assert_eq!(check(&dangling), HistoryFault::Dangling { index: 2 });
    assert_eq!(check(&dangling[..2]), HistoryFault::Dangling { index: 2 });
    let orphan = [Message::user("a"), Message::result("x", "b")];
    assert_eq!(check(&orphan), HistoryFault::Orphan { index: 1 });
    let swapped = [
        Message::user("a"),
        asking(&["x", "y"]),
        Message::result("y", ""),
    ];
    assert_eq!(check(&swapped), HistoryFault::Dangling { index: 2 });
}

#[test]
fn results_are_put_in_the_order_of_their_requests_and_what_never_ran_says_so() {
    let messages = [
        Message::user("a"),
        asking(&["x", "y", "x"]),
        Message::result("y", "of y"),
        Message::result("x", "of the first x"),
        Message::result("z", "of nothing"),
        Message::user("b"),
    ];
    let repaired = repaired(messages);
    let texts: Vec<&str> = repaired.iter().map(|message| &*message.text).collect();
    assert_eq!(texts[..4], ["a", "", "of the first x", "of y"]);
    assert!(texts[4].starts_with("Not executed"), "{texts:?}");
    assert_eq!(texts[5], "b");
}
