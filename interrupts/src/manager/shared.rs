//! What the parts of a manager share, and how a request enters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use routing_core::{InterruptId, InterruptType, RunId, StopMode, StopReason, StopScope};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::keeper::Keeper;
use super::registry::{Asked, Job, Placed, Recorder, Registry};
use super::request::{StopRequest, Target};
use super::settings::ManagerSettings;
use super::shutdown::Callbacks;
use super::status::ManagerStatus;
use super::ticket::{StopHandle, StopPart, Ticket};
use super::tree::Reach;
use crate::hooks::{Bounds, HookStops, Hooks, Moment};
use crate::life::Actor;

/// What is to be recorded of a request.
#[derive(Debug, Clone)]
pub(crate) struct StopJob {
    pub(crate) run: RunId,
    pub(crate) id: InterruptId,
    pub(crate) reach: Reach,
    pub(crate) request: Arc<StopRequest>,
    /// Whether it is a further request for a stop that is under way.
    pub(crate) joins: bool,
    pub(crate) ticket: Ticket,
}

impl Job for StopJob {
    fn covers(&self, other: &Self) -> bool {
        other.joins
            && self.id == other.id
            && self.request.mode >= other.request.mode
            && self.request.by == other.request.by
            && self.request.cause == other.request.cause
    }

    fn rename(&mut self, from: InterruptId, to: InterruptId) {
        if self.id == from {
            self.id = to;
        }
    }
}

