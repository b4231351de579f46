//! AGENT_REVIEW: a model answers in place of a person, and says how sure it is.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observer::LifecycleEvent;
use super::prompt::review_messages;
use super::resolution::HandleError;
use super::{OperationContext, UnifiedInterruptHandler, Unresolved};
use crate::agent_type::AgentType;
use crate::answer::{AnswerError, AnswerFault, read_strictly};
use crate::answer_form::AnswerForm;
use crate::interrupt::{InterruptDetails, SealedInterrupt};
use crate::model::{AnswerSchemaRef, Message, ModelCall, ModelCaller, Purpose};
use crate::outcome::Outcome;
use crate::review::Answer;
use crate::routing::InterruptRoutes;
use crate::schema::AnswerSchema;
use crate::verdict::Verdict;

/// What a reviewing model chooses where a yes or a no is wanted.
pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";

/// The decision of a reviewing model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewDecision {
    /// The values of the chosen choices.
    pub selected_choices: Vec<String>,
    /// Why, and what else the agent should know.
    pub text: String,
    /// The items that are confirmed and refused.
    pub confirmations: Vec<Confirmation>,
    /// How sure the reviewer is, in percent: 0 to 100.
    pub confidence: u8,
}

/// One confirmation of a reviewing model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Confirmation {
    /// The item's id.
    pub id: String,
    /// Whether it is confirmed.
    pub confirmed: bool,
}

impl ReviewDecision {
    /// The answer to a question. To say yes or no, a model chooses one of these two.
    fn into_reviewed(self, details: &InterruptDetails) -> Result<Reviewed, AnswerError> {
        self.check(details)?;
        let said = Answer {
            selected_choices: self.selected_choices,
            text: Some(self.text).filter(|text| !text.is_empty()),
            confirmations: self
                .confirmations
                .into_iter()
                .map(|item| (item.id, item.confirmed))
                .collect(),
            ..Answer::default()
        };
        let answer = match said.selected_choices.as_slice() {
            [yes] if details.form() == Some(AnswerForm::YesOrNo) => Answer {
                verdict: Some(if yes == YES {
                    Verdict::Approve
                } else {
                    Verdict::Reject
                }),
                selected_choices: Vec::new(),
                ..said.clone()
            },
            _ => said.clone(),
        };
        match answer.unsaid(answer.verdict(), details) {
            Some(unsaid) if details.form().is_some() => {
                Err(fault(format!("$.{}", unsaid.field()), unsaid.to_string()))
            }
            Some(_) | None => Ok(Reviewed {
                answer,
                said,
                confidence: self.confidence,
            }),
        }
    }

    fn check(&self, details: &InterruptDetails) -> Result<(), AnswerError> {
        if self.confidence > 100 {
            return Err(fault(
                "$.confidence".to_owned(),
                format!("{} is more than 100 percent", self.confidence),
            ));
        }
        let wants_yes_or_no = details.form() == Some(AnswerForm::YesOrNo);
        if wants_yes_or_no && self.selected_choices.len() != 1 {
            let reason = format!("say `{YES}` or `{NO}`, and no more");
            return Err(fault("$.selectedChoices".to_owned(), reason));
        }
        let offered = if wants_yes_or_no {
            vec![YES.to_owned(), NO.to_owned()]
        } else {
            details.values()
        };
        for (index, given) in self.selected_choices.iter().enumerate() {
            if !offered.contains(given) {
                return Err(fault(
                    format!("$.selectedChoices[{index}]"),
                    format!("`{given}` was not offered"),
                ));
            }
        }
        let items = details.items();
        for (index, given) in self.confirmations.iter().enumerate() {
            if !items.contains(&given.id) {
                return Err(fault(
                    format!("$.confirmations[{index}].id"),
                    format!("there is no item `{}`", given.id),
                ));
            }
        }
        Ok(())
    }
}

fn fault(path: String, reason: String) -> AnswerError {
    AnswerError::new(AnswerFault::Constraint, path, reason)
}

/// What a reviewing model would say, and how sure it is, in percent.
pub(super) struct Reviewed {
    /// What it decides.
    pub(super) answer: Answer,
    /// The same in its own words, for a person to whom it is a suggestion.
    pub(super) said: Answer,
    pub(super) confidence: u8,
}

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    pub(super) async fn ask_reviewing_model(
        &self,
        agent_type: &'static str,
        details: &InterruptDetails,
        payload: &Value,
        context: &OperationContext<'_>,
    ) -> Result<Reviewed, Unresolved> {
        let asker = &self.reviewing_model;
        let schema =
            AnswerSchema::from_type::<ReviewDecision>("ReviewDecision", asker.model.dialect());
        let mut call = ModelCall {
            caller: ModelCaller {
                run: context.run,
                node: context.node.clone(),
                agent_type,
                purpose: Purpose::Review,
                turn: context.turn,
                correction: 0,
            },
            messages: review_messages(agent_type, details, payload, context.conversation),
            schema: Some(AnswerSchemaRef::Shared(Arc::new(schema))),
            tools: Arc::default(),
            forward: None,
            chunks: None,
        };
        loop {
            let reply = asker.model.call(call.clone(), context.scope).await;
            let reply = match reply.map_err(|source| HandleError::Model {
                interrupt: context.interrupt,
                source,
            })? {
                Outcome::Completed(reply) => reply,
                Outcome::Interrupted { reason, .. } => return Err(Unresolved::Interrupted(reason)),
            };
            let read = read_strictly::<ReviewDecision>(reply.text.as_bytes())
                .and_then(|decision| decision.into_reviewed(details));
            let error = match read {
                Ok(reviewed) => return Ok(reviewed),
                Err(error) => error,
            };
            call.caller.correction += 1;
            let moment = LifecycleEvent::Corrected {
                correction: call.caller.correction,
                error: &error,
            };
            self.observe(context.interrupt, moment);
            if call.caller.correction > asker.corrections {
                return Err(HandleError::Review(error).into());
            }
            call.messages.push(Message::user(format!(
                "Your last answer cannot be used.\npath: {}\nreason: {}\nAnswer again.",
                error.path(),
                error.reason()
            )));
        }
    }
}
