//! What an interrupt says: its type, its reason, what may be chosen.

use std::any::{Any, TypeId};
use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::__private::MadeByDerive;
use crate::agent_type::AgentType;
use crate::answer_form::AnswerForm;

/// What an interrupt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InterruptType {
    /// A person is asked; the answer goes back to the origin, or to the reroute target.
    HumanReview,
    /// A reviewing model answers; where it is not sure enough, a person is asked.
    AgentReview,
    /// The run waits until somebody resumes it. Nothing is asked.
    Pause,
    /// The run ends as cancelled.
    Stop,
    /// This node and all below it end; the parent is told and goes on without them.
    Prune,
    /// The run is forked at its last checkpoint; both go on from the decision.
    Branch,
}

impl InterruptType {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::HumanReview,
        Self::AgentReview,
        Self::Pause,
        Self::Stop,
        Self::Prune,
        Self::Branch,
    ];

    /// Whether it asks for an answer.
    pub const fn asks(self) -> bool {
        matches!(self, Self::HumanReview | Self::AgentReview)
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HumanReview => "HUMAN_REVIEW",
            Self::AgentReview => "AGENT_REVIEW",
            Self::Pause => "PAUSE",
            Self::Stop => "STOP",
            Self::Prune => "PRUNE",
            Self::Branch => "BRANCH",
        }
    }
}

impl Display for InterruptType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A text that names no type of interrupt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown interrupt type `{given}`; known are: HUMAN_REVIEW, AGENT_REVIEW, PAUSE, STOP, PRUNE, BRANCH"
)]
pub struct UnknownInterruptType {
    given: String,
}

impl FromStr for InterruptType {
    type Err = UnknownInterruptType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|known| known.name() == text)
            .ok_or_else(|| UnknownInterruptType {
                given: text.to_owned(),
            })
    }
}

/// One of the answers that an interrupt offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Choice {
    /// What people read.
    pub label: String,
    /// What is recorded when it is chosen.
    pub value: String,
    /// What it means.
    pub description: String,
}

/// Something that must be confirmed or refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmationItem {
    /// Names the item in the answer.
    pub id: String,
    /// What is to be confirmed.
    pub prompt: String,
    /// What is suggested to the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<bool>,
    /// What a refusal leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact_if_no: Option<String>,
}

/// The part that all interrupts share, whatever agent raised them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InterruptDetails {
    /// What the interrupt does.
    pub r#type: InterruptType,
    /// Why it is raised.
    pub reason: String,
    /// The answers that it offers.
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    pub confirmation_items: Vec<ConfirmationItem>,
    /// What one needs to know to decide.
    pub context_for_decision: String,
    /// What an answer is. Without it, an answer may be anything that the rest allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_form: Option<AnswerForm>,
}

impl InterruptDetails {
    /// The names of its fields on the wire.
    pub const FIELDS: [&'static str; 6] = [
        "type",
        "reason",
        "choices",
        "confirmationItems",
        "contextForDecision",
        "answerForm",
    ];

    /// An interrupt that says why it is raised, and nothing else.
    pub fn new(r#type: InterruptType, reason: impl Into<String>) -> Self {
        Self {
            r#type,
            reason: reason.into(),
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision: String::new(),
            answer_form: None,
        }
    }

    /// What an answer is, given the choices that there are; `None` if it may be anything, or nothing is asked.
    pub fn form(&self) -> Option<AnswerForm> {
        let form = self.answer_form?.with_choices(!self.choices.is_empty());
        form.filter(|_form| self.r#type.asks())
    }

    /// The values of the choices.
    pub fn values(&self) -> Vec<String> {
        self.choices.iter().map(|it| it.value.clone()).collect()
    }

    /// The ids of what must be confirmed.
    pub fn items(&self) -> Vec<String> {
        let items = self.confirmation_items.iter();
        items.map(|it| it.id.clone()).collect()
    }
}

/// An agent's own kind of interrupt: the shared part, and any fields of its own.
///
/// Implement it for the payloads of a sealed interrupt request. An agent without fields of its own
/// can use [`InterruptDetails`] itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the interrupt of an agent",
    label = "not an interrupt",
    note = "write `impl interrupt_router::AgentInterrupt for {Self}`, which gives the shared part, or use `interrupt_router::InterruptDetails`"
)]
pub trait AgentInterrupt:
    Serialize + DeserializeOwned + JsonSchema + Clone + Debug + Send + Sync + 'static
{
    /// The shared part.
    fn details(&self) -> InterruptDetails;
}

impl AgentInterrupt for InterruptDetails {
    fn details(&self) -> InterruptDetails {
        self.clone()
    }
}

/// The sealed enumeration of all interrupts of an orchestrator, made by `#[derive(InterruptRequest)]`.
///
/// Each kind of agent has exactly one variant, of the same name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sealed interrupt request",
    note = "put `#[derive(InterruptRequest)]` on an enum with one variant for each kind of agent; this trait cannot be implemented by hand"
)]
pub trait SealedInterrupt:
    MadeByDerive + Serialize + DeserializeOwned + Clone + Debug + Send + Sync + Sized + 'static
{
    /// Who may raise an interrupt.
    type Kind: AgentType;

    /// Which kind of agent raised this one; known from the variant.
    fn kind(&self) -> Self::Kind;

    /// The shared part.
    fn details(&self) -> InterruptDetails;

    /// The payload as JSON, the agent's own fields included.
    ///
    /// # Errors
    ///
    /// If the payload cannot be written as JSON.
    fn payload(&self) -> Result<serde_json::Value, serde_json::Error>;

    /// Reads the payload of the kind at `kind_index`.
    #[doc(hidden)]
    fn __deserialize_payload<'de, D: Deserializer<'de>>(
        kind_index: usize,
        deserializer: D,
    ) -> Result<Self, D::Error>;

    /// The payload types that convert into this enumeration, for dispatch: each with its conversion.
    ///
    /// A payload type that two variants share is left out, since it does not say who raised it.
    #[doc(hidden)]
    fn __payloads() -> Vec<Payload<Self>>;
}

/// A payload's type, its name, and what makes a value of it into the sealed request.
pub(crate) type Payload<I> = (TypeId, &'static str, fn(Box<dyn Any + Send>) -> Option<I>);
