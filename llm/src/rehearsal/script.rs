//! The script of a rehearsal: who raises which interrupt when, who answers what, and when a supervisor
//! speaks. A JSON file:
//!
//! ```json
//! {
//!   "version": 1,
//!   "steps": [
//!     { "agent": "DISCOVERY_ORCHESTRATOR", "turn": 1,
//!       "interrupt": { "type": "HUMAN_REVIEW", "reason": "two ways to split the work" } },
//!     { "agent": "TICKET_AGENT", "turn": 1, "correction": 0, "node": "worker-2",
//!       "answer": "no JSON at all" },
//!     { "supervisor": { "when": { "agent": "PLANNING_ORCHESTRATOR", "turn": 1 },
//!       "event": { "interruptType": "AGENT_REVIEW", "reason": "over budget",
//!                  "rerouteToAgentType": "TICKET_ORCHESTRATOR" } } },
//!     { "person": { "interrupt": { "agent": "DISCOVERY_ORCHESTRATOR", "nth": 1 },
//!       "answer": { "selectedChoices": ["by-folder"], "text": "by folder" } } }
//!   ]
//! }
//! ```
//!
//! A step of an agent is identified by `agent` and `turn`; `node` (the end of the node's id), `correction` (0 is the
//! first try) and `purpose` (`step` if left out) narrow it further. The first step that fits is taken.

mod step;

use std::collections::BTreeMap;

use interrupt_router::InterruptDetails;
use interrupt_router::model::{ModelCaller, Purpose};
use interrupts::catalogue::Catalogue;
use interrupts::nearest;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use step::AgentStep;

pub use step::{AnsweredInterrupt, PersonAnswer, ScriptedEvent, SupervisedTurn, SupervisorStep};

/// The version of the script's form that is read.
const VERSION: u32 = 1;

/// The fields of a step that name an agent type, and whether it is one that an agent is sent to.
const NAMES: [(&str, bool); 6] = [
    ("agent", false),
    ("supervisor.when.agent", false),
    ("supervisor.event.sourceAgentType", false),
    ("supervisor.event.rerouteToAgentType", true),
    ("person.interrupt.agent", false),
    ("person.answer.rerouteTo", true),
];

/// A script that was checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    interrupts: Vec<AgentStep>,
    answers: Vec<AgentStep>,
    supervisor: Vec<SupervisorStep>,
    people: Vec<PersonAnswer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    version: u32,
    steps: Vec<Map<String, Value>>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] names the path and what is known there: for text that is no JSON, another
    /// version, an unknown field, agent type or interrupt type, or a step that is none.
    pub fn parse(text: &str, vocabulary: &ScriptVocabulary) -> Result<Self, ScriptError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let ScriptFile { version, steps } = read("", &mut reader)?;
        let end = reader.end();
        end.map_err(|error| ScriptError::new("script", error.to_string()))?;
        if version != VERSION {
            let reason = format!("unknown version {version}; known is: {VERSION}");
            return Err(ScriptError::new("version", reason));
        }
        let mut script = Self::default();
        for (index, step) in steps.into_iter().enumerate() {
            script.add(step, &format!("steps[{index}]"), vocabulary)?;
        }
        Ok(script)
    }

    fn add(
        &mut self,
        mut step: Map<String, Value>,
        path: &str,
        vocabulary: &ScriptVocabulary,
    ) -> Result<(), ScriptError> {
        step.retain(|field, value| field == "answer" || !value.is_null());
        let error = |field: &str, reason: &str| ScriptError::new(format!("{path}.{field}"), reason);
        let kinds = ["interrupt", "answer", "supervisor", "person"];
        let mut kinds = kinds.into_iter().filter(|kind| step.contains_key(*kind));
        let (Some(kind), None) = (kinds.next(), kinds.next()) else {
            let reason = "a step has exactly one of: interrupt, answer, supervisor, person";
            return Err(ScriptError::new(path, reason));
        };
        let whole = Value::Object(step.clone());
        vocabulary.check_names(&whole, path)?;
        let within = format!("{path}.{kind}");
        match kind {
            "interrupt" if vocabulary.has_code => {
                let reason = "the code of this workflow raises its interrupts; steer it with an `answer` step";
                return Err(error(kind, reason));
            }
            "supervisor" if vocabulary.has_code => {
                let reason =
                    "a script plays supervisors of the built-in agents only; leave the step out";
                return Err(error(kind, reason));
            }
            "interrupt" => {
                let mut step: AgentStep = read(path, whole)?;
                if step.purpose != Purpose::Step {
                    return Err(error("purpose", "an interrupt is raised in a `step` only"));
                }
                let fields = read(&within, step.answer.take())?;
                step.answer = vocabulary.interrupt(fields, &step.agent, &within)?;
                self.interrupts.push(step);
            }
            "answer" => self.answers.push(read(path, whole)?),
            _ => {
                if let Some(field) = step.keys().find(|field| *field != kind) {
                    let reason = format!("a step with `{kind}` has no `{field}` of its own");
                    return Err(error(field, &reason));
                }
                match step.remove(kind).unwrap_or_default() {
                    answer if kind == "person" => self.people.push(read(&within, answer)?),
                    event => self.supervisor.push(read(&within, event)?),
                }
            }
        }
        Ok(())
    }

    /// Whether it says what a model answers: only a rehearsal follows it then.
    pub fn steers_the_model(&self) -> bool {
        !self.interrupts.is_empty() || !self.answers.is_empty()
    }

    /// What a supervisor publishes, in the order of the file.
    pub fn supervisor_steps(&self) -> Vec<SupervisorStep> {
        self.supervisor.clone()
    }

    /// What people answer, in the order of the file.
    pub fn person_answers(&self) -> Vec<PersonAnswer> {
        self.people.clone()
    }

    /// The fields of the interrupt that this caller is to raise.
    pub(crate) fn interrupt_for(&self, caller: &ModelCaller) -> Option<Map<String, Value>> {
        let step = self.interrupts.iter().find(|step| step.fits(caller))?;
        step.answer.as_object().cloned()
    }

    /// The answer that this caller is to give.
    pub(crate) fn answer_for(&self, caller: &ModelCaller) -> Option<String> {
        let step = self.answers.iter().find(|step| step.fits(caller))?;
        let text = step.answer.as_str().map(str::to_owned);
        Some(text.unwrap_or_else(|| step.answer.to_string()))
    }
}

