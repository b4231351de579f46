//! A call of a tool as its run keeps it: what was asked for, how it ended, what was asked about it.

mod call;
mod containment;
mod digest;
mod end;
mod kept_call;
mod matter;
mod output;
mod spec;
pub mod wording;

pub use call::{CallId, RequestedCall, ToolCall};
pub use containment::{ContainmentReport, Mechanism, ProcessKey};
pub use digest::CallDigest;
pub use end::{CallEnd, ToolMessage};
pub use kept_call::{KeptCall, KeptCallEnd, ToolIntent};
pub use matter::{CHOICE_NO, CHOICE_YES, ToolMatter, ToolQuestion, ToolQuestionKind};
pub use output::{PartialOutput, Stopped, ToolOutput, Verdict};
pub use spec::{Interruption, ToolName, ToolNameError, ToolSpec};
