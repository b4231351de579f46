//! Asking models, with a look for a person's interrupt before each step.

use std::sync::Arc;

use routing_core::StopScope;

use super::standing::Unfinished;
use super::{Driver, Next, Rest};
use crate::plan_execute::desk::{DeskError, PlanRole};
use crate::plan_execute::effect::Asking;
use crate::plan_execute::event::PlanEvent;
use crate::plan_execute::plan::PlanStep;
use crate::run::RunEvent;
use crate::tools::Parked;
use crate::workflow::failure::FlowError;

/// What a model is asked for.
pub(super) enum Call {
    Ask(Asking),
    Step(PlanStep),
}

impl Call {
    /// The step that is carried out, where it is one.
    const fn step(&self) -> Option<&PlanStep> {
        match self {
            Self::Ask(_) => None,
            Self::Step(step) => Some(step),
        }
    }

    fn role(&self) -> PlanRole {
        match self {
            Self::Ask(Asking::Plan) => PlanRole::Planner,
            Self::Ask(Asking::Replan | Asking::ForcedReplan { .. } | Asking::Suggestion { .. }) => {
                PlanRole::Replanner
            }
            Self::Step(_) => PlanRole::Executor,
        }
    }
}

impl Driver {
    /// Asks a model. A person's interrupt that is there already takes hold before it; one that comes meanwhile
    /// takes hold after it, or ends it where it cannot wait.
    pub(super) async fn call(&mut self, call: Call) -> Result<Next, FlowError> {
        let role = call.role();
        let node = self.root.child(role.segment())?;
        let scope = self.control.scope_of(&node);
        if scope.is_stopping() {
            self.interrupted(&scope)?;
            return Ok(Next::Event(PlanEvent::CallStopped));
        }
        let turn = self.turn_of(&call)?;
        self.keep_nodes().await?;
        let step = call.step().cloned();
        self.recorder.record(RunEvent::PlanStepStarted {
            node: node.clone(),
            role,
            step: turn,
            task: step.as_ref().map(|step| step.task.clone()),
        });
        let asked = self.asked(call, turn, &scope).await?;
        if scope.is_stopping() {
            self.interrupted(&scope)?;
        }
        if asked == PlanEvent::CallStopped
            && let Some(tooling) = self.tooling.clone()
        {
            self.standing.unfinished = step.map(|step| Unfinished { turn, step });
            if let Some(Parked::Waiting(questions)) = tooling.take_parked(&node)
                && !self.is_interrupted()
            {
                return Ok(Next::Rest(Rest::Waiting { questions }));
            }
        }
        Ok(Next::Event(asked))
    }

    /// The turn of a call: one more than before, unless it carries on a step that was stopped among its tools.
    fn turn_of(&mut self, call: &Call) -> Result<u32, FlowError> {
        let asked = self.standing.asked;
        let unfinished = self.standing.unfinished.take();
        if unfinished.is_some_and(|it| it.turn == asked && Some(&it.step) == call.step()) {
            return Ok(asked);
        }
        if asked >= self.limits.max_steps {
            let limit = self.limits.max_steps;
            let taken = asked;
            return Err(FlowError::StepLimit { taken, limit });
        }
        self.standing.asked += 1;
        Ok(self.standing.asked)
    }

    async fn asked(
        &mut self,
        call: Call,
        turn: u32,
        scope: &StopScope,
    ) -> Result<PlanEvent, FlowError> {
        let (desk, state) = (Arc::clone(&self.desk), self.standing.state.clone());
        let asked = async {
            match &call {
                Call::Ask(asking) => desk.ask(&state, asking, turn, scope).await,
                Call::Step(step) => desk.run_step(&state, step, turn, scope).await,
            }
        };
        tokio::pin!(asked);
        loop {
            tokio::select! {
                biased;
                asked = &mut asked => return asked.map_err(unasked),
                _reason = scope.stopping(), if !self.is_interrupted() => {
                    self.interrupted(scope)?;
                }
            }
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.standing.state.flags().user_interrupted
    }

    /// The workflow learns of a person's interrupt while something is under way.
    fn interrupted(&mut self, scope: &StopScope) -> Result<(), FlowError> {
        let Some(reason) = scope.reason().filter(|_reason| !self.is_interrupted()) else {
            return Ok(());
        };
        let message = reason.message.clone();
        self.recorder.record(RunEvent::Stopping { reason });
        // While something is under way it is noted, and nothing follows at once.
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

fn unasked(error: DeskError) -> FlowError {
    match error {
        DeskError::NodeId(error) => FlowError::NodeId(error),
        DeskError::NoRoute(_role) => FlowError::Lost {
            detail: "an answer of a plan's agent has no route",
        },
        DeskError::Unrecorded(source) => FlowError::Model {
            node: "an agent of the plan".to_owned(),
            source: source.into(),
        },
    }
}
