//! The messages to and from a node.

use std::fmt;

use interrupt_router::model::Message;

/// Renders what is known already as text.
type InWords = dyn Fn() -> Result<String, serde_json::Error> + Send + Sync;

/// The messages to and from a node, in order.
///
/// Many of them follow from what is known, such as a request or the files of a folder. They are rendered only when a
/// model or a person is asked: a resumed run takes thousands of turns that are answered already, and the messages
/// before those are never read.
#[derive(Default)]
pub(crate) struct NodeConversation {
    said: Vec<Utterance>,
}

enum Utterance {
    InWords(Message),
    /// Instructions, not rendered yet.
    Instructions(Box<InWords>),
    /// Anything else, not rendered yet.
    Known(Box<InWords>),
}

impl NodeConversation {
    /// Adds a message.
    pub(crate) fn push(&mut self, message: Message) {
        self.said.push(Utterance::InWords(message));
    }

    /// Adds a message for the node that is rendered later.
    pub(crate) fn tell(
        &mut self,
        words: impl Fn() -> Result<String, serde_json::Error> + Send + Sync + 'static,
    ) {
        self.said.push(Utterance::Known(Box::new(words)));
    }

    /// Puts before all else the node's instructions and the material.
    pub(crate) fn open(
        &mut self,
        instructions: impl Fn() -> String + Send + Sync + 'static,
        opening: impl Fn() -> String + Send + Sync + 'static,
    ) {
        let opening = [
            Utterance::Instructions(Box::new(move || Ok(instructions()))),
            Utterance::Known(Box::new(move || Ok(opening()))),
        ];
        self.said.splice(0..0, opening);
    }

    /// All messages as text. Each is rendered once.
    pub(crate) fn messages(&mut self) -> Result<Vec<Message>, serde_json::Error> {
        self.said.iter_mut().map(Utterance::message).collect()
    }
}

impl Extend<Message> for NodeConversation {
    fn extend<T: IntoIterator<Item = Message>>(&mut self, messages: T) {
        self.said
            .extend(messages.into_iter().map(Utterance::InWords));
    }
}

impl Utterance {
    fn message(&mut self) -> Result<Message, serde_json::Error> {
        let message = match self {
            Self::InWords(message) => return Ok(message.clone()),
            Self::Instructions(words) => Message::system(words()?),
            Self::Known(words) => Message::user(words()?),
        };
        *self = Self::InWords(message.clone());
        Ok(message)
    }
}

impl fmt::Debug for NodeConversation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = formatter.debug_list();
        for said in &self.said {
            match said {
                Utterance::InWords(message) => list.entry(message),
                Utterance::Instructions(_) | Utterance::Known(_) => {
                    list.entry(&"not put into words")
                }
            };
        }
        list.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use interrupt_router::model::{Message, Role};

    use super::NodeConversation;

    #[test]
    fn what_is_known_is_put_into_words_once_and_stands_where_it_was_said() {
        let put = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&put);
        let mut conversation = NodeConversation::default();
        conversation.tell(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok("the request".to_owned())
        });
        conversation.push(Message::assistant("an answer"));
        conversation.open(|| "the role".to_owned(), || "the goal".to_owned());
        assert_eq!(put.load(Ordering::Relaxed), 0, "nobody has asked");
        for _ in 0..2 {
            let said = conversation.messages().unwrap();
            let said: Vec<_> = said.iter().map(|it| (it.role, &*it.text)).collect();
            assert_eq!(
                said,
                [
                    (Role::System, "the role"),
                    (Role::User, "the goal"),
                    (Role::User, "the request"),
                    (Role::Assistant, "an answer"),
                ]
            );
        }
        assert_eq!(put.load(Ordering::Relaxed), 1);
    }
}
