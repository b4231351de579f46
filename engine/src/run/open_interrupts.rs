//! The run's interrupts, each from its raising to its end, and the observer's events about them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interrupt_router::handler::LifecycleEvent;
use interrupt_router::review::Question;
use interrupt_router::{EventId, InterruptId, NodeId};
use interrupts::store::NodeActivity;

use super::event::RunEvent;
use super::nodes::NodeDirectory;
use super::recorder::Recorder;
use super::report::{InterruptRecord, InterruptResult};

/// Keeps the run's interrupts, and notifies the observer of what happens to them.
pub struct OpenInterrupts {
    recorder: Arc<Recorder>,
    nodes: Arc<NodeDirectory>,
    kept: Mutex<RecordedInterrupts>,
}

#[derive(Default)]
struct RecordedInterrupts {
    records: Vec<InterruptRecord>,
    /// The step that raised each of them.
    steps: Vec<u32>,
    questions: Vec<Question>,
    /// The interrupts that a supervisor's event asked for.
    requested: Vec<InterruptId>,
    /// The interrupts that people are being asked about, each with the id of the question. A node may have several: one
    /// for each of its tool calls.
    asked: BTreeMap<InterruptId, InterruptId>,
}

impl OpenInterrupts {
    pub fn new(recorder: &Arc<Recorder>, nodes: &Arc<NodeDirectory>) -> Self {
        Self {
            recorder: Arc::clone(recorder),
            nodes: Arc::clone(nodes),
            kept: Mutex::default(),
        }
    }

    /// An interrupt was raised.
    ///
    /// They are kept in the order of the steps that raised them: workers side by side raise theirs in any
    /// order, and again in another one when the run is resumed.
    pub fn raised(&self, step: u32, record: InterruptRecord) {
        let mut kept = self.lock();
        let at = kept.steps.partition_point(|before| *before <= step);
        kept.steps.insert(at, step);
        kept.records.insert(at, record);
    }

    /// Records how it ended.
    pub fn ended(&self, interrupt: InterruptId, outcome: InterruptResult) {
        let mut kept = self.lock();
        if let Some(record) = kept
            .records
            .iter_mut()
            .find(|record| record.interrupt == interrupt)
        {
            record.outcome = outcome;
        }
    }

    /// Closes the undecided interrupts of a node and those below it: they ask for nothing any more.
    pub fn refused_within(&self, node: &NodeId, reason: &str) {
        let mut kept = self.lock();
        for record in &mut kept.records {
            if record.node.is_within(node) && record.outcome == InterruptResult::Open {
                record.outcome = InterruptResult::Refused {
                    reason: reason.to_owned(),
                };
            }
        }
    }

    /// A question stays open.
    pub fn unanswered(&self, question: Question) {
        self.lock().questions.push(question);
    }

    /// Whether a supervisor's event asked for the interrupt.
    pub fn was_requested(&self, interrupt: InterruptId) -> bool {
        self.lock().requested.contains(&interrupt)
    }

    /// All interrupts, in the order of the steps that raised them.
    pub fn records(&self) -> Vec<InterruptRecord> {
        self.lock().records.clone()
    }

    /// The questions that are open.
    pub fn questions(&self) -> Vec<Question> {
        self.lock().questions.clone()
    }

    /// The interrupts that are open, by the ids by which they are decided: of one that is decided, and whose request
    /// could not be filled in, that of the question for the request.
    pub fn open(&self) -> Vec<InterruptId> {
        let open = self.open_of().into_iter();
        open.map(|(interrupt, _node)| self.question_of(interrupt))
            .collect()
    }

    /// The id of the question that is asked about an interrupt: its own, unless its request could not be filled in.
    fn question_of(&self, interrupt: InterruptId) -> InterruptId {
        let kept = self.lock();
        kept.asked.get(&interrupt).copied().unwrap_or(interrupt)
    }

