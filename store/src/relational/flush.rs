//! Writing the rows that operations have written.

use interrupts::store::StoreError;
use routing_core::reroute::RerouteState;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::binding::{self, RowChanges, lasting};
use super::cell::Cell;
use super::column::{json, node_key, read_json};
use super::database::Database;
use super::forget;
use super::sealed;
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
const WORKERS: &str = "INSERT INTO workers (name, until, body) VALUES (?, ?, ?) \
    ON CONFLICT (name) DO UPDATE SET until = excluded.until, body = excluded.body";
const OUTBOX: &str = "INSERT INTO outbox (position, at, heads, body, seal) VALUES (?, ?, ?, ?, ?)";
const AUDIT: &str = "INSERT INTO audit (position, previous, digest, entry) VALUES (?, ?, ?, ?)";

/// Writes every row that is dirty. The audit comes after what it vouches for, and last where all of it ends.
pub(super) fn dirty(database: &mut dyn Database, tables: &mut Tables) -> Result<(), StoreError> {
    let mut said = RowChanges::default();
    forget::forgotten(database, &tables.forgotten, &mut said)?;
    interrupts(database, tables, &mut said)?;
    runs(database, tables, &mut said)?;
    journal(database, tables, &mut said)?;
    lists(database, tables, &mut said)?;
    let audit = binding::bind(database, tables, &said)?;
    write(database, AUDIT, audit.iter(), |database, sql, row| {
        database.write(
            sql,
            &[
                Cell::position(row.position)?,
                Cell::made(&row.previous),
                Cell::made(&row.digest),
                Cell::Text(&row.entry),
            ],
        )
    })?;
    outbox(database, tables)
}

fn interrupts(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        INTERRUPTS,
        tables.interrupts.dirty(),
        |database, sql, (id, row, stored)| {
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
            let digest = sealed::INTERRUPTS.write(database, sql, &cells, &body)?;
            let digest = match interrupt.lease {
                Some(_) => lasting(&body)?,
                None => digest,
            };
            said.interrupts.insert(*id, digest);
            said.new_row(&sealed::INTERRUPTS, stored);
            Ok(())
        },
    )?;
    joined(database, tables, said)?;
    reroutes(database, tables, said)
}

/// The key that admitted an interrupt is stored with it, and not here.
fn joined(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    let joined = tables.keys.dirty().filter_map(|(key, row, _stored)| {
        let run = row.joined?;
        Some((key, row, run))
    });
    write(
        database,
        JOINED,
        joined,
        |database, sql, (key, row, run)| {
            let cells = [
                Cell::Text(key.as_str()),
                Cell::made(&row.interrupt),
                Cell::made(&row.digest),
                Cell::made(&run),
            ];
            sealed::JOINED.write_columns(database, sql, &cells, None)?;
            said.new_row(&sealed::JOINED, None);
            Ok(())
        },
    )
}

fn reroutes(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        REROUTES,
        tables.reroutes.dirty(),
        |database, sql, (event, row, stored)| {
            let cells = [
                Cell::made(event),
                Cell::made(&row.run),
                Cell::yes(row.state == RerouteState::Pending),
                Cell::Number(row.expires_at.as_microsecond()),
            ];
            sealed::REROUTES.write(database, sql, &cells, &body(row, stored)?)?;
            said.new_row(&sealed::REROUTES, stored);
            Ok(())
        },
    )?;
    write(
        database,
        SLOTS,
        tables.slots.dirty(),
        |database, sql, (key, slot, stored)| {
            let cells = [Cell::Made(node_key(key)), Cell::made(&key.0)];
            sealed::SLOTS.write(database, sql, &cells, &body(slot, stored)?)?;
            said.new_row(&sealed::SLOTS, stored);
            Ok(())
        },
    )
}

fn runs(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        RUNS,
        tables.runs.dirty(),
        |database, sql, (id, row, stored)| {
            let alias = row.run.alias.as_deref();
            let cells = [
                Cell::position(row.position)?,
                Cell::made(id),
                alias.map_or(Cell::Nothing, Cell::Text),
                Cell::Text(row.run.state.name()),
            ];
            let body = body(&row.run, stored)?;
            sealed::RUNS.write(database, sql, &cells, &body)?;
            said.runs.insert(*id, lasting(&body)?);
            said.new_row(&sealed::RUNS, stored);
            Ok(())
        },
    )?;
    nodes(database, tables, said)
}

