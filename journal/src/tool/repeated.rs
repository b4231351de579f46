//! A call that is asked about again, because it is not what was allowed any more.

use interrupts::life::{Interrupt, Verdict};
use serde::{Deserialize, Serialize};

use super::question::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};

/// Who allowed a call in an earlier form, and what has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AllowedBefore {
    /// Who allowed it.
    pub by: String,
    /// When, by the store's clock.
    pub at: String,
    /// What has changed since.
    pub why: String,
}

impl AllowedBefore {
    /// What the earlier question about a call says of the call as it is now; `None` if it was not allowed.
    pub fn of(earlier: &Interrupt, now: &ToolQuestion) -> Option<Self> {
        let decision = earlier.decision.as_ref()?;
        let about = ToolQuestionContent::of(&earlier.content)?.tool_call;
        let is_allowed = matches!(decision.verdict, Verdict::Approve | Verdict::Edit);
        let is_same_call = about.place == now.place && about.asks == now.asks;
        if !is_allowed || !is_same_call || about.asks != ToolQuestionKind::Permission {
            return None;
        }
        let why = if about.arguments != now.arguments {
            "its arguments are others since"
        } else if about.preview != now.preview {
            "what it would change is not the same any more: a file has changed since"
        } else {
            "the tool describes itself in another way since"
        };
        Some(Self {
            by: decision.by.title().to_owned(),
            at: decision.at.to_string(),
            why: why.to_owned(),
        })
    }

    /// All of it, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { by, at, why } = self;
        format!("{by} allowed this call at {at}, and it was not made: {why}. So it is asked again.")
    }
}
