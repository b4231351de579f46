//! What an adapter must do: run operations, and answer questions about what is kept.

use std::future::Future;

use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditHead, AuditRow, CatalogueRow, Checkpoint, CheckpointId, Consumer, Filter, JournalEntry,
    NodeRow, OutboxRow, Page, PageBack, Purged, RerouteRow, Run, StoreError, StoredMessage,
    TokenRow, Verification, VerifyError, WaitingPosition, WorkerRow,
};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey};
use jiff::Timestamp;
use routing_core::{EventId, InterruptId, NodeId, RuleId, RunId};

use crate::operation::Operation;

/// What was found.
pub type Found<T> = Result<T, StoreError>;

/// Which part of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalPart {
    Whole,
    WithoutResult,
}

/// Where rows come from and go to.
pub(crate) trait Backend: Send + Sync + 'static {
    /// The time, by the store's clock.
    fn now(&self) -> Timestamp;

    /// Runs an operation wholly or not at all; when this returns, what it did is durable.
    fn execute<O: Operation>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Output, O::Error>> + Send;

    /// Checks that no row is missing.
    fn count_rows(&self) -> impl Future<Output = Found<()>> + Send;

    fn interrupt(&self, id: InterruptId) -> impl Future<Output = Found<Option<Interrupt>>> + Send;

    fn interrupt_of(
        &self,
        key: &IdempotencyKey,
    ) -> impl Future<Output = Found<Option<Interrupt>>> + Send;

    fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> impl Future<Output = Found<Vec<(u64, Interrupt)>>> + Send;

    /// How many interrupts wait for a person: all, or those that are one person's at a time.
    fn count_waiting(
        &self,
        of: Option<&ActorName>,
        now: Timestamp,
    ) -> impl Future<Output = Found<u64>> + Send;

    fn waiting(
        &self,
        of: Option<&ActorName>,
        now: Timestamp,
        after: WaitingPosition,
        limit: u32,
    ) -> impl Future<Output = Found<Vec<(WaitingPosition, Interrupt)>>> + Send;

    /// Live interrupts whose deadlines have passed.
    fn due(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Found<Vec<InterruptId>>> + Send;

    fn reroute(&self, event: &EventId) -> impl Future<Output = Found<Option<RerouteRow>>> + Send;

    /// Pending reroutes whose time has passed.
    fn due_reroutes(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Found<Vec<EventId>>> + Send;

    fn run(&self, id: RunId) -> impl Future<Output = Found<Option<Run>>> + Send;

    fn run_of(&self, alias: &str) -> impl Future<Output = Found<Option<Run>>> + Send;

    fn runs(
        &self,
        states: &[RunState],
        page: Page,
    ) -> impl Future<Output = Found<Vec<(u64, Run)>>> + Send;

    fn last_runs(&self, page: PageBack) -> impl Future<Output = Found<Vec<(u64, Run)>>> + Send;

    fn node(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> impl Future<Output = Found<Option<NodeRow>>> + Send;

    fn nodes(
        &self,
        run: Option<RunId>,
        page: Page,
    ) -> impl Future<Output = Found<Vec<(u64, NodeRow)>>> + Send;

    fn messages(
        &self,
        run: RunId,
        page: Page,
    ) -> impl Future<Output = Found<Vec<StoredMessage>>> + Send;

    /// A catalogue, which has the digest.
    fn catalogue(
        &self,
        digest: Digest,
    ) -> impl Future<Output = Found<Option<SharedCatalogue>>> + Send;

    fn catalogues(&self) -> impl Future<Output = Found<Vec<CatalogueRow>>> + Send;

    fn token(&self, digest: Digest) -> impl Future<Output = Found<Option<TokenRow>>> + Send;

    /// All tokens, in the order in which they were made.
    fn tokens(&self) -> impl Future<Output = Found<Vec<TokenRow>>> + Send;

    fn rule(&self, id: RuleId) -> impl Future<Output = Found<Option<StandingRule>>> + Send;

    fn rules(&self, page: Page) -> impl Future<Output = Found<Vec<(u64, StandingRule)>>> + Send;

    /// Whether there are rules about a matter that have not ended.
    fn has_rules(&self, matter: Digest) -> impl Future<Output = Found<bool>> + Send;

    /// Rules that have not ended and whose time is over.
    fn due_rules(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Found<Vec<RuleId>>> + Send;

    fn effect(&self, effect: EffectId) -> impl Future<Output = Found<Option<JournalEntry>>> + Send;

    fn journal(
        &self,
        run: RunId,
        part: JournalPart,
        page: Page,
    ) -> impl Future<Output = Found<Vec<JournalEntry>>> + Send;

    fn checkpoint(
        &self,
        id: CheckpointId,
    ) -> impl Future<Output = Found<Option<Checkpoint>>> + Send;

    fn last_checkpoint(&self, run: RunId)
    -> impl Future<Output = Found<Option<Checkpoint>>> + Send;

    fn checkpoints(
        &self,
        run: RunId,
        page: Page,
    ) -> impl Future<Output = Found<Vec<Checkpoint>>> + Send;

    fn outbox(&self, page: Page) -> impl Future<Output = Found<Vec<OutboxRow>>> + Send;

    fn outbox_of(
        &self,
        run: RunId,
        page: Page,
    ) -> impl Future<Output = Found<Vec<OutboxRow>>> + Send;

    fn last_outbox_of(
        &self,
        run: RunId,
        page: PageBack,
    ) -> impl Future<Output = Found<Vec<OutboxRow>>> + Send;

    fn cursor(&self, consumer: &Consumer) -> impl Future<Output = Found<u64>> + Send;

    /// All workers that have told of themselves and are not forgotten, by their names.
    fn workers(&self) -> impl Future<Output = Found<Vec<WorkerRow>>> + Send;

    fn audit(&self, page: Page) -> impl Future<Output = Found<Vec<AuditRow>>> + Send;

    /// Compares the audit with itself, and every row that it vouches for with it.
    fn verify(&self) -> impl Future<Output = Result<Verification, VerifyError>> + Send;

    /// Where the audit was cut off; [`AuditHead::EMPTY`] where it is whole.
    fn audit_anchor(&self) -> impl Future<Output = Found<AuditHead>> + Send;

    /// How much belongs to a run. Its list of runs is empty.
    fn footprint(&self, run: RunId) -> impl Future<Output = Found<Purged>> + Send;

    /// The last row of the outbox that every consumer with a cursor has dealt with, and before which no row is
    /// younger than a time; and how many rows there are up to it.
    fn dealt_with(&self, before: Timestamp) -> impl Future<Output = Found<(u64, u64)>> + Send;
}
