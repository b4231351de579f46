//! A store through which the process dies at a given moment.

use std::sync::Arc;

use async_trait::async_trait;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, NewAsking, ReviewChange, RunState,
    WithdrawCause,
};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AdmitError, Admitted, Audit, AuditRow, Begun, CatalogueRow, Catalogues, ChangeError,
    Checkpoint, CheckpointDraft, CheckpointError, CheckpointId, Checkpoints, Consumer, Deciding,
    Delivery, Filter, FollowError, Intent, Interrupts, Journal, JournalEntry, JournalError,
    KnownEffect, MessageError, Messages, NewMessage, NewRule, NewRun, NewToken, NodeRow, Nodes,
    Outbox, OutboxRow, Page, PageBack, Purge, Purged, PutQuestion, PutQuestionError,
    RaisedQuestion, RerouteRow, Reroutes, RuleError, Run, RunError, Runs, StandingRules, Store,
    StoreError, StoredMessage, Swept, TogetherError, TokenRow, Tokens, Verification, VerifyError,
    WorkerRow, WorkerState, Workers,
};
use interrupts::{Digest, EffectId, IdempotencyKey, OwnerName};
use jiff::{SignedDuration, Timestamp};
use routing_core::{Clock, EventId, InterruptId, NodeId, RuleId, RunId, StopMode};

use super::plant::Plants;
use super::point::{Point, Side};

/// A store through which the process dies at a given moment.
pub(super) struct MortalStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) plants: Plants,
    pub(super) point: Option<Point>,
}

impl MortalStore {
    fn reached(&self, operation: &str, side: Side) {
        if let Some(point) = &self.point {
            point.reached(operation, side);
        }
    }
}

impl Clock for MortalStore {
    fn now(&self) -> Timestamp {
        self.store.now()
    }
}

/// Each port, operation by operation, through the store itself or through what may be faulty.
macro_rules! ports {
    ($($port:ident { $(fn $through:ident.$name:ident($($argument:ident: $type:ty),*) -> $output:ty;)* })*) => {$(
        #[async_trait]
        impl $port for MortalStore {
            $(async fn $name(&self, $($argument: $type),*) -> $output {
                self.reached(stringify!($name), Side::Before);
                let output = self.$through.$name($($argument),*).await;
                self.reached(stringify!($name), Side::After);
                output
            })*
        }
    )*};
}

