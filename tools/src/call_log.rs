//! The record of calls: what is there is read, and not done again.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::store::Repeating;
use serde_json::Value;

use crate::tool::{CallId, RequestedCall, ToolCall};
use journal::tool::ToolMessage;

/// The place of a call among the calls that a model asked for at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallPosition {
    /// Its number, from 0.
    pub index: usize,
    /// Its id.
    pub id: CallId,
    /// How many calls before it have the same id.
    pub same_before: usize,
}

impl CallPosition {
    /// The places of some calls.
    pub fn of_all(calls: &[RequestedCall]) -> Vec<Self> {
        let place = |(index, call): (usize, &RequestedCall)| {
            let before = calls.iter().take(index);
            Self {
                index,
                id: call.id.clone(),
                same_before: before.filter(|other| other.id == call.id).count(),
            }
        };
        calls.iter().enumerate().map(place).collect()
    }

    /// A name for it that no other call of the same turn has.
    pub fn name(&self) -> String {
        // The length parts an id that ends like this from a number that follows it.
        match self.same_before {
            0 => format!("{}:{}", self.id.as_str().len(), self.id),
            before => format!("{}:{}:{}", self.id.as_str().len(), self.id, before + 1),
        }
    }
}

/// Why a call log could not record or read something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record of a tool call failed: {reason}")]
pub struct CallLogError {
    /// In words.
    pub reason: String,
}

/// A call that had begun, and whose end is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunCall {
    /// The arguments that it ran with.
    pub arguments: Value,
    /// What it was to leave behind: see [`Tool::leaves`](crate::Tool::leaves).
    pub leaves: Digest,
}

/// Keeps what became of calls, so that a run that is resumed reads it.
#[async_trait]
pub trait CallLog: Send + Sync {
    /// What was recorded of the call at this place, if it had begun, was to leave something behind, and has not ended. If
    /// that is there, the call counts as made; else [`CallLog::known`] judges.
    ///
    /// # Errors
    ///
    /// [`CallLogError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn begun(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
    ) -> Result<Option<BegunCall>, CallLogError> {
        let _unused = (place, call);
        Ok(None)
    }

    /// The message of the call at this place, if it has ended before. A call that began and whose end is unknown is the
    /// call log's to judge: it may be run again where it is idempotent, and else gets a message that says so.
    ///
    /// # Errors
    ///
    /// [`CallLogError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn known(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
    ) -> Result<Option<ToolMessage>, CallLogError>;

    /// The call is about to start. `leaves` is what it will leave behind, if that is known: see
    /// [`Tool::leaves`](crate::Tool::leaves).
    ///
    /// # Errors
    ///
    /// [`CallLogError`]; it does not start then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was recorded or not.
    async fn begin(
        &self,
        place: &CallPosition,
        call: &ToolCall,
        repeating: Repeating,
        leaves: Option<Digest>,
    ) -> Result<(), CallLogError>;

    /// What people have said along with their answers about the call, other than whether it is permitted: the model reads
    /// it.
    ///
    /// # Errors
    ///
    /// [`CallLogError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn said(&self, place: &CallPosition) -> Result<Option<String>, CallLogError> {
        let _unused = place;
        Ok(None)
    }

    /// The call has ended; one that never began, too.
    ///
    /// # Errors
    ///
    /// [`CallLogError`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was recorded or not.
    async fn end(
        &self,
        place: &CallPosition,
        call: &RequestedCall,
        message: &ToolMessage,
    ) -> Result<(), CallLogError>;
}

/// Records nothing: for loops that are not resumed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCallLog;

#[async_trait]
impl CallLog for NoCallLog {
    async fn known(
        &self,
        _place: &CallPosition,
        _call: &RequestedCall,
    ) -> Result<Option<ToolMessage>, CallLogError> {
        Ok(None)
    }

    async fn begin(
        &self,
        _place: &CallPosition,
        _call: &ToolCall,
        _repeating: Repeating,
        _leaves: Option<Digest>,
    ) -> Result<(), CallLogError> {
        Ok(())
    }

    async fn end(
        &self,
        _place: &CallPosition,
        _call: &RequestedCall,
        _message: &ToolMessage,
    ) -> Result<(), CallLogError> {
        Ok(())
    }
}
