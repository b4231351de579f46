//! The journal, compared with the parts of it that rows of the audit vouch for.

use std::collections::BTreeMap;

use interrupts::Digest;
use interrupts::store::{JournalEntry, JournalPosition, JournalSoFar, StoreError};

use super::super::cell::ColumnValue;
use super::super::column::{count, each, number, read_json};
use super::super::database::Database;
use super::super::forget::INTENT;
use super::super::sealed::{self, columns};
use super::vouched::Vouched;
use super::{VerifyProgress, rows};
use crate::tables::{Heads, damaged};

/// The digests of all intents by their positions, and of all results by their counts. Those of purged runs are among
/// them.
#[derive(Debug, Default)]
struct Digests {
    intents: BTreeMap<u64, Digest>,
    results: BTreeMap<u64, Digest>,
}

impl Digests {
    fn read(database: &mut dyn Database, look: &mut VerifyProgress) -> Result<Self, StoreError> {
        let mut digests = Self::default();
        let sql = concat!("SELECT ", columns!(journal), " FROM journal");
        rows(database, sql, look, |row, _look| {
            let entry: JournalEntry = read_json("the journal", sealed::JOURNAL.body(row)?)?;
            digests
                .intents
                .insert(entry.position, entry.intent_digest());
            if let Some(result) = &entry.result {
                let digest = result.digest(entry.intent.effect);
                digests.results.insert(result.count, digest);
            }
            Ok(())
        })?;
        let sql = "SELECT result, place, digest FROM purged";
        let purged = each(database, sql, &[], |row| {
            let ColumnValue::Bytes(digest) = row.value(2)? else {
                return Err(damaged(&"what a purge left has no digest"));
            };
            let digest: [u8; 32] = digest.try_into().map_err(|error| damaged(&error))?;
            Ok((number(row, 0)?, count(row, 1)?, Digest::from(digest)))
        })?;
        for (of, place, digest) in purged {
            match of {
                INTENT => digests.intents.insert(place, digest),
                _ => digests.results.insert(place, digest),
            };
        }
        Ok(digests)
    }

    /// The digest of a part, and how many intents it lacks. Results have no places of their own: each is where its
    /// count says.
    fn part(&self, after: JournalPosition, through: JournalPosition) -> (JournalSoFar, u64) {
        let mut so_far = JournalSoFar::EMPTY;
        let mut found = 0;
        if after.intents < through.intents {
            for (_place, digest) in self.intents.range(after.intents + 1..=through.intents) {
                so_far.intent(digest);
                found += 1;
            }
        }
        if after.results < through.results {
            for (_count, digest) in self.results.range(after.results + 1..=through.results) {
                so_far.result(digest);
            }
        }
        let lacks = through.intents.saturating_sub(after.intents);
        (so_far, lacks.saturating_sub(found))
    }
}

pub(super) fn compare(
    database: &mut dyn Database,
    heads: &Heads,
    vouched: &Vouched,
    look: &mut VerifyProgress,
) -> Result<(), StoreError> {
    let before = look.misfits.len();
    let digests = Digests::read(database, look)?;
    let kept = heads.kept.as_ref();
    let first = vouched.marks.first().map(|(_row, mark)| mark.after);
    // Nothing vouches for what an older version wrote.
    let begin = first.or(kept.map(|kept| kept.bound));
    let begin = begin.unwrap_or(JournalPosition {
        intents: u64::MAX,
        results: u64::MAX,
    });
    look.unbound += digests.intents.range(..=begin.intents).count() as u64;
    look.unbound += digests.results.range(..=begin.results).count() as u64;
    if look.misfits.len() > before {
        // What each part has is known to differ already, entry by entry.
        return Ok(());
    }
    let mut end = begin;
    for (row, mark) in &vouched.marks {
        let (so_far, lacks) = digests.part(mark.after, mark.through);
        if mark.after != end || so_far.digest() != mark.digest {
            let by = format!("row {row} of the audit");
            look.note(unlike(mark.after, mark.through, lacks, &by));
        }
        end = mark.through;
    }
    let Some(kept) = kept else {
        return Ok(());
    };
    if kept.bound != end {
        let what = "the ends of the lists do not follow the audit";
        return Err(damaged(&what));
    }
    if let Some(unbound) = &kept.unbound {
        let (so_far, lacks) = digests.part(end, unbound.through);
        if so_far != unbound.so_far {
            let by = "the end of the lists";
            look.note(unlike(end, unbound.through, lacks, by));
        }
    }
    Ok(())
}

fn unlike(after: JournalPosition, through: JournalPosition, lacks: u64, by: &str) -> String {
    let part = format!(
        "the journal from entry {} to {}",
        after.intents + 1,
        through.intents.max(after.intents + 1)
    );
    match lacks {
        0 => format!("{part} is not what {by} vouches for"),
        1 => format!("{part} lacks an entry that {by} vouches for"),
        lacks => format!("{part} lacks {lacks} entries that {by} vouches for"),
    }
}
