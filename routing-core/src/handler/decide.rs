//! Who decides: a person, a reviewing model, or the one who resumes a paused run.

use super::ask_person::RoutedAnswer;
use super::decisions::{DecisionPart, PersonPrompt, Proposal};
use super::observer::LifecycleEvent;
use super::resolution::{DecidedBy, HandleError};
use super::resolve::{Raised, ResolvedDecision};
use super::{UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::interrupt::SealedInterrupt;
use crate::outcome::Outcome;
use crate::review::{Answer, Pause, QuestionKind, Resume};
use crate::routing::InterruptRoutes;
use crate::verdict::Verdict;

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    /// HUMAN_REVIEW: a person answers.
    pub(super) async fn ask(
        &self,
        raised: &Raised<'_, R>,
        kind: QuestionKind,
    ) -> Result<ResolvedDecision<R>, Unresolved> {
        let Raised {
            agent_type,
            details,
            payload,
            context,
            ..
        } = raised;
        let question = self.question(agent_type, details, payload, raised.target(), kind, context);
        let asked = self
            .ask_person(question, raised.target(), context, DecisionPart::Interrupt)
            .await?;
        let (answer, target) = match asked {
            RoutedAnswer::Here { answer, target, .. } => (answer, target),
            RoutedAnswer::Elsewhere(decision) => return Ok(ResolvedDecision::Elsewhere(decision)),
        };
        let answerer = self.reviewer.answerer(context.interrupt);
        Ok(ResolvedDecision::Here(Proposal {
            is_chosen: target != raised.target() || answer.reroute_to.is_some(),
            target: R::agent_type_of(target),
            answerer: Some(answerer),
            ..raised.proposal(answer, DecidedBy::Person)
        }))
    }

    /// AGENT_REVIEW: a model answers; below the threshold, or if it cannot, a person does.
    pub(super) async fn review(
        &self,
        raised: &Raised<'_, R>,
    ) -> Result<ResolvedDecision<R>, Unresolved> {
        let decisions = &self.decisions;
        let asked = decisions.person_asked(raised.context.interrupt, DecisionPart::Interrupt);
        if asked.await.map_err(HandleError::Decision)?.is_some() {
            return self.ask(raised, QuestionKind::HumanReview).await;
        }
        let threshold = self.policy.confidence_threshold;
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
                self.observe(
                    context.interrupt,
                    LifecycleEvent::Reviewed {
                        confidence,
                        threshold,
                    },
                );
                if confidence >= threshold {
                    let decided_by = DecidedBy::Model { confidence };
                    return Ok(ResolvedDecision::Here(
                        raised.proposal(reviewed.answer, decided_by),
                    ));
                }
                (
                    serde_json::to_string(&reviewed.said).map_err(HandleError::Unshowable)?,
                    confidence,
                )
            }
            Err(Unresolved::Failed(HandleError::Review(error))) => (
                format!("the reviewing model gave no usable answer: {error}"),
                0,
            ),
            // If the reviewing model cannot be reached, a person is asked instead. An answer that could not be recorded
            // is another matter: nothing may follow from it.
            Err(Unresolved::Failed(HandleError::Model { source, .. }))
                if !source.is_unrecorded() =>
            {
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

    /// PAUSE: nothing is asked; the run waits until it is resumed.
    pub(super) async fn pause(
        &self,
        raised: &Raised<'_, R>,
    ) -> Result<ResolvedDecision<R>, Unresolved> {
        let context = raised.context;
        let interrupt = context.interrupt;
        let pause = Pause {
            interrupt,
            run: context.run,
            node: context.node.clone(),
            agent_type: raised.agent_type,
            reason: raised.details.reason.clone(),
        };
        let decisions = &self.decisions;
        decisions
            .person_needed(PersonPrompt::Pause(&pause))
            .await
            .map_err(HandleError::Decision)?;
        self.observe(interrupt, LifecycleEvent::Paused(&pause));
        let resumed = tokio::select! {
            biased;
            resumed = self.reviewer.resume(&pause, context.scope) => resumed,
            decided = decisions.decided_elsewhere(interrupt, DecisionPart::Interrupt) => {
                let decision = decided.map_err(HandleError::Decision)?;
                let resume = Resume { input: decision.answer.text.clone() };
                self.observe(interrupt, LifecycleEvent::Resumed(&resume));
                return Ok(ResolvedDecision::Elsewhere(decision));
            }
        };
        let resume = match resumed {
            Ok(Outcome::Completed(resume)) => resume,
            Ok(Outcome::Interrupted { reason, .. }) => return Err(Unresolved::Interrupted(reason)),
            Err(source) => {
                let reason = pause.reason;
                return Err(HandleError::Paused {
                    interrupt,
                    reason,
                    source,
                }
                .into());
            }
        };
        let answer = Answer {
            text: resume.input,
            ..Answer::default()
        };
        let answerer = Some(self.reviewer.answerer(interrupt));
        Ok(ResolvedDecision::Here(Proposal {
            verdict: Verdict::Resume,
            answerer,
            ..raised.proposal(answer, DecidedBy::Person)
        }))
    }
}
