//! The live feed: the events of the store, in order, for as many readers as there are.
//!
//! A reader has a position and nothing else, so no event is lost between two processes or two connections. One task
//! follows the store; readers that keep up share what it has rendered, those that are behind read the store.

mod audience;
mod news;
mod reader;
mod socket;
mod sse;
mod topics;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::RunId;
use interrupts::life::Notice;
use interrupts::store::{Notification, OutboxRow, Page, PageBack, Pages, Store, StoreError};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use workers::Candidates;

use crate::config::ServerLimits;
use crate::metrics::Metrics;

use crate::events::{EventRecords, EventRenderer, FeedEvent, StoredEffect};
use news::{Waiting, freed};

pub(crate) use audience::heard_by;
pub(crate) use news::{Concern, News};
pub(crate) use reader::{FeedReader, ReaderItem};
pub(crate) use socket::{FrameType, open_socket};
pub(crate) use sse::{FeedOrder, open_stream};
pub(crate) use topics::Filter;

/// How many rows are read from the store at a time.
const CHUNK: u32 = 256;
/// How many rendered events are kept for readers that keep up.
const KEPT: usize = 8_192;
/// How often a feed without readers checks the store.
const IDLE_POLL: Duration = Duration::from_millis(500);

/// The live feed.
pub(crate) struct Feed {
    store: Arc<dyn Store>,
    renderer: EventRenderer,
    poll: Duration,
    lag: u64,
    heartbeat: Duration,
    metrics: Arc<Metrics>,
    notified: Notify,
    /// How often a caller has asked to catch up with the store.
    asked: AtomicU64,
    /// Up to which of those requests it has caught up.
    answered: watch::Sender<u64>,
    latest: watch::Sender<u64>,
    waiting: Waiting,
    /// Waiting runs that an idle worker may be able to take.
    candidates: Candidates,
    kept: Mutex<VecDeque<Arc<FeedEvent>>>,
}

impl Feed {
    /// The feed of a store, from now on.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        instance: String,
        limits: &ServerLimits,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StoreError> {
        let (latest, _receiver) = watch::channel(last_position(&*store).await?);
        Ok(Self {
            renderer: EventRenderer::new(Arc::clone(&store), instance),
            store,
            poll: limits.feed_poll,
            lag: limits.feed_lag,
            heartbeat: limits.heartbeat,
            metrics,
            notified: Notify::new(),
            asked: AtomicU64::new(0),
            answered: watch::Sender::new(0),
            latest,
            waiting: Waiting::default(),
            candidates: Candidates::default(),
            kept: Mutex::default(),
        })
    }

    /// The position of the last event that is known.
    pub(crate) fn latest(&self) -> u64 {
        *self.latest.borrow()
    }

