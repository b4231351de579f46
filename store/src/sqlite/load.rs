//! Loading the rows that operations ask for: all of them, of all tables, in one statement.

use std::collections::BTreeSet;
use std::fmt::Display;

use interrupts::store::StoreError;
use routing_core::{NodeId, RunId};
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::column::{Value, node_key, read_json, read_position, read_text};
use super::error::store_error;
use crate::tables::{InterruptRow, KeyRow, PlacedNode, PlacedToken, RunRow, Tables, damaged};

/// What a loaded row is a row of; the first column of each statement below.
mod tag {
    pub(super) const HEADS: i64 = 0;
    pub(super) const INTERRUPT: i64 = 1;
    pub(super) const KEY: i64 = 2;
    pub(super) const REROUTE: i64 = 3;
    pub(super) const SLOT: i64 = 4;
    pub(super) const RUN: i64 = 5;
    pub(super) const ALIAS: i64 = 6;
    pub(super) const EFFECT: i64 = 7;
    pub(super) const CHECKPOINT: i64 = 8;
    pub(super) const CURSOR: i64 = 9;
    pub(super) const NODE: i64 = 10;
    pub(super) const MESSAGE: i64 = 11;
    pub(super) const TOKEN: i64 = 12;
}

// Each gives: the tag, the key, a position, a text, another text. The keys come as a list in JSON.
const HEADS: &str = "SELECT 0, '', 0, body, '' FROM heads;";
const INTERRUPTS: &str = "SELECT 1, id, position, body, '' FROM interrupts \
     WHERE id IN (SELECT value FROM json_each(?));";
const KEYS: &str = "SELECT 2, key, 0, id, digest FROM interrupts \
     WHERE key IN (SELECT value FROM json_each(?));";
const REROUTES: &str = "SELECT 3, event, 0, body, '' FROM reroutes \
     WHERE event IN (SELECT value FROM json_each(?));";
const SLOTS: &str =
    "SELECT 4, id, 0, body, '' FROM slots WHERE id IN (SELECT value FROM json_each(?));";
const RUNS: &str = "SELECT 5, id, position, body, '' FROM runs \
     WHERE id IN (SELECT value FROM json_each(?));";
const ALIASES: &str =
    "SELECT 6, alias, 0, id, '' FROM runs WHERE alias IN (SELECT value FROM json_each(?));";
const EFFECTS: &str = "SELECT 7, effect, position, body, '' FROM journal \
     WHERE effect IN (SELECT value FROM json_each(?));";
const CHECKPOINTS: &str = "SELECT 8, run, number, '', '' FROM checkpoints \
     WHERE id IN (SELECT value FROM json_each(?));";
const CURSORS: &str = "SELECT 9, consumer, position, '', '' FROM cursors \
     WHERE consumer IN (SELECT value FROM json_each(?));";
const NODES: &str = "SELECT 10, id, position, body, '' FROM nodes \
     WHERE id IN (SELECT value FROM json_each(?));";
const MESSAGES: &str = "SELECT 11, key, position, body, '' FROM messages \
     WHERE key IN (SELECT value FROM json_each(?));";
const TOKENS: &str = "SELECT 12, digest, position, body, '' FROM tokens \
     WHERE digest IN (SELECT value FROM json_each(?));";

/// Begins a transaction and loads what is missing.
pub(super) async fn begin(
    connection: &mut SqliteConnection,
    tables: &mut Tables,
) -> Result<(), StoreError> {
    let mut wanted = Wanted::of(tables);
    wanted.sql.insert_str(0, "BEGIN IMMEDIATE;");
    wanted.load(connection, tables).await
}

/// Loads what is missing. Says whether anything was.
pub(super) async fn missing(
    connection: &mut SqliteConnection,
    tables: &mut Tables,
) -> Result<bool, StoreError> {
    let wanted = Wanted::of(tables);
    if wanted.sql.is_empty() {
        return Ok(false);
    }
    wanted.load(connection, tables).await?;
    Ok(true)
}

/// The statements that load what is missing.
struct Wanted {
    sql: String,
    lists: Vec<String>,
}