/// Why a script was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct ScriptError {
    path: String,
    reason: String,
}

impl ScriptError {
    fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// Where the mistake is: `steps[2].person.answer`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the mistake is, and what is known there.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Reads what is at a path.
fn read<'de, T: Deserialize<'de>>(
    path: &str,
    reader: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, ScriptError> {
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let inner = error.path().to_string();
        let path = match (path, inner.as_str()) {
            ("", "." | "?") => "script".to_owned(),
            ("", _) => inner,
            (path, ".") => path.to_owned(),
            (path, inner) => format!("{path}.{inner}"),
        };
        ScriptError::new(path, error.inner().to_string())
    })
}

/// The names that a script may use.
#[derive(Debug, Clone, Default)]
pub struct ScriptVocabulary {
    /// The agent types that act, by their names on the wire.
    pub agent_types: Vec<String>,
    /// The agent types that an agent may be sent to.
    pub routes: Vec<String>,
    /// The fields of each agent type's own kind of interrupt, beside the shared ones. Those of an agent
    /// type that is not listed are not checked.
    pub interrupt_fields: BTreeMap<String, Vec<String>>,
    /// Whether the workflow is code of your own, which raises its interrupts itself and has no supervisor to play: a
    /// script for it has `answer` and `person` steps alone.
    pub has_code: bool,
}

impl ScriptVocabulary {
    /// The names of a workflow that is code of one's own, from its catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        let (kinds, routes) = (catalogue.kinds().iter(), catalogue.routes().iter());
        Self {
            agent_types: kinds.map(|it| it.name.to_string()).collect(),
            routes: routes.map(|it| it.name.to_string()).collect(),
            has_code: true,
            ..Self::default()
        }
    }

    fn check_names(&self, step: &Value, path: &str) -> Result<(), ScriptError> {
        for (field, is_route) in NAMES {
            let known = if is_route {
                &self.routes
            } else {
                &self.agent_types
            };
            let name = step.pointer(&format!("/{}", field.replace('.', "/")));
            let name = name.and_then(Value::as_str);
            if let Some(name) = name.filter(|name| known.iter().all(|known| known != name)) {
                let near = nearest(name, known.iter().map(String::as_str));
                let near = near
                    .map(|near| format!("did you mean `{near}`? "))
                    .unwrap_or_default();
                let reason = format!(
                    "unknown agent type `{name}`; {near}known are: {}",
                    known.join(", ")
                );
                return Err(ScriptError::new(format!("{path}.{field}"), reason));
            }
        }
        Ok(())
    }

    /// The checked fields of an interrupt. It offers what it says, and nothing else.
    fn interrupt(
        &self,
        mut fields: Map<String, Value>,
        agent: &str,
        path: &str,
    ) -> Result<Value, ScriptError> {
        let is_shared = |name: &str| InterruptDetails::FIELDS.contains(&name);
        fields.retain(|name, value| !value.is_null() || !is_shared(name));
        for offered in ["choices", "confirmationItems"] {
            fields.entry(offered).or_insert_with(|| json!([]));
        }
        let (mut shared, own): (Map<_, _>, Map<_, _>) = fields
            .clone()
            .into_iter()
            .partition(|(name, _)| is_shared(name));
        let known = self.interrupt_fields.get(agent);
        let is_unknown = |name: &&String| known.is_some_and(|known| !known.contains(name));
        if let Some(name) = own.keys().find(is_unknown) {
            // A kind whose interrupts say no more than the shared part lists the shared fields itself.
            let own = known
                .into_iter()
                .flatten()
                .map(String::as_str)
                .filter(|name| !is_shared(name));
            let all: Vec<&str> = InterruptDetails::FIELDS.into_iter().chain(own).collect();
            let reason = format!("unknown field; known are: {}", all.join(", "));
            return Err(ScriptError::new(format!("{path}.{name}"), reason));
        }
        shared
            .entry("contextForDecision")
            .or_insert_with(|| json!(""));
        read::<InterruptDetails>(path, Value::Object(shared))?;
        Ok(fields.into())
    }
}
