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
use control::{
    Ask, AskCatalogueOfInterrupt, AskCatalogueOfRun, AskInterrupt, AskInterruptOf, AskInterrupts,
    AskRun, Command, NewDecision, PublishEvent, RequestStop, StopOrder, Withdraw,
};
use interrupt_router::{InterruptId, RunId, StopMode};
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Family, Interrupt, RunState, State};
use interrupts::store::{Admitted, Filter, Page, Run, Verification};
use interrupts::{Digest, IdempotencyKey};
use planning::{PlanChangeRequest, StoredPlan};
use store::Opening;
use uuid::Uuid;

use crate::arguments::StoreArguments;
use crate::commands::is_launched;
use crate::exit::{Exit, Failure};
use crate::refused::no_interrupt;
use crate::request::{self, Addressee, AskRequest};
use crate::workflows;

pub(crate) use local::{Local, me};
pub(crate) use remote::{Remote, client_at};
pub(crate) use whereabouts::{ServerLocation, Whereabouts};

/// Decisions that were refused, each with its index among those that were requested.
pub(crate) type RefusedDecisions = Vec<(usize, Failure)>;

/// The result of verifying the whole audit.
#[derive(Debug, Clone)]
pub(crate) enum Verified {
    /// It is whole, and so is all that it vouches for.
    Whole(Verification),
    /// It is not what it was when it was written.
    Broken(String),
}

