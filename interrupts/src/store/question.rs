//! What an agent asks, and who decides it.

use std::sync::Arc;

use super::error::StoreError;
use super::interrupt::{AdmitError, Delivery};
use super::journal::{Intent, JournalError};
use crate::digest::Digest;
use crate::life::Admission;
use crate::policy::Policy;

/// What an agent raises by itself, a question or a stop of its own: admitted, delivered and acknowledged at once. An
/// agent that asks to be stopped is at its boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedQuestion {
    /// The question. Its content is the agent's typed request.
    pub admission: Admission,
    /// The worker that runs the agent.
    pub delivery: Delivery,
    /// Who is asked about it at once.
    pub deciders: Deciders,
}

/// Who is asked about a question that its owner has acknowledged, in this order. What one of them may not decide, or is refused,
/// is the next one's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deciders {
    /// Whether a standing rule may decide it: the oldest that answers it. A rule goes first, for it is about this very
    /// question.
    pub rules: bool,
    /// The policy that may decide it without delay.
    pub policy: Option<Arc<Policy>>,
    /// The digest of what people are shown, if they are asked now.
    pub shown: Option<Digest>,
}

impl Deciders {
    /// Standing rules alone.
    pub fn rules() -> Self {
        Self {
            rules: true,
            ..Self::default()
        }
    }
}

/// An agent's question to people, with the place of its run's journal at which it asks: raised there, and put to
/// people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutQuestion {
    /// The question.
    pub raised: RaisedQuestion,
    /// The epoch in which the run is owned.
    pub epoch: u64,
    /// The intent to raise it, which names its interrupt.
    pub intent: Intent,
}

/// Why a question was not put. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PutQuestionError {
    /// The journal did not take its intent; with [`JournalError::OtherIntent`] if something was asked there before.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It was not raised.
    #[error(transparent)]
    Admit(#[from] AdmitError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
