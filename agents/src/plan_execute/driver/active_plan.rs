//! A loaded plan: changes to it while this process owns its run and does not execute it.

use std::sync::Arc;

use interrupt_router::answer::ConstraintCheck;
use interrupt_router::ask::{Asker, DEFAULT_CORRECTIONS};
use interrupt_router::model::LanguageModel;
use interrupt_router::{NodeId, RunId, StopScope};
use interrupts::Clock;
use interrupts::store::{CheckpointId, Run};

use super::begin::{PlanDecision, decided_pauses, read_snapshot};
use super::editor::{PlanChange, PlanEditing};
use super::snapshot::{decided_question, skip_asked_turns};
use crate::plan_execute::plan_agents::PlanAgents;
use engine::durable::checkpoint::Checkpoints;
use engine::durable::journal::RunJournal;
use engine::durable::model::JournalledModel;
use engine::run::metered_model::MeteredModel;
use engine::run::working::end_work_of_the_dead;
use journal::error::KeepError;
use planning::{
    Phase, PlanEditError, PlanEffect, PlanEvent, PlanExecute, PlanSnapshot, Refused, StoredPlan,
    plan_versions,
};

/// A loaded plan, while this process owns its run.
pub(super) struct ActivePlan {
    run: RunId,
    clock: Arc<dyn Clock>,
    journal: Arc<RunJournal>,
    checkpoints: Checkpoints,
    snapshot: PlanSnapshot,
    /// A decision changes or ends the plan, and only its run can carry it out.
    waits_for_its_run: bool,
    /// That decision changes the steps or cancels the plan: what is shown here is not what the plan will be.
    is_changed_first: bool,
    /// A person resumed the run without a change of its steps. The plan is no longer held, even before the run continues.
    goes_on_unchanged: bool,
}

