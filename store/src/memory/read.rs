//! Reading from memory.

use std::cmp::Reverse;

use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Interrupt, RunState, State};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditHead, AuditRow, CatalogueRow, Checkpoint, CheckpointId, Consumer, Filter, JournalEntry,
    NodeRow, OutboxRow, Page, PageBack, Purged, RerouteRow, Run, StoredMessage, TokenRow,
    Verification, VerifyError, WaitingPosition, WorkerRow,
};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey};
use jiff::Timestamp;
use routing_core::reroute::RerouteState;
use routing_core::{EventId, InterruptId, NodeId, RuleId, RunId};

use super::Memory;
use crate::operation::Operation;
use crate::query::{Backend, Found, JournalPart};

/// The rows after a position, in the order of their positions.
fn paged<T>(mut rows: Vec<(u64, T)>, page: Page) -> Vec<(u64, T)> {
    rows.retain(|(position, _row)| *position > page.after);
    rows.sort_by_key(|(position, _row)| *position);
    rows.truncate(usize::try_from(page.limit).unwrap_or(usize::MAX));
    rows
}

/// Whether a position lies in a part that is read from the end.
fn is_before(position: u64, page: PageBack) -> bool {
    page.before.is_none_or(|before| position < before)
}

/// The first of a list.
fn first<T>(items: impl Iterator<Item = T>, limit: u32) -> Vec<T> {
    items
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
        .collect()
}

fn matches(filter: &Filter, interrupt: &Interrupt) -> bool {
    filter.run.is_none_or(|run| run == interrupt.run)
        && filter
            .node
            .as_ref()
            .is_none_or(|node| *node == interrupt.node)
        && (filter.states.is_empty() || filter.states.contains(&interrupt.state))
}

/// Whether an interrupt waits for a person; with a name, for this one.
fn waits(interrupt: &Interrupt, of: Option<&ActorName>, now: Timestamp) -> bool {
    let review = interrupt.review.as_ref();
    interrupt.state == State::AwaitingReview
        && of.is_none_or(|person| review.is_some_and(|review| review.concerns(person, now)))
}

impl Backend for Memory {
    fn now(&self) -> Timestamp {
        self.time()
    }

