//! The script as it is written, before names are checked.

use routing_core::model::Purpose;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::step::{ScriptedAnswer, ScriptedEvent};

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSupervisor {
    pub(super) when: RawTrigger,
    pub(super) event: ScriptedEvent,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTrigger {
    pub(super) agent: String,
    pub(super) turn: u32,
    pub(super) node: Option<String>,
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
