//! The reviewer port: people, and what answers in their place.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer_form::AnswerForm;
use crate::ids::{InterruptId, NodeId, RunId};
use crate::interrupt::InterruptDetails;
use crate::outcome::Outcome;
use crate::stop::StopScope;
use crate::verdict::Verdict;

/// Why a question is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// An agent, or a supervisor through it, asks for a person.
    HumanReview,
    /// A reviewing model was not sure enough.
    UnsureReview {
        /// What the model would have said, in its words.
        suggestion: String,
        /// How sure it was, in percent.
        confidence: u8,
        /// How sure it had to be, in percent.
        threshold: u8,
    },
    /// A tool call waits for permission, or a person must say what became of one. The choices say what can be decided;
    /// an edited request replaces the call's arguments.
    Tool {
        /// The name of the tool.
        tool: String,
    },
    /// The decision is made, but no model could fill in the request of its route.
    UnfilledRequest {
        /// What was wrong with the last answer.
        problem: String,
        /// The interrupt that is decided.
        fills: InterruptId,
    },
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The interrupt that asks: what is decided is decided by this id.
    pub interrupt: InterruptId,
    /// Its run.
    pub run: RunId,
    /// The node that raised it.
    pub node: NodeId,
    /// The kind of that node, by its name on the wire.
    pub agent_type: &'static str,
    /// Why a person is asked.
    pub kind: QuestionKind,
    /// The interrupt's shared part: reason, choices, confirmations, context.
    pub details: InterruptDetails,
    /// The interrupt as the agent raised it, its own fields included.
    pub payload: Value,
    /// Where the answer goes unless the person sends it elsewhere: an agent type.
    pub target: &'static str,
    /// The field of the routing record that leads there.
    pub target_field: &'static str,
    /// The agent types that the answer may be sent to.
    pub routes: Vec<&'static str>,
    /// The JSON schema of the target's request, for an edited request.
    pub request_schema: Value,
    /// What was wrong with the answer that was given before, if this question is asked again.
    pub problem: Option<String>,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Answer {
    /// The values of the chosen choices.
    pub selected_choices: Vec<String>,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Confirmations by their item's id.
    pub confirmations: BTreeMap<String, bool>,
    /// The target's request, filled in by the person: no model is asked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_request: Option<Value>,
    /// Another agent type to go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reroute_to: Option<String>,
    /// What the one who answers decides, where it does not follow from what the answer holds: to say no, set it to
    /// [`Verdict::Reject`], [`Verdict::Ignore`] or [`Verdict::Cancel`]. It is kept beside the answer, never inside.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

/// A run that waits to be resumed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pause {
    /// The interrupt that paused it.
    pub interrupt: InterruptId,
    /// The run.
    pub run: RunId,
    /// The node that raised it.
    pub node: NodeId,
    /// The kind of that node, by its name on the wire.
    pub agent_type: &'static str,
    /// Why it was paused.
    pub reason: String,
}

/// How a paused run continues.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Resume {
    /// New input for the node that paused; without it the node continues with what it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// Why no answer came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// There is no one to ask. The interrupt stays open.
    #[error("no one is there to answer")]
    NobodyThere,
    /// The way to the people is broken. The interrupt stays open.
    #[error("cannot ask: {detail}")]
    Unavailable {
        /// What is broken.
        detail: String,
    },
}

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswererKind {
    /// A person.
    Person,
    /// A script, with answers that were prepared.
    Script,
    /// A rule.
    Policy,
}

/// Who answered, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answerer {
    /// The name, at most 200 bytes.
    pub name: String,
    /// What it is.
    pub kind: AnswererKind,
}

impl Default for Answerer {
    /// A person called `reviewer`.
    fn default() -> Self {
        Self {
            name: "reviewer".to_owned(),
            kind: AnswererKind::Person,
        }
    }
}

/// Answers questions: a terminal, a page, a policy, a test.
#[async_trait]
pub trait Reviewer: Send + Sync {
    /// Asks, and waits for the answer as long as it takes, or until any stop of `scope` is requested: a graceful stop
    /// does not wait for a person's answer.
    ///
    /// # Errors
    ///
    /// [`ReviewError`] if no answer can come. Never an invented answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the question from the screen; no answer was accepted then.
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError>;

