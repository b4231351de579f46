//! What all handlers share.

use std::collections::BTreeSet;
use std::sync::Arc;

use control::{Caller, Command, Control, no_run};
use interrupt_router::RunId;
use interrupts::catalogue::{CatalogueBook, SharedCatalogue};
use interrupts::life::Interrupt;
use interrupts::store::{Run, Store};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{ConcurrencyLimit, HostNames, Pace, SessionCookie, SessionExpiry};
use crate::bus::Publishing;
use crate::changes::PlanChanges;
use crate::config::ServerConfig;
use crate::feed::Feed;
use crate::launcher::Holder;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::routes::Settling;
use crate::wire::InterruptView;

/// What all handlers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

/// The parts of it.
pub(crate) struct AppState {
    pub(crate) config: ServerConfig,
    /// What workflows say of themselves.
    pub(crate) catalogues: CatalogueBook,
    pub(crate) feed: Arc<Feed>,
    pub(crate) metrics: Arc<Metrics>,
    /// The broker, and how far it has come.
    pub(crate) bus: Option<Publishing>,
    pub(crate) pace: Pace,
    pub(crate) crowd: ConcurrencyLimit,
    pub(crate) hosts: HostNames,
    pub(crate) session: SessionCookie,
    pub(crate) staying: SessionExpiry,
    /// Cancelled when the server is asked to stop.
    pub(crate) draining: CancellationToken,
    /// The sockets and the changes of plans that outlive their request.
    pub(crate) outliving: TaskTracker,
    /// Outcomes of workers' questions that are being recorded.
    pub(crate) settling: Arc<Settling>,
    /// Changes of plans that are under way, or have just ended.
    pub(crate) changes: PlanChanges,
}

impl std::ops::Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl App {
    pub(crate) fn new(shared: AppState) -> Self {
        Self(Arc::new(shared))
    }

    /// The store.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.config.store
    }

    /// The catalogue that an interrupt was raised under.
    pub(crate) async fn catalogue_of(
        &self,
        interrupt: &Interrupt,
    ) -> Result<Option<SharedCatalogue>, Problem> {
        let found = self.catalogues.of_interrupt(self.store(), interrupt).await;
        Ok(found?)
    }

    /// The catalogue that a run goes on under.
    pub(crate) async fn catalogue_of_run(
        &self,
        run: &Run,
    ) -> Result<Option<SharedCatalogue>, Problem> {
        let found = self.catalogues.of_run(self.store(), run).await;
        Ok(found?)
    }

    /// The kinds of agents of all catalogues, by their names.
    pub(crate) async fn kinds(&self) -> Result<Vec<String>, Problem> {
        let all = self.catalogues.all(self.store()).await?;
        let kinds = all.iter().flat_map(|catalogue| catalogue.kinds());
        let names: BTreeSet<String> = kinds.map(|kind| kind.name.to_string()).collect();
        Ok(names.into_iter().collect())
    }

    /// An interrupt as callers see it.
    pub(crate) async fn shown(&self, interrupt: &Interrupt) -> Result<InterruptView, Problem> {
        let catalogue = self.catalogue_of(interrupt).await?;
        Ok(InterruptView::of(
            interrupt,
            catalogue.as_deref(),
            self.now(),
        ))
    }

    /// Where requests of callers are carried out.
    pub(crate) fn control(&self) -> Control<'_> {
        Control {
            store: self.store(),
            catalogues: &self.catalogues,
            policy: &self.config.policy,
            now: self.now(),
        }
    }

    /// Carries out a command, and wakes whom it concerns.
    pub(crate) async fn carry_out<C: Command>(
        &self,
        by: &Caller,
        command: C,
    ) -> Result<C::Done, Problem> {
        let done = self.control().carry_out(by, command).await?;
        self.is_carried_out(C::run_of(&done));
        Ok(done)
    }

    /// Wakes whom a command concerned: the run that it names, the feed, and those who look after what tokens opened.
    pub(crate) fn is_carried_out(&self, run: Option<RunId>) {
        match run {
            Some(run) => self.wake_run(run),
            None => {
                self.feed.nudge();
                self.staying.look();
            }
        }
    }

    /// The time now.
    pub(crate) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// Whether a process executes a run now.
    pub(crate) fn is_executed(&self, run: &Run) -> bool {
        self.config.launcher.holder(run, self.now()) != Holder::Nobody
    }

    /// Whether no process executes a run, and the next server that executes runs continues it.
    pub(crate) fn waits_for_server(&self, run: &Run) -> bool {
        !self.is_executed(run) && self.config.launcher.is_taken_up(run)
    }

    /// A run.
    pub(crate) async fn run(&self, id: RunId) -> Result<Run, Problem> {
        let run = self.store().run(id).await?;
        Ok(run.ok_or_else(|| no_run(&id.to_string()))?)
    }

    /// Notifies the process that executes a run that there is something for it, and readers of the feed that there is
    /// news. If no process executes a run that could go on, this process begins to. The task is stored: neither is
    /// waited for, and neither depends on whether the client stays for the response.
    pub(crate) fn wake(&self, run: &Run) {
        self.feed.nudge();
        let (app, run) = (self.clone(), run.clone());
        self.outliving.spawn(async move { app.call(&run).await });
    }

    /// As [`App::wake`], for a run that only has a name so far.
    pub(crate) fn wake_run(&self, id: RunId) {
        self.feed.nudge();
        let app = self.clone();
        self.outliving.spawn(async move {
            match app.store().run(id).await {
                Ok(Some(run)) => app.call(&run).await,
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "a run could not be woken"),
            }
        });
    }

    async fn call(&self, run: &Run) {
        let launcher = &self.config.launcher;
        let holder = launcher.holder(run, self.now());
        if holder == Holder::Elsewhere {
            launcher.watch(run);
        }
        match (holder, &run.lease) {
            (Holder::Here | Holder::Elsewhere, Some(lease)) => {
                self.config.notifier.notify(&lease.owner).await;
            }
            (Holder::Here | Holder::Elsewhere, None) | (Holder::Nobody, _) => {
                // A run that cannot go on here continues where a person resumes it.
                if let Err(error) = launcher.wake(run.id).await {
                    tracing::info!(run = %run.id, %error, "no process executes the run");
                }
            }
        }
    }
}
