//! Beginning and resuming: the run's state, and what a person has decided since.

use interrupt_router::{InterruptId, InterruptType, StopSource};
use interrupts::EffectId;
use interrupts::life::{Decision, Interrupt, State, Verdict};
use interrupts::store::{CheckpointId, Filter, Pages};
use jiff::Timestamp;
use serde_json::Value;

use super::Driver;
use super::snapshot::{decided_question, skip_asked_turns};
use crate::workflow::failure::FlowError;
use engine::durable::journal::RunJournal;
use engine::durable::record::RunRecord;
use journal::error::KeepError;
use journal::input::GivenInput;
use planning::{
    Phase, PlanEffect, PlanEvent, PlanExecute, PlanRevision, PlanSnapshot, RevisionError, Taken,
};

/// How many interrupts are read together.
const PAGE: u32 = 1_000;

/// Why a plan that was cut off at work is held before it carries out a person's request.
pub(super) const REQUESTED: &str = "resumed with a request";

/// What a person has decided about a plan that was held.
#[derive(Debug, Default)]
pub(super) struct PlanDecision {
    /// There is such a decision.
    is_there: bool,
    /// What the person wants changed.
    inputs: Vec<String>,
    /// The remaining steps as the person has written them; each change applies to the plan that the one before made.
    revised: Vec<PlanRevision>,
    cancelled: bool,
}

impl PlanDecision {
    /// What one decision says.
    pub(super) fn of(decision: &Decision) -> Self {
        let mut decided = Self::default();
        decided.take(decision);
        decided
    }

    /// Adds a decision.
    pub(super) fn take(&mut self, decision: &Decision) {
        self.is_there = true;
        self.cancelled |= matches!(decision.verdict, Verdict::Cancel | Verdict::Reject);
        let content: Option<Value> = decision
            .content
            .as_deref()
            .and_then(|content| serde_json::from_str(content).ok());
        if let Some(content) = content {
            self.take_content(content);
        }
    }

    /// Adds the content of a decision.
    pub(super) fn take_content(&mut self, content: Value) {
        for field in ["input", "text"] {
            if let Some(input) = content.get(field).and_then(Value::as_str) {
                self.say(input);
            }
        }
        if content.get("plan").is_some_and(|plan| !plan.is_null()) {
            // Unreadable content is refused when it is carried out, not skipped.
            let revision = serde_json::from_value(content).unwrap_or_default();
            self.revised.push(revision);
        }
    }

    /// Whether it says more than steps: then only the run itself can carry it out.
    pub(super) const fn needs_its_run(&self) -> bool {
        self.cancelled || !self.inputs.is_empty()
    }

    /// Whether it changes the steps, or ends the plan.
    pub(super) const fn changes_steps(&self) -> bool {
        self.cancelled || !self.revised.is_empty()
    }

    const fn says_something(&self) -> bool {
        self.cancelled || !self.inputs.is_empty() || !self.revised.is_empty()
    }

    /// Adds what was decided later.
    fn join(&mut self, later: Self) {
        self.is_there |= later.is_there;
        self.cancelled |= later.cancelled;
        for input in &later.inputs {
            self.say(input);
        }
        self.revised.extend(later.revised);
    }

    fn say(&mut self, input: &str) {
        let input = input.trim();
        if !input.is_empty() && !self.inputs.iter().any(|said| said == input) {
            self.inputs.push(input.to_owned());
        }
    }

    /// The events for the held plan. What no longer fits the plan is refused.
    fn events(self, state: &PlanExecute, now: Timestamp) -> Result<Vec<PlanEvent>, RevisionError> {
        let said = (!self.inputs.is_empty()).then(|| self.inputs.join("\n"));
        if self.cancelled {
            return Ok(vec![PlanEvent::Cancel { reason: said }]);
        }
        let mut events = self.edits(state, now)?;
        events.push(match said {
            Some(request) => PlanEvent::Modify { request },
            None => PlanEvent::Resume,
        });
        Ok(events)
    }

