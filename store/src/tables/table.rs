//! One table: the rows that are loaded, what was changed, and how to undo it.

use std::collections::{BTreeMap, BTreeSet};

/// A row that is needed has not been loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Absent;

#[derive(Debug, Clone)]
struct Cell<V> {
    /// `None` where there is known to be no such row.
    value: Option<V>,
    dirty: bool,
    /// As it was read: another version of this program may have put more into it than is known here.
    stored: Option<Box<str>>,
}

#[derive(Debug)]
pub(crate) struct Table<K, V> {
    cells: BTreeMap<K, Cell<V>>,
    missing: BTreeSet<K>,
    /// What the last operation replaced, oldest first.
    replaced: Vec<(K, Option<Cell<V>>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self {
            cells: BTreeMap::new(),
            missing: BTreeSet::new(),
            replaced: Vec::new(),
        }
    }
}

impl<K: Ord + Clone, V> Table<K, V> {
    /// The row of a key; `None` where there is none.
    pub(crate) fn get(&mut self, key: &K) -> Result<Option<&V>, Absent> {
        if !self.cells.contains_key(key) {
            self.missing.insert(key.clone());
            return Err(Absent);
        }
        Ok(self.cells.get(key).and_then(|cell| cell.value.as_ref()))
    }

    /// Says that a row will be needed, so that it is loaded with others.
    pub(crate) fn want(&mut self, key: &K) {
        if !self.cells.contains_key(key) {
            self.missing.insert(key.clone());
        }
    }

    /// Writes a row.
    pub(crate) fn put(&mut self, key: K, value: V) {
        let known = self.cells.get(&key);
        let cell = Cell {
            value: Some(value),
            dirty: true,
            stored: known.and_then(|cell| cell.stored.clone()),
        };
        let before = self.cells.insert(key.clone(), cell);
        self.replaced.push((key, before));
    }

    /// Removes the rows that are here and do not fit. There is no way back.
    pub(crate) fn retain(&mut self, fits: impl Fn(&K, &V) -> bool) {
        for (key, cell) in &mut self.cells {
            if cell.value.as_ref().is_some_and(|it| !fits(key, it)) {
                cell.value = None;
            }
        }
    }

    pub(crate) fn keep(&mut self) {
        self.replaced.clear();
    }

    pub(crate) fn undo(&mut self) {
        while let Some((key, before)) = self.replaced.pop() {
            match before {
                Some(cell) => self.cells.insert(key, cell),
                None => self.cells.remove(&key),
            };
        }
    }

    /// The keys that were asked for since the last call. Each is then known to have no row, until it is loaded.
    pub(crate) fn take_missing(&mut self) -> BTreeSet<K> {
        let missing = std::mem::take(&mut self.missing);
        for key in &missing {
            self.cells.entry(key.clone()).or_insert(Cell {
                value: None,
                dirty: false,
                stored: None,
            });
        }
        missing
    }

    /// Takes a row from the database.
    pub(crate) fn load(&mut self, key: K, value: V, stored: Option<Box<str>>) {
        let cell = Cell {
            value: Some(value),
            dirty: false,
            stored,
        };
        self.cells.insert(key, cell);
    }

    /// Takes a row from the database, unless it is here already: as it was read before, or as it was written since.
    pub(crate) fn load_new(&mut self, key: K, value: V, stored: Option<Box<str>>) {
        if !self.cells.contains_key(&key) {
            self.load(key, value, stored);
        }
    }

    /// The rows that were written, in the order of their keys, each with how it was read.
    pub(crate) fn dirty(&self) -> impl Iterator<Item = (&K, &V, Option<&str>)> {
        self.cells
            .iter()
            .filter(|(_key, cell)| cell.dirty)
            .filter_map(|(key, cell)| {
                let value = cell.value.as_ref()?;
                Some((key, value, cell.stored.as_deref()))
            })
    }

    /// All rows that are here, in the order of their keys.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&K, &V)> {
        self.cells
            .iter()
            .filter_map(|(key, cell)| cell.value.as_ref().map(|value| (key, value)))
    }

    /// The row of a key that is here.
    pub(crate) fn row(&self, key: &K) -> Option<&V> {
        self.cells.get(key).and_then(|cell| cell.value.as_ref())
    }

    /// How the row of a key was read, where it was.
    pub(crate) fn stored(&self, key: &K) -> Option<&str> {
        self.cells.get(key).and_then(|cell| cell.stored.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::{Absent, Table};

    #[test]
    fn a_row_that_is_not_loaded_is_asked_for_once() {
        let mut table = Table::<u8, &str>::default();
        assert_eq!(table.get(&1), Err(Absent));
        table.want(&2);
        assert_eq!(table.take_missing().into_iter().collect::<Vec<_>>(), [1, 2]);
        table.load(1, "one", None);
        assert_eq!(table.get(&1), Ok(Some(&"one")));
        assert_eq!(table.get(&2), Ok(None));
        assert!(table.take_missing().is_empty());
    }

    #[test]
    fn undoing_brings_back_what_was_there_before_the_operation() {
        let mut table = Table::<u8, &str>::default();
        table.put(1, "kept");
        table.keep();
        table.put(1, "first");
        table.put(1, "second");
        table.put(2, "new");
        table.undo();
        assert_eq!(table.rows().collect::<Vec<_>>(), [(&1, &"kept")]);
    }

    #[test]
    fn a_list_loads_nothing_over_what_the_transaction_has_changed() {
        let mut table = Table::<u8, &str>::default();
        table.load(1, "loaded", None);
        table.put(1, "changed");
        table.keep();
        table.load_new(1, "loaded", None);
        table.load_new(2, "found", None);
        assert_eq!(
            table.rows().collect::<Vec<_>>(),
            [(&1, &"changed"), (&2, &"found")]
        );
        assert_eq!(table.dirty().count(), 1);
    }

    #[test]
    fn what_is_undone_is_not_written() {
        let mut table = Table::<u8, &str>::default();
        table.want(&1);
        table.take_missing();
        table.load(1, "loaded", None);
        table.put(1, "changed");
        table.undo();
        assert_eq!(table.dirty().count(), 0);
        table.put(1, "changed");
        table.keep();
        assert_eq!(table.dirty().collect::<Vec<_>>(), [(&1, &"changed", None)]);
    }
}
