//! Acknowledges stops: from "nothing in it runs any more" to "it is stopped, and that is recorded".

use std::sync::Arc;

use interrupt_router::{DecisionId, InterruptId, InterruptType, NodeId, StopMode, StopReason};

use super::branching::LeftBehind;
use super::owned_run_state::{KeepError, OwnedRunState};
use super::registry::ActiveStop;
use super::tree::Reach;
use crate::EffectId;
use crate::digest::Digest;
use crate::hooks::HookTrigger;
use crate::life::{
    Choosing, Evidence, Interrupt, Judge, Refusal, RunState, Scope, State, Verdict, WithdrawCause,
};
use crate::store::{ChangeError, CheckpointId, Filter, Pages, RunError};

/// How many interrupts are read together.
const PAGE: u32 = 200;

/// A run that has stopped, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoppedRun {
    /// Paused, or cancelled if one of the stops ends the run.
    pub state: RunState,
    /// Why: the reason of the stop that decides it, the hardest if there are several.
    pub reason: StopReason,
    /// The stops, in their current state.
    pub stops: Vec<Interrupt>,
    /// The checkpoint from which the run can continue.
    pub checkpoint: Option<CheckpointId>,
}

impl OwnedRunState {
    /// Acknowledges and resolves the stops of a reach, and those below it. If the whole run has stopped, stops that cut
    /// an agent off are not finished: they remain until the workflow has continued without the agent.
    pub(crate) async fn finish_stops(
        self: &Arc<Self>,
        reach: &Reach,
        evidence: &Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let concerns = |stop: &ActiveStop| *reach != Reach::Run || !self.is_cut(stop);
        self.finish_those(reach, &concerns, evidence, checkpoint)
            .await
    }

    /// Acknowledges and resolves the stops that cut off an agent, or one below it.
    pub(super) async fn finish_cuts(
        self: &Arc<Self>,
        agent: &NodeId,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let reach = Reach::Node(agent.clone());
        let concerns = |stop: &ActiveStop| leaves_nothing(stop.interrupt_type);
        self.finish_those(&reach, &concerns, &Evidence::Cancelled, None)
            .await
    }

    /// Acknowledges and resolves the stops of a reach, and those below it, that `concerns` selects.
    async fn finish_those(
        self: &Arc<Self>,
        reach: &Reach,
        concerns: &(dyn Fn(&ActiveStop) -> bool + Sync),
        evidence: &Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let mut finished: Vec<Interrupt> = Vec::new();
        loop {
            // Stops requested while the last ones were finished count too.
            let active = self.recorded_stops().await?;
            let open: Vec<_> = active
                .iter()
                .filter(|stop| !stop.settled && is_within(&stop.reach, reach))
                .filter(|stop| concerns(stop))
                .collect();
            if open.is_empty() {
                return Ok(finished);
            }
            for stop in open {
                let done = self.finish(stop, &active, evidence, checkpoint).await?;
                self.shared.registry.settle(self.run, stop.id);
                if let Some(interrupt) = done {
                    self.announce(&interrupt);
                    finished.push(interrupt);
                }
            }
        }
    }

    /// Waits until each stop in force is recorded, or could not be, and returns them.
    pub(super) async fn recorded_stops(self: &Arc<Self>) -> Result<Vec<ActiveStop>, KeepError> {
        let mut pulse = self.shared.pulse.subscribe();
        loop {
            self.look().await?;
            pulse.mark_unchanged();
            let active = self.shared.registry.active_stops(self.run);
            if self.shared.registry.is_recorded(self.run) {
                return Ok(active);
            }
            // A new request has come, or an earlier one, from before the run was taken, is still being recorded.
            tokio::select! {
                _changed = pulse.changed() => {}
                () = tokio::time::sleep(self.shared.settings.times.poll) => {}
                () = self.lost.cancelled() => {}
            }
        }
    }