    /// The changes of the steps, one after the other.
    pub(super) fn edits(
        &self,
        state: &PlanExecute,
        now: Timestamp,
    ) -> Result<Vec<PlanEvent>, RevisionError> {
        let mut events = Vec::new();
        let mut state = state.clone();
        for revision in &self.revised {
            let preview = revision.check(&state)?.ok_or(RevisionError::Empty)?;
            let edit = PlanEvent::Edit {
                tasks: preview.plan,
            };
            state = state.after(&edit, now)?.state;
            events.push(edit);
        }
        Ok(events)
    }
}

impl Driver {
    /// Continues from the run's last checkpoint.
    pub(super) async fn go_on(&mut self) -> Result<(), FlowError> {
        if let Some(id) = self.checkpoints.last()
            && let Some((snapshot, settled)) = read_snapshot(&self.journal, id).await?
        {
            self.snapshot = snapshot;
            for effect in settled {
                self.journal.dispatched(effect).await?;
            }
        }
        self.find_nodes().await?;
        Ok(())
    }

    /// The first effects: of the start, of a person's decision, or of what was under way.
    pub(super) async fn begin(&mut self) -> Result<Vec<PlanEffect>, FlowError> {
        self.show_nodes().await?;
        let (mut decided, taken) = self.decided().await?;
        if matches!(self.snapshot.state.phase(), Phase::Created) {
            let effects = self.apply(&PlanEvent::Start)?;
            if !decided.cancelled && decided.inputs.is_empty() {
                self.snapshot.has_taken(taken);
                return Ok(effects);
            }
        }
        if decided.says_something() {
            self.take_in_what_was_answered().await?;
        }
        // Up to here nothing is saved as carried out.
        self.snapshot.has_taken(taken);
        match self.snapshot.state.phase().clone() {
            Phase::Ended(end) => {
                if decided.cancelled || decided.inputs.is_empty() {
                    return Ok(vec![PlanEffect::End(end)]);
                }
                // It is not over if a person has more to say.
                let messages = decided.inputs;
                return self.apply(&PlanEvent::Told { messages });
            }
            Phase::Held(held) => {
                let is_question = held.cause.is_question();
                if is_question && !decided.is_there {
                    return Ok(self.snapshot.state.pick_up(self.now()));
                }
                self.take_answer(&mut decided).await?;
            }
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. } => {
                if !decided.says_something() {
                    return Ok(self.snapshot.state.pick_up(self.now()));
                }
            }
        }
        let effects = self.carry_out(decided)?;
        self.with_messages(effects).await
    }

    /// Applies a person's decision in one turn: it is saved whole before anything follows from it.
    pub(super) fn carry_out(
        &mut self,
        decided: PlanDecision,
    ) -> Result<Vec<PlanEffect>, FlowError> {
        let mut effects = Vec::new();
        if decided.says_something() {
            skip_asked_turns(&mut self.snapshot, &self.live.journal, &self.root)?;
        }
        if !decided.cancelled {
            effects.extend(self.stand_still(REQUESTED)?);
        }
        let events = match decided.events(&self.snapshot.state, self.now()) {
            Ok(events) => events,
            Err(revision_error) => {
                tracing::warn!(run = %self.run, unfit = %revision_error, "the decided plan does not fit; the plan stands still");
                effects.push(PlanEffect::Checkpoint { reason: "held" });
                self.revision_error = Some(revision_error);
                return Ok(effects);
            }
        };
        let mut events = events.into_iter().peekable();
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

    /// Holds the plan for a person: it was cut off at work and he has something to say, or it cannot continue as it is.
    pub(super) fn stand_still(&mut self, why: &str) -> Result<Vec<PlanEffect>, FlowError> {
        let mut effects = Vec::new();
        let is_held = |driver: &Self| matches!(driver.snapshot.state.phase(), Phase::Held(_));
        if !is_held(self) {
            let reason = Some(why.to_owned());
            effects.extend(self.apply(&PlanEvent::Interrupt { reason })?);
        }
        if !is_held(self) {
            effects.extend(self.apply(&PlanEvent::CallStopped)?);
        }
        effects.retain(is_recorded);
        Ok(effects)
    }

    /// What a person has decided about the run's pauses, and was not carried out yet.
    async fn decided(&self) -> Result<(PlanDecision, Taken), KeepError> {
        let record = std::sync::Arc::clone(&self.journal.record);
        let (mut decided, mut taken) = (PlanDecision::default(), Taken::default());
        let given = new_inputs(&self.journal, &self.snapshot);
        taken.inputs.extend(given.iter().map(|given| given.effect));
        for pause in decided_pauses(&record, &self.snapshot.applied).await? {
            take_decision(&pause, &mut decided, &mut taken);
        }
        for given in &given {
            decided.is_there = true;
            decided.say(&given.text);
        }
        Ok((decided, taken))
    }

    /// The answer about a failure, if a pause came before it was carried out.
    async fn take_answer(&mut self, decided: &mut PlanDecision) -> Result<(), KeepError> {
        let record = std::sync::Arc::clone(&self.journal.record);
        if let Some(decision) = decided_question(&self.snapshot, &record).await? {
            let mut both = PlanDecision::of(&decision);
            both.join(std::mem::take(decided));
            *decided = both;
            self.snapshot.dispatched.push(decision.effect);
            self.snapshot.question = None;
        }
        Ok(())
    }
}

