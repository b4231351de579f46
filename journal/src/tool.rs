//! A call of a tool as its run keeps it: what was asked for, how it ended, what was asked about it.

mod call;
mod containment;
mod digest;
mod end;
mod output;
mod question;
mod repeated;
mod spec;
mod stored_call;
pub mod wording;

pub use call::{CallId, RequestedCall, ToolCall};
pub use containment::{ContainmentReport, Mechanism, ProcessKey};
pub use digest::CallDigest;
pub use end::{CallEnd, ToolMessage};
pub use output::{PartialOutput, Stopped, ToolOutput, Verdict};
pub use question::{CHOICE_NO, CHOICE_YES, ToolQuestion, ToolQuestionContent, ToolQuestionKind};
pub use repeated::AllowedBefore;
pub use spec::{Interruption, ToolName, ToolNameError, ToolSpec};
pub use stored_call::{StoredCall, StoredCallEnd, ToolIntent};
