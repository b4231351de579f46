//! The script as it is written, before names are checked.

use std::collections::BTreeMap;

use interrupt_router::Verdict;
use interrupt_router::model::Purpose;
use interrupt_router::review::Answer;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::step::ScriptedEvent;

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

/// A person's answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct ScriptedAnswer {
    /// The values of the choices that were taken.
    selected_choices: Vec<String>,
    /// What was written.
    text: Option<String>,
    /// What was confirmed (`true`) or refused, by the item's id.
    confirmations: BTreeMap<String, bool>,
    /// The agent type that the person sends the agent to, by its name on the wire.
    pub(super) reroute_to: Option<String>,
    /// The request as the person rewrote it.
    edited_request: Option<Value>,
    /// What is decided, where it does not follow from the rest: a yes or a no.
    verdict: Option<Verdict>,
}

impl From<ScriptedAnswer> for Answer {
    fn from(scripted: ScriptedAnswer) -> Self {
        Self {
            selected_choices: scripted.selected_choices,
            text: scripted.text,
            confirmations: scripted.confirmations,
            edited_request: scripted.edited_request,
            reroute_to: scripted.reroute_to,
            verdict: scripted.verdict,
        }
    }
}
