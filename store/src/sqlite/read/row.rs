//! What the rows of statements say.

use interrupts::store::{AuditRow, Checkpoint, CheckpointId, OutboxRow};
use routing_core::{InterruptId, RuleId};
use rusqlite::Row;
use serde::de::DeserializeOwned;

use super::super::column::{count, number, read_json, read_text, read_time, text};
use super::super::error::store_error;
use crate::query::Found;
use crate::tables::damaged;

/// The JSON in the first column.
pub(super) fn body<T: DeserializeOwned>(row: &Row<'_>) -> Found<T> {
    read_json("a row", text(row, 0)?)
}

/// A position, and JSON.
pub(super) fn numbered<T: DeserializeOwned>(row: &Row<'_>) -> Found<(u64, T)> {
    Ok((count(row, 0)?, read_json("a row", text(row, 1)?)?))
}

pub(super) fn interrupt_id(row: &Row<'_>) -> Found<InterruptId> {
    read_text("an interrupt", text(row, 0)?)
}

pub(super) fn rule_id(row: &Row<'_>) -> Found<RuleId> {
    read_text("a rule", text(row, 0)?)
}

/// Columns: run, number, parent, form, digest, pending, at, journal, content. Whether the content has the digest is for
/// whoever goes on from it to ask.
pub(super) fn checkpoint(row: &Row<'_>) -> Found<Checkpoint> {
    let id = CheckpointId {
        run: read_text("a checkpoint", text(row, 0)?)?,
        number: count(row, 1)?,
    };
    let parent: Option<String> = row.get(2).map_err(store_error)?;
    let form = u32::try_from(number(row, 3)?).map_err(|error| damaged(&error))?;
    let found = Checkpoint::stored(
        id,
        parent
            .map(|json| read_json("a parent", &json))
            .transpose()?,
        form,
        read_json("pending effects", text(row, 5)?)?,
        read_time("a checkpoint", number(row, 6)?)?,
        count(row, 7)?,
        text(row, 8)?.to_owned(),
    );
    Ok(found.saved_as(read_text("a checkpoint", text(row, 4)?)?))
}

pub(super) fn notification(row: &Row<'_>) -> Found<OutboxRow> {
    Ok(OutboxRow {
        position: count(row, 0)?,
        at: read_time("the outbox", number(row, 1)?)?,
        notification: read_json("the outbox", text(row, 2)?)?,
    })
}

pub(super) fn audited(row: &Row<'_>) -> Found<AuditRow> {
    Ok(AuditRow {
        position: count(row, 0)?,
        previous: read_text("the audit", text(row, 1)?)?,
        digest: read_text("the audit", text(row, 2)?)?,
        entry: text(row, 3)?.to_owned(),
    })
}

/// A list for `json_each`; `None` where the list does not restrict.
pub(super) fn list(names: impl Iterator<Item = &'static str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| serde_json::Value::from(names).to_string())
}
