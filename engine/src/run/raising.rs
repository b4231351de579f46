//! An interrupt that an agent raises: recorded, decided, and recorded as resolved. Once, even if processes die
//! meanwhile.

use interrupt_router::handler::{
    DecidedBy, DecisionError, DecisionPart, Declined, HandleError, OperationContext, Resolution,
    Routed, UnifiedInterruptHandler,
};
use interrupt_router::model::Message;
use interrupt_router::review::Answer;
use interrupt_router::{
    AgentType, Blackboard, InterruptId, InterruptRoutes, NodeId, Outcome, SealedInterrupt,
    StopReason,
};
use serde_json::json;

use super::event::RunEvent;
use super::failure::RunError;
use super::live::LiveRun;
use super::report::{InterruptRecord, InterruptResult};
use crate::durable::stored_interrupts::Raising;
use journal::entry::{InterruptEnd, InterruptIntent, InterruptOutcome};
use journal::error::KeepError;
use journal::kind::INTERRUPT;
use journal::place;

/// The node that raises an interrupt, in the turn in which it does.
#[derive(Clone, Copy)]
pub struct Raiser<'a> {
    /// The node.
    pub node: &'a NodeId,
    /// The name of its kind.
    pub kind: &'static str,
    /// Its turn.
    pub turn: u32,
    /// The step of the run that it took last.
    pub step: u32,
}

/// What a resolved interrupt is read from.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// What its node was told and has said.
    pub conversation: &'a [Message],
    /// What the agents of the run have left for each other.
    pub blackboard: &'a Blackboard,
}

/// What came of an interrupt that is not resolved yet.
pub enum Handled {
    /// It is resolved, and that is recorded.
    Resolved(Box<InterruptOutcome>),
    /// Its node was stopped while it waited; it stays open.
    Interrupted(StopReason),
    /// It waits for an answer that cannot come now.
    Waiting,
}

impl LiveRun {
    /// The interrupt as it was raised in this turn before, if it was: the decision was about these words, even if the
    /// node would now use others.
    ///
    /// # Errors
    ///
    /// If what was recorded cannot be read.
    pub fn recorded_interrupt<I: SealedInterrupt>(
        &self,
        raiser: Raiser<'_>,
    ) -> Result<Option<(InterruptId, I, Option<InterruptOutcome>)>, KeepError> {
        let Some((intent, outcome)) = self.journal.interrupt(raiser.node, raiser.turn)? else {
            return Ok(None);
        };
        let request = json!({ "kind": raiser.kind, "request": intent.request });
        let request = serde_json::from_value(request).map_err(|source| KeepError::Unreadable {
            place: place::interrupt(raiser.node, raiser.turn),
            source,
        })?;
        Ok(Some((intent.interrupt, request, outcome)))
    }

    /// Records that the node raises an interrupt: in the journal, and in the store for those who decide.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded.
    pub async fn record_interrupt<I: SealedInterrupt>(
        &self,
        raiser: Raiser<'_>,
        request: &I,
        begun: Option<InterruptId>,
    ) -> Result<InterruptId, RunError> {
        let Raiser {
            node, kind, turn, ..
        } = raiser;
        let journal = &self.journal;
        let payload = request.payload()?;
        let (interrupt, intent) = match begun {
            Some(interrupt) => (interrupt, None),
            None => {
                let at = journal.time_near(node);
                let (interrupt, event) = self.stored_interrupts.id_for(node, turn, at).await?;
                let intent = InterruptIntent {
                    interrupt,
                    request: payload.clone(),
                    event,
                };
                let place = place::interrupt(node, turn);
                let content = serde_json::to_string(&intent)?;
                let intent = journal.intent_of(node, INTERRUPT, &place, content)?;
                (interrupt, Some(intent))
            }
        };
        let raising = Raising {
            interrupt,
            node,
            turn,
            kind,
            details: &request.details(),
            request: &payload,
        };
        let effect = intent.as_ref().map(|intent| intent.effect);
        self.stored_interrupts.raise(&raising, intent).await?;
        if let Some(effect) = effect {
            journal.has_begun(effect);
        }
        Ok(interrupt)
    }

