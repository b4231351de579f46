//! The store of this machine.

use std::time::Duration;

use agents::plan_execute::change_plan;
use async_trait::async_trait;
use control::{
    Ask, AskInterrupt, Caller, Command, Control, NewDecision, Reach, Reading, plan_not_changed,
};
use interrupt_router::{DecisionId, InterruptId, RunId};
use interrupts::life::{Actor, Interrupt};
use interrupts::policy::Policy;
use interrupts::store::{Deciding, Run, Store, VerifyError};
use jiff::Timestamp;
use planning::{PlanChangeRequest, StoredPlan};
use store::Opening;

use super::{Backend, Place, RefusedDecisions, Verified};
use crate::actor::actor;
use crate::arguments::StoreArguments;
use crate::asker::end_of_gone;
use crate::exit::{Exit, Failure};
use crate::hooks::is_of_hook;
use crate::plan;
use crate::policy;
use crate::refused::no_interrupt;
use crate::run_owner::has_process;
use crate::storage::Storage;
use crate::workflows;

mod cancelled_pause;
mod orphaned;

/// How often to look at the store while waiting for something.
const PACE: Duration = Duration::from_millis(50);

/// The store of this machine, with the notifiers of the processes that own its runs.
pub(crate) struct Local {
    storage: Storage,
}

pub(crate) fn me() -> Result<Actor, Failure> {
    actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

/// Who sits at this terminal, and may do and reach everything.
fn caller() -> Result<Caller, Failure> {
    Ok(Caller {
        actor: me()?,
        reach: Reach::EVERYTHING,
        is_hook: is_of_hook(),
    })
}

impl Local {
    /// The store that is open already.
    pub(crate) const fn over(storage: Storage) -> Self {
        Self { storage }
    }

    /// Opens the store that is named.
    ///
    /// # Errors
    ///
    /// As [`Storage::open`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn open(arguments: &StoreArguments) -> Result<Self, Failure> {
        Self::open_as(arguments, Opening::Checked).await
    }

    /// As [`Local::open`], looking at as much of a file as is said.
    pub(crate) async fn open_as(
        arguments: &StoreArguments,
        opening: Opening,
    ) -> Result<Self, Failure> {
        let storage = Storage::open_as(arguments, opening).await?;
        Ok(Self { storage })
    }

    /// The store itself, for a process that executes runs.
    pub(crate) fn into_storage(self) -> Storage {
        self.storage
    }

    /// The store as it was opened.
    pub(crate) const fn storage(&self) -> &Storage {
        &self.storage
    }

    fn store(&self) -> &dyn Store {
        &*self.storage.store
    }

    /// Answers a question about what is stored.
    pub(super) async fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, Failure> {
        let from = Reading {
            store: self.store(),
            catalogues: workflows::book(),
            is_executed: &has_process,
            reach: &Reach::EVERYTHING,
            now: Timestamp::now(),
        };
        Ok(ask.answer(&from).await?)
    }

    /// Carries out a command of the person at this terminal.
    pub(super) async fn carry_out<C: Command>(&self, command: C) -> Result<C::Done, Failure> {
        let policy = policy::of_environment()?;
        let done = self.control(&policy).carry_out(&caller()?, command).await?;
        if let Some(run) = C::run_of(&done) {
            self.notify(run).await?;
        }
        Ok(done)
    }

    /// An interrupt.
    async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, Failure> {
        self.ask(AskInterrupt { id }).await
    }

    /// What the store is asked for a decision.
    async fn deciding(
        &self,
        id: InterruptId,
        decision: &NewDecision,
        by: &Actor,
    ) -> Result<Deciding, Failure> {
        let interrupt = self.interrupt(id).await?.ok_or_else(|| no_interrupt(id))?;
        let book = workflows::book();
        let catalogue = book.of_interrupt(self.store(), &interrupt).await?;
        let about = (&interrupt, catalogue.as_deref());
        let made = (by, DecisionId::generate());
        let deciding = decision.deciding(self.store(), about, made, Timestamp::now());
        Ok(deciding.await?)
    }

    async fn notify(&self, run: RunId) -> Result<(), Failure> {
        let run = self.store().run(run).await;
        if let Some(run) = run? {
            self.storage.notify(&run).await;
        }
        Ok(())
    }

    fn control<'a>(&'a self, policy: &'a Policy) -> Control<'a> {
        Control {
            store: self.store(),
            catalogues: workflows::book(),
            policy,
            now: Timestamp::now(),
        }
    }
}

#[async_trait(?Send)]
impl Backend for Local {
    fn place(&self) -> Place<'_> {
        Place::Store(self)
    }

    fn pace(&self) -> Duration {
        PACE
    }

    fn page(&self) -> Option<String> {
        None
    }

    async fn sweep(&self) -> Result<(), Failure> {
        self.storage.sweep().await?;
        end_of_gone(&self.storage).await
    }

    async fn verify_audit(&self) -> Result<Verified, Failure> {
        match self.store().verify_audit().await {
            Ok(found) => Ok(Verified::Whole(found)),
            Err(VerifyError::Store(error)) => Err(error.into()),
            Err(error) => Ok(Verified::Broken(error.to_string())),
        }
    }

    fn has_appeared(&self) -> bool {
        self.storage.has_appeared()
    }

    async fn change_plan(
        &self,
        run: &Run,
        wish: PlanChangeRequest,
        if_version: Option<usize>,
    ) -> Result<StoredPlan, Failure> {
        let bench = plan::bench(&self.storage.store, run, me()?, if_version)?;
        let change = plan::wanted(self.store(), run, wish, None).await?;
        let changed = change_plan(bench, change).await;
        Ok(changed.map_err(|error| plan_not_changed(run.id, error, Timestamp::now()))?)
    }

    async fn decide_together(
        &self,
        decisions: Vec<(InterruptId, NewDecision)>,
    ) -> Result<Result<Vec<Interrupt>, RefusedDecisions>, Failure> {
        // Who asked may have gone while a person thought.
        end_of_gone(&self.storage).await?;
        let by = me()?;
        let (mut deciding, mut refused) = (Vec::new(), Vec::new());
        for (place, (id, decision)) in decisions.iter().enumerate() {
            match self.deciding(*id, decision, &by).await {
                Ok(one) => deciding.push(one),
                Err(failure) => refused.push((place, failure)),
            }
        }
        if !refused.is_empty() {
            return Ok(Err(refused));
        }
        let policy = Policy::default();
        let decided = match self.control(&policy).decide(deciding).await? {
            Ok(decided) => decided,
            Err(lost) => {
                let told = lost.into_iter().map(|(place, why)| (place, why.into()));
                return Ok(Err(told.collect()));
            }
        };
        let mut notified = Vec::new();
        for one in &decided {
            cancelled_pause::end(&self.storage, one).await?;
            if !notified.contains(&one.run) {
                notified.push(one.run);
                self.notify(one.run).await?;
            }
        }
        Ok(Ok(decided))
    }

    async fn see_to(&self, stop: &Interrupt) -> Result<Option<Interrupt>, Failure> {
        match self.store().run(stop.run).await? {
            // Its owner may have released it meanwhile: one that releases it later looks once more.
            Some(run) if !run.state.is_final() && !has_process(&run) => {
                orphaned::take_hold(&self.storage, stop, &run).await
            }
            _ => Ok(None),
        }
    }

    async fn my_name(&self) -> Result<String, Failure> {
        Ok(me()?.name.as_str().to_owned())
    }
}
