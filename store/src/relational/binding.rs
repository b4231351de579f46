//! Binding rows to the audit: a transaction that writes rows says in its rows of the audit what those are from then on,
//! and what has come to the journal.

use std::collections::{HashMap, HashSet};

use interrupt_router::{InterruptId, RuleId, RunId};
use interrupts::Digest;
use interrupts::store::{
    AuditRow, AuditSubject, CheckpointId, JournalEntry, JournalMark, JournalPosition, JournalSoFar,
    StoreError,
};
use serde_json::Value;

use super::column::{count, each, json, read_json};
use super::database::Database;
use super::sealed::{COUNTED, Sealed};
use crate::tables::{FileSummary, Heads, Tables, Unbound, Written};

/// Members of a row that change without leaving a row in the audit, or with one about something else. A lease that is
/// renewed is counted in `holds`.
const PASSING: [&str; 3] = ["lease", "checkpoint", "holds"];

/// What the rows say that a transaction writes, and how many come and go.
#[derive(Debug, Default)]
pub(super) struct RowChanges {
    pub(super) rows: HashMap<Bound, Digest>,
    added: [u64; COUNTED.len()],
    removed: [u64; COUNTED.len()],
}

impl RowChanges {
    /// Counts a row that was not there before.
    pub(super) fn new_row(&mut self, table: &Sealed, stored: Option<&str>) {
        if stored.is_none()
            && let Some(added) = place_of(table).and_then(|place| self.added.get_mut(place))
        {
            *added += 1;
        }
    }

    /// Counts rows that are gone.
    pub(super) fn gone(&mut self, table: &Sealed, rows: u64) {
        if let Some(removed) = place_of(table).and_then(|place| self.removed.get_mut(place)) {
            *removed += rows;
        }
    }

    fn counts(&self) -> bool {
        self.added.iter().chain(&self.removed).any(|rows| *rows > 0)
    }
}

fn place_of(table: &Sealed) -> Option<usize> {
    COUNTED.iter().position(|it| it.table == table.table)
}

/// A row that the audit vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    Interrupt(InterruptId),
    Run(RunId),
    Checkpoint(CheckpointId),
    Rule(RuleId),
}

impl Bound {
    /// The row that a row of the audit is about, where it says what that is.
    pub(super) const fn of(subject: &AuditSubject) -> Option<Self> {
        match subject {
            AuditSubject::Interrupt { interrupt, .. } => Some(Self::Interrupt(*interrupt)),
            AuditSubject::Run { run, .. } | AuditSubject::Fork { run, .. } => Some(Self::Run(*run)),
            AuditSubject::Checkpoint { run, number, .. } => Some(Self::Checkpoint(CheckpointId {
                run: *run,
                number: *number,
            })),
            AuditSubject::Rule { rule, .. } => Some(Self::Rule(*rule)),
            AuditSubject::Reroute { .. }
            | AuditSubject::Purge { .. }
            | AuditSubject::Message { .. }
            | AuditSubject::Token { .. } => None,
        }
    }
}

/// The digest of what a row says, without what passes.
pub(super) fn lasting(body: &str) -> Result<Digest, StoreError> {
    let mut value: Value = read_json("a row", body)?;
    let mut passes = false;
    if let Some(members) = value.as_object_mut() {
        for member in PASSING {
            passes |= members.shift_remove(member).is_some();
        }
    }
    Ok(if passes {
        Digest::of(json(&value)?.as_bytes())
    } else {
        Digest::of(body.as_bytes())
    })
}

/// The rows of the audit as they are to be written, with what they vouch for; the ends of the lists say what there is
/// now.
pub(super) fn bind(
    database: &mut dyn Database,
    tables: &mut Tables,
    said: &RowChanges,
) -> Result<Vec<AuditRow>, StoreError> {
    let written: Vec<&Written> = tables.audit.dirty().map(|(_place, row, _)| row).collect();
    let Some(mut heads) = tables.heads.row(&()).cloned() else {
        return Ok(Vec::new());
    };
    let news = tables.journal.dirty().next().is_some();
    if written.is_empty() && !news && !said.counts() {
        return Ok(Vec::new());
    }
    let mut kept = kept(database, tables, &heads, said)?;
    add_journal(&mut kept, tables);
    let mark = match written.is_empty() {
        true => None,
        false => kept.unbound.take().map(|unbound| {
            let after = std::mem::replace(&mut kept.bound, unbound.through);
            JournalMark {
                after,
                through: unbound.through,
                digest: unbound.so_far.digest(),
            }
        }),
    };
    let mut rows = Vec::with_capacity(written.len());
    let bound = bound(&written, said);
    let last = written.len();
    for (number, (written, bound)) in written.into_iter().zip(bound).enumerate() {
        let mut head = heads.audit;
        head.position = written.row.position - 1;
        let mark = mark.as_ref().filter(|_mark| number + 1 == last);
        let row = AuditRow::following(&head, entry(&written.row.entry, bound, mark)?);
        heads.audit = row.head();
        rows.push(row);
    }
    heads.kept = Some(kept);
    tables.heads.put((), heads);
    Ok(rows)
}