    /// The position of the last known event, as it changes. While a receiver exists the feed counts as read.
    pub(crate) fn follows(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// The runs that an idle worker may be able to take, up to the position of the feed.
    pub(crate) const fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// Notes that a worker has released a run, which the store does not report.
    pub(crate) fn frees(&self, run: RunId) {
        self.candidates.note(run);
        self.waiting.wake_idle();
    }

    /// Notifies the feed that there may be news.
    pub(crate) fn nudge(&self) {
        self.notified.notify_one();
    }

    /// Waits until the feed has read everything in the store by now, or could not. All callers that wait are served together.
    ///
    /// Cancel safe: it only waits. It ends with the feed.
    pub(crate) async fn catches_up(&self) {
        let mut answered = self.answered.subscribe();
        let asking = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.nudge();
        // The sender lives in this feed.
        let _known = answered.wait_for(|answered| *answered >= asking).await;
    }

    /// How often a quiet feed sends a sign of life.
    pub(crate) fn heartbeat(&self) -> Duration {
        self.heartbeat
    }

    /// Follows the store until `stop` is cancelled.
    pub(crate) async fn follow(self: Arc<Self>, stop: CancellationToken) {
        // All waiting callers are released when this ends, for any reason.
        let _last = AnswerOnDrop(&self.answered);
        loop {
            let asked = self.asked.load(Ordering::SeqCst);
            if let Err(error) = self.catch_up().await {
                tracing::warn!(%error, "the feed cannot read the store");
            }
            self.answered.send_replace(asked);
            let poll = match self.is_read() {
                true => self.poll,
                false => IDLE_POLL,
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.nudged() => {}
                () = tokio::time::sleep(poll) => {}
            }
        }
    }

    /// Waits until there may be news that a reader waits for. Without readers, events are read in batches, now and
    /// then: reading must not get in the way of writers.
    async fn nudged(&self) {
        loop {
            self.notified.notified().await;
            let is_asked = self.asked.load(Ordering::SeqCst) > *self.answered.borrow();
            if is_asked || self.is_read() {
                return;
            }
        }
    }

    /// Whether anyone waits for its events.
    fn is_read(&self) -> bool {
        self.latest.receiver_count() > 0 || !self.waiting.is_empty()
    }

    async fn catch_up(&self) -> Result<(), StoreError> {
        let mut pages = Pages::after(self.latest(), CHUNK);
        while let Some(rows) = pages.next(|page| self.store.outbox(page)).await? {
            let records = self.renderer.records_of(&rows).await;
            for row in &rows {
                self.metrics.read(row.at);
                self.count(row, &records);
                if let Some(run) = freed(&row.notification) {
                    self.candidates.note(run);
                }
                let event = self.renderer.event_of(row, &records);
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push_back(event);
                if kept.len() > KEPT {
                    kept.pop_front();
                }
            }
            // A reader that wakes finds the events.
            self.latest.send_replace(pages.position());
            self.waiting.wake(&rows, &records.interrupts);
        }
        Ok(())
    }

    async fn rows(&self, after: u64) -> Result<Vec<OutboxRow>, StoreError> {
        let page = Page {
            after,
            limit: CHUNK,
        };
        self.store.outbox(page).await
    }

    /// Events after a position, in order: some, or none if there are none yet.
    pub(crate) async fn after(&self, position: u64) -> Result<Vec<Arc<FeedEvent>>, StoreError> {
        if let Some(events) = self.kept_after(position) {
            return Ok(events);
        }
        let rows = self.rows(position).await?;
        Ok(self.renderer.events_of(&rows).await)
    }

    /// Events of one run after a position, in order, however many of others are between.
    pub(crate) async fn of_run(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<Arc<FeedEvent>>, StoreError> {
        let rows = self.store.outbox_of(run, page).await?;
        Ok(self.renderer.events_of(&rows).await)
    }

    /// The last events of one run, newest first.
    pub(crate) async fn last_of_run(
        &self,
        run: RunId,
        limit: u32,
    ) -> Result<Vec<Arc<FeedEvent>>, StoreError> {
        let before = None;
        let rows = self.store.last_outbox_of(run, PageBack { before, limit });
        Ok(self.renderer.events_of(&rows.await?).await)
    }

    /// Whether the events after a position are in memory, without reading the store.
    fn is_at_hand(&self, position: u64) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.front()
            .is_some_and(|first| first.position <= position + 1)
    }

    /// The position of the first event after one that is kept.
    async fn first_after(&self, position: u64) -> Result<Option<u64>, StoreError> {
        next_after(&*self.store, position).await
    }

    /// Whether the store has an event with this position.
    pub(crate) async fn exists(&self, position: u64) -> Result<bool, StoreError> {
        let found = next_after(&*self.store, position.saturating_sub(1)).await?;
        Ok(found.is_some())
    }

    /// Rendered events after a position, if all of them are in memory.
    fn kept_after(&self, position: u64) -> Option<Vec<Arc<FeedEvent>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, last) = (kept.front()?.position, kept.back()?.position);
        if position > last {
            return None;
        }
        let skipped = (position + 1).checked_sub(first)?;
        let skipped = usize::try_from(skipped).ok()?;
        let events = kept.iter().skip(skipped).take(CHUNK as usize);
        Some(events.cloned().collect())
    }

    fn count(&self, row: &OutboxRow, records: &EventRecords) {
        if let Notification::Effect {
            effect, done: true, ..
        } = &row.notification
            && let Some(StoredEffect::Tool(call)) = records.effect(*effect)
            && let Some(by) = call.end.as_ref().and_then(|end| end.interrupted_by)
        {
            self.metrics.tool_stopped(&call.tool, by);
        }
        if let Notification::Checkpoint { checkpoint } = &row.notification {
            self.metrics.saved(checkpoint.run, row.at);
        }
        let Notification::Interrupt {
            interrupt, notice, ..
        } = &row.notification
        else {
            return;
        };
        let Some(interrupt) = records.interrupts.get(interrupt) else {
            return;
        };
        self.metrics.went_on(interrupt, notice, row.at);
        if matches!(notice, Notice::Admitted) {
            self.metrics.asked(interrupt);
        }
    }
}

/// Releases all waiting callers, once and for all.
struct AnswerOnDrop<'feed>(&'feed watch::Sender<u64>);

impl Drop for AnswerOnDrop<'_> {
    fn drop(&mut self) {
        self.0.send_replace(u64::MAX);
    }
}

/// The position of the last row: rows have no gaps except before the first one, so bisection finds it.
async fn last_position(store: &dyn Store) -> Result<u64, StoreError> {
    let (mut low, mut step) = (0_u64, 1_u64);
    while let Some(found) = next_after(store, low.saturating_add(step)).await? {
        low = found;
        step = step.saturating_mul(2);
    }
    // A row after `low` may exist, none after `low + step` does.
    let mut high = low.saturating_add(step);
    while low < high {
        let middle = low + (high - low) / 2;
        match next_after(store, middle).await? {
            Some(found) => low = found,
            None => high = middle,
        }
    }
    Ok(low)
}

async fn next_after(store: &dyn Store, after: u64) -> Result<Option<u64>, StoreError> {
    if after > i64::MAX as u64 {
        return Ok(None);
    }
    let rows = store.outbox(Page { after, limit: 1 }).await?;
    Ok(rows.first().map(|row| row.position))
}
