//! The port of forgetting.

use std::collections::BTreeSet;

use async_trait::async_trait;
use interrupts::life::RunState;
use interrupts::store::{AuditHead, AuditSubject, Page, Purge, Purged, StoreError};
use jiff::{SignedDuration, Timestamp};
use routing_core::RunId;

use super::Adapter;
use crate::operation::{Cut, PurgeRun, ended_before};
use crate::query::Backend;

/// How many rows are read at a time.
const ROWS_AT_A_TIME: u32 = 1_000;

/// What goes.
struct Plan {
    before: Timestamp,
    purged: Purged,
    cut: Cut,
}

#[async_trait]
impl<B: Backend> Purge for Adapter<B> {
    async fn purgeable(&self, age: SignedDuration) -> Result<Purged, StoreError> {
        Ok(plan(&self.backend, age).await?.purged)
    }

    async fn purge(&self, age: SignedDuration) -> Result<Purged, StoreError> {
        let plan = plan(&self.backend, age).await?;
        let before = plan.before;
        for id in &plan.purged.runs {
            // A run that has ended stays ended, so each is still what the plan has found. One at a time, so
            // that nobody who writes waits for long.
            let id = *id;
            self.backend.execute(PurgeRun { id, before }).await?;
        }
        self.backend.execute(plan.cut).await?;
        Ok(plan.purged)
    }
}

async fn plan<B: Backend>(backend: &B, age: SignedDuration) -> Result<Plan, StoreError> {
    let before = backend.now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let mut purged = Purged::default();
    for run in ended(backend, before).await? {
        if !backend.live(run, 1).await?.is_empty() {
            continue;
        }
        let of_run = backend.footprint(run).await?;
        purged.runs.push(run);
        purged.interrupts += of_run.interrupts;
        purged.reroutes += of_run.reroutes;
        purged.effects += of_run.effects;
        purged.checkpoints += of_run.checkpoints;
        purged.nodes += of_run.nodes;
        purged.messages += of_run.messages;
    }
    let (outbox, notifications) = backend.dealt_with(before).await?;
    let anchor = backend.audit_anchor().await?;
    let audit = settled(backend, anchor, before, &purged.runs).await?;
    purged.notifications = notifications;
    purged.audit_rows = audit.position - anchor.position;
    let cut = Cut { outbox, audit };
    Ok(Plan {
        before,
        purged,
        cut,
    })
}

/// Runs that ended at a time or before it.
async fn ended<B: Backend>(backend: &B, before: Timestamp) -> Result<Vec<RunId>, StoreError> {
    let finals = [RunState::Completed, RunState::Failed, RunState::Cancelled];
    let mut ended = Vec::new();
    let mut page = Page {
        after: 0,
        limit: ROWS_AT_A_TIME,
    };
    loop {
        let rows = backend.runs(&finals, page).await?;
        let Some((last, _run)) = rows.last() else {
            return Ok(ended);
        };
        page.after = *last;
        let old = rows
            .iter()
            .filter(|(_place, run)| ended_before(run, before));
        ended.extend(old.map(|(_place, run)| run.id));
    }
}

/// The last row of the audit that may go: all before it are old enough, and about runs that are gone.
async fn settled<B: Backend>(
    backend: &B,
    anchor: AuditHead,
    before: Timestamp,
    going: &[RunId],
) -> Result<AuditHead, StoreError> {
    let mut gone: BTreeSet<RunId> = going.iter().copied().collect();
    let mut last = anchor;
    loop {
        let page = Page {
            after: last.position,
            limit: ROWS_AT_A_TIME,
        };
        let rows = backend.audit(page).await?;
        if rows.is_empty() {
            return Ok(last);
        }
        for row in rows {
            let entry = row.read()?;
            if entry.at > before {
                return Ok(last);
            }
            if let Some(run) = run_of(&entry.subject)
                && !gone.contains(&run)
            {
                if backend.run(run).await?.is_some() {
                    return Ok(last);
                }
                gone.insert(run);
            }
            last = row.head();
        }
    }
}

/// The run that a row of the audit is about.
const fn run_of(subject: &AuditSubject) -> Option<RunId> {
    match subject {
        AuditSubject::Interrupt { run, .. }
        | AuditSubject::Reroute { run, .. }
        | AuditSubject::Run { run, .. }
        | AuditSubject::Fork { run, .. }
        | AuditSubject::Checkpoint { run, .. }
        | AuditSubject::Message { run, .. } => Some(*run),
        AuditSubject::Rule { run, .. } => *run,
        AuditSubject::Token { .. } | AuditSubject::Purge { .. } => None,
    }
}
