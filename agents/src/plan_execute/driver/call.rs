//! Model calls, with a check for a person's interrupt before each step.

use std::sync::Arc;

use interrupt_router::StopScope;
use tracing::Instrument as _;

use super::{Driver, EffectOutcome};
use crate::plan_execute::news::{PlanNews, PlanStepStarted};
use crate::plan_execute::plan_agents::{PlanAgents, PlanAgentsError};
use crate::workflow::failure::FlowError;
use engine::run::spans::failed;
use engine::run::{RunEnd, RunEvent, StepLimitReached};
use engine::tools::Parked;
use journal::place;
use planning::{PlanEvent, PlanExecute, PlanRole, PlanStep, PlanningCall, Unfinished};

/// What a model call asks for.
pub(super) enum PlanCall {
    Ask(PlanningCall),
    Step(PlanStep),
}

impl PlanCall {
    /// The step that is carried out, if it is one.
    const fn step(&self) -> Option<&PlanStep> {
        match self {
            Self::Ask(_) => None,
            Self::Step(step) => Some(step),
        }
    }

    fn role(&self) -> PlanRole {
        match self {
            Self::Ask(PlanningCall::Plan) => PlanRole::Planner,
            Self::Ask(
                PlanningCall::Replan
                | PlanningCall::ForcedReplan { .. }
                | PlanningCall::Suggestion { .. },
            ) => PlanRole::Replanner,
            Self::Step(_) => PlanRole::Executor,
        }
    }

    /// Makes the call.
    pub(super) async fn at(
        &self,
        plan_agents: &PlanAgents,
        state: &PlanExecute,
        turn: u32,
        scope: &StopScope,
    ) -> Result<PlanEvent, PlanAgentsError> {
        match self {
            Self::Ask(asking) => plan_agents.ask(state, asking, turn, scope).await,
            Self::Step(step) => plan_agents.run_step(state, step, turn, scope).await,
        }
    }
}

impl Driver {
    /// Asks a model. A person's interrupt that is there already takes effect before the call; one that comes meanwhile
    /// takes effect after it, or ends it if it cannot wait.
    pub(super) async fn call(&mut self, call: PlanCall) -> Result<EffectOutcome, FlowError> {
        let role = call.role();
        let node = self.root.child(role.segment())?;
        let scope = self.scope_of(&node);
        if scope.is_stopping() {
            if let Some(left) = self.rest_if_left() {
                return Ok(EffectOutcome::Rest(left));
            }
            self.interrupted(&scope)?;
            return Ok(EffectOutcome::Event(PlanEvent::CallStopped));
        }
        let turn = self.turn_of(&call).await?;
        self.show_nodes().await?;
        if let Some(tooling) = &self.tooling {
            tooling.stand(&node, self.ground());
        }
        let step = call.step().cloned();
        let started = PlanStepStarted {
            node: node.clone(),
            role,
            step: turn,
            task: step.as_ref().map(|step| step.task.clone()),
        };
        self.tell(PlanNews::StepStarted(started));
        let asked = self.call_model(call, turn, &scope).await?;
        let left = self.rest_if_left();
        if scope.is_stopping() && left.is_none() {
            self.interrupted(&scope)?;
        }
        if asked == PlanEvent::CallStopped
            && let Some(tooling) = self.tooling.clone()
        {
            self.snapshot.unfinished = step.map(|step| Unfinished { turn, step });
            if let Some(Parked::Waiting(questions)) = tooling.take_parked(&node)
                && !self.is_interrupted()
            {
                for question in questions {
                    self.open_interrupts.unanswered(question);
                }
                return Ok(EffectOutcome::Rest(RunEnd::Waiting));
            }
        }
        if asked == PlanEvent::CallStopped
            && let Some(left) = left
        {
            self.save("left").await?;
            return Ok(EffectOutcome::Rest(left));
        }
        Ok(EffectOutcome::Event(asked))
    }

