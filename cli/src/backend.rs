//! The backend that a command works on: the store of this machine, or a server somewhere else.
//!
//! One port with two adapters. A command reads and asks through [`Backend`] and does not know which of the
//! two it has, so it prints the same over the network as beside the file.

mod local;
mod remote;
mod whereabouts;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use control::{NewDecision, RunProgress, StopOrder};
use interrupts::IdempotencyKey;
use interrupts::life::{Family, Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, StoredMessage, Verification,
};
use jiff::Timestamp;
use planning::{PlanChangeRequest, PlanReading, StoredPlan};
use routing_core::{InterruptId, NodeId, RuleId, RunId};
use store::Opening;

use crate::arguments::StoreArguments;
use crate::commands::is_launched;
use crate::exit::Failure;
use crate::request::{Addressee, AskRequest};

pub(crate) use local::{Local, me};
pub(crate) use remote::{Remote, client_at};
pub(crate) use whereabouts::{ServerLocation, Whereabouts};

/// Decisions that were refused, each with its index among those that were requested.
pub(crate) type RefusedDecisions = Vec<(usize, Failure)>;

/// A message to send.
#[derive(Debug, Clone)]
pub(crate) struct NewText {
    /// The run.
    pub(crate) run: RunId,
    /// The agent that shall read it.
    pub(crate) node: NodeId,
    /// What it says.
    pub(crate) text: String,
    /// The same key with the same text is the same message.
    pub(crate) key: IdempotencyKey,
}

/// A message that was accepted.
#[derive(Debug, Clone)]
pub(crate) struct SentText {
    /// Its place among all messages.
    pub(crate) position: u64,
    /// When it was accepted.
    pub(crate) at: Timestamp,
}

/// An interrupt that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Requested {
    /// The interrupt in its current state.
    pub(crate) interrupt: Interrupt,
    /// Whether the same was asked for before.
    pub(crate) already: bool,
}

/// The result of verifying the whole audit.
#[derive(Debug, Clone)]
pub(crate) enum Verified {
    /// It is whole, and so is all that it vouches for.
    Whole(Verification),
    /// It is not what it was when it was written.
    Broken(String),
}

/// What a command works on. Every refusal is a [`Failure`] with its exit code and a way out.
///
/// Reading changes nothing. What changes something says how it may be repeated.
#[async_trait(?Send)]
pub(crate) trait Backend: Send + Sync {
    /// How often to look again while waiting for something.
    fn pace(&self) -> Duration;

    /// The address of the page for people, if there is one.
    fn page(&self) -> Option<String>;

    /// Whether it did not exist when it was opened, and does now: then it has to be opened again.
    fn has_appeared(&self) -> bool;

    /// Ends what has waited too long, unless a server does.
    async fn sweep(&self) -> Result<(), Failure>;

    /// A run.
    async fn run(&self, id: RunId) -> Result<Option<Run>, Failure>;

    /// The run with this alias.
    async fn run_of(&self, alias: &str) -> Result<Option<Run>, Failure>;

