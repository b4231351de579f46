//! Writing the rows that operations have written.

use interrupts::store::StoreError;
use routing_core::reroute::RerouteState;
use rusqlite::{CachedStatement, Connection};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::column::{json, node_key, position, read_json};
use super::error::store_error;
use super::forget;
use crate::tables::{Rest, Tables, damaged};

const HEADS: &str = "INSERT INTO heads (id, body) VALUES (1, ?) \
    ON CONFLICT (id) DO UPDATE SET body = excluded.body";
const INTERRUPTS: &str = "INSERT INTO interrupts \
    (position, id, key, digest, run, node, state, live, deadline, body) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET state = excluded.state, live = excluded.live, \
    deadline = excluded.deadline, body = excluded.body";
const JOINED: &str = "INSERT INTO joined (key, interrupt, digest, run) VALUES (?, ?, ?, ?) \
    ON CONFLICT (key) DO NOTHING";
const REROUTES: &str = "INSERT INTO reroutes (event, run, pending, expires_at, body) \
    VALUES (?, ?, ?, ?, ?) \
    ON CONFLICT (event) DO UPDATE SET pending = excluded.pending, \
    expires_at = excluded.expires_at, body = excluded.body";
const SLOTS: &str = "INSERT INTO slots (id, run, body) VALUES (?, ?, ?) \
    ON CONFLICT (id) DO UPDATE SET body = excluded.body";
const RUNS: &str = "INSERT INTO runs (position, id, alias, state, body) VALUES (?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET state = excluded.state, body = excluded.body";
const NODES: &str = "INSERT INTO nodes (position, id, run, body) VALUES (?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body";
const MESSAGES: &str = "INSERT INTO messages (position, key, run, body) VALUES (?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body";
const TOKENS: &str = "INSERT INTO tokens (position, digest, body) VALUES (?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body";
const RULES: &str = "INSERT INTO rules (position, id, matter, run, live, expires_at, body) \
    VALUES (?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET live = excluded.live, body = excluded.body";
const JOURNAL: &str = "INSERT INTO journal (position, effect, run, done, body) \
    VALUES (?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET done = excluded.done, body = excluded.body";
const CHECKPOINTS: &str = "INSERT INTO checkpoints \
    (id, run, number, parent, form, digest, pending, at, journal, content) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const CURSORS: &str = "INSERT INTO cursors (consumer, position) VALUES (?, ?) \
    ON CONFLICT (consumer) DO UPDATE SET position = excluded.position";
const OUTBOX: &str = "INSERT INTO outbox (position, at, body, heads) VALUES (?, ?, ?, ?)";
const AUDIT: &str = "INSERT INTO audit (position, previous, digest, entry) VALUES (?, ?, ?, ?)";

/// Writes every row that is dirty.
pub(super) fn dirty(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    interrupts(connection, tables)?;
    runs(connection, tables)?;
    journal(connection, tables)?;
    lists(connection, tables)?;
    forget::forgotten(connection, &tables.forgotten)
}

