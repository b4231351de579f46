//! A question that a server asks a person while it works on a call.

use async_trait::async_trait;
use interrupt_router::StopScope;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::name::ServerName;
use crate::permission::NoApprover;
use crate::tool::ToolCall;

/// What a server asks. Every word of it is the server's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitationRequest {
    /// The server.
    pub server: ServerName,
    /// The call that it asks for, where that is known: with several calls under way a server that is a program does not
    /// say which one it means.
    pub call: Option<ToolCall>,
    /// The question.
    pub message: String,
    /// What an answer looks like.
    pub form: ElicitationForm,
    /// What was wrong with the answer before, where this is asked again.
    pub problem: Option<String>,
}

/// What an answer looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationForm {
    /// An object that fits this JSON schema, whose members are texts, numbers, truth values or choices.
    Fields {
        /// The schema.
        schema: Value,
    },
}

/// What the person says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationAnswer {
    /// This. It is checked against the schema, and asked for again where it does not fit.
    Accept {
        /// The answer.
        content: Value,
    },
    /// No; the server continues without it, if it can.
    Decline,
    /// Nothing: the person turned away, or the question is void.
    Cancel,
    /// No one can answer now. The call that the server asks for is interrupted; the server learns that the question was
    /// cancelled, because no one has declined it.
    Unanswered,
}

/// Asks a person what a server wants to know. Meanwhile the time limit of the call is paused.
#[async_trait]
pub trait Elicitor: Send + Sync {
    /// Asks, and waits for the answer. May take days. Ends early, with any answer, when `scope` is stopped: the call
    /// has ended then or is being cancelled, and the question is void.
    ///
    /// # Cancel safety
    ///
    /// Dropped a second after `scope` was stopped, where it has not returned by then. What was asked may stay open
    /// where it was asked.
    async fn elicit(&self, request: ElicitationRequest, scope: &StopScope) -> ElicitationAnswer;
}

#[async_trait]
impl Elicitor for NoApprover {
    async fn elicit(&self, _request: ElicitationRequest, _scope: &StopScope) -> ElicitationAnswer {
        ElicitationAnswer::Unanswered
    }
}