    async fn execute<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        self.run_operation(&operation)
    }

    async fn count_rows(&self) -> Found<()> {
        // No other program reaches them.
        Ok(())
    }

    async fn interrupt(&self, id: InterruptId) -> Found<Option<Interrupt>> {
        let tables = self.lock();
        Ok(tables.interrupts.row(&id).map(|row| row.interrupt.clone()))
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Found<Option<Interrupt>> {
        let tables = self.lock();
        let id = tables.keys.row(key).map(|row| row.interrupt);
        let row = id.and_then(|id| tables.interrupts.row(&id));
        Ok(row.map(|row| row.interrupt.clone()))
    }

    async fn interrupts(&self, filter: &Filter, page: Page) -> Found<Vec<(u64, Interrupt)>> {
        let tables = self.lock();
        let rows = tables
            .interrupts
            .rows()
            .filter(|(_id, row)| matches(filter, &row.interrupt))
            .map(|(_id, row)| (row.position, row.interrupt.clone()));
        Ok(paged(rows.collect(), page))
    }

    async fn count_waiting(&self, of: Option<&ActorName>, now: Timestamp) -> Found<u64> {
        let tables = self.lock();
        let rows = tables.interrupts.rows();
        let waiting = rows.filter(|(_id, row)| waits(&row.interrupt, of, now));
        Ok(waiting.map(|_row| 1).sum())
    }

    async fn waiting(
        &self,
        of: Option<&ActorName>,
        now: Timestamp,
        after: WaitingPosition,
        limit: u32,
    ) -> Found<Vec<(WaitingPosition, Interrupt)>> {
        let tables = self.lock();
        let rows = tables.interrupts.rows().map(|(_id, row)| {
            let interrupt = &row.interrupt;
            (WaitingPosition::of(row.position, interrupt), interrupt)
        });
        let mut waiting: Vec<_> = rows
            .filter(|(position, interrupt)| *position > after && waits(interrupt, of, now))
            .collect();
        waiting.sort_by_key(|(position, _interrupt)| *position);
        let waiting = waiting.into_iter().map(|(at, it)| (at, it.clone()));
        Ok(first(waiting, limit))
    }

    async fn due(&self, now: Timestamp, limit: u32) -> Found<Vec<InterruptId>> {
        let tables = self.lock();
        let due = tables.interrupts.rows().filter(|(_id, row)| {
            row.interrupt.state.is_live()
                && row
                    .interrupt
                    .due_at()
                    .is_some_and(|deadline| deadline <= now)
        });
        Ok(first(due.map(|(id, _row)| *id), limit))
    }

    async fn reroute(&self, event: &EventId) -> Found<Option<RerouteRow>> {
        Ok(self.lock().reroutes.row(event).cloned())
    }

    async fn due_reroutes(&self, now: Timestamp, limit: u32) -> Found<Vec<EventId>> {
        let tables = self.lock();
        let due = tables
            .reroutes
            .rows()
            .filter(|(_event, row)| row.state == RerouteState::Pending && row.expires_at <= now);
        Ok(first(due.map(|(event, _row)| event.clone()), limit))
    }

    async fn run(&self, id: RunId) -> Found<Option<Run>> {
        Ok(self.lock().runs.row(&id).map(|row| row.run.clone()))
    }

    async fn run_of(&self, alias: &str) -> Found<Option<Run>> {
        let tables = self.lock();
        let id = tables.aliases.row(&alias.to_owned());
        let row = id.and_then(|id| tables.runs.row(id));
        Ok(row.map(|row| row.run.clone()))
    }

    async fn runs(&self, states: &[RunState], page: Page) -> Found<Vec<(u64, Run)>> {
        let tables = self.lock();
        let rows = tables
            .runs
            .rows()
            .filter(|(_id, row)| states.is_empty() || states.contains(&row.run.state))
            .map(|(_id, row)| (row.position, row.run.clone()));
        Ok(paged(rows.collect(), page))
    }

    async fn last_runs(&self, page: PageBack) -> Found<Vec<(u64, Run)>> {
        let tables = self.lock();
        let mut rows: Vec<(u64, &Run)> = tables
            .runs
            .rows()
            .map(|(_id, row)| (row.position, &row.run))
            .filter(|(position, _run)| is_before(*position, page))
            .collect();
        rows.sort_by_key(|(position, _run)| Reverse(*position));
        let rows = rows
            .into_iter()
            .map(|(position, run)| (position, run.clone()));
        Ok(first(rows, page.limit))
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Found<Option<NodeRow>> {
        let tables = self.lock();
        let row = tables.nodes.row(&(run, node.clone()));
        Ok(row.map(|row| row.node.clone()))
    }

    async fn nodes(&self, run: Option<RunId>, page: Page) -> Found<Vec<(u64, NodeRow)>> {
        let tables = self.lock();
        let rows = tables
            .nodes
            .rows()
            .filter(|((of, _node), _row)| run.is_none_or(|run| run == *of))
            .map(|(_key, row)| (row.position, row.node.clone()));
        Ok(paged(rows.collect(), page))
    }

    async fn messages(&self, run: RunId, page: Page) -> Found<Vec<StoredMessage>> {
        let tables = self.lock();
        let rows = tables
            .messages
            .rows()
            .filter(|(_key, row)| row.message.run == run)
            .map(|(_key, row)| (row.position, row.clone()));
        let rows = paged(rows.collect(), page);
        Ok(rows.into_iter().map(|(_position, row)| row).collect())
    }

    async fn catalogue(&self, digest: Digest) -> Found<Option<SharedCatalogue>> {
        let tables = self.lock();
        let row = tables.catalogues.row(&digest);
        Ok(row.and_then(|row| row.content.clone()))
    }

    async fn catalogues(&self) -> Found<Vec<CatalogueRow>> {
        let tables = self.lock();
        let rows = tables.catalogues.rows();
        let mut rows: Vec<_> = rows.map(|(_digest, it)| it.row.clone()).collect();
        rows.sort_by_key(|row| row.position);
        Ok(rows)
    }

    async fn token(&self, digest: Digest) -> Found<Option<TokenRow>> {
        let tables = self.lock();
        Ok(tables.tokens.row(&digest).map(|row| row.token.clone()))
    }

    async fn tokens(&self) -> Found<Vec<TokenRow>> {
        let tables = self.lock();
        let mut rows: Vec<_> = tables.tokens.rows().map(|(_digest, row)| row).collect();
        rows.sort_by_key(|row| row.position);
        Ok(rows.into_iter().map(|row| row.token.clone()).collect())
    }

    async fn rule(&self, id: RuleId) -> Found<Option<StandingRule>> {
        Ok(self.lock().rules.row(&id).map(|row| row.rule.clone()))
    }

    async fn rules(&self, page: Page) -> Found<Vec<(u64, StandingRule)>> {
        let tables = self.lock();
        let rows = tables.rules.rows();
        let rows = rows.map(|(_id, row)| (row.position, row.rule.clone()));
        Ok(paged(rows.collect(), page))
    }

    async fn has_rules(&self, matter: Digest) -> Found<bool> {
        let tables = self.lock();
        let mut rules = tables.rules.rows().map(|(_id, row)| &row.rule);
        Ok(rules.any(|rule| rule.matter == matter && rule.end.is_none()))
    }

    async fn due_rules(&self, now: Timestamp, limit: u32) -> Found<Vec<RuleId>> {
        let tables = self.lock();
        let due = tables
            .rules
            .rows()
            .filter(|(_id, row)| row.rule.end.is_none() && row.rule.expires_at <= now);
        Ok(first(due.map(|(id, _row)| *id), limit))
    }

    async fn effect(&self, effect: EffectId) -> Found<Option<JournalEntry>> {
        Ok(self.lock().journal.row(&effect).cloned())
    }

    async fn journal(&self, run: RunId, part: JournalPart, page: Page) -> Found<Vec<JournalEntry>> {
        let tables = self.lock();
        let rows = tables.journal.rows().filter(|(_effect, entry)| {
            entry.intent.run == run && (part == JournalPart::Whole || entry.result.is_none())
        });
        let rows = rows.map(|(_effect, entry)| (entry.position, entry.clone()));
        let rows = paged(rows.collect(), page);
        Ok(rows.into_iter().map(|(_position, entry)| entry).collect())
    }

    async fn checkpoint(&self, id: CheckpointId) -> Found<Option<Checkpoint>> {
        Ok(self.lock().checkpoints.row(&id).cloned())
    }

    async fn last_checkpoint(&self, run: RunId) -> Found<Option<Checkpoint>> {
        let tables = self.lock();
        let number = tables.runs.row(&run).map_or(0, |row| row.run.checkpoint);
        Ok(tables
            .checkpoints
            .row(&CheckpointId { run, number })
            .cloned())
    }

    async fn checkpoints(&self, run: RunId, page: Page) -> Found<Vec<Checkpoint>> {
        let tables = self.lock();
        let rows = tables
            .checkpoints
            .rows()
            .filter(|(id, _row)| id.run == run)
            .map(|(id, row)| (id.number, row.clone()));
        let rows = paged(rows.collect(), page);
        Ok(rows.into_iter().map(|(_number, row)| row).collect())
    }

    async fn outbox(&self, page: Page) -> Found<Vec<OutboxRow>> {
        let tables = self.lock();
        let rows = tables.outbox.rows_after(&page.after);
        Ok(first(rows.map(|(_position, row)| row.clone()), page.limit))
    }

    async fn outbox_of(&self, run: RunId, page: Page) -> Found<Vec<OutboxRow>> {
        let tables = self.lock();
        let rows = tables.outbox.rows_after(&page.after);
        let rows = rows.filter(|(_position, row)| row.notification.run() == Some(run));
        Ok(first(rows.map(|(_position, row)| row.clone()), page.limit))
    }

    async fn last_outbox_of(&self, run: RunId, page: PageBack) -> Found<Vec<OutboxRow>> {
        let tables = self.lock();
        let rows = tables.outbox.rows().rev().filter(|(position, row)| {
            is_before(**position, page) && row.notification.run() == Some(run)
        });
        Ok(first(rows.map(|(_position, row)| row.clone()), page.limit))
    }

    async fn cursor(&self, consumer: &Consumer) -> Found<u64> {
        Ok(self.lock().cursors.row(consumer).copied().unwrap_or(0))
    }

    async fn workers(&self) -> Found<Vec<WorkerRow>> {
        let tables = self.lock();
        let rows = tables.workers.rows();
        Ok(rows.map(|(_name, row)| row.clone()).collect())
    }

    async fn audit(&self, page: Page) -> Found<Vec<AuditRow>> {
        let tables = self.lock();
        let rows = tables.audit.rows_after(&page.after);
        Ok(first(
            rows.map(|(_position, written)| written.row.clone()),
            page.limit,
        ))
    }

    /// Its rows are values of this process: nothing else can have changed them.
    async fn verify(&self) -> Result<Verification, VerifyError> {
        let tables = self.lock();
        let heads = tables.heads.row(&()).cloned().unwrap_or_default();
        let mut head = heads.audit_anchor;
        for (_position, written) in tables.audit.rows() {
            if !written.row.follows(&head) {
                let position = head.position + 1;
                return Err(VerifyError::Broken { position });
            }
            head = written.row.head();
        }
        Ok(Verification {
            head,
            store: None,
            unbound: 0,
            purged: 0,
        })
    }

    async fn audit_anchor(&self) -> Found<AuditHead> {
        let tables = self.lock();
        let heads = tables.heads.row(&());
        Ok(heads.map_or(AuditHead::EMPTY, |heads| heads.audit_anchor))
    }

    async fn footprint(&self, run: RunId) -> Found<Purged> {
        let tables = self.lock();
        let count = |rows: &mut dyn Iterator<Item = RunId>| -> u64 {
            rows.filter(|of| *of == run).map(|_row| 1).sum()
        };
        Ok(Purged {
            interrupts: count(&mut tables.interrupts.rows().map(|(_id, row)| row.interrupt.run)),
            reroutes: count(&mut tables.reroutes.rows().map(|(_event, row)| row.run)),
            effects: count(&mut tables.journal.rows().map(|(_effect, row)| row.intent.run)),
            checkpoints: count(&mut tables.checkpoints.rows().map(|(id, _row)| id.run)),
            nodes: count(&mut tables.nodes.rows().map(|(key, _row)| key.0)),
            messages: count(&mut tables.messages.rows().map(|(_key, row)| row.message.run)),
            ..Purged::default()
        })
    }

    async fn dealt_with(&self, before: Timestamp) -> Found<(u64, u64)> {
        let tables = self.lock();
        let consumed = tables.cursors.rows().map(|(_consumer, at)| *at).min();
        let dealt_with = tables
            .outbox
            .rows()
            .take_while(|(position, row)| {
                row.at <= before && consumed.is_none_or(|consumed| **position <= consumed)
            })
            .map(|(position, _row)| *position);
        Ok(dealt_with.fold((0, 0), |(_last, rows), position| (position, rows + 1)))
    }
}
