//! Asking a person whether a call may be made.

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupts::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolCall;
use journal::tool::CallDigest;

/// What a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The exact call.
    pub call: ToolCall,
    /// Its digest: an approval names it.
    pub digest: CallDigest,
    /// What the same call has in common whenever it is asked for: see [`CallDigest::recurring`].
    pub recurring: Digest,
    /// What the tool says it does.
    pub description: String,
    /// What the call would change, where the tool can say so: for an edit, its diff.
    pub preview: Option<String>,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionAnswer {
    /// The call with this digest may be made, once.
    Approve {
        /// Of what was shown.
        digest: CallDigest,
        /// What the person says beside it, for the model.
        words: Option<String>,
    },
    /// It may be made with other arguments, once.
    Edit {
        /// The arguments. They are checked like those of the model.
        arguments: Value,
        /// What the person says beside it, for the model.
        words: Option<String>,
    },
    /// It may not be made.
    Deny {
        /// Why, for the model.
        reason: String,
    },
}

/// Asks the person who decides. Anything but a clear answer is a denial.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. May take days. Ends early, with any answer, when `scope` is stopped: the call
    /// does not start then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the call does not start. What was asked may stay open where it was asked.
    async fn ask(&self, request: PermissionRequest, scope: &StopScope) -> PermissionAnswer;
}

/// Denies everything, because no one can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprover;

#[async_trait]
impl Approver for NoApprover {
    async fn ask(&self, _request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        PermissionAnswer::Deny {
            reason: "it needs a person's permission, and nobody can be asked".to_owned(),
        }
    }
}