    /// The interrupts that are open, and the nodes that have raised them.
    pub fn open_of(&self) -> Vec<(InterruptId, NodeId)> {
        let is_open = |record: &&InterruptRecord| record.outcome == InterruptResult::Open;
        let kept = self.lock();
        let open = kept.records.iter().filter(is_open);
        open.map(|record| (record.interrupt, record.node.clone()))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, RecordedInterrupts> {
        // Every change is one assignment or one push, so a panic elsewhere leaves it whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raiser(&self, interrupt: InterruptId) -> Option<(NodeId, &'static str)> {
        let kept = self.lock();
        let record = kept
            .records
            .iter()
            .find(|record| record.interrupt == interrupt)?;
        Some((record.node.clone(), record.origin))
    }

    /// The question is closed, with or without an answer: its node goes on, unless it waits for another one too.
    pub fn goes_on(&self, interrupt: InterruptId) {
        if let Some(state) = self.state_without(interrupt) {
            self.state(interrupt, state);
        }
    }

    /// The node's new state once the question about an interrupt is closed, if that changes anything.
    fn state_without(&self, interrupt: InterruptId) -> Option<NodeActivity> {
        let mut kept = self.lock();
        kept.asked.remove(&interrupt);
        let node_of = |id: &InterruptId| {
            let record = kept.records.iter().find(|record| record.interrupt == *id);
            record.map(|record| &record.node)
        };
        let node = node_of(&interrupt);
        let waits_on = kept.asked.keys().any(|other| node_of(other) == node);
        (!waits_on).then_some(NodeActivity::Running)
    }

    fn state(&self, interrupt: InterruptId, state: NodeActivity) {
        let Some((node, kind)) = self.raiser(interrupt) else {
            return;
        };
        if self.nodes.set_state(&node, state) {
            self.recorder.record(RunEvent::AgentStatusChanged {
                node,
                kind,
                status: state,
            });
        }
    }

    /// The event that the observer gets for a moment, if any.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other moments are told of by the function that is called for them"
    )]
    fn run_event(&self, interrupt: InterruptId, moment: LifecycleEvent<'_>) -> Option<RunEvent> {
        Some(match moment {
            LifecycleEvent::Bound { event, target } => RunEvent::InterruptBound {
                interrupt,
                event: event_id(event)?,
                target: target.to_owned(),
            },
            LifecycleEvent::Asked(question) => RunEvent::InterruptOpened {
                question: Box::new(question.clone()),
            },
            LifecycleEvent::Refused { problem } => RunEvent::AnswerRefused {
                interrupt: self.question_of(interrupt),
                problem: problem.to_owned(),
            },
            LifecycleEvent::Answered(answer) => RunEvent::InterruptAnswered {
                interrupt: self.question_of(interrupt),
                answer: answer.clone(),
            },
            LifecycleEvent::Paused(pause) => RunEvent::Paused {
                interrupt,
                reason: pause.reason.clone(),
            },
            LifecycleEvent::Resumed(resume) => RunEvent::Resumed {
                interrupt,
                input: resume.input.clone(),
            },
            other => return self.told_of_decisions(interrupt, other),
        })
    }

    /// The events for the moments that involve no person.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list of moments may grow; what is not known here is not told"
    )]
    fn told_of_decisions(
        &self,
        interrupt: InterruptId,
        moment: LifecycleEvent<'_>,
    ) -> Option<RunEvent> {
        Some(match moment {
            LifecycleEvent::Reviewed {
                confidence,
                threshold,
            } => RunEvent::InterruptReviewed {
                interrupt,
                confidence,
                threshold,
            },
            LifecycleEvent::Corrected { correction, error } => RunEvent::AnswerCorrected {
                node: self.raiser(interrupt)?.0,
                correction,
                path: error.path().to_owned(),
                reason: error.reason().to_owned(),
            },
            LifecycleEvent::Resolved {
                origin,
                target,
                decided_by,
                filled_by,
                reroute,
            } => RunEvent::InterruptResolved {
                interrupt,
                origin: origin.to_owned(),
                target: target.to_owned(),
                decided_by,
                filled_by,
                reroute: reroute.and_then(event_id),
            },
            LifecycleEvent::Declined {
                verdict,
                decided_by,
            } => RunEvent::InterruptDeclined {
                interrupt,
                verdict,
                decided_by,
            },
            LifecycleEvent::Pruned { reason } => RunEvent::Pruned {
                interrupt,
                node: self.raiser(interrupt)?.0,
                reason: reason.to_owned(),
            },
            // The run's own end reports a stop; unknown moments are not reported.
            _ => return None,
        })
    }
}

fn event_id(event: &str) -> Option<EventId> {
    EventId::try_from(event.to_owned()).ok()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the list of moments may grow, and only a few change what a node does"
)]
impl OpenInterrupts {
    /// Follows what happens to an interrupt.
    pub fn observe(&self, interrupt: InterruptId, moment: LifecycleEvent<'_>) {
        let event = self.run_event(interrupt, moment);
        let after = match &moment {
            LifecycleEvent::Bound { .. } => {
                self.lock().requested.push(interrupt);
                None
            }
            LifecycleEvent::Asked(question) => {
                self.lock().asked.insert(interrupt, question.interrupt);
                Some(NodeActivity::WaitingReview)
            }
            LifecycleEvent::Paused(_) => Some(NodeActivity::Paused),
            LifecycleEvent::Answered(_) | LifecycleEvent::Resumed(_) => {
                self.state_without(interrupt)
            }
            _ => None,
        };
        if let Some(event) = event {
            self.recorder.record(event);
        }
        if let Some(state) = after {
            self.state(interrupt, state);
        }
    }
}
