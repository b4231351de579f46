//! Adapters of the router's model port: the deterministic rehearsal model.

mod rehearsal;

pub use rehearsal::{
    AnswerStep, InterruptStep, Pace, PersonAnswer, RehearsalConfig, RehearsalModel, Script,
    ScriptError, ScriptVocabulary, ScriptedAnswer, ScriptedEvent, StepSelector, SupervisorStep,
};
