//! Writing the rows that operations have written.

use interrupts::store::StoreError;
use routing_core::reroute::RerouteState;
use rusqlite::{CachedStatement, Connection};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::binding::{self, RowChanges, lasting};
use super::column::{json, node_key, position, read_json};
use super::error::store_error;
use super::forget;
use super::sealed::{self, Cell};
use crate::tables::{Rest, Tables, damaged};

const HEADS: &str = "INSERT INTO heads (id, body) VALUES (1, ?) \
    ON CONFLICT (id) DO UPDATE SET body = excluded.body";
const INTERRUPTS: &str = "INSERT INTO interrupts \
    (position, id, key, digest, run, node, state, live, deadline, body, seal) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET state = excluded.state, live = excluded.live, \
    deadline = excluded.deadline, body = excluded.body, seal = excluded.seal";
const JOINED: &str = "INSERT INTO joined (key, interrupt, digest, run, seal) \
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING";
const REROUTES: &str = "INSERT INTO reroutes (event, run, pending, expires_at, body, seal) \
    VALUES (?, ?, ?, ?, ?, ?) \
    ON CONFLICT (event) DO UPDATE SET pending = excluded.pending, \
    expires_at = excluded.expires_at, body = excluded.body, seal = excluded.seal";
const SLOTS: &str = "INSERT INTO slots (id, run, body, seal) VALUES (?, ?, ?, ?) \
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, seal = excluded.seal";
const RUNS: &str = "INSERT INTO runs (position, id, alias, state, body, seal) \
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO UPDATE SET \
    state = excluded.state, body = excluded.body, seal = excluded.seal";
const NODES: &str = "INSERT INTO nodes (position, id, run, body, seal) VALUES (?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body, seal = excluded.seal";
const MESSAGES: &str = "INSERT INTO messages (position, key, run, body, seal) \
    VALUES (?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body, seal = excluded.seal";
const TOKENS: &str = "INSERT INTO tokens (position, digest, body, seal) VALUES (?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET body = excluded.body, seal = excluded.seal";
const RULES: &str = "INSERT INTO rules \
    (position, id, matter, run, live, expires_at, body, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT (position) DO UPDATE SET live = excluded.live, body = excluded.body, \
    seal = excluded.seal";
const JOURNAL: &str = "INSERT INTO journal (position, effect, run, done, body, seal) \
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO UPDATE SET \
    done = excluded.done, body = excluded.body, seal = excluded.seal";
const CHECKPOINTS: &str = "INSERT INTO checkpoints \
    (id, run, number, parent, form, digest, pending, at, journal, seal, content) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const CATALOGUES: &str = "INSERT INTO catalogues (position, digest, name, version, seal, content) \
    VALUES (?, ?, ?, ?, ?, ?)";
const CURSORS: &str = "INSERT INTO cursors (consumer, position) VALUES (?, ?) \
    ON CONFLICT (consumer) DO UPDATE SET position = excluded.position";
const OUTBOX: &str = "INSERT INTO outbox (position, at, heads, body, seal) VALUES (?, ?, ?, ?, ?)";
const AUDIT: &str = "INSERT INTO audit (position, previous, digest, entry) VALUES (?, ?, ?, ?)";

/// Writes every row that is dirty. The audit comes after what it vouches for, and last where all of it ends.
pub(super) fn dirty(connection: &Connection, tables: &mut Tables) -> Result<(), StoreError> {
    let mut said = RowChanges::default();
    forget::forgotten(connection, &tables.forgotten, &mut said)?;
    interrupts(connection, tables, &mut said)?;
    runs(connection, tables, &mut said)?;
    journal(connection, tables, &mut said)?;
    lists(connection, tables, &mut said)?;
    let audit = binding::bind(connection, tables, &said)?;
    write(connection, AUDIT, audit.iter(), |sql, row| {
        sql.execute((
            position(row.position)?,
            row.previous.to_string(),
            row.digest.to_string(),
            &row.entry,
        ))
        .map_err(store_error)?;
        Ok(())
    })?;
    outbox(connection, tables)
}

