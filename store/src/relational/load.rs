//! Loading the rows that operations ask for.

use interrupts::store::{JournalEntry, RerouteRow, StoreError, StoredMessage};

use super::cell::{Cell, Columns};
use super::column::{count, read_text, text, text_or_nothing};
use super::database::{Database, Lookup};
use super::heads;
use super::read::catalogue_row;
use super::record::{Record, read};
use super::sealed::columns;
use crate::tables::{
    InterruptRow, KeyRow, PlacedCatalogue, PlacedNode, PlacedRule, PlacedToken, RunRow, Slot,
    Table, Tables,
};

/// Loads what is missing. Says whether anything was.
pub(super) fn missing(
    database: &mut dyn Database,
    tables: &mut Tables,
) -> Result<bool, StoreError> {
    let mut loader = Loader {
        lookups: Vec::new(),
    };
    loader.records(tables);
    loader.lists(tables);
    loader.keys(tables);
    loader.others(tables);
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
    fn records(&mut self, tables: &mut Tables) {
        self.record::<InterruptRow>(tables);
        self.record::<RerouteRow>(tables);
        self.record::<Slot>(tables);
        self.record::<RunRow>(tables);
        self.record::<PlacedNode>(tables);
        self.record::<StoredMessage>(tables);
        self.record::<JournalEntry>(tables);
        self.record::<PlacedToken>(tables);
        self.record::<PlacedRule>(tables);
    }

    fn lists(&mut self, tables: &mut Tables) {
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
            |row: &InterruptRow| row.interrupt.id,
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
            |row: &RerouteRow| row.event.clone(),
        );
        let sql = concat!(
            "SELECT ",
            columns!(rules),
            " FROM rules WHERE matter = ? AND live = 1"
        );
        self.list(
            tables,
            sql,
            |it| &mut it.active_rules,
            |matter| vec![Cell::made(matter)],
            |row: &PlacedRule| row.rule.id,
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
            |row: &JournalEntry| row.intent.effect,
        );
    }

    /// What names a row of another table.
    fn keys(&mut self, tables: &mut Tables) {
        let sql = "SELECT id, digest, NULL FROM interrupts WHERE key = ?1 \
             UNION ALL SELECT interrupt, digest, run FROM joined WHERE key = ?1";
        self.table(
            tables,
            sql,
            |it| &mut it.keys,
            Cell::made,
            |row| {
                let joined = text_or_nothing(row, 2)?;
                let joined = joined.map(|run| read_text("a joined key", run));
                let row = KeyRow {
                    interrupt: read_text("an interrupt", text(row, 0)?)?,
                    digest: read_text("an interrupt", text(row, 1)?)?,
                    joined: joined.transpose()?,
                };
                Ok((row, None))
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
    }

    fn others(&mut self, tables: &mut Tables) {
        let key = |(): &()| Cell::Number(1);
        self.table(
            tables,
            heads::SQL,
            |it| &mut it.heads,
            key,
            |row| {
                let (heads, stored) = heads::newest(row)?;
                Ok((heads, Some(stored.into())))
            },
        );
        let sql = "SELECT number FROM checkpoints WHERE id = ?";
        self.table(
            tables,
            sql,
            |it| &mut it.checkpoint_ids,
            Cell::made,
            |_row| Ok(((), None)),
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
    }

    fn record<R: Record>(&mut self, tables: &mut Tables) {
        self.table(tables, R::TABLE.by_key, R::rows, R::find, read::<R>);
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
    fn list<K: Ord + Clone, R: Record>(
        &mut self,
        tables: &mut Tables,
        sql: &'static str,
        of: fn(&mut Tables) -> &mut Table<K, ()>,
        values: fn(&K) -> Vec<Cell<'static>>,
        key: fn(&R) -> R::Key,
    ) {
        let missing = of(tables).take_missing();
        if missing.is_empty() {
            return;
        }
        self.lookups.push(Lookup {
            sql,
            keys: missing.iter().map(values).collect(),
            take: Box::new(move |tables, _number, row| {
                let (row, stored) = read::<R>(row)?;
                R::rows(tables).load_new(key(&row), row, stored);
                Ok(())
            }),
        });
    }
}
