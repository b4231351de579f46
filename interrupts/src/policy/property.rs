//! What policies decide about an interrupt.

use serde::Serialize;

use super::rule_settings::{RuleSettings, Terms, limit, outcome};

/// A property that policies decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Its place in lists.
    Priority,
    /// Who answers it.
    Answer,
    /// How it continues after a pause.
    Resume,
    /// How it is shown beside others.
    Batch,
    /// How long it may wait for its answer.
    ReviewLimit,
    /// What happens then.
    OnExpiry,
    /// How long a graceful stop may last.
    Grace,
    /// How long a handler may take.
    HandlerLimit,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Priority,
        Self::Answer,
        Self::Resume,
        Self::Batch,
        Self::ReviewLimit,
        Self::OnExpiry,
        Self::Grace,
        Self::HandlerLimit,
    ];

    /// The key in a policy's text.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Answer => "answer",
            Self::Resume => "resume",
            Self::Batch => "batch",
            Self::ReviewLimit => "review_limit",
            Self::OnExpiry => "on_expiry",
            Self::Grace => "grace",
            Self::HandlerLimit => "handler_limit",
        }
    }

    /// Whether a rule says something of it.
    pub(super) const fn is_said_by(self, provisions: &RuleSettings) -> bool {
        match self {
            Self::Priority => provisions.priority.is_some(),
            Self::Answer => provisions.answer.is_some(),
            Self::Resume => provisions.resume.is_some(),
            Self::Batch => provisions.batch.is_some(),
            Self::ReviewLimit => provisions.review_limit.is_some(),
            Self::OnExpiry => provisions.on_expiry.is_some(),
            Self::Grace => provisions.grace.is_some(),
            Self::HandlerLimit => provisions.handler_limit.is_some(),
        }
    }

    /// Its value, as it would be written in a policy.
    pub(super) fn value(self, terms: &Terms) -> String {
        match self {
            Self::Priority => terms.priority.to_string(),
            Self::Answer => terms.answer.to_string(),
            Self::Resume => terms.resume.to_string(),
            Self::Batch => terms.batch.to_string(),
            Self::ReviewLimit => limit(terms.review_limit),
            Self::OnExpiry => outcome(&terms.on_expiry),
            Self::Grace => limit(terms.grace),
            Self::HandlerLimit => limit(Some(terms.handler_limit)),
        }
    }
}
