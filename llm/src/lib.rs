//! Adapters of the router's model port: real providers, retries, and the deterministic rehearsal
//! model; and the check of answers against a schema's constraints.

mod constraints;
mod provider;
mod rehearsal;
mod retrying;

pub use constraints::JsonSchemaConstraints;
pub use provider::{
    CallLimits, ModelId, ParseModelIdError, Provider, ProviderConfig, ProviderError, ProviderModel,
    Secret,
};
pub use rehearsal::{
    AnswerStep, InterruptStep, Pace, PersonAnswer, RehearsalConfig, RehearsalModel, Script,
    ScriptError, ScriptVocabulary, ScriptedAnswer, ScriptedEvent, StepSelector, SupervisorStep,
};
pub use retrying::{RetryPolicy, Retrying};