    /// Runs in these states, or all of them, in the order of their creation, with their places.
    async fn runs(&self, states: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, Failure>;

    /// An agent.
    async fn node(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, Failure>;

    /// The agents of a run, in the order in which they came to be.
    async fn nodes(&self, run: RunId, page: Page) -> Result<Vec<(u64, NodeRow)>, Failure>;

    /// An interrupt.
    async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, Failure>;

    /// The interrupt that came of a request with this key.
    async fn interrupt_of(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, Failure>;

    /// Interrupts in the order of their admission.
    async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, Failure>;

    /// What a run did, and what came of it.
    async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, Failure>;

    /// The messages to the agents of a run.
    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, Failure>;

    /// The checkpoints that a run can continue from.
    async fn checkpoints(&self, run: RunId, page: Page) -> Result<Vec<Checkpoint>, Failure>;

    /// The audit.
    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, Failure>;

    /// Reads the whole audit, and compares every digest and all that it vouches for.
    async fn verify_audit(&self) -> Result<Verified, Failure>;

    /// How far a run has come.
    async fn progress(&self, run: RunId) -> Result<Option<RunProgress>, Failure>;

    /// The plan of a run that carries out one, with all its details; `None` if it has saved none yet.
    async fn plan(&self, run: &Run) -> Result<Option<PlanReading>, Failure>;

    /// Changes a plan that is halted. The run stays as it is. Dropped, it was changed or not: look to see.
    async fn change_plan(
        &self,
        run: &Run,
        wish: PlanChangeRequest,
        if_version: Option<usize>,
    ) -> Result<StoredPlan, Failure>;

    /// The standing rules in the order in which they were made, with their places.
    async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, Failure>;

    /// Revokes a rule. What it decided stays decided. Safe to repeat.
    async fn revoke_rule(&self, id: RuleId) -> Result<StandingRule, Failure>;

    /// Decides. If several callers try, one wins, and the others learn who and what. Dropped, it was decided or not:
    /// look to see.
    async fn decide(&self, id: InterruptId, decision: NewDecision) -> Result<Interrupt, Failure>;

    /// Decides all of these in one transaction, or none; then returns why each refused one was refused. Dropped, all
    /// were decided or none: look to see.
    async fn decide_together(
        &self,
        decisions: Vec<(InterruptId, NewDecision)>,
    ) -> Result<Result<Vec<Interrupt>, RefusedDecisions>, Failure>;

    /// Claims a review, or gives it back.
    async fn claim(&self, id: InterruptId, version: u64, take: bool) -> Result<Interrupt, Failure>;

    /// Asks for a stop. While the same one is under way, that one is returned, as hard as the hardest request.
    async fn stop(&self, to: &Addressee, stop: &StopOrder) -> Result<Requested, Failure>;

    /// Carries out a stop of a run that no process owns any more, unless a server does that. Safe to repeat.
    async fn see_to(&self, stop: &Interrupt) -> Result<(), Failure>;

    /// Makes a stop that is under way immediate.
    async fn harden(&self, id: InterruptId) -> Result<(), Failure>;

    /// Publishes an event that asks an agent to interrupt itself. Its id is its key.
    async fn publish(&self, to: &Addressee, wish: AskRequest) -> Result<Requested, Failure>;

    /// Sends a message. Safe to repeat with the same key.
    async fn send(&self, message: NewText) -> Result<SentText, Failure>;

    /// Takes back a message that no agent has read. Safe to repeat.
    async fn take_back(&self, message: &StoredMessage) -> Result<(), Failure>;

    /// The name that is recorded for what is done here.
    async fn my_name(&self) -> Result<String, Failure>;

    /// Withdraws an interrupt; of a stop, what was asked here, or the asking with this number.
    async fn withdraw(&self, id: InterruptId, asking: Option<u32>) -> Result<Interrupt, Failure>;

    /// Lets an interrupt that could not be delivered be tried again.
    async fn redrive(&self, id: InterruptId) -> Result<Interrupt, Failure>;
}

/// Opens the backend that the command line or the environment names.
///
/// # Errors
///
/// If the store cannot be opened, or the server's address or token cannot be read. A server is not asked yet.
///
/// # Cancel safety
///
/// Safe to repeat.
pub(crate) async fn open(arguments: &StoreArguments) -> Result<Arc<dyn Backend>, Failure> {
    open_as(arguments, Opening::Checked).await
}

/// As [`open`], for a stop: it does not wait until all of a large file was looked through.
pub(crate) async fn open_to_stop(arguments: &StoreArguments) -> Result<Arc<dyn Backend>, Failure> {
    open_as(arguments, Opening::AtOnce).await
}

async fn open_as(
    arguments: &StoreArguments,
    opening: Opening,
) -> Result<Arc<dyn Backend>, Failure> {
    match Whereabouts::of(arguments)? {
        Whereabouts::Server(place) => Ok(Arc::new(Remote::at(&place)?)),
        Whereabouts::Store => Ok(Arc::new(Local::open_as(arguments, opening).await?)),
    }
}

/// Whether a server by itself continues a run that it launched and left, now that this was decided. A run that a person
/// paused continues only if its pause is decided.
pub(crate) fn goes_on_there(at: &dyn Backend, run: &Run, decided: &Interrupt) -> bool {
    let is_held = run.state == RunState::Paused;
    let is_pause = Family::of(decided.interrupt_type) == Family::Stop;
    is_left_there(at, run) && (is_pause || !is_held)
}

/// Whether a run was launched by the server that is asked.
pub(crate) fn is_left_there(at: &dyn Backend, run: &Run) -> bool {
    at.page().is_some() && is_launched(&run.content)
}
