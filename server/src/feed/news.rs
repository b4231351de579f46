//! News for requests that wait: each is woken only by what concerns it, however much else happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interrupt_router::{InterruptId, RunId};
use interrupts::life::State;
use interrupts::store::{Notification, OutboxRow};
use tokio::sync::watch;

use super::Feed;
use crate::events::Interrupts;

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Concern {
    /// That a question of a worker is over.
    Question {
        /// Its interrupt.
        interrupt: InterruptId,
        /// Whether this answers the worker that has its run, so that the worker takes the outcome.
        takes: bool,
    },
    /// What comes for a run that a worker owns: a stop, an event, a message, another owner; and that a question of it
    /// is over whose outcome no request takes.
    Signals(RunId),
    /// That any run may have become free for a worker.
    FreeRuns,
}

/// The waiting requests, by what they wait for.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<Concern, watch::Sender<()>>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<Concern, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Wakes all requests that wait for a run to take.
    pub(super) fn wake_idle(&self) {
        if let Some(sender) = self.lock().get(&Concern::FreeRuns) {
            sender.send_replace(());
        }
    }

    /// Wakes all requests that these rows concern; the rows are about these interrupts.
    pub(super) fn wake(&self, rows: &[OutboxRow], known: &Interrupts) {
        let waiting = self.lock();
        if waiting.is_empty() {
            return;
        }
        let wake = |concern: &Concern| {
            let sender = waiting.get(concern);
            sender.map(|sender| sender.send_replace(())).is_some()
        };
        for row in rows {
            match Happened::of(&row.notification, known) {
                Some(Happened::OwnQuestionOver(run, interrupt)) => {
                    let question = |takes| wake(&Concern::Question { interrupt, takes });
                    question(false);
                    if !question(true) {
                        wake(&Concern::Signals(run));
                    }
                }
                Some(Happened::ForTheRun(run)) => {
                    wake(&Concern::Signals(run));
                }
                None => {}
            }
        }
        if rows.iter().any(|row| freed(&row.notification).is_some()) {
            wake(&Concern::FreeRuns);
        }
    }
}

/// What the worker of a run learns.
enum Happened {
    /// A question that it asked is over.
    OwnQuestionOver(RunId, InterruptId),
    /// Something has come for its run.
    ForTheRun(RunId),
}

impl Happened {
    fn of(notification: &Notification, known: &Interrupts) -> Option<Self> {
        match notification {
            Notification::Interrupt {
                interrupt,
                run,
                state,
                ..
            } => match known.get(interrupt) {
                // The worker asked it, and waits only for its end.
                Some(row) if workers::is_own_question(row) => {
                    (!state.is_live()).then_some(Self::OwnQuestionOver(*run, *interrupt))
                }
                Some(_) | None => Some(Self::ForTheRun(*run)),
            },
            Notification::Run { run, .. } | Notification::Message { run, .. } => {
                Some(Self::ForTheRun(*run))
            }
            Notification::Reroute { .. }
            | Notification::Node { .. }
            | Notification::Effect { .. }
            | Notification::Checkpoint { .. }
            | Notification::Rule { .. } => None,
        }
    }
}

/// The run that a worker may take because of it: one that was created or changed its state, or one that waited for an
/// answer, a stop or an event.
pub(super) const fn freed(notification: &Notification) -> Option<RunId> {
    match notification {
        Notification::Run { run, .. } => Some(*run),
        Notification::Interrupt { run, state, .. } => match state {
            State::Requested
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => Some(*run),
            State::Delivered | State::Acknowledged | State::AwaitingReview => None,
        },
        Notification::Reroute { .. }
        | Notification::Node { .. }
        | Notification::Effect { .. }
        | Notification::Message { .. }
        | Notification::Checkpoint { .. }
        | Notification::Rule { .. } => None,
    }
}

/// What one request waits for, from when it began to.
pub(crate) struct News {
    feed: Arc<Feed>,
    concern: Concern,
    receiver: watch::Receiver<()>,
}

impl News {
    /// Begins to wait.
    pub(crate) fn of(feed: &Arc<Feed>, concern: Concern) -> Self {
        let mut waiting = feed.waiting.lock();
        let sender = waiting.entry(concern).or_default();
        Self {
            feed: Arc::clone(feed),
            concern,
            receiver: sender.subscribe(),
        }
    }

    /// Waits until there is news since it began, or since the last news.
    ///
    /// Cancel safe: it only waits.
    pub(crate) async fn come(&mut self) {
        // The sender lives as long as any request that waits for the same.
        let _changed = self.receiver.changed().await;
    }
}

impl Drop for News {
    fn drop(&mut self) {
        let mut waiting = self.feed.waiting.lock();
        let is_last = |sender: &watch::Sender<()>| sender.receiver_count() <= 1;
        if waiting.get(&self.concern).is_some_and(is_last) {
            waiting.remove(&self.concern);
        }
    }
}
