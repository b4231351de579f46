//! The port of forgetting.

use std::collections::BTreeSet;

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{
    Audit as _, AuditHead, AuditSubject, Page, Pages, Purge, Purged, Runs as _, StoreError,
};
use jiff::{SignedDuration, Timestamp};

use super::Adapter;
use crate::operation::{Cut, PurgeRun, PurgedRun, ended_before};
use crate::relational::{Cell, Found, Relational, Rows as _, count};

/// How many rows are read at a time.
const ROWS_AT_A_TIME: u32 = 1_000;

/// What goes.
struct PurgePlan {
    before: Timestamp,
    /// Each run, with what belongs to it.
    runs: Vec<(RunId, Purged)>,
    notifications: u64,
    cut: Cut,
    /// How many rows of the audit go.
    audit_rows: u64,
}

#[async_trait]
impl<B: Relational> Purge for Adapter<B> {
    async fn purgeable(&self, age: SignedDuration) -> Result<Purged, StoreError> {
        let before = self.backend.time().checked_sub(age);
        let before = before.unwrap_or(Timestamp::MIN);
        let runs = going(self, before).await?;
        Ok(plan(self, before, runs).await?.purged())
    }

    async fn purge(&self, age: SignedDuration) -> Result<Purged, StoreError> {
        let before = self.backend.time().checked_sub(age);
        let before = before.unwrap_or(Timestamp::MIN);
        let runs = going(self, before).await?;
        let mut plan = plan(self, before, runs).await?;
        let gone = forget(self, &plan).await?;
        if gone.len() < plan.runs.len() {
            // The audit tells of what stays after all.
            plan = self::plan(self, before, gone).await?;
        }
        let purged = plan.purged();
        self.backend.submit(plan.cut).await?;
        Ok(purged)
    }
}

impl PurgePlan {
    fn purged(&self) -> Purged {
        let mut purged = Purged {
            notifications: self.notifications,
            audit_rows: self.audit_rows,
            ..Purged::default()
        };
        for (run, of_run) in &self.runs {
            purged.runs.push(*run);
            purged.interrupts += of_run.interrupts;
            purged.reroutes += of_run.reroutes;
            purged.effects += of_run.effects;
            purged.checkpoints += of_run.checkpoints;
            purged.nodes += of_run.nodes;
            purged.messages += of_run.messages;
        }
        purged
    }
}

/// The runs that may go, each with what belongs to it.
async fn going<B: Relational>(
    store: &Adapter<B>,
    before: Timestamp,
) -> Result<Vec<(RunId, Purged)>, StoreError> {
    let needed = needed(store, 0).await?;
    let mut going = Vec::new();
    for run in ended(store, before).await? {
        if !needed.contains(&run) {
            going.push((run, store.footprint(run).await?));
        }
    }
    Ok(going)
}

/// What goes beside these runs.
async fn plan<B: Relational>(
    store: &Adapter<B>,
    before: Timestamp,
    runs: Vec<(RunId, Purged)>,
) -> Result<PurgePlan, StoreError> {
    let (outbox, notifications) = store.dealt_with(before).await?;
    let anchor = store.audit_anchor().await?;
    let gone = runs.iter().map(|(run, _of_run)| *run).collect();
    let audit = settled(store, anchor, before, gone).await?;
    Ok(PurgePlan {
        before,
        runs,
        notifications,
        audit_rows: audit.position - anchor.position,
        cut: Cut { outbox, audit },
    })
}

/// Forgets the runs of a plan, and says which are gone. One at a time, so that no writer waits for long.
async fn forget<B: Relational>(
    store: &Adapter<B>,
    plan: &PurgePlan,
) -> Result<Vec<(RunId, Purged)>, StoreError> {
    let mut gone = Vec::new();
    let mut needed = BTreeSet::new();
    let mut known_runs = 0;
    for (id, of_run) in &plan.runs {
        // A run that has ended stays ended, but another one may have been forked off it since it was planned.
        let is_gone = loop {
            if needed.contains(id) {
                break false;
            }
            let purge = PurgeRun {
                id: *id,
                before: plan.before,
                known_runs,
            };
            match store.backend.submit(purge).await? {
                PurgedRun::Gone => break true,
                PurgedRun::Stays => break false,
                PurgedRun::MoreRuns(runs) => {
                    needed.extend(self::needed(store, known_runs).await?);
                    known_runs = runs;
                }
            }
        };
        if is_gone {
            gone.push((*id, of_run.clone()));
        }
    }
    Ok(gone)
}

