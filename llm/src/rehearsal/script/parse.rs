//! Reading a script: every mistake names its place and what is known there.

use std::collections::BTreeMap;

use interrupt_router::InterruptDetails;
use interrupt_router::model::Purpose;
use interrupts::catalogue::Catalogue;
use interrupts::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Script;
use super::raw::{RawPerson, RawScript, RawStep, RawSupervisor};
use super::step::{
    AnswerStep, InterruptStep, PersonAnswer, ScriptedInterrupt, StepSelector, SupervisorStep,
};

/// The version of the script's form that is read.
const VERSION: u32 = 1;

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

pub(super) fn script(text: &str, vocabulary: &ScriptVocabulary) -> Result<Script, ScriptError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let raw: RawScript = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        ScriptError::new(
            if matches!(path.as_str(), "." | "?") {
                "script"
            } else {
                &path
            },
            error.inner().to_string(),
        )
    })?;
    reader
        .end()
        .map_err(|error| ScriptError::new("script", error.to_string()))?;
    if raw.version != VERSION {
        let reason = format!("unknown version {}; known is: {VERSION}", raw.version);
        return Err(ScriptError::new("version", reason));
    }
    let mut script = Script::default();
    for (index, step) in raw.steps.into_iter().enumerate() {
        let reader = StepReader {
            path: format!("steps[{index}]"),
            vocabulary,
        };
        reader.read(step, &mut script)?;
    }
    Ok(script)
}

struct StepReader<'v> {
    path: String,
    vocabulary: &'v ScriptVocabulary,
}

