//! From an interrupt to its resolution: who is asked, where it goes, who fills in the request.

use serde_json::Value;

use super::ask_person::Answered;
use super::observer::InterruptMoment;
use super::prompt::ResolutionPrompt;
use super::resolution::{DecidedBy, FilledBy, HandleError, Resolution, Routed};
use super::slot::{Decided, Slot};
use super::{OperationContext, UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::answer::AnswerError;
use crate::ask::{AskError, CorrectionObserver};
use crate::context::{LlmCallContext, RouteSnapshot, Selection};
use crate::event::InterruptRequestEvent;
use crate::ids::DecisionId;
use crate::interrupt::{InterruptDetails, InterruptType, SealedInterrupt};
use crate::model::{Caller, Purpose};
use crate::outcome::Outcome;
use crate::review::{Answer, Pause, QuestionKind};
use crate::route::RouteId;
use crate::routing::{InterruptRoutes, Routing};

/// An interrupt and where it could go, before anybody is asked.
struct Raised<'a, R: Routing> {
    agent_type: &'static str,
    details: InterruptDetails,
    payload: Value,
    origin: RouteId<R>,
    reroute: Option<RouteId<R>>,
    context: &'a OperationContext<'a>,
}

impl<R: Routing> Raised<'_, R> {
    /// Where the answer goes unless somebody sends it elsewhere.
    fn target(&self) -> RouteId<R> {
        self.reroute.unwrap_or(self.origin)
    }
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
        if details.r#type == InterruptType::Branch {
            return Err(HandleError::NeedsCheckpoints {
                interrupt_type: InterruptType::Branch,
            }
            .into());
        }
        let bound = self.bind(context).await?;
        let raised = Raised {
            agent_type: request.kind().name(),
            payload: request.payload().map_err(HandleError::Unshowable)?,
            details,
            origin: R::route_to(request.kind().origin_route()),
            reroute: bound.as_ref().map(|event| R::route_to(event.target())),
            context,
        };
        let decided = match (slot.decided(raised.reroute), raised.details.r#type) {
            (Some(decided), _) => decided,
            (None, InterruptType::HumanReview) => {
                self.ask(&raised, QuestionKind::HumanReview).await?
            }
            (None, InterruptType::AgentReview) => self.review(&raised).await?,
            (None, InterruptType::Pause) => self.pause(&raised).await?,
            (None, InterruptType::Stop | InterruptType::Prune) => {
                return self.end(&raised, slot.decision).await;
            }
            (None, InterruptType::Branch) => {
                return Err(HandleError::NeedsCheckpoints {
                    interrupt_type: InterruptType::Branch,
                }
                .into());
            }
        };
        slot.keep(raised.reroute, &decided);
        self.route(&raised, decided, bound, slot.decision).await
    }

    /// The reroute that is bound to the interrupt, where its node has one.
    async fn bind(
        &self,
        context: &OperationContext<'_>,
    ) -> Result<Option<InterruptRequestEvent<I::Kind>>, HandleError> {
        let now = self.config.clock.now();
        let bound = self
            .config
            .reroutes
            .bind(context.run, context.node, context.interrupt, now)
            .await?;
        if let Some(event) = &bound {
            let (event, target) = (event.event_id.as_str(), event.target().name());
            self.config
                .observer
                .observe(context.interrupt, InterruptMoment::Bound { event, target });
        }
        Ok(bound)
    }

    /// HUMAN_REVIEW: a person answers.
    async fn ask(
        &self,
        raised: &Raised<'_, R>,
        kind: QuestionKind,
    ) -> Result<Decided<R>, Unresolved> {
        let Raised {
            agent_type,
            details,
            payload,
            context,
            ..
        } = raised;
        let question = self.question(agent_type, details, payload, raised.target(), kind, context);
        let Answered {
            answer,
            target,
            filled,
        } = self.ask_person(question, raised.target(), context).await?;
        let chosen = answer.reroute_to.is_some().then_some(target);
        let filled = filled.map(|record| (record, FilledBy::Person));
        Ok(Decided {
            answer,
            decided_by: DecidedBy::Person,
            chosen,
            filled,
        })
    }

    /// AGENT_REVIEW: a model answers; below the threshold, or where it cannot, a person does.
    async fn review(&self, raised: &Raised<'_, R>) -> Result<Decided<R>, Unresolved> {
        let threshold = self.config.policy.confidence_threshold;
        let Raised {
            agent_type,
            details,
            payload,
            context,
            ..
        } = raised;
        let (suggestion, confidence) = match self
            .ask_reviewing_model(agent_type, details, payload, context)
            .await
        {
            Ok(reviewed) => {
                let confidence = reviewed.confidence;
                self.config.observer.observe(
                    context.interrupt,
                    InterruptMoment::Reviewed {
                        confidence,
                        threshold,
                    },
                );
                if confidence >= threshold {
                    let decided_by = DecidedBy::Model { confidence };
                    return Ok(Decided {
                        answer: reviewed.answer,
                        decided_by,
                        chosen: None,
                        filled: None,
                    });
                }
                (
                    serde_json::to_string(&reviewed.answer).map_err(HandleError::Unshowable)?,
                    confidence,
                )
            }
            Err(Unresolved::Failed(HandleError::Review(error))) => (
                format!("the reviewing model gave no usable answer: {error}"),
                0,
            ),
            // A reviewer that cannot be reached is not there: that is what people are for.
            Err(Unresolved::Failed(HandleError::Model { source, .. })) => {
                (format!("the reviewing model gave no answer: {source}"), 0)
            }
            Err(other) => return Err(other),
        };
        self.ask(
            raised,
            QuestionKind::UnsureReview {
                suggestion,
                confidence,
                threshold,
            },
        )
        .await
    }

    /// PAUSE: nothing is asked; the run waits until somebody resumes it.
    async fn pause(&self, raised: &Raised<'_, R>) -> Result<Decided<R>, Unresolved> {
        let context = raised.context;
        let pause = Pause {
            interrupt: context.interrupt,
            run: context.run,
            node: context.node.clone(),
            agent_type: raised.agent_type,
            reason: raised.details.reason.clone(),
        };
        self.config
            .observer
            .observe(context.interrupt, InterruptMoment::Paused(&pause));
        let resume = match self.config.reviewer.resume(&pause, context.scope).await {
            Ok(Outcome::Completed(resume)) => resume,
            Ok(Outcome::Interrupted { reason, .. }) => return Err(Unresolved::Interrupted(reason)),
            Err(source) => {
                let (interrupt, reason) = (pause.interrupt, pause.reason);
                return Err(HandleError::Paused {
                    interrupt,
                    reason,
                    source,
                }
                .into());
            }
        };
        self.config
            .observer
            .observe(context.interrupt, InterruptMoment::Resumed(&resume));
        // Without new input the target goes on with what it had: there is nothing to fill in.
        let unchanged = match &resume.input {
            None => context
                .blackboard
                .last_request(raised.target())
                .map(|record| (record, FilledBy::Unchanged)),
            Some(_) => None,
        };
        let answer = Answer {
            text: resume.input,
            ..Answer::default()
        };
        Ok(Decided {
            answer,
            decided_by: DecidedBy::Person,
            chosen: None,
            filled: unchanged,
        })
    }

    /// STOP and PRUNE: nothing goes on from here, so a bound reroute has nowhere to lead.
    async fn end(
        &self,
        raised: &Raised<'_, R>,
        decision: DecisionId,
    ) -> Result<Resolution<R>, Unresolved> {
        let context = raised.context;
        let reason = raised.details.reason.clone();
        if raised.reroute.is_some() {
            // The event asked for this interrupt; carrying it out is what uses it up.
            self.config
                .reroutes
                .consume(context.interrupt, decision)
                .await
                .map_err(HandleError::Consume)?;
        }
        if raised.details.r#type == InterruptType::Prune {
            self.config.observer.observe(
                context.interrupt,
                InterruptMoment::Pruned { reason: &reason },
            );
            return Ok(Resolution::Pruned {
                decision,
                node: context.node.clone(),
                reason,
            });
        }
        self.config.observer.observe(
            context.interrupt,
            InterruptMoment::Stopped { reason: &reason },
        );
        Ok(Resolution::Stopped { decision, reason })
    }

    /// Fills in the target's request, and records the decision with the reroute that it uses.
    async fn route(
        &self,
        raised: &Raised<'_, R>,
        decided: Decided<R>,
        bound: Option<InterruptRequestEvent<I::Kind>>,
        decision: DecisionId,
    ) -> Result<Resolution<R>, Unresolved> {
        let interrupt = raised.context.interrupt;
        let Decided {
            mut answer,
            decided_by,
            chosen,
            filled,
        } = decided;
        let target = chosen.unwrap_or_else(|| raised.target());
        let (routing, filled_by) = match filled {
            Some(filled) => filled,
            None => match self.fill(raised, chosen, &answer).await? {
                Ok(filled) => filled,
                Err(problem) => {
                    let filled = self.ask_for_request(raised, target, problem).await?;
                    answer.edited_request = filled.answer.edited_request;
                    let Some(record) = filled.filled else {
                        return Err(HandleError::NoRoute {
                            target: target.field().to_owned(),
                            record: R::NAME,
                        }
                        .into());
                    };
                    (record, FilledBy::Person)
                }
            },
        };
        let reroute = match bound {
            Some(event) => {
                self.config
                    .reroutes
                    .consume(interrupt, decision)
                    .await
                    .map_err(HandleError::Consume)?;
                Some(event.event_id)
            }
            None => None,
        };
        let moment = InterruptMoment::Resolved {
            origin: R::agent_type_of(raised.origin).name(),
            target: R::agent_type_of(target).name(),
            decided_by,
            filled_by,
            reroute: reroute.as_ref().map(crate::ids::EventId::as_str),
        };
        self.config.observer.observe(interrupt, moment);
        let origin = raised.origin;
        let routed = Routed {
            routing,
            target,
            origin,
            decision,
            decided_by,
            filled_by,
            answer,
            reroute,
        };
        Ok(Resolution::Routed(Box::new(routed)))
    }

    /// Lets a model fill in the request; the last problem where it never gets it right.
    async fn fill(
        &self,
        raised: &Raised<'_, R>,
        chosen: Option<RouteId<R>>,
        answer: &Answer,
    ) -> Result<Result<(R, FilledBy), String>, Unresolved> {
        let context = raised.context;
        let call = self.resolution_call(raised, chosen, answer)?;
        let corrections = Corrections {
            handler: self,
            context,
        };
        let asked = self
            .config
            .asker
            .ask(&call, &corrections, context.scope)
            .await;
        match asked {
            Ok(Outcome::Completed(asked)) => {
                let corrections = asked.corrections;
                Ok(Ok((asked.routing, FilledBy::Model { corrections })))
            }
            Ok(Outcome::Interrupted { reason, .. }) => Err(Unresolved::Interrupted(reason)),
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
        chosen: Option<RouteId<R>>,
        answer: &Answer,
    ) -> Result<LlmCallContext<R>, HandleError> {
        let context = raised.context;
        let target = chosen.unwrap_or_else(|| raised.target());
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
        let caller = Caller {
            run: context.run,
            node: context.node.clone(),
            agent_type: raised.agent_type,
            purpose: Purpose::Resolution,
            turn: context.turn,
            correction: 0,
        };
        let snapshot = RouteSnapshot {
            decided: chosen,
            reroute: raised.reroute,
            origin: Some(raised.origin),
            caller: None,
        };
        let undecorated = LlmCallContext::new(caller, prompt.messages(), snapshot);
        let mut decorated = self.config.decorators.decorate(undecorated);
        // Whatever the chain does or leaves out: the decision fixes the route.
        decorated.selection = Selection::Only(target);
        Ok(decorated)
    }

    /// The corrections are spent: a person fills in the request. The decision stands.
    async fn ask_for_request(
        &self,
        raised: &Raised<'_, R>,
        target: RouteId<R>,
        problem: String,
    ) -> Result<Answered<R>, Unresolved> {
        let Raised {
            agent_type,
            details,
            payload,
            context,
            ..
        } = raised;
        let kind = QuestionKind::UnfilledRequest { problem };
        let mut question = self.question(agent_type, details, payload, target, kind, context);
        // The target is decided: it cannot be changed here any more.
        question.routes = vec![R::agent_type_of(target).name()];
        self.ask_person(question, target, context).await
    }
}

struct Corrections<'a, I: SealedInterrupt, R: InterruptRoutes> {
    handler: &'a UnifiedInterruptHandler<I, R>,
    context: &'a OperationContext<'a>,
}

impl<I: SealedInterrupt, R: InterruptRoutes> CorrectionObserver for Corrections<'_, I, R> {
    fn corrected(&self, correction: u32, error: &AnswerError) {
        let moment = InterruptMoment::Corrected { correction, error };
        self.handler
            .config
            .observer
            .observe(self.context.interrupt, moment);
    }
}
