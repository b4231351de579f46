//! From an interrupt to its resolution: it is bound, decided, and carried out, in this order.

use serde_json::Value;

use super::decisions::{DecisionPart, Proposal, RecordedDecision};
use super::observer::LifecycleEvent;
use super::resolution::{DecidedBy, HandleError, Resolution};
use super::slot::Slot;
use super::{Branches, OperationContext, UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::context::RouteSnapshot;
use crate::event::InterruptRequestEvent;
use crate::ids::{DecisionId, EventId};
use crate::interrupt::{InterruptDetails, InterruptType, SealedInterrupt};
use crate::review::{Answer, QuestionKind, Resume};
use crate::route::RouteId;
use crate::routing::{InterruptRoutes, Routing};
use crate::verdict::Verdict;

/// An interrupt and where it could go, before anyone is asked.
pub(super) struct Raised<'a, R: Routing> {
    pub(super) agent_type: &'static str,
    pub(super) details: InterruptDetails,
    pub(super) payload: Value,
    pub(super) origin: RouteId<R>,
    pub(super) routes: RouteSnapshot<R>,
    /// The event of that reroute.
    pub(super) bound: Option<EventId>,
    pub(super) context: &'a OperationContext<'a>,
    /// The id of this process's decision.
    pub(super) decision: DecisionId,
}

impl<R: InterruptRoutes> Raised<'_, R> {
    /// Where the answer goes unless it is sent elsewhere.
    pub(super) fn target(&self) -> RouteId<R> {
        self.routes.target().unwrap_or(self.origin)
    }

    /// A decision to go where the answer goes by default.
    pub(super) fn proposal(&self, answer: Answer, decided_by: DecidedBy) -> Proposal<R::AgentType> {
        let verdict = answer.verdict();
        Proposal {
            interrupt: self.context.interrupt,
            matter: DecisionPart::Interrupt,
            decision: self.decision,
            verdict,
            answer: answer.kept_with(verdict),
            decided_by,
            answerer: None,
            target: R::agent_type_of(self.target()),
            is_chosen: false,
            bound: self.bound.clone(),
        }
    }
}

/// What came of asking for a decision.
pub(super) enum ResolvedDecision<R: InterruptRoutes> {
    /// Decided in this process; it is to be recorded.
    Here(Proposal<R::AgentType>),
    /// Decided elsewhere, and recorded.
    Elsewhere(RecordedDecision<R::AgentType>),
}

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    pub(super) async fn resolve(
        &self,
        request: &I,
        context: &OperationContext<'_>,
        slot: &Slot<R>,
    ) -> Result<Resolution<R>, Unresolved> {
        let details = request.details();
        if details.r#type == InterruptType::Branch && self.policy.branches == Branches::Refused {
            return Err(HandleError::NeedsCheckpoints {
                interrupt_type: InterruptType::Branch,
            }
            .into());
        }
        let decisions = &self.decisions;
        let standing = decisions
            .recorded(context.interrupt, DecisionPart::Interrupt)
            .await
            .map_err(HandleError::Decision)?;
        let origin = R::route_to(request.kind().origin_route());
        let (reroute, bound) = match &standing {
            // The bound reroute is used up, or waits for another interrupt.
            Some(decision) => {
                let target = R::route_to(decision.target);
                (decision.reroute.as_ref().map(|_| target), None)
            }
            None => match self.bind(context).await? {
                Some(event) => (Some(R::route_to(event.target())), Some(event.event_id)),
                None => (None, None),
            },
        };
        let raised = Raised {
            agent_type: request.kind().name(),
            payload: request.payload().map_err(HandleError::Unshowable)?,
            details,
            origin,
            routes: RouteSnapshot {
                reroute,
                origin: Some(origin),
                ..RouteSnapshot::default()
            },
            bound,
            context,
            decision: slot.decision,
        };
        let decision = match standing {
            Some(decision) => decision,
            None => self.decision(&raised, slot).await?,
        };
        self.carry_out(&raised, decision).await
    }

    /// The decision, made here or elsewhere, and recorded.
    async fn decision(
        &self,
        raised: &Raised<'_, R>,
        slot: &Slot<R>,
    ) -> Result<RecordedDecision<R::AgentType>, Unresolved> {
        let decided = match slot.proposal(raised.bound.as_ref()) {
            Some(proposal) => ResolvedDecision::Here(proposal),
            None => match raised.details.r#type {
                InterruptType::HumanReview => self.ask(raised, QuestionKind::HumanReview).await?,
                InterruptType::AgentReview => self.review(raised).await?,
                InterruptType::Pause => self.pause(raised).await?,
                // Nothing is asked: the agent's own request is carried out.
                InterruptType::Stop | InterruptType::Prune | InterruptType::Branch => {
                    ResolvedDecision::Here(Proposal {
                        verdict: Verdict::Applied,
                        ..raised.proposal(Answer::default(), DecidedBy::Policy)
                    })
                }
            },
        };
        match decided {
            ResolvedDecision::Elsewhere(decision) => Ok(decision),
            ResolvedDecision::Here(proposal) => {
                slot.keep(&proposal);
                let is_a_persons = proposal.decided_by == DecidedBy::Person;
                let recorded = self.decisions.decide(proposal).await;
                let recorded = recorded.map_err(HandleError::Decision)?;
                if is_a_persons {
                    self.told_decided(raised, &recorded.answer);
                }
                Ok(recorded)
            }
        }
    }

    /// Reports a person's decision, once it is recorded.
    fn told_decided(&self, raised: &Raised<'_, R>, answer: &Answer) {
        let interrupt = raised.context.interrupt;
        if raised.details.r#type == InterruptType::Pause {
            let input = answer.text.clone();
            self.observe(interrupt, LifecycleEvent::Resumed(&Resume { input }));
        } else {
            self.observe(interrupt, LifecycleEvent::Answered(answer));
        }
    }

    /// The reroute that is bound to the interrupt, if its node has one.
    async fn bind(
        &self,
        context: &OperationContext<'_>,
    ) -> Result<Option<InterruptRequestEvent<I::Kind>>, HandleError> {
        let bound = self
            .decisions
            .bind(context.run, context.node, context.interrupt);
        let bound = bound.await.map_err(HandleError::Decision)?;
        if let Some(event) = &bound {
            let (event, target) = (event.event_id.as_str(), event.target().name());
            self.observe(context.interrupt, LifecycleEvent::Bound { event, target });
        }
        Ok(bound)
    }
}