    /// Waits until a paused run is resumed, or until any stop of `scope` is requested. Without an implementation, no one
    /// resumes it here.
    ///
    /// # Errors
    ///
    /// [`ReviewError`] if it cannot be resumed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the run paused.
    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }

    /// Who gave the answer, or the resume, that this reviewer has just returned for the interrupt.
    fn answerer(&self, _interrupt: InterruptId) -> Answerer {
        Answerer::default()
    }
}

#[async_trait]
impl<R: Reviewer + ?Sized> Reviewer for Arc<R> {
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        (**self).answer(question, scope).await
    }

    async fn resume(
        &self,
        pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        (**self).resume(pause, scope).await
    }

    fn answerer(&self, interrupt: InterruptId) -> Answerer {
        (**self).answerer(interrupt)
    }
}

/// Answers nothing: each question stays open.
#[derive(Debug, Clone, Copy)]
pub struct NoReviewer;

#[async_trait]
impl Reviewer for NoReviewer {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

/// Why an answer does not answer its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnswer {
    /// A choice that was not offered.
    #[error("selectedChoices: `{given}` was not offered; offered are: {}", offered.join(", "))]
    UnknownChoice {
        /// What was chosen.
        given: String,
        /// The values that can be chosen.
        offered: Vec<String>,
    },
    /// A confirmation of something that was not asked.
    #[error("confirmations: there is no item `{given}`; items are: {}", items.join(", "))]
    UnknownConfirmation {
        /// The id that was given.
        given: String,
        /// The ids that there are.
        items: Vec<String>,
    },
    /// Something that has to be said is not.
    #[error("{}: {unsaid}", unsaid.field())]
    Unsaid {
        /// What is missing.
        unsaid: Unsaid,
    },
    /// The question wants another form of answer.
    #[error("`{}` is no answer to this question; {}", verdict.name(), form.wanted())]
    OtherForm {
        /// What the answer decides.
        verdict: Verdict,
        /// What is wanted.
        form: AnswerForm,
    },
    /// A target that is no route.
    #[error("rerouteTo: `{given}` is no route; routes are: {}", routes.join(", "))]
    UnknownRoute {
        /// The target that was given.
        given: String,
        /// The targets that there are.
        routes: Vec<&'static str>,
    },
    /// An edited request that does not fit the target's schema.
    #[error("editedRequest: {0}")]
    EditedRequest(crate::answer::AnswerError),
    /// The question can only be answered by filling in the request, and the answer does not.
    #[error("editedRequest: missing; fill in the request of `{target}`, for no model could")]
    RequestNeeded {
        /// The agent type whose request is wanted.
        target: &'static str,
    },
}

/// What an answer leaves open that the one who answers has to say. A proposal of an agent says it for no one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaid {
    /// Choices are offered, and there is neither one of them nor a word.
    Choice {
        /// The values that can be chosen.
        offered: Vec<String>,
    },
    /// Exactly one of the choices is wanted, and there is none, or more than one.
    OneChoice {
        /// The values that can be chosen.
        offered: Vec<String>,
    },
    /// Words are wanted, and there are none.
    Words,
    /// It is approved, and some of what must be confirmed is neither confirmed nor refused.
    Confirmations {
        /// The ids of the items.
        items: Vec<String>,
    },
}

impl Unsaid {
    /// The field of the answer that would say it.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Choice { .. } | Self::OneChoice { .. } => "selectedChoices",
            Self::Words => "text",
            Self::Confirmations { .. } => "confirmations",
        }
    }
}

impl std::fmt::Display for Unsaid {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Choice { offered } => write!(
                formatter,
                "nothing is chosen; choose of {}, or answer in words",
                offered.join(", ")
            ),
            Self::OneChoice { offered } => {
                write!(formatter, "choose exactly one of {}", offered.join(", "))
            }
            Self::Words => formatter.write_str("there are no words; answer in words"),
            Self::Confirmations { items } => {
                write!(formatter, "say yes or no to: {}", items.join(", "))
            }
        }
    }
}

