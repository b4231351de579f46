//! Why a model gave no answer.

use std::error::Error;
use std::fmt::{self, Display};
use std::time::Duration;

use super::in_words;

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider cannot be reached: it may be worth trying again.
    #[error("cannot reach the model at {endpoint}")]
    Unreachable {
        /// Where it was looked for.
        endpoint: String,
        /// What the client said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The provider refused the credentials. Trying again will not help.
    #[error(
        "the provider refused the credentials ({status}){}",
        detail_text(detail)
    )]
    Unauthorized {
        /// The HTTP status, 401 or 403.
        status: u16,
        /// What the provider said.
        detail: String,
    },
    /// The provider refused the request. Trying again will not help.
    #[error("the provider refused the request ({status}){}", detail_text(detail))]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// What the provider said.
        detail: String,
    },
    /// The provider wants to be paid first: no credit is left, or a quota that was paid for is used up.
    #[error(
        "the provider wants to be paid first ({status}){}",
        detail_text(detail)
    )]
    Unpaid {
        /// The HTTP status, mostly 402.
        status: u16,
        /// What the provider said.
        detail: String,
    },
    /// The prompt is longer than the model can read. Nothing was answered.
    #[error(
        "the prompt does not fit into what the model can read{}",
        detail_text(detail)
    )]
    ContextFull {
        /// What the provider said.
        detail: String,
    },
    /// The model refused to answer.
    #[error("the model refused to answer: {detail}")]
    Refused {
        /// In its own words.
        detail: String,
    },
    /// The provider kept the answer back, for what was asked or for what the answer says.
    #[error("the provider's content filter kept the answer back: {detail}")]
    Filtered {
        /// What the provider said.
        detail: String,
    },
    /// Too many requests.
    #[error("the provider asks to slow down (429){}{}", for_how_long(*retry_after), detail_text(detail))]
    RateLimited {
        /// How long the provider asked to wait, if it said.
        retry_after: Option<Duration>,
        /// What the provider said.
        detail: String,
    },
    /// The provider failed, or cannot answer now. It may be worth trying again.
    #[error("the provider failed ({status}){}", detail_text(detail))]
    ProviderFailed {
        /// The HTTP status: 5xx, or any other that says when to try again.
        status: u16,
        /// How long the provider asked to wait, if it said.
        retry_after: Option<Duration>,
        /// What the provider said.
        detail: String,
        /// Whether an answer had begun, which may be billed.
        begun: bool,
    },
    /// The answer broke off before its end.
    #[error("{}", broken_off(*received))]
    BrokenOff {
        /// How much had arrived, in bytes.
        received: usize,
    },
    /// The provider ended the answer for a reason that no whole answer has. What came of it is not used.
    #[error("the provider ended the answer with `{reason}`")]
    EndedWith {
        /// The provider's word, and what it said of it.
        reason: String,
        /// Whether the same call may end otherwise.
        again: bool,
    },
    /// A line of the answer does not come to its end.
    #[error("a line of the answer has no end: {reads} reads brought none")]
    LineTooLong {
        /// How often the connection was read.
        reads: u32,
    },
    /// The answer is longer than allowed.
    #[error("the answer is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The answer did not end in time.
    #[error("{awaited} within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// What did not come.
        awaited: Awaited,
    },
    /// The provider said something that is no answer.
    #[error("the provider's answer cannot be understood: {detail}")]
    Malformed {
        /// What was wrong.
        detail: String,
    },
    /// The call could not be recorded, or what was recorded of it cannot be used: nothing may follow from it.
    #[error("the model's call cannot be recorded or read")]
    Unrecorded(#[source] Box<dyn Error + Send + Sync>),
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The first sign of an answer.
    Beginning,
    /// The next piece of an answer that has begun.
    Next,
    /// The whole answer.
    Whole,
}

impl Display for Awaited {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Beginning => "no answer began",
            Self::Next => "the answer fell silent: nothing more came",
            Self::Whole => "no whole answer",
        })
    }
}

/// What a provider said, after a colon.
fn detail_text(detail: &str) -> String {
    if detail.is_empty() {
        String::new()
    } else {
        format!(": {detail}")
    }
}

fn for_how_long(wait: Option<Duration>) -> String {
    wait.map(|wait| format!(" for {}", in_words(wait)))
        .unwrap_or_default()
}

fn broken_off(received: usize) -> String {
    if received == 0 {
        "the answer ended before its first word".to_owned()
    } else {
        format!("the answer broke off after {received} bytes")
    }
}

impl ModelError {
    /// Whether the same call may succeed when it is made again.
    pub fn is_transient(&self) -> bool {
        match self {
            // The provider does not support the request.
            Self::ProviderFailed {
                status: 501 | 505,
                retry_after: None,
                ..
            } => false,
            Self::EndedWith { again, .. } => *again,
            Self::Unreachable { .. }
            | Self::RateLimited { .. }
            | Self::ProviderFailed { .. }
            | Self::BrokenOff { .. }
            | Self::TimedOut { .. } => true,
            Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Unpaid { .. }
            | Self::ContextFull { .. }
            | Self::Refused { .. }
            | Self::Filtered { .. }
            | Self::LineTooLong { .. }
            | Self::TooLong { .. }
            | Self::Malformed { .. }
            | Self::Unrecorded(_) => false,
        }
    }

    /// How long the provider asked to wait before the call is made again.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::ProviderFailed { retry_after, .. } => {
                *retry_after
            }
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Unpaid { .. }
            | Self::ContextFull { .. }
            | Self::Refused { .. }
            | Self::Filtered { .. }
            | Self::BrokenOff { .. }
            | Self::EndedWith { .. }
            | Self::LineTooLong { .. }
            | Self::TooLong { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::Unrecorded(_) => None,
        }
    }

    /// Whether nothing of the call was billed: the provider did not take it.
    pub const fn is_free(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Unpaid { .. }
            | Self::ContextFull { .. }
            | Self::RateLimited { .. } => true,
            Self::ProviderFailed { begun, .. } => !*begun,
            // An answer had begun, or may have.
            Self::Refused { .. }
            | Self::Filtered { .. }
            | Self::BrokenOff { .. }
            | Self::EndedWith { .. }
            | Self::LineTooLong { .. }
            | Self::TooLong { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::Unrecorded(_) => false,
        }
    }

    /// What has failed, in a few words: the model, or the record of its call.
    pub const fn in_short(&self) -> &'static str {
        match self.is_unrecorded() {
            true => "the call to the model was not recorded",
            false => "the model gave no answer",
        }
    }

    /// Whether the record of the call is what failed, and not the model.
    pub const fn is_unrecorded(&self) -> bool {
        matches!(self, Self::Unrecorded(_))
    }
}
