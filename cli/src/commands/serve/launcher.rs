//! Runs that this process executes beside the server.

mod for_workers;
mod leases;
mod orphaned;
mod put_aside;
mod requests;
mod share;
mod turn;

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agents::run::RunOrder;
use control::refuse_ended;
use engine::run::RunStatus;
use interrupt_router::RunId;
use interrupts::Labels;
use interrupts::life::RunState;
use interrupts::policy::Policy;
use interrupts::store::{Run, Store};
use jiff::Timestamp;
use journal::{ResumeRequest, executed_by_worker};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use tools::ToolCounts;

use super::delays::{Delay, Delays};
use super::news::has_news;
use super::order::{Defaults, is_launched};
use super::predecessor::{Hindrance, hindrance, is_live};
use super::work::{ServedRun, is_taken_over};
use crate::actor::actor;
use crate::due::{Due, is_free, let_go_on};
use crate::exit::{Exit, Failure};
use crate::run_owner::{LocalRun, RunOwner, not_taken, refuse_said, refuse_unread};

pub(super) use share::RunShare;
use turn::{Among, RunTurn};

/// Executes runs. Clones share them.
#[derive(Clone)]
pub(super) struct Launcher(Arc<LauncherState>);

struct LauncherState {
    run_owner: Arc<RunOwner>,
    defaults: Defaults,
    /// Which runs are executed here.
    share: RunShare,
    among: Among,
    tasks: TaskTracker,
    /// The runs that the policy lets go on.
    delays: Delays,
    /// The runs of other processes with news, until their leases are renewed or end.
    leases: Delays,
    /// What happened to tools of its runs.
    counts: Arc<ToolCounts>,
    /// How many runs were taken here whose owner had not released them.
    takeovers: AtomicU64,
    /// The runs that are taken or executed here.
    here: Mutex<HashSet<RunId>>,
    /// Notified whenever a run here has begun or was released.
    moved: Notify,
}

/// Marks a run as executed here until it is dropped.
struct Here {
    shared: Arc<LauncherState>,
    run: RunId,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.shared.here().remove(&self.run);
        self.shared.moved.notify_waiters();
    }
}

impl LauncherState {
    fn here(&self) -> std::sync::MutexGuard<'_, HashSet<RunId>> {
        // Values are only inserted or removed whole, so a panic elsewhere does not corrupt it.
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self) -> &dyn Store {
        self.run_owner.store()
    }

    /// Prepares what the order of a run needs, with the limits that were stored with it.
    fn prepare(&self, order: RunOrder, content: &str) -> Result<ServedRun, Failure> {
        let limits = self.defaults.limits_of(content)?;
        let order = self.defaults.limited(order);
        let work = ServedRun::prepare(order, limits, &self.defaults)?;
        Ok(work.counting_with(&self.counts))
    }
}

/// Why a run goes on. None of these lifts a pause that a person requested: that needs a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// A person said so.
    Person,
    /// There is news for it; no person said so.
    News,
    /// A server has begun, and lifts the pauses of an earlier one that was stopped; no person said so.
    Successor,
    /// The policy ends all that the run waits for. That it still does is checked once the run is taken.
    Policy,
}

impl Word {
    /// Whether a run goes on for this reason despite what holds it.
    const fn overcomes(self, found: Hindrance) -> bool {
        match found {
            Hindrance::None => true,
            Hindrance::Shutdown => matches!(self, Self::Successor),
            Hindrance::Branched => matches!(self, Self::Person),
            Hindrance::Paused => matches!(self, Self::Policy),
        }
    }
}

impl Launcher {
    /// The launcher of a server.
    pub(super) fn of_server(run_owner: Arc<RunOwner>, defaults: Defaults, share: RunShare) -> Self {
        Self::over(run_owner, defaults, share, Among::default())
    }

    /// The launcher of a worker, with this many slots and these labels, which runs may need.
    pub(super) fn of_worker(
        run_owner: Arc<RunOwner>,
        defaults: Defaults,
        slots: NonZeroU32,
        labels: Labels,
    ) -> Self {
        let among = Among::with(labels);
        Self::over(run_owner, defaults, RunShare::UpTo(slots), among)
    }

    fn over(run_owner: Arc<RunOwner>, defaults: Defaults, share: RunShare, among: Among) -> Self {
        Self(Arc::new(LauncherState {
            run_owner,
            defaults,
            share,
            among,
            tasks: TaskTracker::new(),
            delays: Delays::default(),
            leases: Delays::default(),
            counts: Arc::default(),
            takeovers: AtomicU64::new(0),
            here: Mutex::default(),
            moved: Notify::new(),
        }))
    }

    /// From now on no run begins here, and none goes on by itself.
    pub(super) fn close(&self) {
        self.0.delays.close();
        self.0.leases.close();
        self.0.tasks.close();
    }

