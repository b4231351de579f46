//! A store that fails when a test says so.

use std::sync::Arc;
use std::sync::Mutex;

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
    RaisedQuestion, RerouteRow, Reroutes, RuleError, Run, RunError, Runs, StandingRules,
    StoreError, StoredMessage, Swept, TogetherError, TokenRow, Tokens, Verification, VerifyError,
    WorkerRow, WorkerState, Workers,
};
use interrupts::{Digest, EffectId, IdempotencyKey, OwnerName};
use jiff::{SignedDuration, Timestamp};
use routing_core::{Clock, EventId, InterruptId, NodeId, RuleId, RunId, StopMode};
use store::MemoryStore;
use tokio::sync::Semaphore;

/// What a faulty store does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The next operations fail, so many of them.
    Next { count: u32, error: StoreError },
    /// All operations from the n-th one on fail, counted from now; 0 is the next one.
    From { operation: u32, error: StoreError },
    /// What keeps and stops a run is not written; it can be read.
    Writing { error: StoreError },
}

/// What is written of a run that is kept and told to stop.
const WRITING: [&str; 12] = [
    "admit",
    "join",
    "ask",
    "raise_mode",
    "deliver",
    "renew",
    "acknowledge",
    "require_review",
    "renew_run",
    "release_run",
    "change_run",
    "finish",
];

/// A store in memory that fails as it is told.
pub(crate) struct FaultyStore {
    pub(crate) store: Arc<MemoryStore>,
    fault: Mutex<Option<Fault>>,
    operations: Mutex<u32>,
    /// While there is one, each admission waits for a permit of it.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl FaultyStore {
    pub(crate) fn over(store: Arc<MemoryStore>) -> Arc<Self> {
        Arc::new(Self {
            store,
            fault: Mutex::new(None),
            operations: Mutex::new(0),
            gate: Mutex::new(None),
        })
    }

    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    /// How many operations were asked for.
    pub(crate) fn operations(&self) -> u32 {
        *self.operations.lock().unwrap()
    }

    /// From now on each admission waits for a permit.
    pub(crate) fn hold_admissions(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    async fn pass(&self, operation: &str) -> Result<(), StoreError> {
        let gate = self.gate.lock().unwrap().clone();
        if matches!(operation, "admit" | "join")
            && let Some(gate) = gate
        {
            gate.acquire().await.unwrap().forget();
        }
        self.fault(operation)
    }

    fn fault(&self, operation: &str) -> Result<(), StoreError> {
        *self.operations.lock().unwrap() += 1;
        let mut fault = self.fault.lock().unwrap();
        match fault.as_mut() {
            None | Some(Fault::Next { count: 0, .. }) => Ok(()),
            Some(Fault::Writing { error }) if WRITING.contains(&operation) => Err(error.clone()),
            Some(Fault::Writing { .. }) => Ok(()),
            Some(Fault::Next { count, error }) => {
                *count -= 1;
                Err(error.clone())
            }
            Some(Fault::From {
                operation: 0,
                error,
            }) => Err(error.clone()),
            Some(Fault::From { operation, .. }) => {
                *operation -= 1;
                Ok(())
            }
        }
    }
}

impl Clock for FaultyStore {
    fn now(&self) -> Timestamp {
        self.store.now()
    }
}

macro_rules! ports {
    ($($port:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)* })*) => {$(
        #[async_trait]
        impl $port for FaultyStore {
            $(async fn $name(&self, $($argument: $type),*) -> $output {
                self.pass(stringify!($name)).await?;
                self.store.$name($($argument),*).await
            })*
        }
    )*};
}