/// For each row of the audit what its row is, where no later one is about the same.
fn bound(written: &[&Written], said: &RowChanges) -> Vec<Option<Digest>> {
    let mut later = HashSet::new();
    let mut bound: Vec<_> = written
        .iter()
        .rev()
        .map(|written| {
            let row = Bound::of(&written.subject)?;
            later
                .insert(row)
                .then(|| said.rows.get(&row).copied())
                .flatten()
        })
        .collect();
    bound.reverse();
    bound
}

/// The JSON of an entry with what it vouches for at its end, as the entry itself would be written.
fn entry(
    entry: &str,
    bound: Option<Digest>,
    mark: Option<&JournalMark>,
) -> Result<String, StoreError> {
    let mut text = entry.to_owned();
    for (name, value) in [
        ("bound", bound.map(|digest| json(&digest))),
        ("journal", mark.map(json)),
    ] {
        if let Some(value) = value.transpose()?
            && text.pop() == Some('}')
        {
            text.push_str(&format!(",\"{name}\":{value}}}"));
        }
    }
    Ok(text)
}

/// What there is after this transaction; of the journal, before it.
fn kept(
    database: &mut dyn Database,
    tables: &Tables,
    heads: &Heads,
    said: &RowChanges,
) -> Result<FileSummary, StoreError> {
    if let Some(mut kept) = heads.kept.clone()
        && kept.rows.len() == COUNTED.len()
    {
        for (place, rows) in kept.rows.iter_mut().enumerate() {
            *rows = (*rows + said.added[place]).saturating_sub(said.removed[place]);
        }
        return Ok(kept);
    }
    let before: Option<Heads> = match tables.heads.stored(&()) {
        Some(stored) => Some(read_json("the heads", stored)?),
        None => None,
    };
    let bound = before.map(|heads| JournalPosition {
        intents: heads.journal,
        results: heads.journal_count,
    });
    let known = heads.kept.as_ref();
    let (rows, unsealed) = counted(database)?;
    Ok(FileSummary {
        rows,
        unsealed,
        bound: known.map_or(bound.unwrap_or_default(), |kept| kept.bound),
        unbound: known.and_then(|kept| kept.unbound.clone()),
    })
}

/// How many rows each table has, and how many of all have no seal.
fn counted(database: &mut dyn Database) -> Result<(Vec<u64>, u64), StoreError> {
    let (mut rows, mut unsealed) = (Vec::with_capacity(COUNTED.len()), 0);
    for table in COUNTED {
        for (all, without) in each(database, table.counted, &[], |row| {
            Ok((count(row, 0)?, count(row, 1)?))
        })? {
            rows.push(all);
            unsealed += without;
        }
    }
    Ok((rows, unsealed))
}

/// Adds the intents and results of this transaction.
fn add_journal(kept: &mut FileSummary, tables: &Tables) {
    let mut unbound = kept.unbound.take().unwrap_or(Unbound {
        through: kept.bound,
        so_far: JournalSoFar::EMPTY,
    });
    let seen = unbound.through;
    let mut intents: Vec<&JournalEntry> = Vec::new();
    let mut results = Vec::new();
    for (effect, entry, _stored) in tables.journal.dirty() {
        if entry.position > seen.intents {
            intents.push(entry);
        }
        if let Some(result) = &entry.result
            && result.count > seen.results
        {
            results.push((result.count, result.digest(*effect)));
        }
    }
    intents.sort_by_key(|entry| entry.position);
    results.sort_by_key(|(count, _digest)| *count);
    for entry in intents {
        unbound.so_far.intent(&entry.intent_digest());
        unbound.through.intents = entry.position;
    }
    for (count, digest) in results {
        unbound.so_far.result(&digest);
        unbound.through.results = count;
    }
    kept.unbound = (unbound.through != kept.bound).then_some(unbound);
}
