//! Loading the rows that operations ask for.

use interrupts::store::{JournalEntry, RerouteRow, StoreError};
use serde::de::DeserializeOwned;

use super::cell::{Cell, Columns};
use super::column::{count, node_key, read_json, read_text, text, text_or_nothing};
use super::database::{Database, Lookup};
use super::heads;
use super::read::catalogue_row;
use super::sealed::{self, Sealed, columns};
use crate::tables::{
    InterruptRow, KeyRow, PlacedCatalogue, PlacedNode, PlacedRule, PlacedToken, RunRow, Table,
    Tables,
};

/// Loads what is missing. Says whether anything was.
pub(super) fn missing(
    database: &mut dyn Database,
    tables: &mut Tables,
) -> Result<bool, StoreError> {
    let mut loader = Loader {
        lookups: Vec::new(),
    };
    loader.interrupts(tables);
    loader.runs(tables);
    loader.lists(tables);
    if loader.lookups.is_empty() {
        return Ok(false);
    }
    database.look_up(&loader.lookups, tables)?;
    Ok(true)
}

struct Loader {
    lookups: Vec<Lookup>,
}

/// A row, and its JSON as it was read.
type Read<V> = Result<(V, Option<Box<str>>), StoreError>;

impl Loader {
    fn interrupts(&mut self, tables: &mut Tables) {
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            " FROM interrupts WHERE id = ?"
        );
        self.table(tables, sql, |it| &mut it.interrupts, Cell::made, interrupt);
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            " FROM interrupts INDEXED BY interrupts_of_run WHERE run = ? AND live = 1"
        );
        self.list(
            tables,
            sql,
            |it| &mut it.live,
            |run| vec![Cell::made(run)],
            |tables, row| {
                let (row, stored) = interrupt(row)?;
                tables.interrupts.load_new(row.interrupt.id, row, stored);
                Ok(())
            },
        );
        let sql = "SELECT id, digest, NULL FROM interrupts WHERE key = ?1 \
             UNION ALL SELECT interrupt, digest, run FROM joined WHERE key = ?1";
        self.table(
            tables,
            sql,
            |it| &mut it.keys,
            Cell::made,
            |row| {
                let joined = text_or_nothing(row, 2)?;
                let row = KeyRow {
                    interrupt: read_text("an interrupt", text(row, 0)?)?,
                    digest: read_text("an interrupt", text(row, 1)?)?,
                    joined: match joined {
                        Some(run) => Some(read_text("a joined key", run)?),
                        None => None,
                    },
                };
                Ok((row, None))
            },
        );
        self.reroutes(tables);
    }

    fn reroutes(&mut self, tables: &mut Tables) {
        let sql = concat!(
            "SELECT ",
            columns!(reroutes),
            " FROM reroutes WHERE event = ?"
        );
        self.table(
            tables,
            sql,
            |it| &mut it.reroutes,
            Cell::made,
            |row| body(row, &sealed::REROUTES),
        );
        let sql = concat!(
            "SELECT ",
            columns!(reroutes),
            " FROM reroutes WHERE run = ? AND pending = 1"
        );
        self.list(
            tables,
            sql,
            |it| &mut it.pending,
            |run| vec![Cell::made(run)],
            |tables, row| {
                let (row, stored): (RerouteRow, _) = body(row, &sealed::REROUTES)?;
                tables.reroutes.load_new(row.event.clone(), row, stored);
                Ok(())
            },
        );
        let sql = concat!("SELECT ", columns!(slots), " FROM slots WHERE id = ?");
        self.table(
            tables,
            sql,
            |it| &mut it.slots,
            |key| Cell::Made(node_key(key)),
            |row| body(row, &sealed::SLOTS),
        )
    }

    fn runs(&mut self, tables: &mut Tables) {
        let sql = concat!("SELECT ", columns!(runs), " FROM runs WHERE id = ?");
        self.table(
            tables,
            sql,
            |it| &mut it.runs,
            Cell::made,
            |row| {
                let (run, stored) = body(row, &sealed::RUNS)?;
                let position = count(row, 0)?;
                Ok((RunRow { position, run }, stored))
            },
        );
        let sql = "SELECT id FROM runs WHERE alias = ?";
        self.table(
            tables,
            sql,
            |it| &mut it.aliases,
            Cell::made,
            |row| Ok((read_text("an alias", text(row, 0)?)?, None)),
        );
        let sql = concat!("SELECT ", columns!(nodes), " FROM nodes WHERE id = ?");
        self.table(
            tables,
            sql,
            |it| &mut it.nodes,
            |key| Cell::Made(node_key(key)),
            |row| {
                let (node, stored) = body(row, &sealed::NODES)?;
                let position = count(row, 0)?;
                Ok((PlacedNode { position, node }, stored))
            },
        );
        self.of_runs(tables);
    }

    fn of_runs(&mut self, tables: &mut Tables) {
        let sql = concat!(
            "SELECT ",
            columns!(messages),
            " FROM messages WHERE key = ?"
        );
        self.table(
            tables,
            sql,
            |it| &mut it.messages,
            Cell::made,
            |row| body(row, &sealed::MESSAGES),
        );
        let sql = concat!(
            "SELECT ",
            columns!(journal),
            " FROM journal WHERE effect = ?"
        );
        self.table(
            tables,
            sql,
            |it| &mut it.journal,
            Cell::made,
            |row| body(row, &sealed::JOURNAL),
        );
        let sql = concat!(
            "SELECT ",
            columns!(journal),
            " FROM journal WHERE run = ? AND position > ?"
        );
        self.list(
            tables,
            sql,
            |it| &mut it.newer,
            |(run, after)| vec![Cell::made(run), Cell::Number(*after)],
            |tables, row| {
                let (entry, stored): (JournalEntry, _) = body(row, &sealed::JOURNAL)?;
                tables.journal.load_new(entry.intent.effect, entry, stored);
                Ok(())
            },
        );
        let sql = "SELECT number FROM checkpoints WHERE id = ?";
        self.table(
            tables,
            sql,
            |it| &mut it.checkpoint_ids,
            Cell::made,
            |_row| Ok(((), None)),
        )
    }

    fn lists(&mut self, tables: &mut Tables) {
        self.table(
            tables,
            heads::SQL,
            |it| &mut it.heads,
            |()| Cell::Number(1),
            |row| {
                let (heads, stored) = heads::newest(row)?;
                Ok((heads, Some(stored.into())))
            },
        );
        let sql = "SELECT position FROM cursors WHERE consumer = ?";
        self.table(
            tables,
            sql,
            |it| &mut it.cursors,
            Cell::made,
            |row| Ok((count(row, 0)?, None)),
        );
        let sql =
            "SELECT position, digest, name, version, '', seal FROM catalogues WHERE digest = ?";
        self.table(
            tables,
            sql,
            |it| &mut it.catalogues,
            Cell::made,
            |row| {
                let row = catalogue_row(row)?;
                Ok((PlacedCatalogue { row, content: None }, None))
            },
        );
        let sql = "SELECT MAX(version) FROM catalogues WHERE name = ? GROUP BY name";
        self.table(
            tables,
            sql,
            |it| &mut it.versions,
            Cell::made,
            |row| Ok((count(row, 0)?, None)),
        );
        let sql = concat!("SELECT ", columns!(tokens), " FROM tokens WHERE digest = ?");
        self.table(
            tables,
            sql,
            |it| &mut it.tokens,
            Cell::made,
            |row| {
                let (token, stored) = body(row, &sealed::TOKENS)?;
                let position = count(row, 0)?;
                Ok((PlacedToken { position, token }, stored))
            },
        );
        self.rules(tables);
    }

    fn rules(&mut self, tables: &mut Tables) {
        let sql = concat!("SELECT ", columns!(rules), " FROM rules WHERE id = ?");
        self.table(
            tables,
            sql,
            |it| &mut it.status,
            Cell::made,
            |row| {
                let (rule, stored) = body(row, &sealed::RULES)?;
                let position = count(row, 0)?;
                Ok((PlacedRule { position, rule }, stored))
            },
        );
        let sql = "SELECT json_group_array(id) FROM \
             (SELECT id FROM rules WHERE matter = ? AND live = 1 ORDER BY position) AS shelf";
        self.table(
            tables,
            sql,
            |it| &mut it.shelves,
            Cell::made,
            |row| Ok((read_json("the rules of a matter", text(row, 0)?)?, None)),
        )
    }

    /// Looks up the missing rows of one table. What is not found is then known to be absent.
    fn table<K: Ord + Clone + 'static, V: 'static>(
        &mut self,
        tables: &mut Tables,
        sql: &'static str,
        of: fn(&mut Tables) -> &mut Table<K, V>,
        key: fn(&K) -> Cell<'static>,
        read: fn(&dyn Columns) -> Read<V>,
    ) {
        let missing: Vec<K> = of(tables).take_missing().into_iter().collect();
        if missing.is_empty() {
            return;
        }
        self.lookups.push(Lookup {
            sql,
            keys: missing.iter().map(|it| vec![key(it)]).collect(),
            take: Box::new(move |tables, number, row| {
                let (value, stored) = read(row)?;
                of(tables).load(missing[number].clone(), value, stored);
                Ok(())
            }),
        });
    }

    /// Looks up all rows that belong together.
    fn list<K: Ord + Clone>(
        &mut self,
        tables: &mut Tables,
        sql: &'static str,
        of: fn(&mut Tables) -> &mut Table<K, ()>,
        key: fn(&K) -> Vec<Cell<'static>>,
        take: fn(&mut Tables, &dyn Columns) -> Result<(), StoreError>,
    ) {
        let missing = of(tables).take_missing();
        if missing.is_empty() {
            return;
        }
        self.lookups.push(Lookup {
            sql,
            keys: missing.iter().map(key).collect(),
            take: Box::new(move |tables, _number, row| take(tables, row)),
        });
    }
}

fn interrupt(row: &dyn Columns) -> Read<InterruptRow> {
    let (interrupt, stored) = body(row, &sealed::INTERRUPTS)?;
    let position = count(row, 0)?;
    let row = InterruptRow {
        position,
        interrupt,
    };
    Ok((row, stored))
}

/// The JSON of a row, and how it was read.
fn body<T: DeserializeOwned>(row: &dyn Columns, table: &Sealed) -> Read<T> {
    let stored = table.body(row)?;
    Ok((read_json("a row", stored)?, Some(stored.into())))
}
