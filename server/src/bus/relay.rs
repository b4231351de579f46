//! The feed, published: each event in its order, from the cursor in the store on.

use std::time::Duration;

use interrupts::bus::{Bus, BusError, BusEvent};
use interrupts::store::{Outbox, StoreError};
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use super::Publishing;
use crate::app::App;
use crate::feed::{FeedEvent, position_text, reset_event, source_of};

/// How long a quiet relay waits before it looks whether the broker is still there.
const LOOK: Duration = Duration::from_secs(5);
/// How long it waits after the first failure; twice as long after each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How long it waits at most.
const LONGEST_WAIT: Duration = Duration::from_secs(3);
/// How long what was told last may take to be published when the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long what was read may be published without another look at how far others have gone.
const STALE: SignedDuration = SignedDuration::from_secs(60);

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error(transparent)]
    Broker(#[from] BusError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Publishes the feed until it is told to stop.
pub(crate) async fn relay(app: App, stop: CancellationToken) {
    let Some(publishing) = app.bus.as_ref() else {
        return;
    };
    let mut relay = Relay {
        app: &app,
        publishing,
        position: 0,
    };
    relay.run(&stop).await;
    let farewell = async { while matches!(relay.step().await, Ok(Step::Published)) {} };
    // What is not published by then is published by the next server.
    let _in_time = tokio::time::timeout(FAREWELL, farewell).await;
}

/// What a step did.
enum Step {
    /// It published something.
    Published,
    /// There is nothing to publish.
    CaughtUp,
}

struct Relay<'app> {
    app: &'app App,
    publishing: &'app Publishing,
    /// The last position that the broker has acknowledged.
    position: u64,
}

impl Relay<'_> {
    async fn run(&mut self, stop: &CancellationToken) {
        let mut latest = self.app.feed.follows();
        let mut wait = FIRST_WAIT;
        while !stop.is_cancelled() {
            latest.mark_unchanged();
            let pause = match self.step().await {
                Ok(Step::Published) => {
                    wait = FIRST_WAIT;
                    continue;
                }
                Ok(Step::CaughtUp) => match self.broker().prepare().await {
                    Ok(()) => {
                        self.publishing.note(None);
                        wait = FIRST_WAIT;
                        LOOK
                    }
                    Err(error) => self.failed(&RelayError::Broker(error), &mut wait),
                },
                Err(error) => self.failed(&error, &mut wait),
            };
            tokio::select! {
                () = stop.cancelled() => {}
                // While the broker is away, news does not bring it back.
                _ = latest.changed(), if pause == LOOK => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn broker(&self) -> &dyn Bus {
        self.publishing.broker()
    }

    /// Notes a failure, and says how long to wait now.
    fn failed(&self, error: &RelayError, wait: &mut Duration) -> Duration {
        match error {
            RelayError::Broker(error) => self.publishing.note(Some(error)),
            RelayError::Store(error) => tracing::warn!(%error, "the relay cannot read the store"),
        }
        let now = *wait;
        *wait = (now * 2).min(LONGEST_WAIT);
        now
    }

    /// Publishes some of what follows.
    async fn step(&mut self) -> Result<Step, RelayError> {
        let store = self.app.store();
        let consumer = self.broker().consumer().clone();
        // Another server of this store may have gone further.
        let cursor = Outbox::cursor(store, &consumer).await?;
        self.position = self.position.max(cursor);
        self.publishing.reached(self.position);
        let events = self.app.feed.after(self.position).await?;
        let Some(first) = events.first() else {
            return Ok(Step::CaughtUp);
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
            // A process that slept so long does not know how far others have gone, and the broker may have forgotten what
            // it has.
            let is_stale = self.app.now().duration_since(begun) > STALE;
            if published.is_err() || is_stale {
                break;
            }
            published = self.publish(event).await;
        }
        // What was acknowledged before a failure is not published again.
        if self.position > cursor {
            Outbox::consumed(store, &consumer, self.position).await?;
        }
        published?;
        self.publishing.note(None);
        Ok(Step::Published)
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

    /// Says that events are gone, and where to read what is now.
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
