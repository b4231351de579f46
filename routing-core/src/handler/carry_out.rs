//! What follows from a decision: the run ends, or the request of the target is filled in.

use super::ask_person::RoutedAnswer;
use super::decisions::{DecisionPart, Proposal, RecordedDecision};
use super::observer::LifecycleEvent;
use super::prompt::ResolutionPrompt;
use super::resolution::{DecidedBy, Declined, FilledBy, HandleError, Resolution, Routed};
use super::resolve::Raised;
use super::{OperationContext, UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::answer::AnswerError;
use crate::ask::AskError;
use crate::context::{LlmCallContext, RouteSnapshot};
use crate::ids::{DecisionId, EventId, InterruptId};
use crate::interrupt::{InterruptType, SealedInterrupt};
use crate::model::{ModelCaller, ModelError, Purpose};
use crate::outcome::Outcome;
use crate::review::{Answer, Question, QuestionKind};
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::InterruptRoutes;

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    pub(super) async fn carry_out(
        &self,
        raised: &Raised<'_, R>,
        decision: RecordedDecision<R::AgentType>,
    ) -> Result<Resolution<R>, Unresolved> {
        let interrupt = raised.context.interrupt;
        let reason = raised.details.reason.clone();
        match raised.details.r#type {
            InterruptType::Stop => {
                self.observe(interrupt, LifecycleEvent::Stopped { reason: &reason });
                let decision = decision.id;
                Ok(Resolution::Stopped { decision, reason })
            }
            InterruptType::Prune => {
                self.observe(interrupt, LifecycleEvent::Pruned { reason: &reason });
                Ok(Resolution::Pruned {
                    decision: decision.id,
                    node: raised.context.node.clone(),
                    reason,
                })
            }
            InterruptType::Branch => {
                self.observe(interrupt, LifecycleEvent::Branched { reason: &reason });
                let decision = decision.id;
                Ok(Resolution::Branched { decision, reason })
            }
            InterruptType::HumanReview | InterruptType::AgentReview | InterruptType::Pause => {
                if decision.verdict.declines() {
                    return Ok(self.declined(raised, decision));
                }
                self.route(raised, decision).await
            }
        }
    }

    /// The answer is no, or none came in time: nothing is filled in.
    fn declined(
        &self,
        raised: &Raised<'_, R>,
        decision: RecordedDecision<R::AgentType>,
    ) -> Resolution<R> {
        let RecordedDecision {
            id,
            verdict,
            answer,
            decided_by,
            target: _,
            reroute,
        } = decision;
        let moment = LifecycleEvent::Declined {
            verdict,
            decided_by,
        };
        self.observe(raised.context.interrupt, moment);
        Resolution::Declined(Declined {
            decision: id,
            verdict,
            decided_by,
            answer,
            reroute,
        })
    }

    /// Fills in the request of the target that the decision has fixed.
    async fn route(
        &self,
        raised: &Raised<'_, R>,
        decision: RecordedDecision<R::AgentType>,
    ) -> Result<Resolution<R>, Unresolved> {
        let interrupt = raised.context.interrupt;
        let RecordedDecision {
            id: decision,
            verdict,
            mut answer,
            decided_by,
            target,
            reroute,
        } = decision;
        let target = R::route_to(target);
        let filled = match self.determined(raised, target, &answer) {
            Determined::Filled(routing, filled_by) => Ok((routing, filled_by)),
            Determined::Unfitting(problem) => Err(problem),
            Determined::No => self.fill_once(raised, target, &answer).await?,
        };
        let (routing, filled_by) = match filled {
            Ok(filled) => filled,
            Err(problem) => {
                let given = self
                    .filled_by_person(raised, target, problem, &mut answer)
                    .await?;
                match given {
                    ByPerson::Filled(routing) => (routing, FilledBy::Person),
                    ByPerson::Declined(decision) => return Ok(self.declined(raised, *decision)),
                }
            }
        };
        let moment = LifecycleEvent::Resolved {
            origin: R::agent_type_of(raised.origin).name(),
            target: R::agent_type_of(target).name(),
            decided_by,
            filled_by,
            reroute: reroute.as_ref().map(EventId::as_str),
        };
        self.observe(interrupt, moment);
        let origin = raised.origin;
        let routed = Routed {
            routing,
            target,
            origin,
            decision,
            verdict,
            decided_by,
            filled_by,
            answer,
            reroute,
        };
        Ok(Resolution::Routed(Box::new(routed)))
    }

    /// The request that the decision determines by itself, so that no model is asked.
    fn determined(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        answer: &Answer,
    ) -> Determined<R> {
        if let Some(edited) = &answer.edited_request {
            return match self.read_request(target, edited) {
                Ok(record) => Determined::Filled(record, FilledBy::Person),
                // A person who decided elsewhere was not told that it does not fit.
                Err(error) => Determined::Unfitting(error.to_string()),
            };
        }
        // A pause that ends without new input: the target continues with what it had.
        if raised.details.r#type == InterruptType::Pause
            && *answer == Answer::default()
            && let Some(record) = raised.context.blackboard.last_request(target)
        {
            return Determined::Filled(record, FilledBy::Unchanged);
        }
        Determined::No
    }

    /// Lets a model fill in the request, unless a person was asked for it before.
    async fn fill_once(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        answer: &Answer,
    ) -> Result<Result<(R, FilledBy), String>, Unresolved> {
        let decisions = &self.decisions;
        let asked = decisions.person_asked(raised.context.interrupt, DecisionPart::Request);
        match asked.await.map_err(HandleError::Decision)? {
            Some(problem) => Ok(Err(problem)),
            None => self.fill(raised, target, answer).await,
        }
    }

    /// Lets a model fill in the request; returns the last problem if it never gets it right.
    async fn fill(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        answer: &Answer,
    ) -> Result<Result<(R, FilledBy), String>, Unresolved> {
        let context = raised.context;
        let call = self.resolution_call(raised, target, answer)?;
        let corrected = |correction, error: &AnswerError| {
            let moment = LifecycleEvent::Corrected { correction, error };
            self.observe(context.interrupt, moment);
        };
        let asked = self.asker.ask(&call, &corrected, context.scope).await;
        match asked {
            Ok(Outcome::Completed(asked)) => {
                let corrections = asked.corrections;
                Ok(Ok((asked.routing, FilledBy::Model { corrections })))
            }
            Ok(Outcome::Interrupted { reason, .. }) => Err(Unresolved::Interrupted(reason)),
            // A model that will not carry the decision out says so in its provider's own way: a person reads why.
            Err(AskError::Model(refused @ ModelError::Refused { .. })) => {
                Ok(Err(refused.to_string()))
            }
            Err(AskError::Model(source)) => {
                let interrupt = context.interrupt;
                Err(HandleError::Model { interrupt, source }.into())
            }
            Err(spent @ AskError::Spent { .. }) => Ok(Err(spent.to_string())),
        }
    }

    /// The call that fills in a request: what was raised and decided, narrowed to the one target.
    fn resolution_call(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        answer: &Answer,
    ) -> Result<LlmCallContext<R>, HandleError> {
        let context = raised.context;
        let last_request = context
            .blackboard
            .last_request(target)
            .map(serde_json::to_value)
            .transpose()
            .map_err(HandleError::Unshowable)?;
        let prompt = ResolutionPrompt {
            agent_type: raised.agent_type,
            target: target.info(),
            details: &raised.details,
            payload: &raised.payload,
            answer,
            last_request: last_request.as_ref(),
            conversation: context.conversation,
        };
        let caller = ModelCaller {
            run: context.run,
            node: context.node.clone(),
            agent_type: raised.agent_type,
            purpose: Purpose::Resolution,
            turn: context.turn,
            correction: 0,
        };
        let snapshot = RouteSnapshot {
            decided: Some(target),
            ..raised.routes
        };
        let undecorated = LlmCallContext::new(caller, prompt.messages(), snapshot);
        let decorated = undecorated.decorated(&self.decorators);
        if decorated.selection.routes() == RouteSet::only(target) {
            return Ok(decorated);
        }
        Err(HandleError::NotNarrowed {
            target: target.field(),
            allowed: decorated.selection.routes().fields().join(", "),
        })
    }

    /// No model could fill in the request: a person does. The decision is kept.
    async fn filled_by_person(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        problem: String,
        answer: &mut Answer,
    ) -> Result<ByPerson<R>, Unresolved> {
        let Raised {
            agent_type,
            details,
            payload,
            context,
            ..
        } = raised;
        let interrupt = context.interrupt;
        let decisions = &self.decisions;
        let mut problem = problem;
        if let Some(standing) = decisions
            .recorded(interrupt, DecisionPart::Request)
            .await
            .map_err(HandleError::Decision)?
        {
            if standing.verdict.declines() {
                return Ok(ByPerson::Declined(Box::new(standing)));
            }
            match self.read_given(target, &standing.answer) {
                Ok(record) => {
                    take_over(answer, standing.answer);
                    return Ok(ByPerson::Filled(record));
                }
                Err(unfitting) => problem = unfitting,
            }
        }
        let kind = QuestionKind::UnfilledRequest {
            problem,
            fills: interrupt,
        };
        let mut question = self.question(agent_type, details, payload, target, kind, context);
        question.interrupt = decisions.question_of(interrupt, DecisionPart::Request);
        // The target is decided: it cannot be changed here any more.
        question.routes = vec![R::agent_type_of(target).name()];
        let given = self.request_of_person(question, target, context).await?;
        if given.verdict.declines() {
            return Ok(ByPerson::Declined(Box::new(given)));
        }
        let record =
            self.read_given(target, &given.answer)
                .map_err(|_problem| HandleError::NoRoute {
                    target: target.field().to_owned(),
                    record: R::NAME,
                })?;
        take_over(answer, given.answer);
        Ok(ByPerson::Filled(record))
    }

    /// Asks a person for the request of a target, and records what is said.
    async fn request_of_person(
        &self,
        question: Question,
        target: RouteId<R>,
        context: &OperationContext<'_>,
    ) -> Result<RecordedDecision<R::AgentType>, Unresolved> {
        let (interrupt, decisions) = (context.interrupt, &self.decisions);
        match self
            .ask_person(question, target, context, DecisionPart::Request)
            .await?
        {
            RoutedAnswer::Elsewhere(standing) => Ok(standing),
            RoutedAnswer::Here { answer, .. } => {
                let proposal = self.proposal_of_request(interrupt, target, answer);
                let recorded = decisions.decide(proposal).await;
                let recorded = recorded.map_err(HandleError::Decision)?;
                self.observe(interrupt, LifecycleEvent::Answered(&recorded.answer));
                Ok(recorded)
            }
        }
    }

    /// What a person says about the request of a route that is decided.
    fn proposal_of_request(
        &self,
        interrupt: InterruptId,
        target: RouteId<R>,
        answer: Answer,
    ) -> Proposal<R::AgentType> {
        let verdict = answer.verdict();
        Proposal {
            interrupt,
            matter: DecisionPart::Request,
            decision: DecisionId::generate(),
            verdict,
            answer: answer.kept_with(verdict),
            decided_by: DecidedBy::Person,
            answerer: Some(self.reviewer.answerer(interrupt)),
            target: R::agent_type_of(target),
            is_chosen: false,
            bound: None,
        }
    }

    /// Reads the request that an answer contains.
    fn read_given(&self, target: RouteId<R>, answer: &Answer) -> Result<R, String> {
        match &answer.edited_request {
            Some(edited) => self
                .read_request(target, edited)
                .map_err(|error| error.to_string()),
            None => Err("the answer holds no request".to_owned()),
        }
    }
}

/// Puts a request that a person has filled in, and the words with it, into the answer that is carried out: the words after
/// those that the decision has.
fn take_over(answer: &mut Answer, given: Answer) {
    answer.edited_request = given.edited_request;
    let words = [answer.text.take(), given.text];
    let words: Vec<String> = words.into_iter().flatten().collect();
    answer.text = (!words.is_empty()).then(|| words.join("\n"));
}

/// What a person made of a request that no model could fill in.
enum ByPerson<R: InterruptRoutes> {
    /// The person has filled it in.
    Filled(R),
    /// The person gives none, or did not in time.
    Declined(Box<RecordedDecision<R::AgentType>>),
}

/// Whether a decision determines the request of its target.
enum Determined<R> {
    /// It does.
    Filled(R, FilledBy),
    /// It was meant to, but its content does not fit.
    Unfitting(String),
    /// It does not.
    No,
}
