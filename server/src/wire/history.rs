//! A row of the audit as callers see it.

use interrupts::store::AuditRow;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A row of the audit as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct HistoryRow {
    /// Its place: 1 for the first.
    pub(crate) position: u64,
    /// What it says: when, about what, what happened, who did it.
    pub(crate) entry: Value,
    /// The digest of the row before.
    pub(crate) previous: String,
    /// The digest of this row.
    pub(crate) digest: String,
}

/// A part of the audit.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct HistoryPage {
    /// The rows.
    pub(crate) rows: Vec<HistoryRow>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl HistoryRow {
    /// A row of the audit.
    pub(crate) fn of(row: &AuditRow) -> Self {
        Self {
            position: row.position,
            entry: serde_json::from_str(&row.entry).unwrap_or_default(),
            previous: row.previous.to_string(),
            digest: row.digest.to_string(),
        }
    }
}
