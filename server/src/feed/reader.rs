//! One reader's position in the feed.

use std::collections::VecDeque;
use std::sync::Arc;

use interrupt_router::RunId;
use interrupts::store::{Page, StoreError};
use tokio::sync::watch;

use super::{CHUNK, Feed, Filter};
use crate::events::FeedEvent;

/// What comes next for a reader.
#[derive(Debug)]
pub(crate) enum ReaderItem {
    /// An event that the reader wants.
    Event(Arc<FeedEvent>),
    /// Events that are gone for this reader.
    Gap {
        /// The first of them.
        from: u64,
        /// The last of them.
        to: u64,
        /// Why.
        reason: GapReason,
    },
}

/// Why events are gone for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GapReason {
    /// They are no longer kept, or this store never gave out the position.
    Retention,
    /// The reader was too slow.
    SlowConsumer,
}

impl GapReason {
    /// The name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Retention => "retention",
            Self::SlowConsumer => "slow_consumer",
        }
    }
}

/// One reader's position in the feed.
pub(crate) struct FeedReader {
    feed: Arc<Feed>,
    filter: Filter,
    /// The last position that was dealt with.
    position: u64,
    waiting: VecDeque<Arc<FeedEvent>>,
    /// Up to where everything that the reader wants has been read: it was returned, or it waits.
    read_through: u64,
    /// Whether the reader has once caught up with the feed. Before that it starts at a position of its own choice, and
    /// reads what is kept at its own pace.
    has_kept_up: bool,
    latest: watch::Receiver<u64>,
}

impl FeedReader {
    /// A reader of what comes after a position; from now on if none is given.
    pub(crate) fn new(feed: &Arc<Feed>, filter: Filter, after: Option<u64>) -> Self {
        let latest = feed.latest.subscribe();
        let position = after.unwrap_or_else(|| *latest.borrow());
        Self {
            position,
            read_through: position,
            has_kept_up: after.is_none(),
            feed: Arc::clone(feed),
            filter,
            waiting: VecDeque::new(),
            latest,
        }
    }

    /// The last position that was dealt with.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether the reader wants only one run.
    pub(crate) fn is_of_one_run(&self) -> bool {
        self.filter.run.is_some()
    }

    /// The next event that the reader wants, whenever it comes.
    ///
    /// Cancel safe: the next call returns what was not returned.
    pub(crate) async fn next(&mut self) -> Result<ReaderItem, StoreError> {
        loop {
            if let Some(next) = self.at_hand().await? {
                return Ok(next);
            }
            // The sender lives in the feed, which this reader keeps alive.
            if self.latest.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// The next event that the reader wants, if it has come already.
    ///
    /// Cancel safe: the next call returns what was not returned.
    pub(crate) async fn at_hand(&mut self) -> Result<Option<ReaderItem>, StoreError> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                self.position = event.position;
                if self.filter.wants(&event) {
                    return Ok(Some(ReaderItem::Event(event)));
                }
            }
            self.position = self.position.max(self.read_through);
            let latest = *self.latest.borrow_and_update();
            if self.position == latest {
                self.has_kept_up = true;
                return Ok(None);
            }
            if self.position > latest && self.feed.exists(self.position).await? {
                // Another process has sent it already; this one will come to it.
                return Ok(None);
            }
            if let Some(gap) = self.beyond_reach(latest) {
                return Ok(Some(gap));
            }
            let first = match self.filter.run {
                Some(run) if !self.feed.is_at_hand(self.position) => {
                    self.read_of(run, latest).await?
                }
                Some(_) | None => self.read().await?,
            };
            let Some(first) = first else {
                return Ok(None);
            };
            let missed = self.position + 1;
            if first > missed {
                self.position = first - 1;
                return Ok(Some(self.gap(missed, first - 1, GapReason::Retention)));
            }
        }
    }

    /// Reads what follows. Returns the first position that is kept.
    async fn read(&mut self) -> Result<Option<u64>, StoreError> {
        let events = self.feed.after(self.position).await?;
        let first = events.first().map(|event| event.position);
        self.waiting = events.into();
        Ok(first)
    }

    /// Reads the next events of one run, past all events of others in between. Returns the first position that is kept,
    /// of any run.
    async fn read_of(&mut self, run: RunId, latest: u64) -> Result<Option<u64>, StoreError> {
        let first = self.feed.first_after(self.position).await?;
        let page = Page {
            after: self.position,
            limit: CHUNK,
        };
        let events = self.feed.of_run(run, page).await?;
        let is_whole = events.len() < CHUNK as usize;
        let last = events.last().map_or(self.position, |event| event.position);
        self.read_through = if is_whole { last.max(latest) } else { last };
        self.waiting = events.into();
        Ok(first)
    }

    /// A position after the end was never given out. A reader that has kept up and is now far behind does not read
    /// events as fast as they come.
    fn beyond_reach(&mut self, latest: u64) -> Option<ReaderItem> {
        if self.position > latest {
            let from = latest + 1;
            let to = self.position;
            self.moved_to(latest);
            return Some(self.gap(from, to, GapReason::Retention));
        }
        if self.has_kept_up && latest - self.position > self.feed.lag {
            let from = self.position + 1;
            self.moved_to(latest);
            return Some(self.gap(from, latest, GapReason::SlowConsumer));
        }
        None
    }

    /// Continues after a position, wherever that is.
    fn moved_to(&mut self, position: u64) {
        self.position = position;
        self.read_through = position;
    }

    fn gap(&self, from: u64, to: u64, reason: GapReason) -> ReaderItem {
        self.feed.metrics.gap();
        ReaderItem::Gap { from, to, reason }
    }
}
