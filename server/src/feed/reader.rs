//! One reader's place in the feed.

use std::collections::VecDeque;
use std::sync::Arc;

use interrupts::store::StoreError;
use tokio::sync::watch;

use super::{Feed, FeedEvent, Filter};

/// What comes next for a reader.
#[derive(Debug)]
pub(crate) enum Next {
    /// An event that he wants.
    Event(Arc<FeedEvent>),
    /// Events that are gone for him.
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
    /// They are not kept any more, or the position was never given out by this store.
    Retention,
    /// He was too slow.
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

/// One reader's place in the feed.
pub(crate) struct Reader {
    feed: Arc<Feed>,
    filter: Filter,
    /// The last position that was dealt with.
    position: u64,
    waiting: VecDeque<Arc<FeedEvent>>,
    latest: watch::Receiver<u64>,
}

impl Reader {
    /// A reader of what comes after a position; from now on where he names none.
    pub(crate) fn new(feed: &Arc<Feed>, filter: Filter, after: Option<u64>) -> Self {
        let latest = feed.latest.subscribe();
        Self {
            position: after.unwrap_or_else(|| *latest.borrow()),
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

    /// Whether he wants one run alone.
    pub(crate) fn is_of_one_run(&self) -> bool {
        self.filter.run.is_some()
    }

    /// The next event that the reader wants, whenever it comes.
    ///
    /// Cancel safe: what was not returned is returned by the next call.
    pub(crate) async fn next(&mut self) -> Result<Next, StoreError> {
        loop {
            if let Some(next) = self.at_hand().await? {
                return Ok(next);
            }
            // The sender lives in the feed, which this reader holds.
            if self.latest.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// The next event that the reader wants, where it has come already.
    ///
    /// Cancel safe: what was not returned is returned by the next call.
    pub(crate) async fn at_hand(&mut self) -> Result<Option<Next>, StoreError> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                self.position = event.position;
                if self.filter.wants(&event) {
                    return Ok(Some(Next::Event(event)));
                }
            }
            let latest = *self.latest.borrow_and_update();
            if self.position == latest {
                return Ok(None);
            }
            if self.position > latest && self.feed.exists(self.position).await? {
                // Another process has told it already; this one will come to it.
                return Ok(None);
            }
            if let Some(gap) = self.beyond_reach(latest) {
                return Ok(Some(gap));
            }
            let events = self.feed.after(self.position).await?;
            let Some(first) = events.first().map(|event| event.position) else {
                return Ok(None);
            };
            let missed = self.position + 1;
            self.waiting = events.into();
            if first > missed {
                self.position = first - 1;
                return Ok(Some(self.gap(missed, first - 1, GapReason::Retention)));
            }
        }
    }

    /// A position after the end was never given out; one far before it takes too long to catch up.
    fn beyond_reach(&mut self, latest: u64) -> Option<Next> {
        if self.position > latest {
            let from = latest + 1;
            let to = self.position;
            self.position = latest;
            return Some(self.gap(from, to, GapReason::Retention));
        }
        if latest - self.position > self.feed.lag {
            let from = self.position + 1;
            self.position = latest;
            return Some(self.gap(from, latest, GapReason::SlowConsumer));
        }
        None
    }

    fn gap(&self, from: u64, to: u64, reason: GapReason) -> Next {
        self.feed.metrics.gap();
        Next::Gap { from, to, reason }
    }
}
