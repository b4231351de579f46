//! How a request enters: the scopes that it reaches here are stopped at once, and its recording is queued.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{InterruptId, InterruptType, RunId, StopMode, StopReason};

use super::registry::{Recorder, RequestedStop, StopPlacement};
use super::request::StopRequest;
use super::shared::{Shared, StopJob};
use super::ticket::{RequestRecorder, StopHandle, StopPart};
use super::tree::Reach;
use crate::life::Actor;

impl Shared {
    /// Puts a stop in force at once, and queues what is to be recorded.
    pub(crate) fn request(self: &Arc<Self>, request: StopRequest) -> StopHandle {
        self.request_as(request, false)
    }

    fn request_as(self: &Arc<Self>, request: StopRequest, hardens: bool) -> StopHandle {
        tracing::info!(target = ?request.target, kind = ?request.kind, mode = ?request.mode,
            source = ?request.source, message = request.message, "a stop was asked for");
        let request = Arc::new(request);
        let jobs = match request.target.in_run() {
            Some((run, reach)) => vec![self.place_in(run, reach, &request, hardens)],
            None => self.place_everywhere(&request, hardens),
        };
        self.arm(&request);
        let parts = jobs.into_iter().map(|job| StopPart {
            run: job.run,
            progress: job.ticket.watch(),
        });
        StopHandle {
            shared: Arc::clone(self),
            parts: parts.collect(),
        }
    }

    fn place_in(
        &self,
        run: RunId,
        reach: Reach,
        request: &Arc<StopRequest>,
        hardens: bool,
    ) -> StopJob {
        let asked = self.requested_stop(reach.clone(), request);
        let (job, recorder) = self.registry.ask(run, &asked, |placed| {
            job(run, reach, placed, (request, hardens))
        });
        match recorder {
            Recorder::OwnedRunState => self.wake(run),
            Recorder::Outside => self.outside.notify_one(),
        }
        job
    }

    fn place_everywhere(&self, request: &Arc<StopRequest>, hardens: bool) -> Vec<StopJob> {
        let asked = self.requested_stop(Reach::Run, request);
        // A template: when this process takes a run later, it makes the run's job from it.
        let no_run = RunId::from_uuid(asked.id.uuid());
        let later = job(
            no_run,
            Reach::Run,
            StopPlacement::New(asked.id),
            (request, hardens),
        );
        let jobs = self.registry.ask_all(
            &asked,
            later,
            |run, placed| job(run, Reach::Run, placed, (request, hardens)),
            InterruptId::generate,
        );
        self.wake_all();
        jobs.into_iter().map(|(_run, job)| job).collect()
    }

    fn requested_stop(&self, reach: Reach, request: &StopRequest) -> RequestedStop {
        let interrupt_type = request.kind.into();
        let reason = StopReason {
            source: request.source,
            mode: request.mode,
            message: request.message.clone(),
            timestamp: self.settings.clock.now(),
        };
        RequestedStop {
            id: InterruptId::generate(),
            reach,
            interrupt_type,
            reason: scope_reason(interrupt_type, &reason),
            alone: request.key.is_some(),
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

    /// Makes a stop immediate after `limit`, unless it has become immediate or this process no longer owns its run.
    pub(crate) fn harden_after(self: &Arc<Self>, limit: Duration, request: StopRequest, by: Actor) {
        let shared = Arc::clone(self);
        self.tasks.spawn_on(
            async move {
                let over = tokio::select! {
                    () = tokio::time::sleep(limit) => true,
                    () = shared.closed.cancelled() => false,
                };
                if over && shared.is_under_way(&request) {
                    let harder = StopRequest {
                        mode: StopMode::Immediate,
                        message: format!("{}; it did not stop within {limit:?}", request.message),
                        by,
                        key: None,
                        limit: None,
                        ..request
                    };
                    shared.request_as(harder, true);
                }
            },
            &self.runtime,
        );
    }

    /// Whether a stop is in force here, is not settled, and is not immediate yet.
    fn is_under_way(&self, request: &StopRequest) -> bool {
        let runs = match request.target.in_run() {
            Some((run, _reach)) => vec![run],
            None => self.registry.owned(),
        };
        let reach = request
            .target
            .in_run()
            .map_or(Reach::Run, |(_run, reach)| reach);
        let interrupt_type: InterruptType = request.kind.into();
        runs.into_iter().any(|run| {
            self.registry.active_stops(run).iter().any(|stop| {
                stop.reach == reach
                    && stop.interrupt_type == interrupt_type
                    && !stop.settled
                    && stop.reason.mode == StopMode::Graceful
            })
        })
    }
}

fn job(
    run: RunId,
    reach: Reach,
    placed: StopPlacement,
    (request, hardens): (&Arc<StopRequest>, bool),
) -> StopJob {
    let (id, joins) = match placed {
        StopPlacement::New(id) => (id, false),
        StopPlacement::Joined(id) => (id, true),
    };
    StopJob {
        run,
        id,
        reach,
        request: Arc::clone(request),
        joins,
        hardens,
        ticket: RequestRecorder::new(),
    }
}

/// The reason with which scopes are stopped: a prune is always immediate, since it leaves no step to finish.
pub(crate) fn scope_reason(interrupt_type: InterruptType, reason: &StopReason) -> StopReason {
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
