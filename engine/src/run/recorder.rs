//! Notifies an observer of what happens, in order and without gaps.

use std::sync::{Arc, Mutex, PoisonError};

use interrupt_router::answer::AnswerError;
use interrupt_router::model::{CallNote, ChunkSink};
use interrupt_router::{NodeId, RunId};
use interrupts::Clock;
use jiff::Timestamp;

use super::event::{RunEvent, RunObserver, RunOccurrence};
use super::waits::CallWaits;
use crate::durable::replay;

/// Gives each event its place and passes it on, one at a time.
pub struct Recorder {
    run: RunId,
    clock: Arc<dyn Clock>,
    wants_chunks: bool,
    observer: Arc<dyn RunObserver>,
    last: Mutex<u64>,
    waits: CallWaits,
}

impl Recorder {
    pub fn new(run: RunId, clock: Arc<dyn Clock>, observer: Arc<dyn RunObserver>) -> Self {
        Self {
            run,
            clock,
            wants_chunks: observer.wants_chunks(),
            observer,
            last: Mutex::new(0),
            waits: CallWaits::default(),
        }
    }

    /// The calls that wait for their next try.
    pub const fn waits(&self) -> &CallWaits {
        &self.waits
    }

    /// Records what happened. The observer is called under the lock that gives the place, so it sees
    /// the events in their order.
    pub fn record(&self, event: RunEvent) {
        self.record_since(event, replay::recorded());
    }

    /// Records what happened now, or what had happened when something was recorded.
    pub fn record_since(&self, event: RunEvent, recorded: Option<Timestamp>) {
        if let RunEvent::ModelNoted { node, note } = &event {
            self.waits.noted(node, note, self.clock.now());
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        self.observer.observe(&RunOccurrence {
            run: self.run,
            sequence: *last,
            at: recorded.unwrap_or_else(|| self.clock.now()),
            replayed: recorded.is_some(),
            event,
        });
    }

    /// Records why a node's answer does not fit.
    pub fn corrected(&self, node: &NodeId, correction: u32, error: &AnswerError) {
        self.record(RunEvent::AnswerCorrected {
            node: node.clone(),
            correction,
            path: error.path().to_owned(),
            reason: error.reason().to_owned(),
        });
    }
}

/// Records the notes on one node's call, and no piece of its answer.
pub struct CallNotes {
    pub recorder: Arc<Recorder>,
    pub node: NodeId,
}

impl ChunkSink for CallNotes {
    fn chunk(&self, _text: &str) {}

    fn noted(&self, note: &CallNote) {
        self.recorder.record(RunEvent::ModelNoted {
            node: self.node.clone(),
            note: note.clone(),
        });
    }
}

/// Records the pieces of one node's answer.
pub struct AnswerChunks {
    pub recorder: Arc<Recorder>,
    pub node: NodeId,
}

impl ChunkSink for AnswerChunks {
    fn chunk(&self, text: &str) {
        if !self.recorder.wants_chunks {
            return;
        }
        self.recorder.record(RunEvent::AnswerChunk {
            node: self.node.clone(),
            text: text.to_owned(),
        });
    }

    fn noted(&self, note: &CallNote) {
        self.recorder.record(RunEvent::ModelNoted {
            node: self.node.clone(),
            note: note.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use interrupts::SystemClock;

    use super::*;

    /// Keeps what it sees.
    struct Seen {
        wants_chunks: bool,
        seen: Mutex<Vec<RunEvent>>,
    }

    impl RunObserver for Seen {
        fn observe(&self, occurrence: &RunOccurrence) {
            let mut seen = self.seen.lock().unwrap();
            seen.push(occurrence.event.clone());
        }

        fn wants_chunks(&self) -> bool {
            self.wants_chunks
        }
    }

    #[test]
    fn pieces_of_answers_are_events_for_observers_that_want_them() {
        for wants_chunks in [true, false] {
            let observer = Arc::new(Seen {
                wants_chunks,
                seen: Mutex::default(),
            });
            let clock = Arc::new(SystemClock);
            let recorder = Recorder::new(RunId::generate(), clock, Arc::clone(&observer) as Arc<_>);
            let node = NodeId::root();
            let chunks = AnswerChunks {
                recorder: Arc::new(recorder),
                node: node.clone(),
            };
            chunks.chunk("one ");
            chunks.recorder.record(RunEvent::StopDeferred { node });
            chunks.chunk("two");
            let seen = observer.seen.lock().unwrap();
            let texts = seen.iter().filter_map(|event| {
                let RunEvent::AnswerChunk { text, .. } = event else {
                    return None;
                };
                Some(text.as_str())
            });
            let expected: &[&str] = if wants_chunks { &["one ", "two"] } else { &[] };
            assert_eq!(texts.collect::<Vec<_>>(), expected);
            assert_eq!(seen.len(), expected.len() + 1, "{seen:?}");
        }
    }
}
