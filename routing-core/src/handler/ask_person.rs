//! Asking a person, again if the answer does not fit.

use serde_json::Value;

use super::decisions::{DecisionPart, PersonPrompt, RecordedDecision};
use super::observer::LifecycleEvent;
use super::resolution::HandleError;
use super::{OperationContext, UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::answer::{AnswerError, AnswerFault};
use crate::interrupt::{InterruptDetails, SealedInterrupt};
use crate::model::Dialect;
use crate::outcome::Outcome;
use crate::review::{Answer, InvalidAnswer, Question, QuestionKind};
use crate::route::RouteId;
use crate::routing::InterruptRoutes;

/// What a person answered, and where it goes.
pub(super) enum RoutedAnswer<R: InterruptRoutes> {
    /// Here; it fits.
    Here { answer: Answer, target: RouteId<R> },
    /// Elsewhere; it was recorded there.
    Elsewhere(RecordedDecision<R::AgentType>),
}

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    /// The question about an interrupt.
    pub(super) fn question(
        &self,
        agent_type: &'static str,
        details: &InterruptDetails,
        payload: &Value,
        target: RouteId<R>,
        kind: QuestionKind,
        context: &OperationContext<'_>,
    ) -> Question {
        Question {
            interrupt: context.interrupt,
            run: context.run,
            node: context.node.clone(),
            agent_type,
            kind,
            details: details.clone(),
            payload: payload.clone(),
            target: R::agent_type_of(target).name(),
            target_field: target.field(),
            routes: R::AgentType::NAMES.to_vec(),
            request_schema: R::schemas()
                .narrowed(target, Dialect::JsonSchema)
                .value()
                .clone(),
            problem: None,
        }
    }

    /// Asks until the answer fits the question.
    pub(super) async fn ask_person(
        &self,
        mut question: Question,
        target: RouteId<R>,
        context: &OperationContext<'_>,
        matter: DecisionPart,
    ) -> Result<RoutedAnswer<R>, Unresolved> {
        let decisions = &self.decisions;
        decisions
            .person_needed(PersonPrompt::Question(&question))
            .await
            .map_err(HandleError::Decision)?;
        let mut invalid = 0;
        loop {
            self.observe(context.interrupt, LifecycleEvent::Asked(&question));
            let given = tokio::select! {
                biased;
                given = self.reviewer.answer(&question, context.scope) => given,
                decided = decisions.decided_elsewhere(context.interrupt, matter) => {
                    let decision = decided.map_err(HandleError::Decision)?;
                    self.observe(context.interrupt, LifecycleEvent::Answered(&decision.answer));
                    return Ok(RoutedAnswer::Elsewhere(decision));
                }
            };
            let answer = match given {
                Ok(Outcome::Completed(answer)) => answer,
                Ok(Outcome::Interrupted { reason, .. }) => {
                    return Err(Unresolved::Interrupted(reason));
                }
                Err(source) => {
                    let question = Box::new(question);
                    return Err(HandleError::Unanswered { question, source }.into());
                }
            };
            let problem = match self.fit(&answer, &question, target) {
                // Reported once it is recorded.
                Ok(target) => return Ok(RoutedAnswer::Here { answer, target }),
                Err(problem) => problem,
            };
            invalid += 1;
            if invalid >= self.policy.invalid_answers {
                let interrupt = context.interrupt;
                return Err(HandleError::InvalidAnswers {
                    interrupt,
                    count: invalid,
                    question: Box::new(question),
                    last: problem,
                }
                .into());
            }
            let text = problem.to_string();
            self.observe(
                context.interrupt,
                LifecycleEvent::Refused { problem: &text },
            );
            question.problem = Some(text);
        }
    }

    /// Where the answer goes, if it fits.
    fn fit(
        &self,
        answer: &Answer,
        question: &Question,
        target: RouteId<R>,
    ) -> Result<RouteId<R>, InvalidAnswer> {
        if answer.verdict().declines() {
            return Ok(target);
        }
        answer.check(question)?;
        let target = match &answer.reroute_to {
            // The check above has found the name among the routes.
            Some(name) => RouteId::from_agent_type(name).unwrap_or(target),
            None => target,
        };
        let Some(edited) = &answer.edited_request else {
            return match question.kind {
                QuestionKind::UnfilledRequest { .. } => Err(InvalidAnswer::RequestNeeded {
                    target: R::agent_type_of(target).name(),
                }),
                QuestionKind::HumanReview
                | QuestionKind::UnsureReview { .. }
                | QuestionKind::Tool { .. } => Ok(target),
            };
        };
        self.read_request(target, edited)
            .map_err(InvalidAnswer::EditedRequest)?;
        Ok(target)
    }

    /// Reads the request of a target as a person has filled it in: the request itself, or the record around
    /// it, as the schema shows it.
    pub(super) fn read_request(
        &self,
        target: RouteId<R>,
        edited: &Value,
    ) -> Result<R, AnswerError> {
        // What looks like the record may still be the request of a route that has a field of that name.
        let field = target.field();
        let bare = serde_json::json!({ field: edited });
        let is_record = edited
            .as_object()
            .is_some_and(|object| object.len() == 1 && object.contains_key(field));
        if !is_record {
            return self.read_edited(target, &bare);
        }
        self.read_edited(target, edited).or_else(|error| {
            self.read_edited(target, &bare)
                // A constraint is checked only if the types fit: then this is what was meant.
                .map_err(|bare| {
                    if bare.fault() == AnswerFault::Constraint {
                        bare
                    } else {
                        error
                    }
                })
        })
    }

    /// Reads the record that a person has filled in, as strictly as a model's.
    fn read_edited(&self, target: RouteId<R>, record: &Value) -> Result<R, AnswerError> {
        let record = record.to_string();
        let filled = R::__parse_narrowed(target.index(), record.as_bytes())?;
        let schema = R::schemas().narrowed(target, Dialect::JsonSchema);
        if schema.has_constraints() {
            let constraints = &self.asker.constraints;
            constraints.check(schema, record.as_bytes())?;
        }
        Ok(filled)
    }
}