/// What the parts of a manager share.
pub(crate) struct Shared {
    pub(crate) settings: ManagerSettings,
    pub(crate) registry: Registry<StopScope, StopJob>,
    pub(crate) runtime: Handle,
    pub(crate) tasks: TaskTracker,
    /// The manager has ended.
    pub(crate) closed: CancellationToken,
    /// Changes whenever something was seen in the store, or written by this process.
    pub(crate) pulse: watch::Sender<u64>,
    /// Wakes the recorder of requests for runs that nobody here keeps.
    pub(crate) outside: Notify,
    pub(crate) hooks: Hooks,
    pub(crate) callbacks: Callbacks,
    keepers: Mutex<HashMap<RunId, Arc<Keeper>>>,
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
            outside: Notify::new(),
            hooks: Hooks::default(),
            callbacks: Callbacks::default(),
            keepers: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn keepers(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Keeper>>> {
        // The map is changed by single insertions and removals only.
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the inbox of a run, where it is kept here.
    pub(crate) fn wake(&self, run: RunId) {
        if let Some(keeper) = self.keepers().get(&run) {
            keeper.wake();
        }
    }

    pub(crate) fn wake_all(&self) {
        for keeper in self.keepers().values() {
            keeper.wake();
        }
    }

    /// Something has changed that somebody may wait for.
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

    /// Calls the hooks, each within its time.
    pub(crate) async fn call_hooks(self: &Arc<Self>, moment: Moment) -> Vec<crate::hooks::Ran> {
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

    /// Puts a stop in force at once, and queues what is to be recorded.
    pub(crate) fn request(self: &Arc<Self>, request: StopRequest) -> StopHandle {
        let reason = StopReason {
            source: request.source,
            mode: request.mode,
            message: request.message.clone(),
            timestamp: self.settings.clock.now(),
        };
        tracing::info!(target = ?request.target, kind = ?request.kind, mode = ?request.mode,
            source = ?request.source, message = request.message, "a stop was asked for");
        let asked = |reach: Reach| Asked {
            id: InterruptId::generate(),
            reach,
            interrupt_type: request.kind.into(),
            reason: told(request.kind.into(), &reason),
            alone: request.key.is_some(),
        };
        let shared_request = Arc::new(request.clone());
        let job = |run: RunId, reach: &Reach, placed: Placed| StopJob {
            run,
            id: match placed {
                Placed::New(id) | Placed::Joined(id) => id,
            },
            reach: reach.clone(),
            request: Arc::clone(&shared_request),
            joins: matches!(placed, Placed::Joined(_)),
            ticket: Ticket::new(),
        };
        let parts = match request.target.in_run() {
            Some((run, reach)) => {
                let asked = asked(reach.clone());
                let (job, recorder) = self
                    .registry
                    .ask(run, &asked, |placed| job(run, &reach, placed));
                match recorder {
                    Recorder::Keeper => self.wake(run),
                    Recorder::Outside => self.outside.notify_one(),
                }
                vec![(run, job)]
            }
            None => {
                let asked = asked(Reach::Run);
                // A template: whoever takes a run later makes the job of it.
                let later = job(
                    RunId::from_uuid(asked.id.uuid()),
                    &Reach::Run,
                    Placed::New(asked.id),
                );
                let jobs = self.registry.ask_all(
                    &asked,
                    later,
                    |run, placed| job(run, &Reach::Run, placed),
                    InterruptId::generate,
                );
                self.wake_all();
                jobs
            }
        };
        self.arm(&request);
        StopHandle {
            shared: Arc::clone(self),
            parts: parts
                .into_iter()
                .map(|(run, job)| StopPart {
                    run,
                    progress: job.ticket.watch(),
                })
                .collect(),
        }
    }

    /// Makes a graceful stop immediate when its limit is over.
    fn arm(self: &Arc<Self>, request: &StopRequest) {
        let Some(limit) = request.limit else { return };
        if request.mode == StopMode::Graceful {
            let by = self.settings.actor();
            self.harden_after(limit, request.clone(), by);
        }
    }

    /// Asks for the same stop again after a while, then immediately, unless it has become immediate or its run
    /// has gone from here.
    pub(crate) fn harden_after(self: &Arc<Self>, limit: Duration, request: StopRequest, by: Actor) {
        let shared = Arc::clone(self);
        self.tasks.spawn_on(
            async move {
                let over = tokio::select! {
                    () = tokio::time::sleep(limit) => true,
                    () = shared.closed.cancelled() => false,
                };
                if over && shared.is_under_way(&request) {
                    shared.request(StopRequest {
                        mode: StopMode::Immediate,
                        message: format!("{}; it did not stop within {limit:?}", request.message),
                        by,
                        key: None,
                        limit: None,
                        ..request
                    });
                }
            },
            &self.runtime,
        );
    }

    /// Whether a stop is in force here, is not settled, and is not immediate yet.
    fn is_under_way(&self, request: &StopRequest) -> bool {
        let runs = match request.target.in_run() {
            Some((run, _reach)) => vec![run],
            None => self.registry.kept(),
        };
        let reach = request
            .target
            .in_run()
            .map_or(Reach::Run, |(_run, reach)| reach);
        let interrupt_type: InterruptType = request.kind.into();
        runs.into_iter().any(|run| {
            self.registry.standing(run).iter().any(|stop| {
                stop.reach == reach
                    && stop.interrupt_type == interrupt_type
                    && !stop.settled
                    && stop.reason.mode == StopMode::Graceful
            })
        })
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

/// How scopes are told: what is cut off has no step to finish.
pub(crate) fn told(interrupt_type: InterruptType, reason: &StopReason) -> StopReason {
    let mode = match interrupt_type {
        InterruptType::Prune => StopMode::Immediate,
        InterruptType::Pause
        | InterruptType::Stop
        | InterruptType::Branch
        | InterruptType::HumanReview
        | InterruptType::AgentReview => reason.mode,
    };
    StopReason {
        mode,
        ..reason.clone()
    }
}

/// The way in for requests, without the rest of the manager.
#[derive(Clone)]
pub struct StopRequests {
    pub(crate) shared: Arc<Shared>,
}

impl StopRequests {
    /// Asks for a stop, as [`InterruptManager::request`](super::InterruptManager::request) does.
    pub fn request(&self, request: StopRequest) -> StopHandle {
        let shared = Arc::clone(&self.shared);
        if !shared.hooks.is_empty() {
            let moment = Moment::BeforeInterrupt {
                request: request.clone(),
            };
            let hooked = Arc::clone(&shared);
            shared.tasks.spawn_on(
                async move {
                    hooked.call_hooks(moment).await;
                },
                &shared.runtime,
            );
        }
        shared.request(request)
    }

    /// What the manager keeps at this moment.
    pub fn status(&self) -> ManagerStatus {
        self.shared.status()
    }

    pub(crate) fn by_hook(&self, request: StopRequest) -> StopHandle {
        self.shared.request(request)
    }
}