/// Runs with checkpoints that other runs continue from, if those have not ended and saved none of their own yet. Looks
/// at the runs after a place.
async fn needed<B: Relational>(
    store: &Adapter<B>,
    after: u64,
) -> Result<BTreeSet<RunId>, StoreError> {
    let live = [
        RunState::Created,
        RunState::Running,
        RunState::Stopping,
        RunState::Paused,
        RunState::Waiting,
    ];
    let mut needed = BTreeSet::new();
    let mut pages = Pages::after(after, ROWS_AT_A_TIME);
    while let Some(rows) = pages.next(|page| store.runs(&live, page)).await? {
        let unsaved = rows.iter().filter(|(_place, run)| run.checkpoint == 0);
        let from = unsaved.filter_map(|(_place, run)| run.forked_from);
        needed.extend(from.map(|checkpoint| checkpoint.run));
    }
    Ok(needed)
}

/// Runs that ended at a time or before it.
async fn ended<B: Relational>(
    store: &Adapter<B>,
    before: Timestamp,
) -> Result<Vec<RunId>, StoreError> {
    let finals = [RunState::Completed, RunState::Failed, RunState::Cancelled];
    let (mut ended, mut pages) = (Vec::new(), Pages::of(ROWS_AT_A_TIME));
    while let Some(rows) = pages.next(|page| store.runs(&finals, page)).await? {
        let old = rows
            .iter()
            .filter(|(_place, run)| ended_before(run, before));
        ended.extend(old.map(|(_place, run)| run.id));
    }
    Ok(ended)
}

/// The last row of the audit that may go: all before it are old enough, and about runs that are gone.
async fn settled<B: Relational>(
    store: &Adapter<B>,
    anchor: AuditHead,
    before: Timestamp,
    mut gone: BTreeSet<RunId>,
) -> Result<AuditHead, StoreError> {
    let mut last = anchor;
    loop {
        let page = Page {
            after: last.position,
            limit: ROWS_AT_A_TIME,
        };
        let rows = store.audit(page).await?;
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
                if store.run(run).await?.is_some() {
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

impl<B: Relational> Adapter<B> {
    /// Where the audit was cut off; [`AuditHead::EMPTY`] where it is whole.
    async fn audit_anchor(&self) -> Found<AuditHead> {
        let heads = self.backend.heads().await?;
        Ok(heads.map_or(AuditHead::EMPTY, |heads| heads.audit_anchor))
    }

    /// How much belongs to a run. Its list of runs is empty.
    async fn footprint(&self, run: RunId) -> Found<Purged> {
        let sql = "SELECT (SELECT COUNT(*) FROM interrupts WHERE run = ?1), \
             (SELECT COUNT(*) FROM reroutes WHERE run = ?1), \
             (SELECT COUNT(*) FROM journal WHERE run = ?1), \
             (SELECT COUNT(*) FROM checkpoints WHERE run = ?1), \
             (SELECT COUNT(*) FROM nodes WHERE run = ?1), \
             (SELECT COUNT(*) FROM messages WHERE run = ?1)";
        let counted = self.backend.row(sql, [Cell::made(&run)], |row| {
            Ok(Purged {
                interrupts: count(row, 0)?,
                reroutes: count(row, 1)?,
                effects: count(row, 2)?,
                checkpoints: count(row, 3)?,
                nodes: count(row, 4)?,
                messages: count(row, 5)?,
                ..Purged::default()
            })
        });
        Ok(counted.await?.unwrap_or_default())
    }

    /// The last row of the outbox that every consumer with a cursor has dealt with, and before which no row is
    /// younger than a time; and how many rows there are up to it.
    async fn dealt_with(&self, before: Timestamp) -> Found<(u64, u64)> {
        // The first row that stays ends the list, so that none goes from its middle.
        let sql = "WITH bounds (first) AS (SELECT MIN(bound) FROM (SELECT \
             COALESCE((SELECT MIN(position) FROM outbox WHERE at > ?1), 9223372036854775807) AS bound UNION ALL SELECT \
             COALESCE((SELECT MIN(position) + 1 FROM cursors), 9223372036854775807)) AS ends) \
             SELECT COALESCE(MAX(position), 0), COUNT(*) FROM outbox, bounds \
             WHERE position < bounds.first";
        let found = self
            .backend
            .row(sql, [Cell::Number(before.as_microsecond())], |row| {
                Ok((count(row, 0)?, count(row, 1)?))
            });
        Ok(found.await?.unwrap_or_default())
    }
}
