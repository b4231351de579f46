//! Adapters of the router's model port and of the chat port: real providers, retries, and the
//! deterministic rehearsal model; conversations that can be interrupted; and the check of answers
//! against a schema's constraints.

mod charged;
mod chat;
mod constraints;
mod conversation;
mod fallback;
mod hint;
mod port;
mod profile;
mod provider;
mod registry;
mod rehearsal;
mod retrying;

pub use charged::{Charge, Charged, Reserved};
pub use chat::{
    AtProvider, ChatCall, ChatModel, ChatOutcome, ChatPartial, ChatReply, ChatUsage, Discarded,
    EstimationMethod, TokenCount,
};
pub use constraints::JsonSchemaConstraints;
pub use conversation::{
    BlankMessage, Completeness, Conversation, ConversationConfig, ConversationEvent,
    ConversationRunEnd, ConversationRunError, ConversationStatus, ConversationTools, History,
    HistoryEntry, HistoryFault, StopOutcome, ToolProgress, ToolResult, ToolState, check_history,
    repaired,
};
pub use fallback::{Fallback, MixedDialects};
pub use hint::hint;
pub use profile::ModelProfile;
pub use provider::{
    CallLimits, CancelObserver, CancelOutcome, CancelReport, ModelId, ParseModelIdError, Provider,
    ProviderConfig, ProviderError, ProviderModel, Secret, ServerFacts, ServerKind,
};
pub use registry::ModelRegistry;
pub use rehearsal::{
    AnsweredInterrupt, Fact, Pace, PersonAnswer, RehearsalConfig, RehearsalModel, Script,
    ScriptError, ScriptVocabulary, ScriptedEvent, SupervisedTurn, SupervisorStep,
};
pub use retrying::{RetryPolicy, Retrying};