fn nodes(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        NODES,
        tables.nodes.dirty(),
        |database, sql, (key, row, stored)| {
            let cells = [
                Cell::position(row.position)?,
                Cell::Made(node_key(key)),
                Cell::made(&key.0),
            ];
            sealed::NODES.write(database, sql, &cells, &body(&row.node, stored)?)?;
            said.new_row(&sealed::NODES, stored);
            Ok(())
        },
    )?;
    write(
        database,
        MESSAGES,
        tables.messages.dirty(),
        |database, sql, (key, row, stored)| {
            let cells = [
                Cell::position(row.position)?,
                Cell::Text(key.as_str()),
                Cell::made(&row.message.run),
            ];
            sealed::MESSAGES.write(database, sql, &cells, &body(row, stored)?)?;
            said.new_row(&sealed::MESSAGES, stored);
            Ok(())
        },
    )
}

fn journal(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        JOURNAL,
        tables.journal.dirty(),
        |database, sql, (effect, entry, stored)| {
            let cells = [
                Cell::position(entry.position)?,
                Cell::made(effect),
                Cell::made(&entry.intent.run),
                Cell::yes(entry.result.is_some()),
            ];
            sealed::JOURNAL.write(database, sql, &cells, &body(entry, stored)?)?;
            said.new_row(&sealed::JOURNAL, stored);
            Ok(())
        },
    )?;
    write(
        database,
        CHECKPOINTS,
        tables.checkpoints.dirty(),
        |database, sql, (id, row, _stored)| {
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
            let digest = sealed::CHECKPOINTS.write_columns(database, sql, &cells, content)?;
            said.checkpoints.insert(*id, digest);
            said.new_row(&sealed::CHECKPOINTS, None);
            Ok(())
        },
    )
}

fn lists(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    write(
        database,
        CURSORS,
        tables.cursors.dirty(),
        |database, sql, (consumer, through, _stored)| {
            let cells = [Cell::Text(consumer.as_str()), Cell::position(*through)?];
            database.write(sql, &cells)
        },
    )?;
    write(
        database,
        WORKERS,
        tables.workers.dirty(),
        |database, sql, (name, row, _stored)| {
            let until = Cell::Number(row.until.as_microsecond());
            let body = json(row)?;
            let cells = [Cell::Text(name.as_str()), until, Cell::Text(&body)];
            database.write(sql, &cells)
        },
    )?;
    catalogues(database, tables, said)?;
    write(
        database,
        TOKENS,
        tables.tokens.dirty(),
        |database, sql, (digest, row, stored)| {
            let cells = [Cell::position(row.position)?, Cell::made(digest)];
            sealed::TOKENS.write(database, sql, &cells, &body(&row.token, stored)?)?;
            said.new_row(&sealed::TOKENS, stored);
            Ok(())
        },
    )?;
    write(
        database,
        RULES,
        tables.status.dirty(),
        |database, sql, (id, row, stored)| {
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
            let digest = sealed::RULES.write(database, sql, &cells, &body(rule, stored)?)?;
            said.rules.insert(*id, digest);
            said.new_row(&sealed::RULES, stored);
            Ok(())
        },
    )
}

fn catalogues(
    database: &mut dyn Database,
    tables: &Tables,
    said: &mut RowChanges,
) -> Result<(), StoreError> {
    let new = tables.catalogues.dirty().filter_map(|(_digest, it, _)| {
        let content = it.content.as_deref()?;
        Some((&it.row, content))
    });
    write(
        database,
        CATALOGUES,
        new,
        |database, sql, (row, content)| {
            let cells = [
                Cell::position(row.position)?,
                Cell::made(&row.digest),
                Cell::Text(row.name.as_str()),
                Cell::position(row.version)?,
            ];
            sealed::CATALOGUES.write_columns(database, sql, &cells, Some(&json(content)?))?;
            said.new_row(&sealed::CATALOGUES, None);
            Ok(())
        },
    )
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
    write(
        database,
        OUTBOX,
        tables.outbox.dirty(),
        |database, sql, (place, row, _stored)| {
            let heads = heads.as_deref().filter(|_heads| last == Some(*place));
            let cells = [
                Cell::position(*place)?,
                Cell::Number(row.at.as_microsecond()),
                heads.map_or(Cell::Nothing, Cell::Text),
            ];
            sealed::OUTBOX.write(database, sql, &cells, &json(&row.notification)?)?;
            Ok(())
        },
    )?;
    let alone = heads.filter(|_heads| last.is_none());
    write(database, HEADS, alone.iter(), |database, sql, heads| {
        database.write(sql, &[Cell::Text(heads)])
    })
}

/// Writes rows with one statement.
fn write<R>(
    database: &mut dyn Database,
    sql: &'static str,
    rows: impl Iterator<Item = R>,
    mut write: impl FnMut(&mut dyn Database, &'static str, R) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for row in rows {
        write(database, sql, row)?;
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