    /// Has an interrupt decided that is recorded, and records what came of it.
    ///
    /// # Errors
    ///
    /// If it cannot be handled, or recorded.
    pub async fn resolve_interrupt<I, R>(
        &self,
        handler: &UnifiedInterruptHandler<I, R>,
        raiser: Raiser<'_>,
        around: Around<'_>,
        (interrupt, request): (InterruptId, I),
    ) -> Result<Handled, RunError>
    where
        I: SealedInterrupt,
        I::Kind: AgentType<Route = R::AgentType>,
        R: InterruptRoutes,
    {
        let scope = self.scope_of(raiser.node);
        let context = OperationContext {
            interrupt,
            run: self.run,
            node: raiser.node,
            turn: raiser.turn,
            blackboard: around.blackboard,
            conversation: around.conversation,
            scope: &scope,
        };
        let end = match handler.handle_unified_interrupt(request, context).await {
            Ok(Outcome::Completed(resolution)) => self.end_of(raiser, resolution)?,
            // The person who paused it has been told that nothing goes on.
            Err(HandleError::Decision(DecisionError::Cancelled { reason, .. })) => {
                InterruptEnd::Stopped { reason }
            }
            Err(
                refusal @ (HandleError::NeedsCheckpoints { .. }
                | HandleError::Decision(DecisionError::Withdrawn { .. })),
            ) => InterruptEnd::Refused {
                reason: refusal.to_string(),
            },
            Ok(Outcome::Interrupted { reason, .. }) => return Ok(Handled::Interrupted(reason)),
            Err(error) => return self.unresolved(raiser, error),
        };
        let is_rerouted = matches!(
            end,
            InterruptEnd::Routed {
                reroute: Some(_),
                ..
            } | InterruptEnd::Declined {
                reroute: Some(_),
                ..
            }
        );
        let requested = is_rerouted || self.open_interrupts.was_requested(interrupt);
        let outcome = InterruptOutcome { requested, end };
        self.resolved(raiser, interrupt, &outcome).await?;
        Ok(Handled::Resolved(Box::new(outcome)))
    }

    /// The interrupt stays open: the run waits if only an answer is missing, and fails otherwise.
    fn unresolved(&self, raiser: Raiser<'_>, error: HandleError) -> Result<Handled, RunError> {
        if let HandleError::Paused { .. } = error {
            return Ok(Handled::Waiting);
        }
        if let HandleError::Unanswered { question, .. }
        | HandleError::InvalidAnswers { question, .. } = error
        {
            self.open_interrupts.unanswered(*question);
            return Ok(Handled::Waiting);
        }
        Err(RunError::Interrupt {
            node: raiser.node.to_string(),
            source: error,
        })
    }

    /// How the interrupt ends, as the journal keeps it.
    fn end_of<R: InterruptRoutes>(
        &self,
        raiser: Raiser<'_>,
        resolution: Resolution<R>,
    ) -> Result<InterruptEnd, RunError> {
        Ok(match resolution {
            Resolution::Routed(routed) => {
                let Routed {
                    routing,
                    target,
                    origin,
                    decision,
                    verdict,
                    decided_by,
                    filled_by,
                    answer,
                    reroute,
                } = *routed;
                InterruptEnd::Routed {
                    routing: serde_json::to_value(routing)?,
                    origin: R::agent_type_of(origin).name().to_owned(),
                    target: R::agent_type_of(target).name().to_owned(),
                    decision,
                    verdict: Some(verdict),
                    decided_by,
                    filled_by,
                    answer,
                    reroute,
                }
            }
            Resolution::Declined(Declined {
                decision,
                verdict,
                decided_by,
                answer,
                reroute,
            }) => InterruptEnd::Declined {
                decision,
                verdict,
                decided_by,
                answer,
                reroute,
            },
            Resolution::Stopped { reason, .. } => InterruptEnd::Stopped { reason },
            Resolution::Pruned { reason, .. } => InterruptEnd::Pruned { reason },
            Resolution::Branched { reason, .. } => {
                let place = place::interrupt(raiser.node, raiser.turn);
                let at = self.journal.time_of(raiser.node);
                let branch = self.journal.record.branch_at(&place, at);
                InterruptEnd::Branched { branch, reason }
            }
        })
    }