fn interrupts(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        connection,
        INTERRUPTS,
        tables.interrupts.dirty(),
        |sql, (id, row, stored)| {
            let interrupt = &row.interrupt;
            let deadline = interrupt.due_at().map(|deadline| deadline.as_microsecond());
            let cells = [
                Cell::position(row.position)?,
                Cell::made(&interrupt.id),
                Cell::Text(interrupt.key.as_str()),
                Cell::made(&interrupt.digest),
                Cell::made(&interrupt.run),
                Cell::made(&interrupt.node),
                Cell::Text(interrupt.state.name()),
                Cell::yes(interrupt.state.is_live()),
                deadline.map_or(Cell::Nothing, Cell::Number),
            ];
            let body = body(interrupt, stored)?;
            let digest = sealed::INTERRUPTS.write(sql, &cells, &body)?;
            let digest = match interrupt.lease {
                Some(_) => lasting(&body)?,
                None => digest,
            };
            said.interrupts.insert(*id, digest);
            said.new_row(&sealed::INTERRUPTS, stored);
            Ok(())
        },
    )?;
    joined(connection, tables, said)?;
    reroutes(connection, tables, said)
}

/// The key that admitted an interrupt stands with it, and not here.
fn joined(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    let joined = tables.keys.dirty().filter_map(|(key, row, _stored)| {
        let run = row.joined?;
        Some((key, row, run))
    });
    write(connection, JOINED, joined, |sql, (key, row, run)| {
        let cells = [
            Cell::Text(key.as_str()),
            Cell::made(&row.interrupt),
            Cell::made(&row.digest),
            Cell::made(&run),
        ];
        sealed::JOINED.write_columns(sql, &cells, None)?;
        said.new_row(&sealed::JOINED, None);
        Ok(())
    })
}

fn reroutes(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        connection,
        REROUTES,
        tables.reroutes.dirty(),
        |sql, (event, row, stored)| {
            let cells = [
                Cell::made(event),
                Cell::made(&row.run),
                Cell::yes(row.state == RerouteState::Pending),
                Cell::Number(row.expires_at.as_microsecond()),
            ];
            sealed::REROUTES.write(sql, &cells, &body(row, stored)?)?;
            said.new_row(&sealed::REROUTES, stored);
            Ok(())
        },
    )?;
    write(
        connection,
        SLOTS,
        tables.slots.dirty(),
        |sql, (key, slot, stored)| {
            let cells = [Cell::Made(node_key(key)), Cell::made(&key.0)];
            sealed::SLOTS.write(sql, &cells, &body(slot, stored)?)?;
            said.new_row(&sealed::SLOTS, stored);
            Ok(())
        },
    )
}

fn runs(connection: &Connection, tables: &Tables, said: &mut RowChanges) -> Result<(), StoreError> {
    write(
        connection,
        RUNS,
        tables.runs.dirty(),
        |sql, (id, row, stored)| {
            let alias = row.run.alias.as_deref();
            let cells = [
                Cell::position(row.position)?,
                Cell::made(id),
                alias.map_or(Cell::Nothing, Cell::Text),
                Cell::Text(row.run.state.name()),
            ];
            let body = body(&row.run, stored)?;
            sealed::RUNS.write(sql, &cells, &body)?;
            said.runs.insert(*id, lasting(&body)?);
            said.new_row(&sealed::RUNS, stored);
            Ok(())
        },
    )?;
    nodes(connection, tables, said)
}

fn nodes(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        connection,
        NODES,
        tables.nodes.dirty(),
        |sql, (key, row, stored)| {
            let cells = [
                Cell::position(row.position)?,
                Cell::Made(node_key(key)),
                Cell::made(&key.0),
            ];
            sealed::NODES.write(sql, &cells, &body(&row.node, stored)?)?;
            said.new_row(&sealed::NODES, stored);
            Ok(())
        },
    )?;
    write(
        connection,
        MESSAGES,
        tables.messages.dirty(),
        |sql, (key, row, stored)| {
            let cells = [
                Cell::position(row.position)?,
                Cell::Text(key.as_str()),
                Cell::made(&row.message.run),
            ];
            sealed::MESSAGES.write(sql, &cells, &body(row, stored)?)?;
            said.new_row(&sealed::MESSAGES, stored);
            Ok(())
        },
    )
}