fn take_decision(interrupt: &Interrupt, decided: &mut PlanDecision, taken: &mut Taken) {
    if let Some(decision) = &interrupt.decision {
        let was_there = decided.is_there;
        decided.take(decision);
        // Resuming a run that the system paused does not answer a question about what failed.
        if interrupt.source == StopSource::System && !decided.says_something() {
            decided.is_there = was_there;
        }
        taken.applied.push(interrupt.id);
        taken.dispatched.push(decision.effect);
    }
}

/// Input to a run, and decisions about the run that it was forked from, that its plan has not taken in yet.
pub(super) fn new_inputs(journal: &RunJournal, snapshot: &PlanSnapshot) -> Vec<GivenInput> {
    let is_new = |given: &&GivenInput| !snapshot.inputs.contains(&given.effect);
    journal.inputs().iter().filter(is_new).cloned().collect()
}

/// The pauses of a run that were decided, and whose decisions are not carried out yet.
pub(super) async fn decided_pauses(
    record: &RunRecord,
    applied: &[InterruptId],
) -> Result<Vec<Interrupt>, KeepError> {
    let filter = Filter {
        run: Some(record.run),
        states: vec![State::Resolved, State::Rerouted],
        ..Filter::default()
    };
    let mut pauses = Vec::new();
    let mut pages = Pages::of(PAGE);
    while let Some(found) = pages
        .next(|page| record.store().interrupts(&filter, page))
        .await?
    {
        let is_left = |interrupt: &Interrupt| {
            interrupt.interrupt_type == InterruptType::Pause && !applied.contains(&interrupt.id)
        };
        let found = found.into_iter().map(|(_, interrupt)| interrupt);
        pauses.extend(found.filter(is_left));
    }
    Ok(pauses)
}

/// The plan snapshot of a checkpoint, and the effects that it carries out. `None` if there is no such checkpoint.
pub(super) async fn read_snapshot(
    journal: &RunJournal,
    id: CheckpointId,
) -> Result<Option<(PlanSnapshot, Vec<EffectId>)>, KeepError> {
    let record = &journal.record;
    let Some(saved) = record.store().checkpoint(id).await? else {
        return Ok(None);
    };
    let mut snapshot = PlanSnapshot::read(id, saved.form, &saved.content)?;
    // The facts belong to that checkpoint.
    snapshot.facts.clear();
    let settled = std::mem::take(&mut snapshot.dispatched);
    if id.run == record.run {
        return Ok(Some((snapshot, settled)));
    }
    // Its question and decisions are the other run's. Its input was taken over with the journal, and is known by this
    // run's entries.
    snapshot.question = None;
    snapshot.applied.clear();
    let taken = std::mem::take(&mut snapshot.inputs);
    let is_taken = |given: &&GivenInput| {
        given
            .effect_in(id.run)
            .is_some_and(|it| taken.contains(&it))
    };
    let again = journal.inputs().iter().filter(is_taken);
    snapshot.inputs.extend(again.map(|given| given.effect));
    Ok(Some((snapshot, Vec::new())))
}

/// Whether recording an effect is all of it.
pub(super) fn is_recorded(effect: &PlanEffect) -> bool {
    matches!(
        effect,
        PlanEffect::Record(_) | PlanEffect::Checkpoint { .. } | PlanEffect::WithdrawQuestion
    )
}