    /// Records what became of the interrupt. The checkpoint before it is where a fork can answer differently.
    async fn resolved(
        &self,
        raiser: Raiser<'_>,
        interrupt: InterruptId,
        outcome: &InterruptOutcome,
    ) -> Result<(), RunError> {
        self.checkpoint("an answer is carried out").await?;
        let place = place::interrupt(raiser.node, raiser.turn);
        let content = serde_json::to_string(outcome)?;
        self.journal.finish(raiser.node, &place, content).await?;
        for matter in [DecisionPart::Interrupt, DecisionPart::Request] {
            if let Some(dispatch) = self.decisions.dispatch_of(interrupt, matter).await? {
                self.journal.dispatched(dispatch).await?;
            }
        }
        Ok(())
    }

    /// Repeats the events that the observer got when the interrupt was resolved.
    pub fn told_again(&self, node: &NodeId, interrupt: InterruptId, outcome: &InterruptOutcome) {
        let recorder = &self.recorder;
        match &outcome.end {
            InterruptEnd::Routed {
                origin,
                target,
                decided_by,
                filled_by,
                answer,
                reroute,
                ..
            } => {
                if let Some(event) = reroute {
                    recorder.record(RunEvent::InterruptBound {
                        interrupt,
                        event: event.clone(),
                        target: target.clone(),
                    });
                }
                self.answered_again(interrupt, *decided_by, answer);
                recorder.record(RunEvent::InterruptResolved {
                    interrupt,
                    origin: origin.clone(),
                    target: target.clone(),
                    decided_by: *decided_by,
                    filled_by: *filled_by,
                    reroute: reroute.clone(),
                });
            }
            InterruptEnd::Declined {
                verdict,
                decided_by,
                answer,
                ..
            } => {
                self.answered_again(interrupt, *decided_by, answer);
                recorder.record(RunEvent::InterruptDeclined {
                    interrupt,
                    verdict: *verdict,
                    decided_by: *decided_by,
                });
            }
            InterruptEnd::Pruned { reason } => recorder.record(RunEvent::Pruned {
                interrupt,
                node: node.clone(),
                reason: reason.clone(),
            }),
            // The run's own end reports a stop; what follows reports the others.
            InterruptEnd::Stopped { .. }
            | InterruptEnd::Branched { .. }
            | InterruptEnd::LeftOut { .. }
            | InterruptEnd::Refused { .. } => {}
        }
    }

    fn answered_again(&self, interrupt: InterruptId, decided_by: DecidedBy, answer: &Answer) {
        // A rule repeats the answer that a person gave before.
        if matches!(decided_by, DecidedBy::Person | DecidedBy::Rule) {
            self.recorder.record(RunEvent::InterruptAnswered {
                interrupt,
                answer: answer.clone(),
            });
        }
    }

    /// Notes that the node has raised an interrupt, and notifies the observer.
    ///
    /// # Errors
    ///
    /// If the interrupt cannot be written as JSON.
    pub fn raised<I: SealedInterrupt>(
        &self,
        raiser: Raiser<'_>,
        interrupt: InterruptId,
        request: &I,
    ) -> Result<(), RunError> {
        let details = request.details();
        let record = InterruptRecord {
            interrupt,
            node: raiser.node.clone(),
            origin: request.kind().name(),
            interrupt_type: details.r#type,
            reason: details.reason.clone(),
            outcome: InterruptResult::Open,
        };
        self.open_interrupts.raised(raiser.step, record);
        self.recorder.record(RunEvent::InterruptRaised {
            interrupt,
            node: raiser.node.clone(),
            kind: request.kind().name(),
            details,
            payload: request.payload()?,
        });
        Ok(())
    }
}