impl StepReader<'_> {
    fn read(&self, mut step: RawStep, script: &mut Script) -> Result<(), ScriptError> {
        let supervisor = step.supervisor.take();
        let person = step.person.take();
        let interrupt = step.interrupt.take();
        let answer = step.answer.take();
        match (interrupt, answer, supervisor, person) {
            (Some(_), None, None, None) if self.vocabulary.has_code => {
                let reason = "the code of this workflow raises its interrupts; steer it with an `answer` step";
                return Err(self.error("interrupt", reason));
            }
            (None, None, Some(_), None) if self.vocabulary.has_code => {
                let reason =
                    "a script plays supervisors of the built-in agents only; leave the step out";
                return Err(self.error("supervisor", reason));
            }
            (Some(fields), None, None, None) => {
                let when = self.selector(step)?;
                if when.purpose != Purpose::Step {
                    let reason = "an interrupt is raised in a `step` only";
                    return Err(self.error("purpose", reason));
                }
                script.interrupts.push(self.interrupt(when, fields)?);
            }
            (None, Some(answer), None, None) => {
                let when = self.selector(step)?;
                script.answers.push(AnswerStep { when, answer });
            }
            (None, None, Some(supervisor), None) => {
                self.no_selector(&step, "supervisor")?;
                script.supervisor.push(self.supervisor(supervisor)?);
            }
            (None, None, None, Some(person)) => {
                self.no_selector(&step, "person")?;
                script.people.push(self.person(person)?);
            }
            _ => {
                let reason = "a step has exactly one of: interrupt, answer, supervisor, person";
                return Err(ScriptError::new(&self.path, reason));
            }
        }
        Ok(())
    }

    fn selector(&self, step: RawStep) -> Result<StepSelector, ScriptError> {
        let missing = |field| ScriptError::new(&self.path, format!("missing field `{field}`"));
        let agent = step.agent.ok_or_else(|| missing("agent"))?;
        self.agent("agent", &agent)?;
        let turn = step.turn.ok_or_else(|| missing("turn"))?;
        Ok(StepSelector {
            agent,
            turn: self.counted("turn", turn)?,
            node: step.node,
            correction: step.correction,
            purpose: step.purpose.unwrap_or(Purpose::Step),
        })
    }

    fn no_selector(&self, step: &RawStep, kind: &str) -> Result<(), ScriptError> {
        let stray = [
            ("agent", step.agent.is_some()),
            ("turn", step.turn.is_some()),
            ("node", step.node.is_some()),
            ("correction", step.correction.is_some()),
            ("purpose", step.purpose.is_some()),
        ];
        match stray.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => {
                let reason = format!("a step with `{kind}` has no `{field}` of its own");
                Err(self.error(field, reason))
            }
            None => Ok(()),
        }
    }

    fn interrupt(
        &self,
        when: StepSelector,
        fields: Map<String, Value>,
    ) -> Result<InterruptStep, ScriptError> {
        let (shared, own): (Map<_, _>, Map<_, _>) = fields
            .into_iter()
            .partition(|(name, _)| InterruptDetails::FIELDS.contains(&name.as_str()));
        if let Some(known) = self.vocabulary.interrupt_fields.get(&when.agent) {
            for name in own.keys() {
                if !known.contains(name) {
                    // A kind whose interrupts say no more than the shared part lists the shared fields itself.
                    let own = known.iter().map(String::as_str);
                    let own = own.filter(|field| !InterruptDetails::FIELDS.contains(field));
                    let all: Vec<&str> = InterruptDetails::FIELDS.into_iter().chain(own).collect();
                    let reason = format!("unknown field; known are: {}", all.join(", "));
                    return Err(self.error(&format!("interrupt.{name}"), reason));
                }
            }
        }
        let interrupt: ScriptedInterrupt = self.shaped("interrupt", Value::Object(shared))?;
        Ok(InterruptStep {
            when,
            interrupt,
            own,
        })
    }

    fn supervisor(&self, raw: RawSupervisor) -> Result<SupervisorStep, ScriptError> {
        let RawSupervisor { when, event } = raw;
        self.agent("supervisor.when.agent", &when.agent)?;
        let turn = self.counted("supervisor.when.turn", when.turn)?;
        if let Some(source) = &event.source_agent_type {
            self.agent("supervisor.event.sourceAgentType", source)?;
        }
        if let Some(target) = &event.reroute_to_agent_type {
            self.route("supervisor.event.rerouteToAgentType", target)?;
        }
        Ok(SupervisorStep {
            agent: when.agent,
            turn,
            node: when.node,
            event,
        })
    }

    fn person(&self, raw: RawPerson) -> Result<PersonAnswer, ScriptError> {
        self.agent("person.interrupt.agent", &raw.interrupt.agent)?;
        if let Some(target) = &raw.answer.reroute_to {
            self.route("person.answer.rerouteTo", target)?;
        }
        Ok(PersonAnswer {
            agent: raw.interrupt.agent,
            nth: self.counted("person.interrupt.nth", raw.interrupt.nth)?,
            answer: raw.answer.into(),
        })
    }

    fn shaped<T: DeserializeOwned>(&self, field: &str, value: Value) -> Result<T, ScriptError> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let inner = error.path().to_string();
            let path = if inner == "." {
                field.to_owned()
            } else {
                format!("{field}.{inner}")
            };
            self.error(&path, error.inner().to_string())
        })
    }

    fn agent(&self, field: &str, name: &str) -> Result<(), ScriptError> {
        self.known(field, name, &self.vocabulary.agent_types)
    }

    fn route(&self, field: &str, name: &str) -> Result<(), ScriptError> {
        self.known(field, name, &self.vocabulary.routes)
    }

    fn known(&self, field: &str, name: &str, known: &[String]) -> Result<(), ScriptError> {
        if known.iter().any(|other| other == name) {
            return Ok(());
        }
        let near = nearest(name, known.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? "));
        let reason = format!(
            "unknown agent type `{name}`; {}known are: {}",
            near.unwrap_or_default(),
            known.join(", ")
        );
        Err(self.error(field, reason))
    }

    fn counted(&self, field: &str, number: u32) -> Result<u32, ScriptError> {
        if number == 0 {
            return Err(self.error(field, "counts from 1"));
        }
        Ok(number)
    }

    fn error(&self, field: &str, reason: impl Into<String>) -> ScriptError {
        ScriptError::new(format!("{}.{field}", self.path), reason)
    }
}
