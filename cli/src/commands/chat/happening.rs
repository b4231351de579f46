//! What happens to a conversation on a terminal, and where it all comes from.

use std::io;

use crossterm::event::Event;
use interrupts::signals::{OsSignals, Signal, SignalSource as _};
use llm::{ConversationEvent, ConversationRunEnd, ConversationRunError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::tools::PermissionQuestion;
use crate::terminal_events::TerminalEvents;

/// How a run has ended.
pub(super) type Ended = Result<ConversationRunEnd, ConversationRunError>;

/// What happens to a conversation on a terminal.
pub(super) enum Happening {
    Terminal(Option<io::Result<Event>>),
    Told(ConversationEvent),
    Asked(Box<PermissionQuestion>),
    /// The question has been on the screen long enough.
    Seen,
    RunEnded(Result<Ended, JoinError>),
    Signalled(Signal),
}

/// Where everything comes from.
pub(super) struct EventSources {
    pub(super) keys: TerminalEvents,
    pub(super) events: UnboundedReceiver<ConversationEvent>,
    /// Whether tools may do something.
    pub(super) questions: UnboundedReceiver<PermissionQuestion>,
    /// The run under way, if any.
    pub(super) runs: JoinSet<Ended>,
    pub(super) signals: OsSignals,
}

impl EventSources {
    /// What happens next.
    pub(super) async fn next(&mut self, seen: Option<Instant>) -> Happening {
        tokio::select! {
            biased; // A key must not queue behind a chatty model.
            Some(signal) = self.signals.next() => Happening::Signalled(signal),
            event = self.keys.next() => Happening::Terminal(event),
            // The conversation lives as long as the loop.
            Some(event) = self.events.recv() => Happening::Told(event),
            Some(question) = self.questions.recv() => Happening::Asked(Box::new(question)),
            Some(ended) = self.runs.join_next() => Happening::RunEnded(ended),
            () = until(seen) => Happening::Seen,
        }
    }
}

/// Waits until this time; forever if there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
