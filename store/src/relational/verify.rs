//! Verifying: the audit with itself, and every row that it vouches for with it.

mod journal;
mod vouched;

use std::collections::BTreeSet;

use interrupt_router::{InterruptId, RuleId, RunId};
use interrupts::Digest;
use interrupts::store::{RerouteRow, StoreError, StoredMessage, Verification, VerifyError};
use serde_json::Value;

use super::binding::lasting;
use super::cell::{Cell, Columns};
use super::checked::{self, MOST_TOLD, damaged};
use super::column::{each, json, read_json, read_text, text};
use super::database::Database;
use super::database::Found;
use super::heads;
use super::read::{catalogue, checkpoint};
use super::sealed;
use vouched::Vouched;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct VerifyProgress {
    /// What does not fit, each in words.
    misfits: Vec<String>,
    known: BTreeSet<String>,
    unbound: u64,
}

impl VerifyProgress {
    fn note(&mut self, misfit: String) {
        if self.known.insert(misfit.clone()) {
            self.misfits.push(misfit);
        }
    }
}

/// Reads everything once, as it was at one time.
pub(crate) fn whole(database: &mut dyn Database) -> Result<Verification, VerifyError> {
    let misfits = checked::misfits(database)?;
    database.begin_snapshot()?;
    let verified = whole_now(database, misfits);
    database.end_snapshot()?;
    verified
}

fn whole_now(
    database: &mut dyn Database,
    misfits: Vec<String>,
) -> Result<Verification, VerifyError> {
    let mut look = VerifyProgress::default();
    for misfit in misfits {
        look.note(misfit);
    }
    let heads = each(database, heads::SQL, &[Cell::Number(1)], |row| {
        Ok(heads::newest(row)?.0)
    })?;
    let heads = heads.into_iter().next().unwrap_or_default();
    let mut vouched = Vouched::read(database, &heads)?;
    interrupts(database, &mut vouched, &mut look)?;
    runs(database, &mut vouched, &mut look)?;
    checkpoints(database, &mut vouched, &mut look)?;
    catalogues(database, &mut look)?;
    verify_others(database, &mut vouched, &mut look)?;
    journal::compare(database, &heads, &vouched, &mut look)?;
    texts(database, &mut look)?;
    for gone in vouched.gone() {
        look.note(format!("{gone} is not there any more"));
    }
    if look.misfits.is_empty() {
        let name = each(database, "SELECT name FROM store", &[], |row| {
            Ok(text(row, 0)?.to_owned())
        })?;
        return Ok(Verification {
            head: heads.audit,
            store: name.into_iter().next(),
            unbound: look.unbound,
            purged: vouched.purged.len() as u64,
        });
    }
    let count = look.misfits.len() as u64;
    look.misfits.truncate(MOST_TOLD);
    Err(VerifyError::Unlike {
        count,
        first: look.misfits,
    })
}

/// Every row of a statement; one that is damaged is noted, and left out.
fn rows(
    database: &mut dyn Database,
    sql: &'static str,
    look: &mut VerifyProgress,
    mut read: impl FnMut(&dyn Columns, &mut VerifyProgress) -> Found<()>,
) -> Result<(), StoreError> {
    each(database, sql, &[], |row| match read(row, look) {
        Ok(()) => Ok(()),
        Err(StoreError::DamagedRow { row }) => {
            look.note(damaged(&row));
            Ok(())
        }
        // It does not say which one.
        Err(StoreError::Corrupt { detail }) => {
            look.note(format!("a row cannot be read: {detail}"));
            Ok(())
        }
        Err(error) => Err(error),
    })?;
    Ok(())
}

/// Compares what a row says with what the audit vouches for.
fn compare(said: Digest, bound: Option<Option<Digest>>, name: &str, look: &mut VerifyProgress) {
    match bound {
        Some(Some(bound)) if bound == said => {}
        Some(Some(_other)) => look.note(format!("{name} is not what the audit vouches for")),
        // An older version wrote it last.
        Some(None) => look.unbound += 1,
        None => look.note(format!("the audit knows nothing of {name}")),
    }
}

