//! Adapters of the router's model port: real providers, retries, and the deterministic rehearsal model; conversations that
//! can be interrupted; and the check of answers against a schema's constraints.

mod constraints;
mod conversation;
mod fallback;
mod hint;
mod profile;
mod provider;
mod rehearsal;
mod retrying;

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
pub use rehearsal::{
    AnsweredInterrupt, Fact, Pace, PersonAnswer, RehearsalConfig, RehearsalModel, Script,
    ScriptError, ScriptVocabulary, ScriptedEvent, SupervisedTurn, SupervisorStep,
};
pub use retrying::{RetryPolicy, Retrying};

use interrupt_router::Outcome;
use interrupt_router::model::{ModelError, ModelReply, PartialReply};

/// How a call ends.
type Ended = Result<Outcome<ModelReply, PartialReply>, ModelError>;
