//! What the rows of statements say.

use interrupt_router::{InterruptId, RuleId};
use interrupts::WorkflowName;
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::store::{AuditRow, CatalogueRow, Checkpoint, CheckpointId, OutboxRow, StoreError};
use serde::de::DeserializeOwned;

use super::super::cell::{Cell, ColumnValue, Columns};
use super::super::column::{count, number, read_json, read_text, read_time, text, text_or_nothing};
use super::super::sealed::{self, Sealed};
use crate::relational::Found;
use crate::tables::damaged;

/// What a row of a table says.
pub(crate) fn body<T: DeserializeOwned>(row: &dyn Columns, table: &Sealed) -> Found<T> {
    read_json("a row", table.body(row)?)
}

/// Its position, and what a row of a table says.
pub(crate) fn numbered<T: DeserializeOwned>(row: &dyn Columns, table: &Sealed) -> Found<(u64, T)> {
    Ok((count(row, 0)?, body(row, table)?))
}

pub(crate) fn interrupt_id(row: &dyn Columns) -> Found<InterruptId> {
    read_text("an interrupt", text(row, 0)?)
}

pub(crate) fn rule_id(row: &dyn Columns) -> Found<RuleId> {
    read_text("a rule", text(row, 0)?)
}

/// A checkpoint. The code that continues from it checks whether the content has the digest.
pub(crate) fn checkpoint(row: &dyn Columns) -> Found<Checkpoint> {
    sealed::CHECKPOINTS.body(row)?;
    let id = CheckpointId {
        run: read_text("a checkpoint", text(row, 1)?)?,
        number: count(row, 2)?,
    };
    let parent = text_or_nothing(row, 3)?;
    let form = u32::try_from(number(row, 4)?).map_err(|error| damaged(&error))?;
    let (ColumnValue::Text(content) | ColumnValue::Bytes(content)) = row.value(11)? else {
        return Err(damaged(&"a checkpoint has no content"));
    };
    // What is no text any more does not have the digest either.
    let content = String::from_utf8_lossy(content).into_owned();
    Ok(Checkpoint::stored(
        id,
        parent.map(|json| read_json("a parent", json)).transpose()?,
        form,
        read_json("pending effects", text(row, 6)?)?,
        read_time("a checkpoint", number(row, 7)?)?,
        count(row, 8)?,
        (read_text("a checkpoint", text(row, 5)?)?, content),
    ))
}

/// A catalogue without what it says.
pub(crate) fn catalogue_row(row: &dyn Columns) -> Found<CatalogueRow> {
    sealed::CATALOGUES.body(row)?;
    Ok(CatalogueRow {
        position: count(row, 0)?,
        digest: read_text("a catalogue", text(row, 1)?)?,
        name: WorkflowName::new(text(row, 2)?).map_err(|error| damaged(&error))?,
        version: count(row, 3)?,
    })
}

/// A catalogue, which has its digest.
pub(crate) fn catalogue(row: &dyn Columns) -> Found<SharedCatalogue> {
    let CatalogueRow { digest, .. } = catalogue_row(row)?;
    let misfit = || StoreError::DamagedRow {
        row: format!("catalogue {digest}"),
    };
    let content = text(row, 6).map_err(|_damaged| misfit())?;
    let found: Catalogue = serde_json::from_str(content).map_err(|_damaged| misfit())?;
    match found.digest() == digest {
        true => Ok(SharedCatalogue::new(found)),
        false => Err(misfit()),
    }
}

pub(crate) fn notification(row: &dyn Columns) -> Found<OutboxRow> {
    Ok(OutboxRow {
        notification: body(row, &sealed::OUTBOX)?,
        position: count(row, 0)?,
        at: read_time("the outbox", number(row, 1)?)?,
    })
}

pub(crate) fn audited(row: &dyn Columns) -> Found<AuditRow> {
    let position = count(row, 0)?;
    let misfit = || StoreError::DamagedRow {
        row: format!("row {position} of the audit"),
    };
    let misread = |_error: StoreError| misfit();
    let found = AuditRow {
        position,
        previous: read_text("the audit", text(row, 1).map_err(misread)?).map_err(misread)?,
        digest: read_text("the audit", text(row, 2).map_err(misread)?).map_err(misread)?,
        entry: text(row, 3).map_err(misread)?.to_owned(),
    };
    match found.is_itself() {
        true => Ok(found),
        false => Err(misfit()),
    }
}

/// A list for `json_each`; nothing where the list does not restrict.
pub(crate) fn list(names: impl Iterator<Item = &'static str>) -> Cell<'static> {
    let names: Vec<&str> = names.collect();
    let list = (!names.is_empty()).then(|| serde_json::Value::from(names).to_string());
    Cell::text(list)
}
