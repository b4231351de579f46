//! What a controller knows: a synchronous value.

use std::collections::HashMap;
use std::time::Duration;

use interrupt_router::{StopReason, StopScope};

use super::Requested;
use super::cancellation::{Cancellation, StoppedCall};
use crate::tool::CallId;

/// Names one running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallKey(u64);

#[derive(Debug)]
struct Running {
    id: CallId,
    tool: String,
}

#[derive(Debug)]
pub(super) struct ControllerState {
    /// The parent of the scopes of turns that have not been interrupted.
    turns: StopScope,
    /// The parent of `turns`.
    root: StopScope,
    running: HashMap<CallKey, Running>,
    next_key: u64,
    /// Under way while calls run that it asked to stop.
    cancelling: Option<Cancellation>,
    last: Option<Cancellation>,
    /// How many cancellations have come to their end.
    finished: u64,
    /// Of which no one has taken note.
    unconsumed: Option<StopReason>,
    sections: usize,
    deferred: Option<StopReason>,
}

impl ControllerState {
    pub(super) fn new(root: StopScope) -> Self {
        Self {
            turns: root.child(),
            root,
            running: HashMap::new(),
            next_key: 0,
            cancelling: None,
            last: None,
            finished: 0,
            unconsumed: None,
            sections: 0,
            deferred: None,
        }
    }

    pub(super) fn turns(&self) -> &StopScope {
        &self.turns
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    pub(super) fn begin(&mut self, id: CallId, tool: String) -> CallKey {
        let key = CallKey(self.next_key);
        self.next_key += 1;
        self.running.insert(key, Running { id, tool });
        key
    }

    /// A call has ended, or was given up.
    pub(super) fn end(&mut self, key: CallKey, took: Duration, left_behind: bool) {
        let Some(call) = self.running.remove(&key) else {
            return;
        };
        if let Some(cancellation) = &mut self.cancelling {
            cancellation.calls.push(StoppedCall {
                id: call.id,
                tool: call.tool,
                took,
                left_behind,
            });
            if self.running.is_empty() {
                self.finish();
            }
        }
    }

    /// Stops the turns that there are, unless it has to wait or was done before.
    pub(super) fn request(&mut self, reason: StopReason) -> Requested {
        if self.sections > 0 {
            self.deferred.get_or_insert(reason);
            return Requested::Deferred;
        }
        if self.cancelling.is_some() {
            return Requested::Repeated;
        }
        // Before anything else: nothing starts from now on in a turn that there is, or in one that begins until
        // the last call has ended.
        self.turns.stop(reason.clone());
        self.unconsumed.get_or_insert_with(|| reason.clone());
        self.cancelling = Some(Cancellation::of(reason));
        let running = self.running.len();
        if running == 0 {
            self.finish();
        }
        Requested::Stops(running)
    }

    /// What comes from now on is in new turns, which nothing has stopped yet.
    fn finish(&mut self) {
        self.last = self.cancelling.take();
        self.finished += 1;
        self.turns = self.root.child();
    }

    pub(super) fn last_cancellation(&self) -> Option<Cancellation> {
        self.last.clone()
    }

    pub(super) fn consume(&mut self) -> Option<StopReason> {
        self.unconsumed.take()
    }

    pub(super) fn begin_section(&mut self) {
        self.sections += 1;
    }

    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    /// What was asked for during the sections, when the last of them has ended.
    pub(super) fn end_section(&mut self) -> Option<StopReason> {
        self.sections = self.sections.saturating_sub(1);
        if self.sections > 0 {
            return None;
        }
        self.deferred.take()
    }
}
