//! Beginning, and going on: where the run stood, and what a person has decided since.

use interrupts::life::{Decision, Interrupt, State, Verdict};
use interrupts::store::{Filter, Page};
use routing_core::InterruptType;
use serde_json::Value;

use super::{Driver, standing::PlanStanding};
use crate::durable::error::KeepError;
use crate::plan_execute::effect::PlanEffect;
use crate::plan_execute::event::PlanEvent;
use crate::plan_execute::state::{Cause, Phase};
use crate::workflow::failure::FlowError;

/// How many interrupts are read together.
const PAGE: u32 = 1_000;

/// What a person has decided about a run that stood still.
#[derive(Debug, Default)]
struct Decided {
    /// There is such a decision.
    is_there: bool,
    /// What he wants changed.
    inputs: Vec<String>,
    /// The steps that are left, as he has written them.
    tasks: Option<Vec<String>>,
    cancelled: bool,
}

impl Decided {
    /// Takes in a decision.
    fn take(&mut self, decision: &Decision) {
        self.is_there = true;
        self.cancelled |= matches!(decision.verdict, Verdict::Cancel | Verdict::Reject);
        let content: Option<Value> = decision
            .content
            .as_deref()
            .and_then(|content| serde_json::from_str(content).ok());
        let Some(content) = content else { return };
        for field in ["input", "text"] {
            if let Some(input) = content.get(field).and_then(Value::as_str) {
                self.say(input);
            }
        }
        if let Some(tasks) = content.get("plan") {
            self.tasks = serde_json::from_value(tasks.clone())
                .ok()
                .or_else(|| self.tasks.take());
        }
    }

    fn say(&mut self, input: &str) {
        let input = input.trim();
        if !input.is_empty() && !self.inputs.iter().any(|said| said == input) {
            self.inputs.push(input.to_owned());
        }
    }

    /// What happens to a plan that stands still. `None` where nothing was decided.
    fn events(self) -> Vec<PlanEvent> {
        if self.cancelled {
            return vec![PlanEvent::Cancel { reason: None }];
        }
        let edit = self.tasks.map(|tasks| PlanEvent::Edit { tasks });
        let on = if self.inputs.is_empty() {
            PlanEvent::Resume
        } else {
            PlanEvent::Modify {
                request: self.inputs.join("\n"),
            }
        };
        edit.into_iter().chain([on]).collect()
    }
}

impl Driver {
    /// Takes the run, and reads where it stood.
    pub(super) async fn open(&mut self) -> Result<(), FlowError> {
        let journal = std::sync::Arc::clone(&self.journal);
        let record = &journal.record;
        if record.is_watched_only() {
            return Err(FlowError::Lost {
                detail: "a plan is shown from its checkpoints, and not executed for it",
            });
        }
        let (_standing, checkpoint) = record.open().await?;
        self.checkpoints.go_on_from(checkpoint);
        journal.load().await?;
        self.model.add(journal.usage());
        if let Some(id) = checkpoint {
            let found = record.store().checkpoint(id).await;
            if let Some(saved) = found.map_err(KeepError::from)? {
                self.standing = PlanStanding::read(id, saved.form, &saved.content)?;
            }
            if id.run == self.run {
                for effect in std::mem::take(&mut self.standing.dispatched) {
                    journal.dispatched(effect).await?;
                }
            } else {
                // What was asked and decided there is the other run's.
                self.standing.question = None;
                self.standing.applied.clear();
                self.standing.dispatched.clear();
            }
            // They are that checkpoint's.
            self.standing.facts.clear();
        }
        Ok(())
    }

    /// The first effects: of a beginning, of a person's decision, or of what was under way.
    pub(super) async fn begin(&mut self) -> Result<Vec<PlanEffect>, FlowError> {
        self.keep_nodes().await?;
        let decided = self.decided().await?;
        if matches!(self.standing.state.phase(), Phase::Created) {
            let effects = self.apply(&PlanEvent::Start)?;
            if !decided.cancelled && decided.inputs.is_empty() {
                return Ok(effects);
            }
        }
        match self.standing.state.phase().clone() {
            Phase::Ended(end) => return Ok(vec![PlanEffect::End(end)]),
            Phase::Held(held) => {
                let is_question = matches!(held.cause, Cause::SystemError { .. });
                if is_question && !decided.is_there {
                    return Ok(self.standing.state.pick_up(self.now()));
                }
            }
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. } => {
                if !decided.cancelled && decided.inputs.is_empty() && decided.tasks.is_none() {
                    return Ok(self.standing.state.pick_up(self.now()));
                }
            }
        }
        self.carry_out(decided)
    }

    /// What a person has decided happens, in one turn: it is saved whole before anything follows from it.
    fn carry_out(&mut self, decided: Decided) -> Result<Vec<PlanEffect>, FlowError> {
        let mut effects = Vec::new();
        if !decided.cancelled {
            effects.extend(self.stand_still()?);
        }
        let mut events = decided.events().into_iter().peekable();
        while let Some(event) = events.next() {
            let turn = self.apply(&event)?;
            let is_last = events.peek().is_none();
            effects.extend(
                turn.into_iter()
                    .filter(|effect| is_last || is_recorded(effect)),
            );
        }
        let is_saved = |effect: &PlanEffect| matches!(effect, PlanEffect::Checkpoint { .. });
        if !effects.iter().any(is_saved) {
            effects.insert(0, PlanEffect::Checkpoint { reason: "resumed" });
        }
        Ok(effects)
    }

    /// A person has something to say about a plan that was cut off at work.
    fn stand_still(&mut self) -> Result<Vec<PlanEffect>, FlowError> {
        let mut effects = Vec::new();
        let is_held = |driver: &Self| matches!(driver.standing.state.phase(), Phase::Held(_));
        if !is_held(self) {
            let reason = Some("resumed with a request".to_owned());
            effects.extend(self.apply(&PlanEvent::Interrupt { reason })?);
        }
        if !is_held(self) {
            effects.extend(self.apply(&PlanEvent::CallStopped)?);
        }
        effects.retain(is_recorded);
        Ok(effects)
    }

    /// What a person has decided about pauses of the run, and was not carried out yet.
    async fn decided(&mut self) -> Result<Decided, KeepError> {
        let record = std::sync::Arc::clone(&self.journal.record);
        let mut decided = Decided::default();
        let filter = Filter {
            run: Some(self.run),
            states: vec![State::Resolved, State::Rerouted],
            ..Filter::default()
        };
        let mut after = 0;
        loop {
            let page = Page { after, limit: PAGE };
            let found = record.store().interrupts(&filter, page).await?;
            let Some((last, _)) = found.last() else { break };
            after = *last;
            for (_, interrupt) in &found {
                self.take_decision(interrupt, &mut decided);
            }
        }
        if let Some(input) = &record.kept.input {
            decided.is_there = true;
            decided.say(input);
        }
        Ok(decided)
    }

    fn take_decision(&mut self, interrupt: &Interrupt, decided: &mut Decided) {
        let applied = &mut self.standing.applied;
        if interrupt.interrupt_type != InterruptType::Pause || applied.contains(&interrupt.id) {
            return;
        }
        if let Some(decision) = &interrupt.decision {
            decided.take(decision);
            applied.push(interrupt.id);
            self.standing.dispatched.push(decision.effect);
        }
    }
}

/// Whether an effect is done by recording it.
fn is_recorded(effect: &PlanEffect) -> bool {
    matches!(
        effect,
        PlanEffect::Record(_) | PlanEffect::Checkpoint { .. } | PlanEffect::WithdrawQuestion
    )
}
