//! Writing the rows that operations have written.

use interrupts::store::{JournalEntry, RerouteRow, StoreError, StoredMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::binding::{self, Bound, RowChanges, lasting};
use super::cell::Cell;
use super::column::{json, read_json};
use super::database::Database;
use super::forget;
use super::record::Record;
use super::sealed;
use crate::tables::{
    InterruptRow, PlacedNode, PlacedRule, PlacedToken, Rest, RunRow, Slot, Tables, damaged,
};

const HEADS: &str = "INSERT INTO heads (id, body) VALUES (1, ?) \
    ON CONFLICT (id) DO UPDATE SET body = excluded.body";
const CURSORS: &str = "INSERT INTO cursors (consumer, position) VALUES (?, ?) \
    ON CONFLICT (consumer) DO UPDATE SET position = excluded.position";
const WORKERS: &str = "INSERT INTO workers (name, until, body) VALUES (?, ?, ?) \
    ON CONFLICT (name) DO UPDATE SET until = excluded.until, body = excluded.body";
const AUDIT: &str = "INSERT INTO audit (position, previous, digest, entry) VALUES (?, ?, ?, ?)";

/// Writes every row that is dirty. The audit comes after what it vouches for, and last where all of it ends.
pub(super) fn dirty(database: &mut dyn Database, tables: &mut Tables) -> Result<(), StoreError> {
    let mut said = RowChanges::default();
    forget::forgotten(database, &tables.forgotten, &mut said)?;
    records::<InterruptRow>(database, tables, &mut said)?;
    joined(database, tables, &mut said)?;
    records::<RerouteRow>(database, tables, &mut said)?;
    records::<Slot>(database, tables, &mut said)?;
    records::<RunRow>(database, tables, &mut said)?;
    records::<PlacedNode>(database, tables, &mut said)?;
    records::<StoredMessage>(database, tables, &mut said)?;
    records::<JournalEntry>(database, tables, &mut said)?;
    checkpoints(database, tables, &mut said)?;
    cursors_and_workers(database, tables)?;
    catalogues(database, tables, &mut said)?;
    records::<PlacedToken>(database, tables, &mut said)?;
    records::<PlacedRule>(database, tables, &mut said)?;
    for row in binding::bind(database, tables, &said)? {
        let cells = [
            Cell::position(row.position)?,
            Cell::made(&row.previous),
            Cell::made(&row.digest),
            Cell::Text(&row.entry),
        ];
        database.write(AUDIT, &cells)?;
    }
    outbox(database, tables)
}

fn records<R: Record>(
    database: &mut dyn Database,
    tables: &mut Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for (key, row, stored) in R::rows(tables).dirty() {
        let body = body(row.body(), stored)?;
        let digest = R::TABLE.write(database, &row.cells(key)?, &body)?;
        if let Some(bound) = R::bound(key) {
            let digest = match row.has_passing() {
                true => lasting(&body)?,
                false => digest,
            };
            said.rows.insert(bound, digest);
        }
        said.new_row(R::TABLE, stored);
    }
    Ok(())
}

/// The key that admitted an interrupt is stored with it, and not here.
fn joined(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for (key, row, _stored) in tables.keys.dirty() {
        let Some(run) = row.joined else { continue };
        let cells = [
            Cell::Text(key.as_str()),
            Cell::made(&row.interrupt),
            Cell::made(&row.digest),
            Cell::made(&run),
        ];
        sealed::JOINED.write_columns(database, &cells, None)?;
        said.new_row(&sealed::JOINED, None);
    }
    Ok(())
}

fn checkpoints(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for (id, row, _stored) in tables.checkpoints.dirty() {
        let parent = row.parent.as_ref().map(json).transpose()?;
        let cells = [
            Cell::made(id),
            Cell::made(&id.run),
            Cell::position(id.number)?,
            Cell::text(parent),
            Cell::Number(i64::from(row.form)),
            Cell::made(&row.digest),
            Cell::Made(json(&row.pending)?),
            Cell::Number(row.at.as_microsecond()),
            Cell::position(row.journal)?,
        ];
        let content = Some(row.content.as_str());
        let digest = sealed::CHECKPOINTS.write_columns(database, &cells, content)?;
        said.rows.insert(Bound::Checkpoint(*id), digest);
        said.new_row(&sealed::CHECKPOINTS, None);
    }
    Ok(())
}

fn cursors_and_workers(database: &mut dyn Database, tables: &Tables) -> Result<(), StoreError> {
    for (consumer, through, _stored) in tables.cursors.dirty() {
        let cells = [Cell::Text(consumer.as_str()), Cell::position(*through)?];
        database.write(CURSORS, &cells)?;
    }
    for (name, row, _stored) in tables.workers.dirty() {
        let until = Cell::Number(row.until.as_microsecond());
        let cells = [Cell::Text(name.as_str()), until, Cell::Made(json(row)?)];
        database.write(WORKERS, &cells)?;
    }
    Ok(())
}

fn catalogues(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    for (_digest, placed, _stored) in tables.catalogues.dirty() {
        let Some(content) = placed.content.as_deref() else {
            continue;
        };
        let row = &placed.row;
        let cells = [
            Cell::position(row.position)?,
            Cell::made(&row.digest),
            Cell::Text(row.name.as_str()),
            Cell::position(row.version)?,
        ];
        sealed::CATALOGUES.write_columns(database, &cells, Some(&json(content)?))?;
        said.new_row(&sealed::CATALOGUES, None);
    }
    Ok(())
}

/// The rows of the outbox, the last of which says where all lists end. If there are none, the ends have a row of their
/// own, also when nothing has changed but the last row of the outbox may go.
fn outbox(database: &mut dyn Database, tables: &Tables) -> Result<(), StoreError> {
    let last = tables.outbox.dirty().last().map(|(place, ..)| *place);
    let is_needed = tables.heads.dirty().next().is_some() || tables.forgotten.outbox > 0;
    let heads = match tables.heads.row(&()) {
        Some(heads) if last.is_some() || is_needed => Some(body(heads, tables.heads.stored(&()))?),
        Some(_) | None => None,
    };
    for (place, row, _stored) in tables.outbox.dirty() {
        let heads = heads.as_deref().filter(|_heads| last == Some(*place));
        let cells = [
            Cell::position(*place)?,
            Cell::Number(row.at.as_microsecond()),
            heads.map_or(Cell::Nothing, Cell::Text),
        ];
        sealed::OUTBOX.write(database, &cells, &json(&row.notification)?)?;
    }
    match heads.filter(|_heads| last.is_none()) {
        Some(alone) => database.write(HEADS, &[Cell::Text(&alone)]),
        None => Ok(()),
    }
}

/// A row as JSON, with what another version of this program had put beside it.
fn body<R: Serialize + DeserializeOwned>(
    row: &R,
    stored: Option<&str>,
) -> Result<String, StoreError> {
    let Some(stored) = stored else {
        return json(row);
    };
    let known: R = read_json("a row", stored)?;
    if json(&known)? == stored {
        return json(row);
    }
    let known = serde_json::to_value(known).map_err(|error| damaged(&error))?;
    let Some(rest) = Rest::of(read_json("a row", stored)?, &known) else {
        return json(row);
    };
    let mut value = serde_json::to_value(row).map_err(|error| damaged(&error))?;
    rest.merge_into(&mut value);
    json(&value)
}