ports! {
    Interrupts {
        fn admit(admission: Admission) -> Result<Admitted, AdmitError>;
        fn join(admission: Admission) -> Result<Admitted, AdmitError>;
        fn raise(raised: RaisedQuestion) -> Result<Admitted, AdmitError>;
        fn put_question(question: PutQuestion) -> Result<Interrupt, PutQuestionError>;
        fn deliver(id: InterruptId, delivery: Delivery) -> Result<Interrupt, ChangeError>;
        fn renew(id: InterruptId, epoch: u64, lease: SignedDuration) -> Result<Interrupt, ChangeError>;
        fn acknowledge(id: InterruptId, epoch: u64, evidence: Evidence) -> Result<Interrupt, ChangeError>;
        fn require_review(id: InterruptId, epoch: u64, shown: Digest) -> Result<Interrupt, ChangeError>;
        fn review(id: InterruptId, actor: Actor, version: u64, change: ReviewChange) -> Result<Interrupt, ChangeError>;
        fn decide(id: InterruptId, judge: Judge, choosing: Choosing) -> Result<Interrupt, ChangeError>;
        fn decide_together(decisions: Vec<Deciding>) -> Result<Vec<Interrupt>, TogetherError>;
        fn withdraw(id: InterruptId, actor: Actor, cause: WithdrawCause) -> Result<Interrupt, ChangeError>;
        fn fail_delivery(id: InterruptId, epoch: Option<u64>, error: String) -> Result<Interrupt, ChangeError>;
        fn redrive(id: InterruptId, actor: Actor) -> Result<Interrupt, ChangeError>;
        fn ask(id: InterruptId, asking: NewAsking) -> Result<Interrupt, ChangeError>;
        fn raise_mode(id: InterruptId, actor: Actor, mode: StopMode) -> Result<Interrupt, ChangeError>;
        fn sweep(limit: u32) -> Result<Swept, StoreError>;
        fn interrupt(id: InterruptId) -> Result<Option<Interrupt>, StoreError>;
        fn interrupt_of(key: &IdempotencyKey) -> Result<Option<Interrupt>, StoreError>;
        fn interrupts(filter: &Filter, page: Page) -> Result<Vec<(u64, Interrupt)>, StoreError>;
    }
    Reroutes {
        fn reroute(event: &EventId) -> Result<Option<RerouteRow>, StoreError>;
        fn turn_ignored(run: RunId, node: &NodeId) -> Result<Option<RerouteRow>, StoreError>;
        fn node_ended(run: RunId, node: &NodeId) -> Result<Option<RerouteRow>, StoreError>;
        fn expire_reroutes(limit: u32) -> Result<Vec<RerouteRow>, StoreError>;
    }
    Runs {
        fn create_run(new: NewRun) -> Result<Run, RunError>;
        fn fork_run(from: CheckpointId, new: NewRun) -> Result<Run, RunError>;
        fn fork_run_with(from: CheckpointId, new: NewRun, known: Vec<KnownEffect>) -> Result<Run, RunError>;
        fn own_run(id: RunId, owner: Delivery) -> Result<Run, RunError>;
        fn renew_run(id: RunId, epoch: u64, lease: SignedDuration) -> Result<Run, RunError>;
        fn release_run(id: RunId, epoch: u64) -> Result<Run, RunError>;
        fn change_run(id: RunId, epoch: u64, state: RunState, reason: Option<String>) -> Result<Run, RunError>;
        fn run(id: RunId) -> Result<Option<Run>, StoreError>;
        fn run_of(alias: &str) -> Result<Option<Run>, StoreError>;
        fn runs(states: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, StoreError>;
        fn last_runs(page: PageBack) -> Result<Vec<(u64, Run)>, StoreError>;
    }
    Journal {
        fn begin(epoch: u64, intent: Intent) -> Result<Begun, JournalError>;
        fn finish(epoch: u64, effect: EffectId, content: String) -> Result<JournalEntry, JournalError>;
        fn effect(effect: EffectId) -> Result<Option<JournalEntry>, StoreError>;
        fn journal(run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError>;
        fn unknown_effects(run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError>;
    }
    Checkpoints {
        fn save(draft: CheckpointDraft) -> Result<Checkpoint, CheckpointError>;
        fn checkpoint(id: CheckpointId) -> Result<Option<Checkpoint>, StoreError>;
        fn last_checkpoint(run: RunId) -> Result<Option<Checkpoint>, StoreError>;
        fn checkpoints(run: RunId, page: Page) -> Result<Vec<Checkpoint>, StoreError>;
    }
    Outbox {
        fn outbox(page: Page) -> Result<Vec<OutboxRow>, StoreError>;
        fn outbox_of(run: RunId, page: Page) -> Result<Vec<OutboxRow>, StoreError>;
        fn last_outbox_of(run: RunId, page: PageBack) -> Result<Vec<OutboxRow>, StoreError>;
        fn consumed(consumer: &Consumer, through: u64) -> Result<u64, StoreError>;
        fn cursor(consumer: &Consumer) -> Result<u64, StoreError>;
    }
    Workers {
        fn tell_worker(name: &OwnerName, state: WorkerState, lease: SignedDuration) -> Result<(), StoreError>;
        fn workers() -> Result<Vec<WorkerRow>, StoreError>;
    }
    Audit {
        fn audit(page: Page) -> Result<Vec<AuditRow>, StoreError>;
        fn count_rows() -> Result<(), StoreError>;
        fn verify_audit() -> Result<Verification, VerifyError>;
    }
    Nodes {
        fn put_nodes(run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError>;
        fn node(run: RunId, node: &NodeId) -> Result<Option<NodeRow>, StoreError>;
        fn nodes(run: Option<RunId>, page: Page) -> Result<Vec<(u64, NodeRow)>, StoreError>;
    }
    Messages {
        fn send_message(message: NewMessage) -> Result<StoredMessage, MessageError>;
        fn messages(run: RunId, page: Page) -> Result<Vec<StoredMessage>, StoreError>;
        fn withdraw_message(run: RunId, message: u64, by: Actor) -> Result<StoredMessage, MessageError>;
        fn read_messages(run: RunId, epoch: u64, messages: &[u64]) -> Result<Vec<u64>, RunError>;
        fn keep_reading(epoch: u64, reading: Intent, messages: &[u64]) -> Result<Option<JournalEntry>, JournalError>;
    }
    StandingRules {
        fn put_rule(new: NewRule) -> Result<StandingRule, RuleError>;
        fn apply_rule(interrupt: InterruptId, epoch: u64) -> Result<Option<Interrupt>, ChangeError>;
        fn revoke_rule(rule: RuleId, by: Actor) -> Result<StandingRule, RuleError>;
        fn expire_rules(limit: u32) -> Result<Vec<RuleId>, StoreError>;
        fn rule(rule: RuleId) -> Result<Option<StandingRule>, StoreError>;
        fn rules(page: Page) -> Result<Vec<(u64, StandingRule)>, StoreError>;
    }
    Catalogues {
        fn keep_catalogue(catalogue: SharedCatalogue) -> Result<CatalogueRow, StoreError>;
        fn follow_catalogue(run: RunId, epoch: u64, catalogue: SharedCatalogue, accepted: Option<Actor>) -> Result<Run, FollowError>;
        fn catalogue(digest: Digest) -> Result<Option<SharedCatalogue>, StoreError>;
        fn catalogues() -> Result<Vec<CatalogueRow>, StoreError>;
    }
    Tokens {
        fn put_token(token: NewToken) -> Result<TokenRow, StoreError>;
        fn use_token(digest: Digest) -> Result<Option<TokenRow>, StoreError>;
        fn revoke_token(digest: Digest, by: Option<Actor>) -> Result<Option<TokenRow>, StoreError>;
        fn tokens() -> Result<Vec<TokenRow>, StoreError>;
    }
    Purge {
        fn purgeable(age: SignedDuration) -> Result<Purged, StoreError>;
        fn purge(age: SignedDuration) -> Result<Purged, StoreError>;
    }
}
