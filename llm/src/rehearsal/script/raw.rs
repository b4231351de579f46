//! The script as it is written, before names are checked.

use routing_core::model::Purpose;
use routing_core::{Choice, ConfirmationItem, InterruptType};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::step::ScriptedAnswer;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScript {
    pub(super) version: u32,
    pub(super) steps: Vec<RawStep>,
}

/// All that a step may have; which of it goes together is checked afterwards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStep {
    pub(super) agent: Option<String>,
    pub(super) turn: Option<u32>,
    pub(super) node: Option<String>,
    pub(super) correction: Option<u32>,
    pub(super) purpose: Option<Purpose>,
    pub(super) interrupt: Option<Map<String, Value>>,
    /// Told apart from one that is missing: an answer may be `null`.
    #[serde(default, deserialize_with = "present")]
    pub(super) answer: Option<Value>,
    pub(super) supervisor: Option<RawSupervisor>,
    pub(super) person: Option<RawPerson>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The fields that every interrupt has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawInterrupt {
    pub(super) r#type: InterruptType,
    pub(super) reason: String,
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) confirmation_items: Option<Vec<ConfirmationItem>>,
    pub(super) context_for_decision: Option<String>,
}

impl RawInterrupt {
    pub(super) const FIELDS: [&'static str; 5] = [
        "type",
        "reason",
        "choices",
        "confirmationItems",
        "contextForDecision",
    ];
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSupervisor {
    pub(super) when: RawTrigger,
    pub(super) event: RawEvent,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTrigger {
    pub(super) agent: String,
    pub(super) turn: u32,
    pub(super) node: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawEvent {
    pub(super) source_agent_type: Option<String>,
    pub(super) reroute_to_agent_type: Option<String>,
    pub(super) interrupt_type: InterruptType,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    pub(super) confirmation_items: Vec<ConfirmationItem>,
    #[serde(default)]
    pub(super) context_for_decision: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPerson {
    pub(super) interrupt: RawRaised,
    pub(super) answer: ScriptedAnswer,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRaised {
    pub(super) agent: String,
    pub(super) nth: u32,
}
