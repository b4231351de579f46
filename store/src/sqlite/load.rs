//! Loading the rows that operations ask for.

use std::collections::BTreeSet;

use interrupts::store::StoreError;
use rusqlite::{Connection, Row, ToSql};
use serde::de::DeserializeOwned;

use super::column::{count, node_key, read_json, read_text, text};
use super::error::store_error;
use super::heads;
use super::read::catalogue_row;
use super::sealed::{self, Sealed, columns};
use crate::tables::{
    InterruptRow, KeyRow, PlacedCatalogue, PlacedNode, PlacedRule, PlacedToken, RunRow, Table,
    Tables,
};

/// Loads what is missing. Says whether anything was.
pub(super) fn missing(connection: &Connection, tables: &mut Tables) -> Result<bool, StoreError> {
    let mut loader = Loader {
        connection,
        any: false,
    };
    loader.interrupts(tables)?;
    loader.runs(tables)?;
    loader.lists(tables)?;
    Ok(loader.any)
}

struct Loader<'store> {
    connection: &'store Connection,
    any: bool,
}

/// A row, and its JSON as it was read.
type Read<V> = Result<(V, Option<Box<str>>), StoreError>;

impl Loader<'_> {
    fn interrupts(&mut self, tables: &mut Tables) -> Result<(), StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            " FROM interrupts WHERE id = ?"
        );
        self.table(sql, &mut tables.interrupts, ToString::to_string, |row| {
            let (interrupt, stored) = body(row, &sealed::INTERRUPTS)?;
            let position = count(row, 0)?;
            let row = InterruptRow {
                position,
                interrupt,
            };
            Ok((row, stored))
        })?;
        let sql = "SELECT id, digest, NULL FROM interrupts WHERE key = ?1 \
             UNION ALL SELECT interrupt, digest, run FROM joined WHERE key = ?1";
        self.table(sql, &mut tables.keys, ToString::to_string, |row| {
            let joined: Option<String> = row.get(2).map_err(store_error)?;
            let row = KeyRow {
                interrupt: read_text("an interrupt", text(row, 0)?)?,
                digest: read_text("an interrupt", text(row, 1)?)?,
                joined: match joined {
                    Some(run) => Some(read_text("a joined key", &run)?),
                    None => None,
                },
            };
            Ok((row, None))
        })?;
        let sql = concat!(
            "SELECT ",
            columns!(reroutes),
            " FROM reroutes WHERE event = ?"
        );
        self.table(sql, &mut tables.reroutes, ToString::to_string, |row| {
            body(row, &sealed::REROUTES)
        })?;
        let sql = concat!("SELECT ", columns!(slots), " FROM slots WHERE id = ?");
        self.table(sql, &mut tables.slots, node_key, |row| {
            body(row, &sealed::SLOTS)
        })
    }

    fn runs(&mut self, tables: &mut Tables) -> Result<(), StoreError> {
        let sql = concat!("SELECT ", columns!(runs), " FROM runs WHERE id = ?");
        self.table(sql, &mut tables.runs, ToString::to_string, |row| {
            let (run, stored) = body(row, &sealed::RUNS)?;
            let position = count(row, 0)?;
            Ok((RunRow { position, run }, stored))
        })?;
        let sql = "SELECT id FROM runs WHERE alias = ?";
        self.table(sql, &mut tables.aliases, Clone::clone, |row| {
            Ok((read_text("an alias", text(row, 0)?)?, None))
        })?;
        let sql = concat!("SELECT ", columns!(nodes), " FROM nodes WHERE id = ?");
        self.table(sql, &mut tables.nodes, node_key, |row| {
            let (node, stored) = body(row, &sealed::NODES)?;
            let position = count(row, 0)?;
            Ok((PlacedNode { position, node }, stored))
        })?;
        let sql = concat!(
            "SELECT ",
            columns!(messages),
            " FROM messages WHERE key = ?"
        );
        self.table(sql, &mut tables.messages, ToString::to_string, |row| {
            body(row, &sealed::MESSAGES)
        })?;
        let sql = concat!(
            "SELECT ",
            columns!(journal),
            " FROM journal WHERE effect = ?"
        );
        self.table(sql, &mut tables.journal, ToString::to_string, |row| {
            body(row, &sealed::JOURNAL)
        })?;
        let sql = "SELECT number FROM checkpoints WHERE id = ?";
        self.table(
            sql,
            &mut tables.checkpoint_ids,
            ToString::to_string,
            |_row| Ok(((), None)),
        )
    }

    fn lists(&mut self, tables: &mut Tables) -> Result<(), StoreError> {
        self.table(
            heads::SQL,
            &mut tables.heads,
            |()| 1,
            |row| {
                let (heads, stored) = heads::newest(row)?;
                Ok((heads, Some(stored.into())))
            },
        )?;
        let sql = "SELECT position FROM cursors WHERE consumer = ?";
        self.table(sql, &mut tables.cursors, ToString::to_string, |row| {
            Ok((count(row, 0)?, None))
        })?;
        let sql =
            "SELECT position, digest, name, version, '', seal FROM catalogues WHERE digest = ?";
        self.table(sql, &mut tables.catalogues, ToString::to_string, |row| {
            let row = catalogue_row(row)?;
            Ok((PlacedCatalogue { row, content: None }, None))
        })?;
        let sql = "SELECT MAX(version) FROM catalogues WHERE name = ? GROUP BY name";
        self.table(sql, &mut tables.versions, ToString::to_string, |row| {
            Ok((count(row, 0)?, None))
        })?;
        let sql = concat!("SELECT ", columns!(tokens), " FROM tokens WHERE digest = ?");
        self.table(sql, &mut tables.tokens, ToString::to_string, |row| {
            let (token, stored) = body(row, &sealed::TOKENS)?;
            let position = count(row, 0)?;
            Ok((PlacedToken { position, token }, stored))
        })?;
        self.rules(tables)
    }

    fn rules(&mut self, tables: &mut Tables) -> Result<(), StoreError> {
        let sql = concat!("SELECT ", columns!(rules), " FROM rules WHERE id = ?");
        self.table(sql, &mut tables.standing, ToString::to_string, |row| {
            let (rule, stored) = body(row, &sealed::RULES)?;
            let position = count(row, 0)?;
            Ok((PlacedRule { position, rule }, stored))
        })?;
        let sql = "SELECT json_group_array(id) FROM \
             (SELECT id FROM rules WHERE matter = ? AND live = 1 ORDER BY position)";
        self.table(sql, &mut tables.shelves, ToString::to_string, |row| {
            Ok((read_json("the rules of a matter", text(row, 0)?)?, None))
        })
    }

    /// Loads the missing rows of one table. What is not found is then known to be absent.
    fn table<K: Ord + Clone, V, P: ToSql>(
        &mut self,
        sql: &str,
        table: &mut Table<K, V>,
        key: impl Fn(&K) -> P,
        read: impl Fn(&Row<'_>) -> Read<V>,
    ) -> Result<(), StoreError> {
        let missing: BTreeSet<K> = table.take_missing();
        if missing.is_empty() {
            return Ok(());
        }
        self.any = true;
        let mut statement = self.connection.prepare_cached(sql).map_err(store_error)?;
        for missing in missing {
            let mut rows = statement.query((key(&missing),)).map_err(store_error)?;
            if let Some(row) = rows.next().map_err(store_error)? {
                let (value, rest) = read(row)?;
                table.load(missing, value, rest);
            }
        }
        Ok(())
    }
}

/// The JSON of a row, and how it was read.
fn body<T: DeserializeOwned>(row: &Row<'_>, table: &Sealed) -> Read<T> {
    let stored = table.body(row)?;
    Ok((read_json("a row", stored)?, Some(stored.into())))
}