impl Answer {
    /// What has to be said with this verdict, and is not: of offered choices one, or words, or what the form of the
    /// question's answer demands; with a yes, a yes or a no to each item that must be confirmed.
    pub fn unsaid(&self, verdict: Verdict, details: &InterruptDetails) -> Option<Unsaid> {
        let has_words = self
            .text
            .as_deref()
            .is_some_and(|text| !text.trim().is_empty());
        let answers = matches!(verdict, Verdict::Approve | Verdict::Respond);
        let offered = details.values();
        let chosen = self.selected_choices.len();
        match details.form() {
            Some(AnswerForm::OneOf) if chosen > 1 || answers && chosen == 0 => {
                return Some(Unsaid::OneChoice { offered });
            }
            Some(AnswerForm::Words) if verdict == Verdict::Respond && !has_words => {
                return Some(Unsaid::Words);
            }
            _ if answers && !offered.is_empty() && chosen == 0 && !has_words => {
                return Some(Unsaid::Choice { offered });
            }
            _ => {}
        }
        let mut items = details.items();
        items.retain(|id| !self.confirmations.contains_key(id));
        let is_open = verdict == Verdict::Approve && !items.is_empty();
        is_open.then_some(Unsaid::Confirmations { items })
    }

    /// A no, with words for the agent. Nothing that was asked about is done.
    pub fn declined(verdict: Verdict, text: Option<String>) -> Self {
        Self {
            verdict: Some(verdict),
            text,
            ..Self::default()
        }
    }

    /// What is kept of the answer beside this verdict: of a no, its words alone. What was marked or written before
    /// someone said no counts for nothing.
    pub fn kept_with(self, verdict: Verdict) -> Self {
        if verdict.declines() {
            Self {
                text: self.text,
                ..Self::default()
            }
        } else {
            Self {
                verdict: None,
                ..self
            }
        }
    }

    /// What is decided: what the answer says, else what follows from what it holds.
    pub fn verdict(&self) -> Verdict {
        let says_something = self.text.is_some()
            || !self.selected_choices.is_empty()
            || !self.confirmations.is_empty();
        match self.verdict {
            Some(verdict) => verdict,
            None if self.reroute_to.is_some() => Verdict::Reroute,
            None if self.edited_request.is_some() => Verdict::Edit,
            None if says_something => Verdict::Respond,
            None => Verdict::Approve,
        }
    }

    /// Whether each part of the answer belongs to the question. The edited request is checked by the code that knows
    /// its type.
    ///
    /// # Errors
    ///
    /// [`InvalidAnswer`] names the part and what would be right.
    pub fn check(&self, question: &Question) -> Result<(), InvalidAnswer> {
        let details = &question.details;
        for given in &self.selected_choices {
            if !details.choices.iter().any(|choice| choice.value == *given) {
                let offered = details.values();
                return Err(InvalidAnswer::UnknownChoice {
                    given: given.clone(),
                    offered,
                });
            }
        }
        for given in self.confirmations.keys() {
            if !details
                .confirmation_items
                .iter()
                .any(|item| item.id == *given)
            {
                let items = details.items();
                return Err(InvalidAnswer::UnknownConfirmation {
                    given: given.clone(),
                    items,
                });
            }
        }
        // What may be decided about a call says by itself what is meant, and a request that is wanted is an edit.
        let is_agents = matches!(
            question.kind,
            QuestionKind::HumanReview | QuestionKind::UnsureReview { .. }
        );
        if is_agents {
            let verdict = self.verdict();
            if let Some(form) = details.form().filter(|form| !form.allows(verdict)) {
                return Err(InvalidAnswer::OtherForm { verdict, form });
            }
            if let Some(unsaid) = self.unsaid(verdict, details) {
                return Err(InvalidAnswer::Unsaid { unsaid });
            }
        }
        match &self.reroute_to {
            Some(given) if !question.routes.contains(&given.as_str()) => {
                Err(InvalidAnswer::UnknownRoute {
                    given: given.clone(),
                    routes: question.routes.clone(),
                })
            }
            Some(_) | None => Ok(()),
        }
    }
}
