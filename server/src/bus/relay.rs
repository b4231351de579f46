//! The feed, published: each event in order, from the cursor in the store on.

use std::time::Duration;

use interrupts::bus::{Bus, BusError, BusEvent};
use interrupts::store::{Outbox, StoreError};
use jiff::SignedDuration;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Publishing;
use crate::app::App;
use crate::events::{FeedEvent, position_text, reset_event, source_of};

/// How long a quiet relay waits before it checks whether the broker is still there.
const LOOK: Duration = Duration::from_secs(5);
/// How long it waits after the first failure; twice as long after each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How long it waits at most.
const LONGEST_WAIT: Duration = Duration::from_secs(3);
/// How long publishing the last events may take when the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long what was read may be published without another check of how far others have gone.
const STALE: SignedDuration = SignedDuration::from_secs(60);

/// How long to wait for events that are published together.
const TOGETHER: Duration = Duration::from_millis(20);

/// The fields that are read of an event that the broker has.
#[derive(Deserialize)]
struct BrokerEvent {
    sequence: String,
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error(transparent)]
    Broker(#[from] BusError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Publishes the feed until `stop` is cancelled.
pub(crate) async fn relay(app: App, stop: CancellationToken) {
    let Some(publishing) = app.bus.as_ref() else {
        return;
    };
    let mut relay = Relay {
        app: &app,
        publishing,
        position: 0,
        is_certain: false,
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = relay.run() => {}
    }
    // The broker may have accepted what was interrupted.
    relay.is_certain = false;
    let farewell = async { while matches!(relay.step().await, Ok(RelayStep::Published)) {} };
    // The next server publishes what is not published by then.
    let _in_time = tokio::time::timeout(FAREWELL, farewell).await;
}

/// What a step did.
enum RelayStep {
    /// It published something, and there may be more.
    Published,
    /// There is nothing to publish.
    CaughtUp,
}

impl RelayStep {
    /// How long to wait after it.
    const fn pause(&self) -> Duration {
        match self {
            // Events that occur together are published together, with one step of the cursor.
            Self::Published => TOGETHER,
            Self::CaughtUp => LOOK,
        }
    }
}

struct Relay<'app> {
    app: &'app App,
    publishing: &'app Publishing,
    /// The last position that the broker has acknowledged.
    position: u64,
    /// Whether it is known what the broker has beyond that: nothing, unless another server goes further.
    is_certain: bool,
}