fn interrupts(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    write(
        connection,
        INTERRUPTS,
        tables.interrupts.dirty(),
        |sql, (_id, row, stored)| {
            let interrupt = &row.interrupt;
            sql.execute((
                position(row.position)?,
                interrupt.id.to_string(),
                interrupt.key.as_str(),
                interrupt.digest.to_string(),
                interrupt.run.to_string(),
                interrupt.node.to_string(),
                interrupt.state.name(),
                interrupt.state.is_live(),
                interrupt.due_at().map(|deadline| deadline.as_microsecond()),
                body(interrupt, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    // The key that admitted an interrupt stands with it.
    let joined = tables.keys.dirty().filter_map(|(key, row, _stored)| {
        let run = row.joined?;
        Some((key, row, run))
    });
    write(connection, JOINED, joined, |sql, (key, row, run)| {
        sql.execute((
            key.as_str(),
            row.interrupt.to_string(),
            row.digest.to_string(),
            run.to_string(),
        ))
        .map_err(store_error)
    })?;
    write(
        connection,
        REROUTES,
        tables.reroutes.dirty(),
        |sql, (event, row, stored)| {
            sql.execute((
                event.to_string(),
                row.run.to_string(),
                row.state == RerouteState::Pending,
                row.expires_at.as_microsecond(),
                body(row, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    write(
        connection,
        SLOTS,
        tables.slots.dirty(),
        |sql, (key, slot, stored)| {
            sql.execute((node_key(key), key.0.to_string(), body(slot, stored)?))
                .map_err(store_error)
        },
    )
}

fn runs(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    write(
        connection,
        RUNS,
        tables.runs.dirty(),
        |sql, (id, row, stored)| {
            sql.execute((
                position(row.position)?,
                id.to_string(),
                row.run.alias.as_deref(),
                row.run.state.name(),
                body(&row.run, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    write(
        connection,
        NODES,
        tables.nodes.dirty(),
        |sql, (key, row, stored)| {
            sql.execute((
                position(row.position)?,
                node_key(key),
                key.0.to_string(),
                body(&row.node, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    write(
        connection,
        MESSAGES,
        tables.messages.dirty(),
        |sql, (key, row, stored)| {
            sql.execute((
                position(row.position)?,
                key.as_str(),
                row.message.run.to_string(),
                body(row, stored)?,
            ))
            .map_err(store_error)
        },
    )
}

fn journal(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    write(
        connection,
        JOURNAL,
        tables.journal.dirty(),
        |sql, (effect, entry, stored)| {
            sql.execute((
                position(entry.position)?,
                effect.to_string(),
                entry.intent.run.to_string(),
                entry.result.is_some(),
                body(entry, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    write(
        connection,
        CHECKPOINTS,
        tables.checkpoints.dirty(),
        |sql, (id, row, _stored)| {
            sql.execute((
                id.to_string(),
                id.run.to_string(),
                position(id.number)?,
                row.parent.as_ref().map(json).transpose()?,
                row.form,
                row.digest.to_string(),
                json(&row.pending)?,
                row.at.as_microsecond(),
                position(row.journal)?,
                &row.content,
            ))
            .map_err(store_error)
        },
    )
}

fn lists(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    write(
        connection,
        CURSORS,
        tables.cursors.dirty(),
        |sql, (consumer, through, _stored)| {
            sql.execute((consumer.as_str(), position(*through)?))
                .map_err(store_error)
        },
    )?;
    write(
        connection,
        TOKENS,
        tables.tokens.dirty(),
        |sql, (digest, row, stored)| {
            sql.execute((
                position(row.position)?,
                digest.to_string(),
                body(&row.token, stored)?,
            ))
            .map_err(store_error)
        },
    )?;
    rules(connection, tables)?;
    outbox(connection, tables)?;
    write(
        connection,
        AUDIT,
        tables.audit.dirty(),
        |sql, (place, row, _stored)| {
            sql.execute((
                position(*place)?,
                row.previous.to_string(),
                row.digest.to_string(),
                &row.entry,
            ))
            .map_err(store_error)
        },
    )
}

/// The rows of the outbox, the last of which says where all lists end. Where nothing is told, that has a row of its
/// own, also when nothing has changed but the last row of the outbox may go.
fn outbox(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    let last = tables.outbox.dirty().last().map(|(place, ..)| *place);
    let is_needed = tables.heads.dirty().next().is_some() || tables.forgotten.outbox > 0;
    let heads = match tables.heads.row(&()) {
        Some(heads) if last.is_some() || is_needed => Some(body(heads, tables.heads.stored(&()))?),
        Some(_) | None => None,
    };
    write(
        connection,
        OUTBOX,
        tables.outbox.dirty(),
        |sql, (place, row, _stored)| {
            sql.execute((
                position(*place)?,
                row.at.as_microsecond(),
                json(&row.notification)?,
                heads.as_ref().filter(|_heads| last == Some(*place)),
            ))
            .map_err(store_error)
        },
    )?;
    let alone = heads.filter(|_heads| last.is_none());
    write(connection, HEADS, alone.iter(), |sql, heads| {
        sql.execute((heads,)).map_err(store_error)
    })
}

fn rules(connection: &Connection, tables: &Tables) -> Result<(), StoreError> {
    write(
        connection,
        RULES,
        tables.standing.dirty(),
        |sql, (id, row, stored)| {
            let rule = &row.rule;
            sql.execute((
                position(row.position)?,
                id.to_string(),
                rule.matter.to_string(),
                rule.scope.run().map(|run| run.to_string()),
                rule.end.is_none(),
                rule.expires_at.as_microsecond(),
                body(rule, stored)?,
            ))
            .map_err(store_error)
        },
    )
}

/// Writes rows with one statement, which is not even looked up where there is none.
fn write<R>(
    connection: &Connection,
    sql: &str,
    rows: impl Iterator<Item = R>,
    execute: impl Fn(&mut CachedStatement<'_>, R) -> Result<usize, StoreError>,
) -> Result<(), StoreError> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    for row in rows {
        execute(&mut statement, row)?;
    }
    Ok(())
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