impl Wanted {
    fn of(tables: &mut Tables) -> Self {
        let mut wanted = Self {
            sql: String::new(),
            lists: Vec::new(),
        };
        if !tables.heads.take_missing().is_empty() {
            wanted.sql.push_str(HEADS);
        }
        wanted.add(INTERRUPTS, &tables.interrupts.take_missing());
        wanted.add(KEYS, &tables.keys.take_missing());
        wanted.add(REROUTES, &tables.reroutes.take_missing());
        wanted.add(SLOTS, &node_keys(tables.slots.take_missing()));
        wanted.add(RUNS, &tables.runs.take_missing());
        wanted.add(ALIASES, &tables.aliases.take_missing());
        wanted.add(NODES, &node_keys(tables.nodes.take_missing()));
        wanted.add(MESSAGES, &tables.messages.take_missing());
        wanted.add(EFFECTS, &tables.journal.take_missing());
        wanted.add(CHECKPOINTS, &tables.checkpoint_ids.take_missing());
        wanted.add(CURSORS, &tables.cursors.take_missing());
        wanted.add(TOKENS, &tables.tokens.take_missing());
        wanted
    }

    fn add<K: Display>(&mut self, statement: &str, keys: &BTreeSet<K>) {
        if !keys.is_empty() {
            self.sql.push_str(statement);
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            self.lists.push(serde_json::Value::from(keys).to_string());
        }
    }

    async fn load(
        self,
        connection: &mut SqliteConnection,
        tables: &mut Tables,
    ) -> Result<(), StoreError> {
        let mut arguments = SqliteArguments::default();
        for list in self.lists {
            Value::Text(list).bind(&mut arguments)?;
        }
        // The text is put together from the constants above.
        let rows = sqlx::query_with(AssertSqlSafe(self.sql), arguments)
            .fetch_all(connection)
            .await
            .map_err(|error| store_error(&error))?;
        for row in rows {
            take(&row, tables)?;
        }
        Ok(())
    }
}

fn node_keys(keys: BTreeSet<(RunId, NodeId)>) -> BTreeSet<String> {
    keys.into_iter()
        .map(|(run, node)| node_key(run, &node))
        .collect()
}

/// Reads the key of what belongs to one node of a run.
fn read_node_key(key: &str) -> Result<(RunId, NodeId), StoreError> {
    let (run, node) = key
        .split_once(' ')
        .ok_or_else(|| damaged(&format!("node {key}")))?;
    Ok((read_text(key, run)?, name(node)?))
}

fn take(row: &SqliteRow, tables: &mut Tables) -> Result<(), StoreError> {
    let column = |index| {
        row.try_get::<&str, usize>(index)
            .map_err(|error| store_error(&error))
    };
    let number = |index| {
        row.try_get::<i64, usize>(index)
            .map_err(|error| store_error(&error))
    };
    let (kind, key, body) = (number(0)?, column(1)?, column(3)?);
    let position = read_position(key, number(2)?)?;
    match kind {
        tag::HEADS => tables.heads.load((), read_json("heads", body)?),
        tag::INTERRUPT => {
            let interrupt = read_json(key, body)?;
            let row = InterruptRow {
                position,
                interrupt,
            };
            tables.interrupts.load(read_text(key, key)?, row);
        }
        tag::KEY => {
            let row = KeyRow {
                interrupt: read_text(key, body)?,
                digest: read_text(key, column(4)?)?,
            };
            tables.keys.load(name(key)?, row);
        }
        tag::REROUTE => tables.reroutes.load(name(key)?, read_json(key, body)?),
        tag::SLOT => tables
            .slots
            .load(read_node_key(key)?, read_json("slot", body)?),
        tag::RUN => {
            let run = read_json(key, body)?;
            tables
                .runs
                .load(read_text(key, key)?, RunRow { position, run });
        }
        tag::ALIAS => tables.aliases.load(key.to_owned(), read_text(key, body)?),
        tag::EFFECT => tables
            .journal
            .load(read_text(key, key)?, read_json(key, body)?),
        tag::CHECKPOINT => {
            let id = interrupts::store::CheckpointId {
                run: read_text(key, key)?,
                number: position,
            };
            tables.checkpoint_ids.load(id, ());
        }
        tag::NODE => {
            let node = read_json(key, body)?;
            tables
                .nodes
                .load(read_node_key(key)?, PlacedNode { position, node });
        }
        tag::MESSAGE => tables.messages.load(name(key)?, read_json(key, body)?),
        tag::TOKEN => {
            let token = read_json(key, body)?;
            tables
                .tokens
                .load(read_text(key, key)?, PlacedToken { position, token });
        }
        tag::CURSOR => tables.cursors.load(name(key)?, position),
        _ => return Err(damaged(&format!("a row of kind {kind}"))),
    }
    Ok(())
}

/// Reads a name that this program wrote.
fn name<T: TryFrom<String, Error: Display>>(text: &str) -> Result<T, StoreError> {
    T::try_from(text.to_owned()).map_err(|error| damaged(&format!("{text}: {error}")))
}
