//! All operations of a store, listed once: whatever stands around a store is made from this.

/// Gives each port of a store, with its operations, to a macro. What that makes of it names the types of
/// [`interrupts::store::operations`](crate::store::operations), so import all of them.
///
/// ```
/// use interrupts::store::operations::*;
///
/// macro_rules! count {
///     ($($port:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)* })*) => {
///         [$($(stringify!($name)),*),*].len()
///     };
/// }
///
/// assert!(interrupts::store_operations!(count) > 70);
/// ```
#[macro_export]
macro_rules! store_operations {
    ($with:ident) => {
        $with! {
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
                fn count_waiting(of: Option<&ActorName>) -> Result<u64, StoreError>;
                fn waiting(of: Option<&ActorName>, after: WaitingPosition, limit: u32) -> Result<Vec<(WaitingPosition, Interrupt)>, StoreError>;
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
                fn fork_run_with(from: CheckpointId, new: NewRun, start: ForkStart) -> Result<Run, RunError>;
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
                fn consult(interrupt: InterruptId, epoch: u64, deciders: Deciders) -> Result<Interrupt, ChangeError>;
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
    };
}

pub use async_trait::async_trait;
pub use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId, StopMode};
pub use jiff::{SignedDuration, Timestamp};

pub use crate::catalogue::SharedCatalogue;
pub use crate::clock::Clock;
pub use crate::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, NewAsking, ReviewChange, RunState,
    WithdrawCause,
};
pub use crate::rules::StandingRule;
pub use crate::store::{
    AdmitError, Admitted, Audit, AuditRow, Begun, CatalogueRow, Catalogues, ChangeError,
    Checkpoint, CheckpointDraft, CheckpointError, CheckpointId, Checkpoints, Consumer, Deciders,
    Deciding, Delivery, Filter, FollowError, ForkStart, Intent, Interrupts, Journal, JournalEntry,
    JournalError, MessageError, Messages, NewMessage, NewRule, NewRun, NewToken, NodeRow, Nodes,
    Outbox, OutboxRow, Page, PageBack, Purge, Purged, PutQuestion, PutQuestionError,
    RaisedQuestion, RerouteRow, Reroutes, RuleError, Run, RunError, Runs, StandingRules,
    StoreError, StoredMessage, Swept, TogetherError, TokenRow, Tokens, Verification, VerifyError,
    WaitingPosition, WorkerRow, WorkerState, Workers,
};
pub use crate::{ActorName, Digest, EffectId, IdempotencyKey, OwnerName};