    /// The tasks that execute runs.
    pub(super) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    /// Whether a run waits, or its pause was decided or withdrawn. If that cannot be read, a person has to resume it.
    async fn was_let_go(&self, run: &Run) -> bool {
        match run.state {
            RunState::Waiting => true,
            RunState::Paused => is_free(self.0.store(), run).await.unwrap_or_else(|error| {
                tracing::warn!(run = %run.id, %error, "what holds the run could not be read");
                false
            }),
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => false,
        }
    }

    /// Whether a waiting run has something to do. If that cannot be read, it is tried.
    async fn has_news(&self, run: &Run) -> bool {
        match has_news(self.0.store(), run).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(run = %run.id, %error, "what the run waits for could not be read");
                true
            }
        }
    }

    /// Continues a run, once however often it is requested. A person's request is stored with the run before it goes on.
    async fn go_on(
        &self,
        run: &Run,
        word: Word,
        asked: Option<&ResumeRequest>,
    ) -> Result<(), Failure> {
        refuse_ended(run)?;
        if executed_by_worker(&run.content)
            || self.0.share == RunShare::None
            || self.turn(run) == RunTurn::Never
        {
            return self.see_to_work(run, word, asked).await;
        }
        let run_owner = &self.0.run_owner;
        if run_owner.is_held_elsewhere(run) {
            return self.goes_on_already(run, asked).await;
        }
        let claimed = match word {
            Word::Person => self.claim_once_let_go(run.id).await?,
            Word::News | Word::Successor | Word::Policy => self.claim(run.id)?,
        };
        let Some(here) = claimed else {
            return self.goes_on_already(run, asked).await;
        };
        let found = hindrance(self.0.store(), run).await?;
        if !word.overcomes(found) {
            return self.only_stop(run).await;
        }
        let order = RunOrder::from_content(&run.content).map_err(|error| {
            Failure::new(Exit::Failure, crate::exit::causes(&error))
                .hint("it is of another workflow than this program's")
        })?;
        let work = self.0.prepare(order, &run.content)?;
        refuse_said(work.workflow(), asked.and_then(|it| it.input.as_deref()))?;
        refuse_unread(self.0.store(), work.workflow(), run.goes_on_from()).await?;
        if !self.has_room() {
            return Err(self.without_room(run.id));
        }
        let mut kept = run_owner.take(run.id, work.workflow()).await?;
        if let Some(lease) = &run.lease {
            self.0.takeovers.fetch_add(1, Ordering::Relaxed);
            tracing::info!(run = %run.id, owner = %lease.owner, "the run is taken over");
        }
        if word == Word::Policy {
            let policy = self.0.defaults.limits.policy();
            match let_go_on(run_owner, &policy, kept).await? {
                Some(goes_on) => kept = goes_on,
                None => return Ok(()),
            }
        }
        if found == Hindrance::Shutdown {
            let by = actor().map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
            let lifted = kept.run.goes_on(&by).await;
            lifted.map_err(|error| not_taken(run.id, &error))?;
        }
        if let Some(asked) = asked {
            let workflow = work.workflow();
            run_owner.keep_request(&kept, workflow, asked).await?;
        }
        self.execute(here, work, kept).await
    }

    /// The run is being executed already: an error only if there is input, which would be lost.
    async fn goes_on_already(
        &self,
        run: &Run,
        asked: Option<&ResumeRequest>,
    ) -> Result<(), Failure> {
        let Some(asked) = asked.filter(|asked| asked.input.is_some()) else {
            return Ok(());
        };
        let kept = self.0.store().effect(asked.effect_in(run.id)).await?;
        if kept.is_some_and(|entry| asked.is_kept_by(&entry)) {
            // It goes on because of the same request.
            return Ok(());
        }
        let text = format!("{} goes on already; nothing was told to it", run.id);
        Err(Failure::new(Exit::Conflict, text).hint("tell one of its agents: irq send AGENT TEXT"))
    }

    /// A paused run goes on only when a person resumes it; a stop of it is carried out all the same.
    async fn only_stop(&self, run: &Run) -> Result<(), Failure> {
        let run_owner = &self.0.run_owner;
        let was_left_stopping = run.lease.is_some() || run.state == RunState::Stopping;
        if was_left_stopping || run_owner.is_told_to_stop(run).await? {
            run_owner.carry_out(run).await?;
        }
        let left = self.0.store().run(run.id).await?;
        if left.is_some_and(|run| !is_live(&run)) {
            return Ok(());
        }
        let text = if run.state == RunState::Created {
            format!("{} was forked off and has not begun", run.id)
        } else {
            format!("{} is paused", run.id)
        };
        Err(Failure::new(Exit::Conflict, text).hint(format!("irq resume {} goes on", run.id)))
    }

    /// `None` if it is executed here already.
    fn claim(&self, run: RunId) -> Result<Option<Here>, Failure> {
        if self.0.tasks.is_closed() {
            return Err(Failure::new(Exit::Failure, "the server is being stopped"));
        }
        let is_new = self.0.here().insert(run);
        Ok(is_new.then(|| Here {
            shared: Arc::clone(&self.0),
            run,
        }))
    }

    /// As [`Launcher::claim`], for a paused or new run: if it is still claimed here, waits until it is released. Otherwise
    /// the caller would hear that the run goes on, and no process would continue it.
    async fn claim_once_let_go(&self, run: RunId) -> Result<Option<Here>, Failure> {
        loop {
            let moved = self.0.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if let Some(here) = self.claim(run)? {
                return Ok(Some(here));
            }
            let found = self.0.store().run(run).await?;
            let state_words =
                found.is_some_and(|row| matches!(row.state, RunState::Created | RunState::Paused));
            if !state_words {
                return Ok(None);
            }
            moved.await;
        }
    }

    /// Executes a run in a task. That it works is recorded first, so that the caller gets an answer only once it cannot be
    /// lost.
    async fn execute(&self, here: Here, work: ServedRun, kept: LocalRun) -> Result<(), Failure> {
        let begun = kept.run.begin().await;
        begun.map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
        self.0.moved.notify_waiters();
        let launcher = self.clone();
        let run = here.run;
        self.0.tasks.spawn(async move {
            let executed = work.execute(&launcher.0.run_owner, kept).await;
            drop(here);
            match executed {
                Ok(report) => {
                    tracing::info!(%run, reason = report.reason(), "the run has stopped");
                    let state_words = matches!(
                        report.status,
                        RunStatus::Paused { .. } | RunStatus::Waiting { .. }
                    );
                    launcher.has_gone(run);
                    if state_words {
                        launcher.look_again(run).await;
                    }
                    launcher.go_on_when_due(run);
                }
                Err(error) if is_taken_over(&error) => {
                    tracing::warn!(%run, "another process has taken the run over, and goes on with it");
                }
                Err(error) => tracing::error!(%run, %error, "the run's end is not recorded"),
            }
        });
        Ok(())
    }

    /// Looks for a decision that came after the run had stopped and before it was released: it notified no process.
    fn look_again(&self, run: RunId) -> futures_util::future::BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.0.tasks.is_closed() {
                return;
            }
            match self.0.store().run(run).await {
                // The worker that has more room continues it, unless something else has stopped it meanwhile.
                Ok(Some(row)) if self.is_free(&row) && self.has_handed_over(run) => {}
                Ok(Some(row)) if self.has_news(&row).await => {
                    if let Err(error) = self.go_on(&row, Word::News, None).await {
                        tracing::debug!(%run, %error, "the run stands");
                    }
                }
                Ok(_) => tracing::debug!(%run, "the run waits for people"),
                Err(error) => tracing::warn!(%run, %error, "the run could not be looked at again"),
            }
        })
    }

    /// Continues a run as soon as the policy ends all that it waits for, unless another caller does so first.
    fn go_on_when_due(&self, run: RunId) {
        let policy = self.0.defaults.limits.policy();
        if *policy == Policy::default() || self.0.tasks.is_closed() {
            return;
        }
        let delay = self.0.delays.begin(run);
        let launcher = self.clone();
        self.0.delays.tasks().spawn(async move {
            if let Err(error) = launcher.waited_until_due(run, &policy, &delay).await {
                tracing::warn!(%run, %error, "the run does not go on by itself");
            }
            launcher.0.delays.end(run, &delay);
        });
    }

    /// Whether a process executes a run, this one or another.
    fn is_executed(&self, run: &Run) -> bool {
        self.0.here().contains(&run.id) || self.0.run_owner.is_held_elsewhere(run)
    }

    async fn waited_until_due(
        &self,
        run: RunId,
        policy: &Policy,
        delay: &Delay,
    ) -> Result<(), Failure> {
        let store = self.0.store();
        let mut told = None;
        loop {
            let found = store.run(run).await?;
            // If the run works, its end leads to another look.
            let Some(row) = found.filter(|row| is_live(row) && !self.is_executed(row)) else {
                return Ok(());
            };
            let Some(due) = Due::of(store, policy, &row).await? else {
                return Ok(());
            };
            if due.at <= Timestamp::now() {
                return self.go_on(&row, Word::Policy, None).await;
            }
            if told.replace(due.at) != Some(due.at) {
                tracing::info!(%run, at = %due.at, "the run goes on by itself, as the policy says");
            }
            if !delay.sleeps(due.at).await {
                return Ok(());
            }
        }
    }

    async fn begin(&self, run: RunId, work: ServedRun) -> Result<(), Failure> {
        if self.0.tasks.is_closed() || self.0.share == RunShare::None {
            // The run exists, and the process that executes runs begins it.
            return Ok(());
        }
        let Some(here) = self.claim(run)? else {
            return Ok(());
        };
        let kept = match self.0.run_owner.take(run, work.workflow()).await {
            Ok(kept) => kept,
            Err(failure) if failure.exit == Exit::Conflict && self.has_begun(run).await => {
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        self.execute(here, work, kept).await
    }

    /// Whether another server has begun a run since it saw that no process executes it.
    async fn has_begun(&self, run: RunId) -> bool {
        let found = self.0.store().run(run).await;
        found.is_ok_and(|found| {
            found.is_some_and(|row| {
                row.state != RunState::Created || self.0.run_owner.is_held_elsewhere(&row)
            })
        })
    }
}