fn interrupts(
    database: &mut dyn Database,
    vouched: &mut Vouched,
    look: &mut VerifyProgress,
) -> Result<(), StoreError> {
    rows(database, sealed::INTERRUPTS.all, look, |row, look| {
        // It is there, even if it was changed.
        let id = text(row, 1).and_then(|id| read_text::<InterruptId>("an interrupt", id));
        let known = id
            .as_ref()
            .ok()
            .and_then(|id| vouched.interrupts.remove(id));
        let body = sealed::INTERRUPTS.body(row)?;
        let name = id?.to_string();
        compare(
            lasting(body)?,
            known.as_ref().map(|known| known.bound),
            &name,
            look,
        );
        let value: Value = read_json("an interrupt", body)?;
        let decision = value.get("decision").map(json).transpose()?;
        let found = decision.map(|decision| Digest::of(decision.as_bytes()));
        let answer = known.and_then(|known| known.answer);
        if answer.is_some() && answer != found {
            look.note(format!(
                "the decision of {name} is not the one that was made"
            ));
        }
        Ok(())
    })
}

fn runs(
    database: &mut dyn Database,
    vouched: &mut Vouched,
    look: &mut VerifyProgress,
) -> Result<(), StoreError> {
    rows(database, sealed::RUNS.all, look, |row, look| {
        let id = text(row, 1).and_then(|id| read_text::<RunId>("a run", id));
        let known = id.as_ref().ok().and_then(|id| vouched.runs.remove(id));
        let body = sealed::RUNS.body(row)?;
        compare(lasting(body)?, known, &id?.to_string(), look);
        Ok(())
    })
}

fn checkpoints(
    database: &mut dyn Database,
    vouched: &mut Vouched,
    look: &mut VerifyProgress,
) -> Result<(), StoreError> {
    rows(database, sealed::CHECKPOINTS.all, look, |row, look| {
        let found = checkpoint(row)?;
        let name = format!("checkpoint {}", found.id);
        let known = vouched.checkpoints.remove(&found.id);
        let content = known.map(|known| known.1);
        if !found.is_whole() || content.is_some_and(|content| content != found.digest) {
            look.note(damaged(&name));
        }
        let said = sealed::CHECKPOINTS.digest_of_columns(row)?;
        compare(said, known.map(|known| known.0), &name, look);
        Ok(())
    })
}

/// Catalogues, which runs and interrupts name by what they say.
fn catalogues(database: &mut dyn Database, look: &mut VerifyProgress) -> Result<(), StoreError> {
    rows(database, sealed::CATALOGUES.all, look, |row, _look| {
        catalogue(row).map(drop)
    })
}

/// Reroutes, messages and rules, of which the audit tells.
fn verify_others(
    database: &mut dyn Database,
    vouched: &mut Vouched,
    look: &mut VerifyProgress,
) -> Result<(), StoreError> {
    rows(database, sealed::REROUTES.all, look, |row, look| {
        let found: RerouteRow = read_json("a reroute", sealed::REROUTES.body(row)?)?;
        let known = vouched.reroutes.remove(&found.event);
        if known.is_none_or(|(_run, change)| json(&found.state).ok() != Some(change)) {
            let event = found.event;
            look.note(format!(
                "the reroute of event {event} is not what the audit tells"
            ));
        }
        Ok(())
    })?;
    rows(database, sealed::MESSAGES.all, look, |row, look| {
        let found: StoredMessage = read_json("a message", sealed::MESSAGES.body(row)?)?;
        let known = vouched.messages.remove(&found.position);
        let text = Digest::of(found.message.text.as_bytes());
        if known.is_none_or(|(_run, said)| said != text) {
            look.note(format!(
                "message {} is not what the audit tells",
                found.position
            ));
        }
        Ok(())
    })?;
    rows(database, sealed::RULES.all, look, |row, look| {
        let id = text(row, 1).and_then(|id| read_text::<RuleId>("a rule", id));
        let known = id.as_ref().ok().and_then(|id| vouched.rules.remove(id));
        let body = sealed::RULES.body(row)?;
        let known = known.map(|(_run, bound)| bound);
        compare(
            Digest::of(body.as_bytes()),
            known,
            &format!("rule {}", id?),
            look,
        );
        Ok(())
    })
}

/// The texts of what nothing but its own seal vouches for.
fn texts(database: &mut dyn Database, look: &mut VerifyProgress) -> Result<(), StoreError> {
    for table in [
        &sealed::NODES,
        &sealed::TOKENS,
        &sealed::SLOTS,
        &sealed::JOINED,
        &sealed::OUTBOX,
    ] {
        rows(database, table.all, look, |row, _look| {
            table.body(row).map(drop)
        })?;
    }
    Ok(())
}
