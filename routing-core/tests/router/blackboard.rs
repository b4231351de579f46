//! The blackboard: typed history, in order, and the last request of each type.

use interrupt_router::{Blackboard, Route};

use crate::domain::{Draft, EditorRoute, WriterRoute, node};

fn draft(topic: &str) -> Draft {
    let topic = topic.to_owned();
    Draft { topic }
}

#[test]
fn history_keeps_its_order_and_the_last_request_is_the_last() {
    let board = Blackboard::new();
    assert_eq!(board.last_request(WriterRoute::id()), None);
    let writer = node("root/writer");
    assert_eq!(board.post(&writer, draft("old")), 0);
    assert_eq!(board.post(&writer, "something else"), 1);
    assert_eq!(board.post(&node("root/editor"), draft("new")), 2);

    assert_eq!(board.last::<Draft>().as_deref(), Some(&draft("new")));
    let all: Vec<Draft> = board
        .all::<Draft>()
        .iter()
        .map(|one| (**one).clone())
        .collect();
    assert_eq!(all, [draft("old"), draft("new")]);
    let last = board.last_request(WriterRoute::id()).unwrap();
    assert_eq!((last.draft, last.edit), (Some(draft("new")), None));
    assert_eq!(board.last_request(EditorRoute::id()), None);
    let history: Vec<_> = board
        .history()
        .iter()
        .map(|entry| (entry.position, entry.node.to_string()))
        .collect();
    let expected = [(0, "root/writer"), (1, "root/writer"), (2, "root/editor")];
    assert_eq!(history, expected.map(|(at, by)| (at, by.to_owned())));
}
