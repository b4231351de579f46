//! What a socket listens to: its subscriptions, and the progress of the interrupts that it requested.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::select_all;
use interrupt_router::InterruptId;
use interrupts::life::{Family, Interrupt, State};
use interrupts::store::StoreError;

use super::frame::Outgoing;
use crate::events::FeedEvent;
use crate::feed::{Feed, FeedReader, Filter, ReaderItem};

/// The most interrupts whose progress one socket follows.
const MOST_FOLLOWED: usize = 256;

/// What a socket listens to.
pub(super) struct Subscriptions {
    feed: Arc<Feed>,
    most: usize,
    made: u64,
    readers: BTreeMap<u64, FeedReader>,
    own: Option<FeedReader>,
    followed: BTreeMap<InterruptId, Interrupt>,
}

/// What is sent to a socket.
pub(super) enum SocketMessage {
    /// By a subscription.
    Subscribed(String, ReaderItem),
    /// Progress of the interrupts that it requested.
    Own(Vec<Outgoing>),
}

impl SocketMessage {
    /// The frames to send.
    pub(super) fn frames(self) -> Vec<Outgoing> {
        match self {
            Self::Own(frames) => frames,
            Self::Subscribed(id, ReaderItem::Event(event)) => {
                vec![Outgoing::event(&id, event.position, &event.json)]
            }
            Self::Subscribed(id, ReaderItem::Gap { from, to, reason }) => {
                vec![Outgoing::gap(&id, from, to, reason.name())]
            }
        }
    }
}

impl Subscriptions {
    pub(super) fn new(feed: Arc<Feed>, most: usize) -> Self {
        Self {
            feed,
            most,
            made: 0,
            readers: BTreeMap::new(),
            own: None,
            followed: BTreeMap::new(),
        }
    }

    /// Adds a subscription. Returns its id and where it begins; `None` if there are too many.
    pub(super) fn add(&mut self, filter: Filter, after: Option<u64>) -> Option<(String, u64)> {
        if self.readers.len() >= self.most {
            return None;
        }
        self.made += 1;
        let reader = FeedReader::new(&self.feed, filter, after);
        let begins = reader.position();
        self.readers.insert(self.made, reader);
        Some((name_of(self.made), begins))
    }

    /// Ends a subscription, if there is one.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        let number = id.strip_prefix("sub_").and_then(|id| id.parse().ok());
        number.is_some_and(|number: u64| self.readers.remove(&number).is_some())
    }

    /// From here on no event is missed; call it before a request whose interrupt is followed afterwards.
    pub(super) fn listen(&mut self) {
        if self.own.is_none() {
            self.own = Some(FeedReader::new(&self.feed, Filter::default(), None));
        }
    }

    /// Reports from now on what becomes of an interrupt.
    pub(super) fn follow(&mut self, interrupt: Interrupt) {
        if self.followed.len() >= MOST_FOLLOWED {
            self.followed.pop_first();
        }
        self.followed.insert(interrupt.id, interrupt);
    }

    /// What comes next, whenever it comes.
    ///
    /// Cancel safe: the next call returns what was not returned.
    pub(super) async fn next(&mut self) -> Result<SocketMessage, StoreError> {
        loop {
            let (source, next) = self.next_of_any().await?;
            let Some(number) = source else {
                let frames = self.updates(&next);
                if frames.is_empty() {
                    continue;
                }
                return Ok(SocketMessage::Own(frames));
            };
            return Ok(SocketMessage::Subscribed(name_of(number), next));
        }
    }

    async fn next_of_any(&mut self) -> Result<(Option<u64>, ReaderItem), StoreError> {
        let subscribed = self.readers.iter_mut().map(|(&number, reader)| {
            Box::pin(async move { (Some(number), reader.next().await) }) as Waiting<'_>
        });
        let own = self
            .own
            .iter_mut()
            .map(|reader| Box::pin(async move { (None, reader.next().await) }) as Waiting<'_>);
        let waiting: Vec<Waiting<'_>> = subscribed.chain(own).collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        let ((source, next), _place, _others) = select_all(waiting).await;
        Ok((source, next?))
    }

    fn updates(&mut self, next: &ReaderItem) -> Vec<Outgoing> {
        let ReaderItem::Event(event) = next else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        if event.topic == "checkpoint.saved" {
            for interrupt in self.followed.values() {
                if event.run == Some(interrupt.run) {
                    frames.push(Outgoing::update(interrupt, "checkpointed", event.at));
                }
            }
        }
        if let Some((id, state)) = event.interrupt
            && let Some(interrupt) = self.followed.get(&id)
            && let Some(named) = named(interrupt, event, state)
        {
            frames.push(Outgoing::update(interrupt, named, event.at));
            if state.is_final() {
                self.followed.remove(&id);
            }
        }
        frames
    }
}

type Waiting<'reader> = std::pin::Pin<
    Box<dyn Future<Output = (Option<u64>, Result<ReaderItem, StoreError>)> + Send + 'reader>,
>;

fn name_of(number: u64) -> String {
    format!("sub_{number}")
}

/// The step of its interrupt that a client gets. A stop is acknowledged when it is applied: the nodes have reached
/// their boundary, or have confirmed that they are cancelled.
fn named(interrupt: &Interrupt, event: &FeedEvent, state: State) -> Option<&'static str> {
    match event.topic.as_str() {
        "interrupt.acknowledged" if interrupt.family() == Family::Stop => Some("applied"),
        "interrupt.requested"
        | "interrupt.mode_raised"
        | "interrupt.asked"
        | "interrupt.taken_back"
        | "interrupt.claimed"
        | "interrupt.released"
        | "interrupt.held"
        | "interrupt.updated" => None,
        _ => Some(state.name()),
    }
}