ports! {
    Interrupts {
        fn plants.admit(admission: Admission) -> Result<Admitted, AdmitError>;
        fn store.join(admission: Admission) -> Result<Admitted, AdmitError>;
        fn store.raise(raised: RaisedQuestion) -> Result<Admitted, AdmitError>;
        fn store.put_question(question: PutQuestion) -> Result<Interrupt, PutQuestionError>;
        fn store.deliver(id: InterruptId, delivery: Delivery) -> Result<Interrupt, ChangeError>;
        fn store.renew(id: InterruptId, epoch: u64, lease: SignedDuration) -> Result<Interrupt, ChangeError>;
        fn store.acknowledge(id: InterruptId, epoch: u64, evidence: Evidence) -> Result<Interrupt, ChangeError>;
        fn store.require_review(id: InterruptId, epoch: u64, shown: Digest) -> Result<Interrupt, ChangeError>;
        fn store.review(id: InterruptId, actor: Actor, version: u64, change: ReviewChange) -> Result<Interrupt, ChangeError>;
        fn store.decide(id: InterruptId, judge: Judge, choosing: Choosing) -> Result<Interrupt, ChangeError>;
        fn store.decide_together(decisions: Vec<Deciding>) -> Result<Vec<Interrupt>, TogetherError>;
        fn store.withdraw(id: InterruptId, actor: Actor, cause: WithdrawCause) -> Result<Interrupt, ChangeError>;
        fn store.fail_delivery(id: InterruptId, epoch: Option<u64>, error: String) -> Result<Interrupt, ChangeError>;
        fn store.redrive(id: InterruptId, actor: Actor) -> Result<Interrupt, ChangeError>;
        fn store.ask(id: InterruptId, asking: NewAsking) -> Result<Interrupt, ChangeError>;
        fn store.raise_mode(id: InterruptId, actor: Actor, mode: StopMode) -> Result<Interrupt, ChangeError>;
        fn store.sweep(limit: u32) -> Result<Swept, StoreError>;
        fn store.interrupt(id: InterruptId) -> Result<Option<Interrupt>, StoreError>;
        fn store.interrupt_of(key: &IdempotencyKey) -> Result<Option<Interrupt>, StoreError>;
        fn store.interrupts(filter: &Filter, page: Page) -> Result<Vec<(u64, Interrupt)>, StoreError>;
    }
    Catalogues {
        fn store.keep_catalogue(catalogue: SharedCatalogue) -> Result<CatalogueRow, StoreError>;
        fn store.follow_catalogue(run: RunId, epoch: u64, catalogue: SharedCatalogue, accepted: Option<Actor>) -> Result<Run, FollowError>;
        fn store.catalogue(digest: Digest) -> Result<Option<SharedCatalogue>, StoreError>;
        fn store.catalogues() -> Result<Vec<CatalogueRow>, StoreError>;
    }
    Reroutes {
        fn store.reroute(event: &EventId) -> Result<Option<RerouteRow>, StoreError>;
        fn store.turn_ignored(run: RunId, node: &NodeId) -> Result<Option<RerouteRow>, StoreError>;
        fn store.node_ended(run: RunId, node: &NodeId) -> Result<Option<RerouteRow>, StoreError>;
        fn store.expire_reroutes(limit: u32) -> Result<Vec<RerouteRow>, StoreError>;
    }
    Runs {
        fn store.create_run(new: NewRun) -> Result<Run, RunError>;
        fn store.fork_run(from: CheckpointId, new: NewRun) -> Result<Run, RunError>;
        fn store.fork_run_with(from: CheckpointId, new: NewRun, known: Vec<KnownEffect>) -> Result<Run, RunError>;
        fn store.own_run(id: RunId, owner: Delivery) -> Result<Run, RunError>;
        fn store.renew_run(id: RunId, epoch: u64, lease: SignedDuration) -> Result<Run, RunError>;
        fn store.release_run(id: RunId, epoch: u64) -> Result<Run, RunError>;
        fn store.change_run(id: RunId, epoch: u64, state: RunState, reason: Option<String>) -> Result<Run, RunError>;
        fn store.run(id: RunId) -> Result<Option<Run>, StoreError>;
        fn store.run_of(alias: &str) -> Result<Option<Run>, StoreError>;
        fn store.runs(states: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, StoreError>;
        fn store.last_runs(page: PageBack) -> Result<Vec<(u64, Run)>, StoreError>;
    }
    Journal {
        fn store.begin(epoch: u64, intent: Intent) -> Result<Begun, JournalError>;
        fn plants.finish(epoch: u64, effect: EffectId, content: String) -> Result<JournalEntry, JournalError>;
        fn store.effect(effect: EffectId) -> Result<Option<JournalEntry>, StoreError>;
        fn plants.journal(run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError>;
        fn store.unknown_effects(run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError>;
    }
    Checkpoints {
        fn store.save(draft: CheckpointDraft) -> Result<Checkpoint, CheckpointError>;
        fn store.checkpoint(id: CheckpointId) -> Result<Option<Checkpoint>, StoreError>;
        fn store.last_checkpoint(run: RunId) -> Result<Option<Checkpoint>, StoreError>;
        fn store.checkpoints(run: RunId, page: Page) -> Result<Vec<Checkpoint>, StoreError>;
    }
    Outbox {
        fn store.outbox(page: Page) -> Result<Vec<OutboxRow>, StoreError>;
        fn store.outbox_of(run: RunId, page: Page) -> Result<Vec<OutboxRow>, StoreError>;
        fn store.last_outbox_of(run: RunId, page: PageBack) -> Result<Vec<OutboxRow>, StoreError>;
        fn store.consumed(consumer: &Consumer, through: u64) -> Result<u64, StoreError>;
        fn store.cursor(consumer: &Consumer) -> Result<u64, StoreError>;
    }
    Workers {
        fn store.tell_worker(name: &OwnerName, state: WorkerState, lease: SignedDuration) -> Result<(), StoreError>;
        fn store.workers() -> Result<Vec<WorkerRow>, StoreError>;
    }
    Audit {
        fn store.audit(page: Page) -> Result<Vec<AuditRow>, StoreError>;
        fn store.count_rows() -> Result<(), StoreError>;
        fn store.verify_audit() -> Result<Verification, VerifyError>;
    }
    Nodes {
        fn store.put_nodes(run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError>;
        fn store.node(run: RunId, node: &NodeId) -> Result<Option<NodeRow>, StoreError>;
        fn store.nodes(run: Option<RunId>, page: Page) -> Result<Vec<(u64, NodeRow)>, StoreError>;
    }
    Messages {
        fn store.send_message(message: NewMessage) -> Result<StoredMessage, MessageError>;
        fn store.messages(run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError>;
        fn store.withdraw_message(run: RunId, message: u64, by: Actor) -> Result<StoredMessage, MessageError>;
        fn store.read_messages(run: RunId, epoch: u64, messages: &[u64]) -> Result<Vec<u64>, RunError>;
        fn store.keep_reading(epoch: u64, reading: Intent, messages: &[u64]) -> Result<Option<JournalEntry>, JournalError>;
    }
    StandingRules {
        fn store.put_rule(new: NewRule) -> Result<StandingRule, RuleError>;
        fn store.apply_rule(interrupt: InterruptId, epoch: u64) -> Result<Option<Interrupt>, ChangeError>;
        fn store.revoke_rule(rule: RuleId, by: Actor) -> Result<StandingRule, RuleError>;
        fn store.expire_rules(limit: u32) -> Result<Vec<RuleId>, StoreError>;
        fn store.rule(rule: RuleId) -> Result<Option<StandingRule>, StoreError>;
        fn store.rules(page: Page) -> Result<Vec<(u64, StandingRule)>, StoreError>;
    }
    Tokens {
        fn store.put_token(token: NewToken) -> Result<TokenRow, StoreError>;
        fn store.use_token(digest: Digest) -> Result<Option<TokenRow>, StoreError>;
        fn store.revoke_token(digest: Digest, by: Option<Actor>) -> Result<Option<TokenRow>, StoreError>;
        fn store.tokens() -> Result<Vec<TokenRow>, StoreError>;
    }
    Purge {
        fn store.purgeable(age: SignedDuration) -> Result<Purged, StoreError>;
        fn store.purge(age: SignedDuration) -> Result<Purged, StoreError>;
    }
}