impl ActivePlan {
    pub(super) async fn lay(
        bench: PlanEditing,
        row: &Run,
        journal: Arc<RunJournal>,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Self, PlanEditError> {
        let run = bench.run;
        // Nothing recorded from here on is work on the run.
        let ended = end_work_of_the_dead(&*bench.store, run, journal.record.epoch()?).await;
        ended.map_err(|error| PlanEditError::Unrecorded(Box::new(error)))?;
        journal.load().await?;
        let id = checkpoint.ok_or(PlanEditError::NoPlan { run })?;
        let snapshot = read_snapshot(&journal, id).await?;
        let (snapshot, settled) = snapshot.ok_or(PlanEditError::NoPlan { run })?;
        for effect in settled {
            journal.dispatched(effect).await?;
        }
        if let Some(given) = bench.if_version {
            let current = plan_versions(&*bench.store, row).await?.len();
            if current != given {
                return Err(PlanEditError::OtherVersion { given, current });
            }
        }
        let checkpoints = Checkpoints::default();
        checkpoints.go_on_from(Some(id));
        let mut table = Self {
            run,
            clock: bench.clock,
            journal,
            checkpoints,
            snapshot,
            waits_for_its_run: false,
            is_changed_first: false,
            goes_on_unchanged: false,
        };
        table.stand_still()?;
        table.carry_out().await?;
        Ok(table)
    }

    /// First carries out steps that were decided and that the run has not carried out yet: they are the latest change,
    /// and their decision fits no other plan. What only the run can carry out waits for it.
    async fn carry_out(&mut self) -> Result<(), PlanEditError> {
        let record = Arc::clone(&self.journal.record);
        let pauses = decided_pauses(&record, &self.snapshot.applied).await?;
        let mut decided = PlanDecision::default();
        for decision in pauses.iter().filter_map(|pause| pause.decision.as_ref()) {
            decided.take(decision);
        }
        // The answer to the plan's own question.
        let mut of_run = PlanDecision::default();
        let answered = decided_question(&self.snapshot, &record).await?;
        if let Some(decision) = &answered {
            of_run.take(decision);
        }
        if answered.is_some() || decided.needs_its_run() {
            self.waits_for_its_run = true;
            self.is_changed_first = decided.changes_steps() || of_run.changes_steps();
            return Ok(());
        }
        if !decided.changes_steps() {
            self.goes_on_unchanged = !pauses.is_empty();
            return Ok(());
        }
        let Ok(edits) = decided.edits(&self.snapshot.state, self.clock.now()) else {
            // The run reports what does not fit when it carries the decision out.
            self.waits_for_its_run = true;
            self.is_changed_first = true;
            return Ok(());
        };
        self.asks_something_else()?;
        for edit in &edits {
            let _nothing_is_asked = self.apply(edit)?;
        }
        for pause in pauses {
            self.snapshot.applied.push(pause.id);
            let effect = pause.decision.map(|decision| decision.effect);
            self.snapshot.dispatched.extend(effect);
        }
        Ok(())
    }

    /// Whether a person resumed the run without a change of its steps.
    pub(super) const fn goes_on_unchanged(&self) -> bool {
        self.goes_on_unchanged
    }

    /// Undoes or redoes a change: only if it is known which change was the last.
    fn turn(&mut self, event: &PlanEvent) -> Result<(), PlanEditError> {
        if self.waits_for_its_run {
            return Err(PlanEditError::NotCarriedOut { run: self.run });
        }
        self.asks_something_else()?;
        let _nothing_is_asked = self.apply(event)?;
        Ok(())
    }

    fn asks_something_else(&mut self) -> Result<(), PlanEditError> {
        skip_asked_turns(&mut self.snapshot, &self.journal, &NodeId::root())?;
        Ok(())
    }

    /// A run that lost its process at work was stopped only by the interrupt.
    fn stand_still(&mut self) -> Result<(), PlanEditError> {
        let reason = Some("interrupted while no process ran it".to_owned());
        for event in [PlanEvent::Interrupt { reason }, PlanEvent::CallStopped] {
            if !matches!(self.snapshot.state.phase(), Phase::Held(_)) {
                let _nothing_is_asked = self.apply(&event)?;
            }
        }
        Ok(())
    }

    /// Applies an event; what observers learn of it goes into the next checkpoint.
    fn apply(&mut self, event: &PlanEvent) -> Result<Vec<PlanEffect>, Refused> {
        let turn = self.snapshot.state.after(event, self.clock.now())?;
        self.snapshot.state = turn.state;
        for effect in &turn.effects {
            if let PlanEffect::Record(fact) = effect {
                self.snapshot.facts.push(fact.clone());
            }
        }
        Ok(turn.effects)
    }

    pub(super) async fn change(mut self, change: PlanChange) -> Result<StoredPlan, PlanEditError> {
        if self.is_changed_first {
            return Err(PlanEditError::NotCarriedOut { run: self.run });
        }
        let reason = match change {
            PlanChange::Propose { tasks } => {
                self.apply(&PlanEvent::Propose { tasks })?;
                "proposed"
            }
            PlanChange::Undo => {
                self.turn(&PlanEvent::Undo)?;
                "plan changed"
            }
            PlanChange::Redo => {
                self.turn(&PlanEvent::Redo)?;
                "plan changed"
            }
            PlanChange::Suggest {
                request,
                model,
                constraints,
            } => {
                let asked = self.suggest(request, model, constraints).await;
                if asked.is_err() {
                    // The call counts, with any result.
                    self.save("nothing suggested").await?;
                }
                asked?;
                "suggested"
            }
        };
        self.save(reason).await
    }

    async fn suggest(
        &mut self,
        request: String,
        model: Arc<dyn LanguageModel>,
        constraints: Arc<dyn ConstraintCheck>,
    ) -> Result<(), PlanEditError> {
        let effects = self.apply(&PlanEvent::Suggest { request })?;
        let asking = effects.into_iter().find_map(|effect| match effect {
            PlanEffect::AskModel(asking) => Some(asking),
            PlanEffect::Record(_)
            | PlanEffect::Checkpoint { .. }
            | PlanEffect::RunStep(_)
            | PlanEffect::AskPerson(_)
            | PlanEffect::HoldQuestion
            | PlanEffect::WithdrawQuestion
            | PlanEffect::Wait(_)
            | PlanEffect::End(_) => None,
        });
        let Some(asking) = asking else {
            let reason = "it was not asked".to_owned();
            return Err(PlanEditError::NoSuggestion { reason });
        };
        // The number of the call is taken before the call is made: even if this process dies, its answer is never read
        // as that to another call.
        self.asks_something_else()?;
        self.snapshot.asked += 1;
        self.save("suggesting").await?;
        let model = Arc::new(MeteredModel::new(model));
        let plan_agents = PlanAgents {
            recorder: None,
            asker: Asker {
                model: Arc::new(JournalledModel::new(&model, &self.journal)),
                constraints,
                corrections: DEFAULT_CORRECTIONS,
            },
            run: self.run,
            root: NodeId::root(),
        };
        let scope = StopScope::new();
        let (state, turn) = (self.snapshot.state.clone(), self.snapshot.asked);
        let asked = plan_agents.ask(&state, &asking, turn, &scope);
        let event = self.while_owned(asked).await?;
        let event = event.map_err(|error| PlanEditError::Unrecorded(Box::new(error)))?;
        let refused = why_not(&event);
        match self.apply(&event) {
            // An answer that makes no plan is no suggestion.
            Err(Refused::NoPlan(error)) => {
                self.apply(&PlanEvent::CallStopped)?;
                let reason = error.to_string();
                return Err(PlanEditError::NoSuggestion { reason });
            }
            applied => drop(applied?),
        }
        match refused {
            Some(reason) => Err(PlanEditError::NoSuggestion { reason }),
            None => Ok(()),
        }
    }

    /// Awaits long work, and keeps the run's lease meanwhile.
    async fn while_owned<T>(&self, work: impl Future<Output = T>) -> Result<T, KeepError> {
        let record = &self.journal.record;
        let lease = record.kept.lease.unsigned_abs();
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(lease / 3) => record.renew().await?,
            }
        }
    }

    async fn save(&mut self, reason: &str) -> Result<StoredPlan, PlanEditError> {
        self.snapshot.reason = reason.to_owned();
        let content =
            serde_json::to_string(&self.snapshot.for_checkpoint()).map_err(KeepError::from)?;
        let saved = self
            .checkpoints
            .save(&self.journal, PlanExecute::FORM, content)
            .await?;
        let snapshot = self.snapshot.clone();
        self.snapshot.facts.clear();
        for effect in std::mem::take(&mut self.snapshot.dispatched) {
            self.journal.dispatched(effect).await?;
        }
        Ok(StoredPlan {
            checkpoint: saved,
            at: self.clock.now(),
            snapshot,
        })
    }
}

/// Why a model's answer is no suggestion.
fn why_not(event: &PlanEvent) -> Option<String> {
    match event {
        PlanEvent::Suggested { .. } => None,
        PlanEvent::Failed(failure) => Some(failure.error.clone()),
        PlanEvent::Asked { question } => Some(format!("it asks: {}", question.reason)),
        PlanEvent::CallStopped => Some("it was stopped".to_owned()),
        PlanEvent::Start
        | PlanEvent::Planned { .. }
        | PlanEvent::StepDone { .. }
        | PlanEvent::Responded { .. }
        | PlanEvent::Answered { .. }
        | PlanEvent::RetryDue
        | PlanEvent::Interrupt { .. }
        | PlanEvent::Modify { .. }
        | PlanEvent::Suggest { .. }
        | PlanEvent::Propose { .. }
        | PlanEvent::ApplySuggestion
        | PlanEvent::Edit { .. }
        | PlanEvent::Undo
        | PlanEvent::Redo
        | PlanEvent::Resume
        | PlanEvent::Told { .. }
        | PlanEvent::Cancel { .. } => Some(format!("it answers with {}", event.name())),
    }
}
