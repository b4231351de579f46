//! What the audit vouches for, by the rows that it is about.

use std::collections::{HashMap, HashSet};

use interrupt_router::{EventId, InterruptId, RuleId, RunId};
use interrupts::Digest;
use interrupts::store::{
    AuditEntry, AuditHead, AuditSubject, CheckpointId, JournalMark, StoreError, VerifyError,
};

use super::super::cell::Cell;
use super::super::column::each;
use super::super::database::Database;
use super::super::read::audited;
use crate::tables::Heads;

/// What it says last of an interrupt.
#[derive(Debug, Default)]
pub(super) struct Last {
    run: Option<RunId>,
    pub(super) bound: Option<Digest>,
    /// The digest of its decision, once that was made.
    pub(super) answer: Option<Digest>,
}

/// What it says last of everything. What is found is taken out.
#[derive(Debug, Default)]
pub(super) struct Vouched {
    pub(super) interrupts: HashMap<InterruptId, Last>,
    pub(super) runs: HashMap<RunId, Option<Digest>>,
    /// What binds the columns, and the digest of the content.
    pub(super) checkpoints: HashMap<CheckpointId, (Option<Digest>, Digest)>,
    pub(super) rules: HashMap<RuleId, (Option<RunId>, Option<Digest>)>,
    pub(super) reroutes: HashMap<EventId, (RunId, String)>,
    pub(super) messages: HashMap<u64, (RunId, Digest)>,
    /// Each with the position of its row.
    pub(super) marks: Vec<(u64, JournalMark)>,
    pub(super) purged: HashSet<RunId>,
}

impl Vouched {
    /// Reads the whole audit and checks every digest, from where a purge has cut it off.
    pub(super) fn read(database: &mut dyn Database, heads: &Heads) -> Result<Self, VerifyError> {
        let mut vouched = Self::default();
        let mut head = heads.audit_anchor;
        let mut broken = None;
        let sql = "SELECT position, previous, digest, entry FROM audit WHERE position > ? \
             ORDER BY position";
        each(database, sql, &[Cell::position(head.position)?], |row| {
            let row = match audited(row) {
                Ok(row) if row.follows(&head) => row,
                Ok(_) | Err(StoreError::DamagedRow { .. }) => {
                    broken.get_or_insert(head.position + 1);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if broken.is_none() {
                head = row.head();
                vouched.take(row.position, row.read()?);
            }
            Ok(())
        })?;
        if let Some(position) = broken {
            return Err(VerifyError::Broken { position });
        }
        match head == heads.audit {
            true => Ok(vouched),
            false => Err(cut_off(&head, heads)),
        }
    }

    fn take(&mut self, position: u64, entry: AuditEntry) {
        if let Some(mark) = entry.journal {
            self.marks.push((position, mark));
        }
        let bound = entry.bound;
        match entry.subject {
            AuditSubject::Interrupt {
                interrupt,
                run,
                audited,
            } => {
                let last = self.interrupts.entry(interrupt).or_default();
                last.run = Some(run);
                last.bound = bound;
                last.answer = audited.answer.or(last.answer);
            }
            AuditSubject::Reroute { event, run, change } => {
                self.reroutes.insert(event, (run, change));
            }
            AuditSubject::Run { run, event, .. } if event == "purge" => {
                self.purged.insert(run);
            }
            AuditSubject::Run { run, .. } | AuditSubject::Fork { run, .. } => {
                self.runs.insert(run, bound);
            }
            AuditSubject::Checkpoint {
                run,
                number,
                content,
            } => {
                let id = CheckpointId { run, number };
                self.checkpoints.insert(id, (bound, content));
            }
            AuditSubject::Message {
                run, message, text, ..
            } => {
                self.messages.insert(message, (run, text));
            }
            AuditSubject::Rule { rule, run, .. } => {
                // The first row says to which run it is confined.
                let known = self.rules.entry(rule).or_insert((run, None));
                known.1 = bound;
            }
            AuditSubject::Purge { .. } | AuditSubject::Token { .. } => {}
        }
    }

    /// What was not found and should be there, in words.
    pub(super) fn gone(&self) -> Vec<String> {
        let purged = &self.purged;
        let stays = |run: &RunId| !purged.contains(run);
        let runs = self.runs.keys().filter(|run| stays(run));
        let interrupts = self.interrupts.iter();
        let interrupts = interrupts.filter(|(_id, last)| last.run.as_ref().is_some_and(stays));
        let checkpoints = self.checkpoints.keys().filter(|id| stays(&id.run));
        let rules = self.rules.iter();
        let rules = rules.filter(|(_id, (run, _bound))| run.as_ref().is_none_or(stays));
        let reroutes = self.reroutes.iter().filter(|(_event, (run, _))| stays(run));
        let messages = self.messages.iter().filter(|(_place, (run, _))| stays(run));
        let mut gone: Vec<String> = runs.map(ToString::to_string).collect();
        gone.extend(interrupts.map(|(id, _last)| id.to_string()));
        gone.extend(checkpoints.map(|id| format!("checkpoint {id}")));
        gone.extend(rules.map(|(id, _known)| format!("rule {id}")));
        gone.extend(reroutes.map(|(event, _known)| format!("the reroute of event {event}")));
        gone.extend(messages.map(|(place, _known)| format!("message {place}")));
        gone.sort();
        gone
    }
}

fn cut_off(found: &AuditHead, heads: &Heads) -> VerifyError {
    VerifyError::CutOff {
        found: found.position,
        expected: heads.audit.position,
    }
}
