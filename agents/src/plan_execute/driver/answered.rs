//! What a plan's agents had answered before its process died, and the plan had not taken in by then.

use std::sync::Arc;

use interrupt_router::StopScope;
use interrupt_router::ask::Asker;

use super::Driver;
use super::begin::REQUESTED;
use super::call::{PlanCall, unasked};
use crate::plan_execute::plan_agents::PlanAgents;
use crate::workflow::failure::FlowError;
use engine::durable::recorded::RecordedModel;
use planning::{Phase, PlanEffect, PlanEvent};

impl Driver {
    /// Applies what the plan's agents had answered before its process died, before a new request is carried out: a step
    /// that is done is not done again because a person wants something else of the others.
    pub(super) async fn take_in_what_was_answered(&mut self) -> Result<(), FlowError> {
        while let Some(call) = self.under_way() {
            let turn = self.number_of_last_try(&call).await?;
            let Some(event) = self.recorded_answer(&call, turn).await? else {
                return Ok(());
            };
            self.snapshot.asked = turn;
            self.snapshot.unfinished = None;
            let mut effects = Vec::new();
            if let PlanEvent::Responded { .. } = event {
                // The goal is not reached if a person has more to say.
                let reason = Some(REQUESTED.to_owned());
                effects = self.apply(&PlanEvent::Interrupt { reason })?;
            }
            effects.extend(self.apply(&event)?);
            self.record(&effects).await?;
        }
        Ok(())
    }

    /// The model call that the plan's state asks for.
    fn under_way(&self) -> Option<PlanCall> {
        if !matches!(self.snapshot.state.phase(), Phase::Working { .. }) {
            return None;
        }
        let effects = self.snapshot.state.pick_up(self.now());
        effects.into_iter().find_map(|effect| match effect {
            PlanEffect::AskModel(asking) => Some(PlanCall::Ask(asking)),
            PlanEffect::RunStep(step) => Some(PlanCall::Step(step)),
            PlanEffect::Record(_)
            | PlanEffect::Checkpoint { .. }
            | PlanEffect::AskPerson(_)
            | PlanEffect::HoldQuestion
            | PlanEffect::WithdrawQuestion
            | PlanEffect::Wait(_)
            | PlanEffect::End(_) => None,
        })
    }

    /// The result of the call with this number, if the journal holds its whole answer. No model is asked.
    pub(super) async fn recorded_answer(
        &self,
        call: &PlanCall,
        turn: u32,
    ) -> Result<Option<PlanEvent>, FlowError> {
        let tooling = self.tooling.as_ref();
        let model = RecordedModel {
            inner: Arc::clone(&self.model),
            journal: Arc::clone(&self.journal),
            rounds: tooling.map_or(0, |tooling| tooling.rounds()),
        };
        let plan_agents = PlanAgents {
            recorder: None,
            asker: Asker {
                model: Arc::new(model),
                ..self.plan_agents.asker.clone()
            },
            run: self.run,
            root: self.root.clone(),
        };
        let (state, scope) = (&self.snapshot.state, StopScope::new());
        let asked = call.at(&plan_agents, state, turn, &scope);
        let event = asked.await.map_err(unasked)?;
        Ok((event != PlanEvent::CallStopped).then_some(event))
    }
}
