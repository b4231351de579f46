//! The worker protocol: what an orchestrator in any language does with its workflow and its runs, over a store.
//!
//! A worker executes its own code and owns its runs, each in an epoch. What must outlive it is here: questions and
//! their decisions, the one route of an answer, stops, messages, effects and checkpoints. Between two operations
//! everything is in the store, so any server over that store answers any of them, and the epoch fences off a worker
//! that lost its run. A server only remembers which waiting runs need no check.

mod agents;
mod candidates;
mod checkpoint;
mod cut;
mod effect;
mod end;
mod error;
mod gone;
mod key;
mod lease;
mod next;
mod owned;
mod protocol;
mod question;
mod question_status;
mod raising;
mod reading;
mod registration;
mod request;
mod run;
mod signals;

pub use agents::AgentReport;
pub use candidates::Candidates;
pub use checkpoint::WorkerCheckpoint;
pub use effect::{Beginning, EffectState};
pub use end::RunResult;
pub use error::WorkError;
pub use gone::{ENDS_WITH_PROCESS, GoneAskers};
pub use key::WorkKey;
pub use lease::Taking;
pub use next::NextRun;
pub use owned::Owned;
pub use protocol::Protocol;
pub use question::Asking;
pub use question_status::{Decided, QuestionState, QuestionStatus, RequestQuestion, Route};
pub use registration::{KindDraft, RECORD, RegistrationError, RouteDraft, WorkflowDraft};
pub use request::Submitted;
pub use run::{NewWork, Work};
pub use signals::{InterruptSignal, News, Signals, WorkerMessage, is_own_question};