    /// The number of a call: one more than before, unless it carries on a step that was stopped among its tools.
    fn number_of(&self, call: &PlanCall) -> u32 {
        let asked = self.snapshot.asked;
        match &self.snapshot.unfinished {
            Some(it) if it.turn == asked && Some(&it.step) == call.step() => asked,
            Some(_) | None => asked.saturating_add(1),
        }
    }

    /// The number of a call that a dead process may have tried several times since the last checkpoint: that of the
    /// last try, whose answer it is. A try that failed has no answer, and what follows an answer is no try.
    pub(super) async fn number_of_last_try(&self, call: &PlanCall) -> Result<u32, FlowError> {
        let mut turn = self.number_of(call);
        if turn == self.snapshot.asked {
            return Ok(turn);
        }
        let agent = self.root.child(call.role().segment())?;
        loop {
            for made in [turn, turn.saturating_add(1)] {
                if self.journal.at(&place::turn(&agent, made))?.is_none() {
                    return Ok(turn);
                }
            }
            if turn == u32::MAX || self.recorded_answer(call, turn).await?.is_some() {
                return Ok(turn);
            }
            turn += 1;
        }
    }

    /// The turn of a call, which is made now.
    async fn turn_of(&mut self, call: &PlanCall) -> Result<u32, FlowError> {
        let turn = self.number_of_last_try(call).await?;
        self.snapshot.unfinished = None;
        if turn > self.snapshot.asked && turn > self.limits.max_steps {
            let limit = self.limits.max_steps;
            let taken = turn - 1;
            return Err(StepLimitReached { taken, limit }.into());
        }
        self.snapshot.asked = turn;
        Ok(turn)
    }

    async fn call_model(
        &mut self,
        call: PlanCall,
        turn: u32,
        scope: &StopScope,
    ) -> Result<PlanEvent, FlowError> {
        let (plan_agents, state) = (Arc::clone(&self.plan_agents), self.snapshot.state.clone());
        let role = call.role();
        let node = self.root.child(role.segment())?;
        let span = self.spans.turn(&node, role.name(), turn);
        let asked = call
            .at(&plan_agents, &state, turn, scope)
            .instrument(span.clone());
        tokio::pin!(asked);
        let mut is_told = self.is_interrupted();
        loop {
            tokio::select! {
                biased;
                asked = &mut asked => {
                    match &asked {
                        Ok(PlanEvent::Failed(failure)) => failed(&span, &failure.error),
                        Ok(_) => {}
                        Err(error) => failed(&span, error),
                    }
                    return asked.map_err(unasked);
                }
                _reason = scope.stopping(), if !is_told => {
                    is_told = true;
                    if !self.is_left() {
                        self.interrupted(scope)?;
                    }
                }
            }
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.snapshot.state.flags().user_interrupted
    }

    /// Tells the workflow of a person's interrupt during a call.
    fn interrupted(&mut self, scope: &StopScope) -> Result<(), FlowError> {
        let Some(reason) = scope.reason().filter(|_reason| !self.is_interrupted()) else {
            return Ok(());
        };
        let message = reason.message.clone();
        if !self.scope.is_stopping() {
            // One agent was stopped, and the plan with it.
            self.recorder.record(RunEvent::Stopping { reason });
        }
        // During a call it is only noted: no effect follows at once.
        let effects = self.apply(&PlanEvent::Interrupt {
            reason: Some(message),
        })?;
        if effects.is_empty() {
            Ok(())
        } else {
            Err(FlowError::Lost {
                detail: "an interrupt took hold while something was under way",
            })
        }
    }
}

pub(super) fn unasked(error: PlanAgentsError) -> FlowError {
    match error {
        PlanAgentsError::NodeId(error) => FlowError::NodeId(error),
        PlanAgentsError::NoRoute(_role) => FlowError::Lost {
            detail: "an answer of a plan's agent has no route",
        },
        PlanAgentsError::Unrecorded(source) => FlowError::Model {
            node: "an agent of the plan".to_owned(),
            source: source.into(),
        },
    }
}