    /// Acknowledges and resolves one stop, from its current state.
    async fn finish(
        self: &Arc<Self>,
        stop: &ActiveStop,
        active: &[ActiveStop],
        evidence: &Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Option<Interrupt>, KeepError> {
        let settings = &self.shared.settings;
        loop {
            self.check_owned()?;
            let found = self.read(|| settings.store.interrupt(stop.id)).await?;
            let Some(interrupt) = found else {
                // Recording it failed, which its caller was told. Its scopes are stopped all the same.
                return Ok(None);
            };
            let (id, epoch) = (interrupt.id, interrupt.epoch);
            let changed = match interrupt.state {
                State::Requested => {
                    self.look().await?;
                    continue;
                }
                State::Delivered => {
                    let evidence = sufficient(evidence, interrupt.mode);
                    self.write(|| settings.store.acknowledge(id, epoch, evidence.clone()))
                        .await
                }
                State::Acknowledged if !interrupt.is_asked_for() => {
                    self.end_unasked(&interrupt).await
                }
                State::Acknowledged => {
                    let left = self.left_behind(&interrupt, checkpoint).await?;
                    self.resolve(&interrupt, active, &left).await
                }
                State::AwaitingReview => match self.superseded_by(stop, active) {
                    Some(by) => self.supersede(&interrupt, by).await,
                    None => return Ok(Some(interrupt)),
                },
                State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered => return Ok(Some(interrupt)),
            };
            match changed {
                // Its mode was raised or its delivery changed between the read and the write: read it again.
                Ok(_)
                | Err(ChangeError::Refused(
                    Refusal::EvidenceInsufficient
                    | Refusal::Fenced { .. }
                    | Refusal::NobodyAsks
                    | Refusal::StillAsked
                    | Refusal::Illegal { .. }
                    | Refusal::Ended { .. },
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Resolves a stop that has taken effect, as its type requires.
    async fn resolve(
        &self,
        interrupt: &Interrupt,
        active: &[ActiveStop],
        left: &LeftBehind,
    ) -> Result<Interrupt, ChangeError> {
        let settings = &self.shared.settings;
        let (id, epoch) = (interrupt.id, interrupt.epoch);
        match interrupt.interrupt_type {
            InterruptType::Pause => {
                let stop = active.iter().find(|stop| stop.id == id);
                if let Some(by) = stop.and_then(|stop| self.superseded_by(stop, active)) {
                    return self.supersede(interrupt, by).await;
                }
                let shown = Digest::of(interrupt.content.as_bytes());
                self.write(|| settings.store.require_review(id, epoch, shown))
                    .await
            }
            InterruptType::Stop
            | InterruptType::Prune
            | InterruptType::Branch
            | InterruptType::HumanReview
            | InterruptType::AgentReview => {
                let judge = Judge::Policy { epoch };
                let choosing = Choosing {
                    // An interrupt has at most one decision, so the decision reuses its UUID.
                    id: DecisionId::from_uuid(id.uuid()),
                    verdict: Verdict::Applied,
                    target: None,
                    content: left.content(),
                };
                self.write(|| settings.store.decide(id, judge.clone(), choosing.clone()))
                    .await
            }
        }
    }

    async fn supersede(
        &self,
        interrupt: &Interrupt,
        by: InterruptId,
    ) -> Result<Interrupt, ChangeError> {
        self.withdraw(interrupt.id, WithdrawCause::Superseded { by })
            .await
    }

    /// Ends a stop that has taken effect, after all requests for it were taken back.
    async fn end_unasked(&self, stop: &Interrupt) -> Result<Interrupt, ChangeError> {
        self.withdraw(stop.id, WithdrawCause::NobodyAsks).await
    }

    pub(super) async fn withdraw(
        &self,
        id: InterruptId,
        cause: WithdrawCause,
    ) -> Result<Interrupt, ChangeError> {
        let settings = &self.shared.settings;
        let actor = settings.actor();
        self.write(|| settings.store.withdraw(id, actor.clone(), cause.clone()))
            .await
    }

    /// Records that the run has stopped: all its stops, then its state.
    pub(crate) async fn stop_run(
        self: &Arc<Self>,
        evidence: &Evidence,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Option<StoppedRun>, KeepError> {
        let stops = self.finish_stops(&Reach::Run, evidence, checkpoint).await?;
        let active = self.shared.registry.active_stops(self.run);
        let Some(deciding) = self.deciding(&active) else {
            return Ok(None);
        };
        let state = if self.ends_run(deciding) {
            RunState::Cancelled
        } else {
            RunState::Paused
        };
        let reason = deciding.reason.clone();
        self.rest(state, reason.message.clone(), None).await?;
        self.shared.beat();
        Ok(Some(StoppedRun {
            state,
            reason,
            stops,
            checkpoint,
        }))
    }

    /// Whether a stop is in force that has not been carried out, though nothing in the run runs any more.
    pub(crate) fn is_late(&self) -> bool {
        let active = self.shared.registry.active_stops(self.run);
        let mut open = active.iter().filter(|stop| !stop.settled);
        open.any(|stop| !self.is_cut(stop))
    }

    /// Ends the run if a stop has ended it and the process that did so died before it had recorded the run's own state.
    /// Returns whether it has ended.
    pub(crate) async fn end_where_stopped(&self) -> Result<bool, KeepError> {
        let settings = &self.shared.settings;
        let filter = &Filter {
            run: Some(self.run),
            node: None,
            states: vec![State::Resolved],
        };
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages
            .next(|page| async move { self.read(|| settings.store.interrupts(filter, page)).await })
            .await?
        {
            let ended = found
                .into_iter()
                .find(|(_position, it)| self.has_ended_run(it));
            if let Some((_position, stop)) = ended {
                self.rest(RunState::Cancelled, stop.reason, None).await?;
                self.shared.beat();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Pauses the run if all its stops have taken effect, and the process that did so died before it had recorded the
    /// run's own state.
    pub(crate) async fn rest_where_stopping(&self) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let run = self.read(|| settings.store.run(self.run)).await?;
        match run {
            Some(run) if run.state == RunState::Stopping => {
                self.change_run(RunState::Paused, run.reason).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Records that the run is paused or cancelled; one that never began becomes `stopping` first. If it is cancelled, so
    /// are its agents, and the effects that they had begun are abandoned, except `but`.
    pub(super) async fn rest(
        &self,
        state: RunState,
        reason: String,
        but: Option<EffectId>,
    ) -> Result<(), KeepError> {
        if state == RunState::Cancelled {
            self.leave_out(but).await?;
            self.cancel_agents().await?;
        }
        match self.change_run(state, Some(reason.clone())).await {
            Err(KeepError::Run(RunError::Illegal {
                from: RunState::Created,
                ..
            })) => {
                let why = Some(reason.clone());
                self.change_run(RunState::Stopping, why).await?;
                self.change_run(state, Some(reason)).await
            }
            changed => changed,
        }
    }

    /// The stop that decides the state of the run: one that ends it, else the hardest.
    fn deciding<'stops>(&self, active: &'stops [ActiveStop]) -> Option<&'stops ActiveStop> {
        active
            .iter()
            .filter(|stop| !self.is_cut(stop))
            .max_by_key(|stop| (self.ends_run(stop), stop.reason.mode))
    }

    /// Whether this stop was carried out and ended the whole run.
    fn has_ended_run(&self, stop: &Interrupt) -> bool {
        let is_applied = stop
            .decision
            .as_ref()
            .is_some_and(|decision| decision.verdict == Verdict::Applied);
        let reach = match stop.scope {
            Scope::Run => Reach::Run,
            Scope::Agent => Reach::Node(stop.node.clone()),
        };
        self.is_whole(&reach) && leaves_nothing(stop.interrupt_type) && is_applied
    }

    fn ends_run(&self, stop: &ActiveStop) -> bool {
        self.is_whole(&stop.reach) && leaves_nothing(stop.interrupt_type)
    }

    /// Whether a stop cuts off an agent, and the run continues without it.
    fn is_cut(&self, stop: &ActiveStop) -> bool {
        !self.is_whole(&stop.reach) && leaves_nothing(stop.interrupt_type)
    }

    /// Whether a reach covers the whole run: the agent that represents the run does, and so does any agent if none can be left out.
    fn is_whole(&self, reach: &Reach) -> bool {
        match reach {
            Reach::Run => true,
            Reach::Node(node) => !self.leaves_agents_out || *node == self.node,
        }
    }

    /// A pause is pointless if another stop ends the run.
    fn superseded_by(&self, stop: &ActiveStop, active: &[ActiveStop]) -> Option<InterruptId> {
        let ending = active.iter().find(|other| self.ends_run(other))?;
        (stop.interrupt_type == InterruptType::Pause).then_some(ending.id)
    }

    /// Calls the hooks about a stop that has taken effect.
    fn announce(&self, interrupt: &Interrupt) {
        let shared = Arc::clone(&self.shared);
        shared.beat();
        tracing::info!(run = %self.run, interrupt = %interrupt.id, state = %interrupt.state, "stopped");
        let moment = HookTrigger::AfterInterrupt {
            interrupt: Box::new(interrupt.clone()),
        };
        shared.spawn_hooks(moment);
    }
}

/// Whether a stop of this type ends what it stops for good.
const fn leaves_nothing(interrupt_type: InterruptType) -> bool {
    matches!(interrupt_type, InterruptType::Stop | InterruptType::Prune)
}

pub(super) fn is_within(inner: &Reach, outer: &Reach) -> bool {
    match (inner, outer) {
        (_, Reach::Run) => true,
        (Reach::Run, Reach::Node(_)) => false,
        (Reach::Node(inner), Reach::Node(outer)) => inner.is_within(outer),
    }
}

/// Nothing in the scope runs any more when this is called, which is evidence enough for every stop.
fn sufficient(evidence: &Evidence, mode: StopMode) -> Evidence {
    match mode {
        StopMode::Graceful => evidence.clone(),
        StopMode::Immediate => Evidence::Cancelled,
    }
}
