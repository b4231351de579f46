//! What the parts of a manager share, and how a request enters.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interrupt_router::{InterruptId, RunId, StopScope};
use tokio::runtime::Handle;
use tokio::sync::{Notify, SetOnce, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::owned_run_state::OwnedRunState;
use super::registry::{Job, Registry};
use super::request::{StopRequest, Target};
use super::settings::ManagerSettings;
use super::shutdown::Callbacks;
use super::status::ManagerStatus;
use super::ticket::{RequestRecorder, StopHandle};
use super::tree::Reach;
use crate::hooks::{Bounds, HookStops, HookTrigger, Hooks};

/// The recording of a request for one run.
#[derive(Debug, Clone)]
pub(crate) struct StopJob {
    pub(crate) run: RunId,
    pub(crate) id: InterruptId,
    pub(crate) reach: Reach,
    pub(crate) request: Arc<StopRequest>,
    /// Whether it is a further request for a stop that is under way.
    pub(crate) joins: bool,
    /// Whether this is no new request: the stop took too long and becomes immediate.
    pub(crate) hardens: bool,
    pub(crate) ticket: RequestRecorder,
}

impl Job for StopJob {
    fn covers(&self, other: &Self) -> bool {
        other.joins
            && self.id == other.id
            && self.request.mode >= other.request.mode
            && self.request.by == other.request.by
            && self.request.source == other.request.source
            && self.request.message == other.request.message
            && self.request.cause == other.request.cause
            && self.hardens == other.hardens
    }

    fn rename(&mut self, from: InterruptId, to: InterruptId) {
        if self.id == from {
            self.id = to;
        }
    }
}

/// News of a run that this process does not own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnkeptRun {
    /// Something has arrived for it.
    Reached(RunId),
    /// Its state has changed.
    Moved(RunId),
}

/// What the parts of a manager share.
pub(crate) struct Shared {
    pub(crate) settings: ManagerSettings,
    pub(crate) registry: Registry<StopScope, StopJob>,
    pub(crate) runtime: Handle,
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the manager has ended.
    pub(crate) closed: CancellationToken,
    /// Changes whenever something new was read from the store, or written by this process.
    pub(crate) pulse: watch::Sender<u64>,
    /// Set once the store is followed: what comes from then on is noticed.
    pub(crate) follows: SetOnce<()>,
    /// Wakes the recorder of requests for runs that this process does not own.
    pub(crate) outside: Notify,
    pub(crate) hooks: Hooks,
    /// The calls of hooks that are under way.
    pub(crate) hook_calls: TaskTracker,
    pub(crate) callbacks: Callbacks,
    /// Whether the process leaves its runs to others.
    pub(crate) is_drained: AtomicBool,
    keepers: Mutex<HashMap<RunId, Arc<OwnedRunState>>>,
    /// Receive the news of runs that this process does not own.
    watchers_of_unkept: Mutex<Vec<mpsc::UnboundedSender<UnkeptRun>>>,
}

impl Shared {
    pub(crate) fn new(settings: ManagerSettings, runtime: Handle) -> Self {
        let (pulse, _unread) = watch::channel(0);
        Self {
            settings,
            registry: Registry::new(StopScope::new()),
            runtime,
            tasks: TaskTracker::new(),
            closed: CancellationToken::new(),
            pulse,
            follows: SetOnce::new(),
            outside: Notify::new(),
            hooks: Hooks::default(),
            hook_calls: TaskTracker::new(),
            callbacks: Callbacks::default(),
            is_drained: AtomicBool::new(false),
            keepers: Mutex::new(HashMap::new()),
            watchers_of_unkept: Mutex::default(),
        }
    }

    pub(crate) fn keepers(&self) -> MutexGuard<'_, HashMap<RunId, Arc<OwnedRunState>>> {
        // The map is changed by single insertions and removals only.
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the inbox of a run that this process owns; for any other run it notifies the watchers.
    pub(crate) fn wake(&self, run: RunId) {
        match self.keepers().get(&run) {
            Some(keeper) => keeper.wake(),
            None => self.tell_watchers(UnkeptRun::Reached(run)),
        }
    }

    /// Notifies the watchers that a run has changed its state, if this process does not own it.
    pub(crate) fn tell_of_unkept(&self, run: RunId) {
        if !self.keepers().contains_key(&run) {
            self.tell_watchers(UnkeptRun::Moved(run));
        }
    }

    fn tell_watchers(&self, run: UnkeptRun) {
        self.watchers_of_unkept()
            .retain(|watcher| watcher.send(run).is_ok());
    }

    pub(crate) async fn watch_unkept(&self) -> mpsc::UnboundedReceiver<UnkeptRun> {
        let (watcher, runs) = mpsc::unbounded_channel();
        self.watchers_of_unkept().push(watcher);
        tokio::select! {
            _ = self.follows.wait() => {}
            () = self.closed.cancelled() => {}
        }
        runs
    }

    fn watchers_of_unkept(&self) -> MutexGuard<'_, Vec<mpsc::UnboundedSender<UnkeptRun>>> {
        // The list is changed by single insertions and removals only.
        self.watchers_of_unkept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wake_all(&self) {
        for keeper in self.keepers().values() {
            keeper.wake();
        }
    }

    /// Signals a change that a task may be waiting for.
    pub(crate) fn beat(&self) {
        self.pulse
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn bounds(&self, limit: Duration) -> Bounds {
        Bounds {
            runtime: self.runtime.clone(),
            tasks: self.tasks.clone(),
            limit,
        }
    }

    /// Calls the hooks in a task of their own.
    pub(crate) fn spawn_hooks(self: &Arc<Self>, moment: HookTrigger) {
        if self.hooks.is_empty() {
            return;
        }
        let shared = Arc::clone(self);
        let called = async move {
            shared.call_hooks(moment).await;
        };
        self.hook_calls.spawn_on(called, &self.runtime);
    }

    /// Calls the hooks, each within its time limit.
    pub(crate) async fn call_hooks(
        self: &Arc<Self>,
        moment: HookTrigger,
    ) -> Vec<crate::hooks::Ran> {
        if self.hooks.is_empty() {
            return Vec::new();
        }
        let stops = HookStops {
            requests: StopRequests {
                shared: Arc::clone(self),
            },
        };
        let bounds = self.bounds(self.settings.times.hook);
        self.hooks.call(&bounds, moment, &stops).await
    }

    pub(crate) fn is_interrupted(&self, target: &Target) -> bool {
        self.scope_of(target)
            .is_some_and(|scope| scope.is_stopping())
    }

    pub(crate) fn scope_of(&self, target: &Target) -> Option<StopScope> {
        match target.in_run() {
            Some((run, reach)) => self.registry.known_scope(run, &reach),
            None => Some(self.registry.process()),
        }
    }
}

/// A handle for making requests, without the rest of the manager.
#[derive(Clone)]
pub struct StopRequests {
    pub(crate) shared: Arc<Shared>,
}

impl StopRequests {
    /// Asks for a stop, as [`InterruptManager::request`](super::InterruptManager::request) does.
    pub fn request(&self, request: StopRequest) -> StopHandle {
        let shared = Arc::clone(&self.shared);
        shared.spawn_hooks(HookTrigger::BeforeInterrupt {
            request: request.clone(),
        });
        shared.request(request)
    }

    /// The runs that the manager owns now, and their stops.
    pub fn status(&self) -> ManagerStatus {
        self.shared.status()
    }

    pub(crate) fn by_hook(&self, request: StopRequest) -> StopHandle {
        self.shared.request(request)
    }
}