/// Where a backend is.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// On this machine.
    Store(&'a Local),
    /// Somewhere else.
    Server(&'a Remote),
}

/// What a command works on. Every refusal is a [`Failure`] with its exit code and a way out.
///
/// Reading changes nothing. What changes something says how it may be repeated.
#[async_trait(?Send)]
pub(crate) trait Backend: Send + Sync {
    /// Where questions are answered.
    fn place(&self) -> Place<'_>;

    /// How often to look again while waiting for something.
    fn pace(&self) -> Duration;

    /// The address of the page for people, if there is one.
    fn page(&self) -> Option<String>;

    /// Whether it did not exist when it was opened, and does now: then it has to be opened again.
    fn has_appeared(&self) -> bool;

    /// Ends what has waited too long, unless a server does.
    async fn sweep(&self) -> Result<(), Failure>;

    /// Reads the whole audit, and compares every digest and all that it vouches for.
    async fn verify_audit(&self) -> Result<Verified, Failure>;

    /// Changes a plan that is halted. The run stays as it is. Dropped, it was changed or not: look to see.
    async fn change_plan(
        &self,
        run: &Run,
        wish: PlanChangeRequest,
        if_version: Option<usize>,
    ) -> Result<StoredPlan, Failure>;

    /// Decides all of these in one transaction, or none; then returns why each refused one was refused. Dropped, all
    /// were decided or none: look to see.
    async fn decide_together(
        &self,
        decisions: Vec<(InterruptId, NewDecision)>,
    ) -> Result<Result<Vec<Interrupt>, RefusedDecisions>, Failure>;

    /// Carries out a stop of a run that no process owns any more, unless a server does that. Returns what it is then. Safe
    /// to repeat.
    async fn see_to(&self, stop: &Interrupt) -> Result<Option<Interrupt>, Failure>;

    /// The name that is recorded for what is done here.
    async fn my_name(&self) -> Result<String, Failure>;
}

impl dyn Backend + '_ {
    /// Asks a question about what is stored. Safe to repeat.
    pub(crate) async fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, Failure> {
        match self.place() {
            Place::Store(local) => local.ask(ask).await,
            Place::Server(remote) => remote.ask(ask).await,
        }
    }

    /// Carries out a command of the caller.
    pub(crate) async fn carry_out<C: Command>(&self, command: C) -> Result<C::Done, Failure> {
        match self.place() {
            Place::Store(local) => local.carry_out(command).await,
            Place::Server(remote) => remote.carry_out(command).await,
        }
    }

    /// Asks for a stop. While the same one is under way, that one is returned, as hard as the hardest request.
    pub(crate) async fn stop(&self, to: &Addressee, stop: &StopOrder) -> Result<Admitted, Failure> {
        let stop = RequestStop {
            run: to.run.id,
            node: to.node.clone(),
            order: stop.clone(),
            // An answer that is lost is asked for again.
            key: Some(Uuid::now_v7().to_string()),
        };
        let asked = self.carry_out(stop).await?;
        let (Admitted::New(interrupt) | Admitted::Known(interrupt)) = &asked;
        self.learn_of([interrupt]).await?;
        Ok(match (self.see_to(interrupt).await?, &asked) {
            (Some(now), Admitted::New(_)) => Admitted::New(now),
            (Some(now), Admitted::Known(_)) => Admitted::Known(now),
            (None, _) => asked,
        })
    }

    /// Publishes an event that asks an agent to interrupt itself. Its id is its key.
    pub(crate) async fn publish(
        &self,
        to: &Addressee,
        wish: AskRequest,
    ) -> Result<Admitted, Failure> {
        let (event, _target) = request::wished(to, &wish)?;
        let run = Some(to.run.id);
        let published = self.carry_out(PublishEvent { run, event }).await?;
        let (Admitted::New(interrupt) | Admitted::Known(interrupt)) = &published;
        self.learn_of([interrupt]).await?;
        Ok(published)
    }

    /// Withdraws an interrupt; of a stop, what was asked here, or the asking with this number.
    pub(crate) async fn withdraw(
        &self,
        interrupt: InterruptId,
        asking: Option<u32>,
    ) -> Result<Interrupt, Failure> {
        let changed = self.carry_out(Withdraw { interrupt, asking }).await?;
        self.learn_of([&changed]).await?;
        if changed.state != State::Delivered || changed.is_asked_for() {
            return Ok(changed);
        }
        // The stop takes effect first; if no process does that, this one does.
        self.see_to(&changed).await?;
        Ok(self.interrupt(interrupt).await?.unwrap_or(changed))
    }

    /// Makes a stop that is under way immediate: the same stop again, and harder.
    pub(crate) async fn harden(&self, id: InterruptId) -> Result<(), Failure> {
        let gone = || no_interrupt(id);
        let stop = self.interrupt(id).await?.ok_or_else(gone)?;
        match (stop.family(), stop.state) {
            (Family::Stop, State::Requested | State::Delivered) => {}
            // It has stopped already: its readers must find it as it was shown.
            (Family::Stop, State::AwaitingReview) => return Ok(()),
            (_, state) => {
                let text = format!("{id} is {state}, and cannot be made harder");
                return Err(Failure::new(Exit::Conflict, text));
            }
        }
        let harder = StopOrder::new(
            stop.interrupt_type,
            StopMode::Immediate,
            stop.scope,
            stop.reason,
        );
        let to = Addressee {
            run: self.run(stop.run).await?.ok_or_else(gone)?,
            node: stop.node,
            kind: stop.kind,
        };
        self.stop(&to, &harder).await.map(|_requested| ())
    }

    /// A run.
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<Run>, Failure> {
        self.run_of(&id.to_string()).await
    }

    /// The run with this id or alias.
    pub(crate) async fn run_of(&self, name: &str) -> Result<Option<Run>, Failure> {
        let name = name.to_owned();
        let found = self.ask(AskRun { name: name.clone() }).await?;
        let catalogue = found.as_ref().and_then(|run| run.catalogue);
        self.learn(catalogue, AskCatalogueOfRun { name }).await?;
        Ok(found)
    }

    /// An interrupt.
    pub(crate) async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, Failure> {
        let found = self.ask(AskInterrupt { id }).await?;
        self.learn_of(found.as_slice()).await?;
        Ok(found)
    }

    /// The interrupt that came of a request with this key.
    pub(crate) async fn interrupt_of(
        &self,
        key: IdempotencyKey,
    ) -> Result<Option<Interrupt>, Failure> {
        let found = self.ask(AskInterruptOf { key }).await?;
        self.learn_of(found.as_slice()).await?;
        Ok(found)
    }

    /// Interrupts in the order of their admission, with their positions.
    pub(crate) async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, Failure> {
        let filter = filter.clone();
        let found = self.ask(AskInterrupts { filter, page }).await?;
        self.learn_of(found.iter().map(|(_position, one)| one))
            .await?;
        Ok(found)
    }

    /// Decides. If several callers try, one wins, and the others learn who and what. Dropped, it was decided or not:
    /// look to see.
    pub(crate) async fn decide(
        &self,
        id: InterruptId,
        decision: NewDecision,
    ) -> Result<Interrupt, Failure> {
        let decided = self.decide_together(vec![(id, decision)]).await?;
        let first = match decided {
            Ok(decided) => decided.into_iter().next().map(Ok),
            Err(refused) => refused.into_iter().next().map(|(_place, why)| Err(why)),
        };
        first.unwrap_or_else(|| Err(no_interrupt(id)))
    }

    /// Has the catalogues at hand under which these were raised.
    async fn learn_of(&self, all: impl IntoIterator<Item = &Interrupt>) -> Result<(), Failure> {
        for interrupt in all {
            let of = AskCatalogueOfInterrupt { id: interrupt.id };
            self.learn(interrupt.catalogue, of).await?;
        }
        Ok(())
    }

    /// Has a catalogue at hand that something names.
    async fn learn(
        &self,
        named: Option<Digest>,
        ask: impl Ask<Answer = Option<Catalogue>>,
    ) -> Result<(), Failure> {
        let book = workflows::book();
        let is_new = named.is_some_and(|digest| book.at_hand(digest).is_none());
        if is_new && let Some(found) = self.ask(ask).await? {
            book.keep(&SharedCatalogue::new(found));
        }
        Ok(())
    }
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