impl Relay<'_> {
    async fn run(&mut self) {
        let mut latest = self.app.feed.follows();
        let mut wait = FIRST_WAIT;
        let mut is_look_due = true;
        loop {
            latest.mark_unchanged();
            let done = match self.step().await {
                Ok(RelayStep::CaughtUp) if is_look_due => {
                    self.look().await.map(|()| RelayStep::CaughtUp)
                }
                done => done,
            };
            let pause = match done {
                Ok(step) => {
                    wait = FIRST_WAIT;
                    step.pause()
                }
                Err(error) => self.failed(&error, &mut wait),
            };
            is_look_due = tokio::select! {
                // While the broker is unavailable, news does not bring it back.
                _ = latest.changed(), if pause == LOOK => false,
                () = tokio::time::sleep(pause) => pause != TOGETHER,
            };
        }
    }

    /// Checks whether the broker still accepts events, if there is none to publish.
    async fn look(&self) -> Result<(), RelayError> {
        self.broker().prepare().await?;
        self.publishing.note(None);
        Ok(())
    }

    fn broker(&self) -> &dyn Bus {
        self.publishing.broker()
    }

    /// Notes a failure, and returns how long to wait now.
    fn failed(&mut self, error: &RelayError, wait: &mut Duration) -> Duration {
        self.is_certain = false;
        match error {
            RelayError::Broker(error) => self.publishing.note(Some(error)),
            RelayError::Store(error) => tracing::warn!(%error, "the relay cannot read the store"),
        }
        let now = *wait;
        *wait = (now * 2).min(LONGEST_WAIT);
        now
    }

    /// Publishes some of what follows.
    async fn step(&mut self) -> Result<RelayStep, RelayError> {
        let store = self.app.store();
        let consumer = self.broker().consumer().clone();
        // Another server of this store may have gone further.
        let cursor = Outbox::cursor(store, &consumer).await?;
        self.position = self.position.max(cursor);
        self.publishing.reached(self.position);
        if !self.is_certain {
            self.catch_up_with_broker().await?;
            self.is_certain = true;
        }
        let events = self.app.feed.after(self.position).await?;
        let Some(first) = events.first() else {
            self.save(cursor).await?;
            return Ok(RelayStep::CaughtUp);
        };
        let missing = self.position + 1;
        let begun = self.app.now();
        let mut published = Ok(());
        if first.position > missing {
            published = self
                .tell_gap((missing, first.position - 1), "retention")
                .await;
        }
        for event in &events {
            // A process that slept so long does not know how far others have gone, and the broker may have forgotten
            // what it has.
            let is_stale = self.app.now().duration_since(begun) > STALE;
            if published.is_err() || is_stale {
                break;
            }
            published = self.publish(event).await;
        }
        // What was acknowledged before a failure is not published again.
        self.save(cursor).await?;
        published?;
        self.publishing.note(None);
        Ok(RelayStep::Published)
    }

    /// Moves the cursor in the store from where it was.
    async fn save(&self, cursor: u64) -> Result<(), StoreError> {
        if self.position > cursor {
            let consumer = self.broker().consumer();
            Outbox::consumed(self.app.store(), consumer, self.position).await?;
        }
        Ok(())
    }

    /// Continues after what the broker already has: an event whose acknowledgement was lost, or that a process
    /// published which died before it moved the cursor. The broker recognises a repeated event only for a while.
    async fn catch_up_with_broker(&mut self) -> Result<(), RelayError> {
        let Some(json) = self.broker().last().await? else {
            return Ok(());
        };
        let last: Option<BrokerEvent> = serde_json::from_str(&json).ok();
        let last = last.and_then(|last| last.sequence.parse::<u64>().ok());
        let Some(last) = last.filter(|last| *last > self.position) else {
            return Ok(());
        };
        // Another store may have had another event at that position.
        let ours = self.app.feed.after(last - 1).await?;
        if ours
            .first()
            .is_some_and(|ours| ours.position == last && ours.json == json)
        {
            self.position = last;
            self.publishing.reached(last);
        }
        Ok(())
    }

    async fn publish(&mut self, event: &FeedEvent) -> Result<(), BusError> {
        let instance = &self.app.config.instance;
        let source = source_of(instance, event.run);
        let told = BusEvent {
            id: format!("{source}/{}", position_text(event.position)),
            run: event.run,
            node: event.node.clone(),
            topic: event.topic.clone(),
            json: event.json.clone(),
        };
        match self.broker().publish(&told).await {
            Ok(()) => {
                self.position = event.position;
                self.publishing.published(event.position);
                Ok(())
            }
            Err(error @ BusError::TooLarge { .. }) => {
                tracing::warn!(%error, position = event.position, "an event is not published");
                self.tell_gap((event.position, event.position), "too_large")
                    .await
            }
            Err(error @ (BusError::Away { .. } | BusError::Refused { .. } | _)) => Err(error),
        }
    }

    /// Publishes that events are gone, and where to read the current state.
    async fn tell_gap(&mut self, missed: (u64, u64), why: &str) -> Result<(), BusError> {
        let instance = &self.app.config.instance;
        let through = position_text(missed.1);
        self.broker()
            .publish(&BusEvent {
                id: format!("{}/reset-{through}", source_of(instance, None)),
                run: None,
                node: None,
                topic: "stream.reset".to_owned(),
                json: reset_event(instance, missed, self.app.now(), why),
            })
            .await?;
        self.position = missed.1;
        self.publishing.reached(missed.1);
        Ok(())
    }
}