fn journal(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        connection,
        JOURNAL,
        tables.journal.dirty(),
        |sql, (effect, entry, stored)| {
            let cells = [
                Cell::position(entry.position)?,
                Cell::made(effect),
                Cell::made(&entry.intent.run),
                Cell::yes(entry.result.is_some()),
            ];
            sealed::JOURNAL.write(sql, &cells, &body(entry, stored)?)?;
            said.new_row(&sealed::JOURNAL, stored);
            Ok(())
        },
    )?;
    write(
        connection,
        CHECKPOINTS,
        tables.checkpoints.dirty(),
        |sql, (id, row, _stored)| {
            let parent = row.parent.as_ref().map(json).transpose()?;
            let cells = [
                Cell::made(id),
                Cell::made(&id.run),
                Cell::position(id.number)?,
                parent.map_or(Cell::Nothing, Cell::Made),
                Cell::Number(i64::from(row.form)),
                Cell::made(&row.digest),
                Cell::Made(json(&row.pending)?),
                Cell::Number(row.at.as_microsecond()),
                Cell::position(row.journal)?,
            ];
            let content = Some(row.content.as_str());
            let digest = sealed::CHECKPOINTS.write_columns(sql, &cells, content)?;
            said.checkpoints.insert(*id, digest);
            said.new_row(&sealed::CHECKPOINTS, None);
            Ok(())
        },
    )
}

fn lists(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        connection,
        CURSORS,
        tables.cursors.dirty(),
        |sql, (consumer, through, _stored)| {
            let values = (consumer.as_str(), position(*through)?);
            sql.execute(values).map_err(store_error)?;
            Ok(())
        },
    )?;
    catalogues(connection, tables, said)?;
    write(
        connection,
        TOKENS,
        tables.tokens.dirty(),
        |sql, (digest, row, stored)| {
            let cells = [Cell::position(row.position)?, Cell::made(digest)];
            sealed::TOKENS.write(sql, &cells, &body(&row.token, stored)?)?;
            said.new_row(&sealed::TOKENS, stored);
            Ok(())
        },
    )?;
    write(
        connection,
        RULES,
        tables.standing.dirty(),
        |sql, (id, row, stored)| {
            let rule = &row.rule;
            let run = rule.scope.run();
            let cells = [
                Cell::position(row.position)?,
                Cell::made(id),
                Cell::made(&rule.matter),
                run.map_or(Cell::Nothing, |run| Cell::made(&run)),
                Cell::yes(rule.end.is_none()),
                Cell::Number(rule.expires_at.as_microsecond()),
            ];
            let digest = sealed::RULES.write(sql, &cells, &body(rule, stored)?)?;
            said.rules.insert(*id, digest);
            said.new_row(&sealed::RULES, stored);
            Ok(())
        },
    )
}

fn catalogues(
    connection: &Connection,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    let new = tables.catalogues.dirty().filter_map(|(_digest, it, _)| {
        let content = it.content.as_deref()?;
        Some((&it.row, content))
    });
    write(connection, CATALOGUES, new, |sql, (row, content)| {
        let cells = [
            Cell::position(row.position)?,
            Cell::made(&row.digest),
            Cell::Text(row.name.as_str()),
            Cell::position(row.version)?,
        ];
        sealed::CATALOGUES.write_columns(sql, &cells, Some(&json(content)?))?;
        said.new_row(&sealed::CATALOGUES, None);
        Ok(())
    })
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
            let heads = heads.as_deref().filter(|_heads| last == Some(*place));
            let cells = [
                Cell::position(*place)?,
                Cell::Number(row.at.as_microsecond()),
                heads.map_or(Cell::Nothing, Cell::Text),
            ];
            sealed::OUTBOX.write(sql, &cells, &json(&row.notification)?)?;
            Ok(())
        },
    )?;
    let alone = heads.filter(|_heads| last.is_none());
    write(connection, HEADS, alone.iter(), |sql, heads| {
        sql.execute((heads,)).map_err(store_error)?;
        Ok(())
    })
}

/// Writes rows with one statement, which is not even looked up where there is none.
fn write<R>(
    connection: &Connection,
    sql: &str,
    rows: impl Iterator<Item = R>,
    mut execute: impl FnMut(&mut CachedStatement<'_>, R) -> Result<(), StoreError>,
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
