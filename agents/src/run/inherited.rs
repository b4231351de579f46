//! What a fork inherits from the run that it was forked from, beyond what that run had recorded by the checkpoint.

use std::collections::{HashMap, HashSet};

use interrupts::KindName;
use interrupts::life::{Interrupt, State, Verdict};
use interrupts::store::{CheckpointId, Filter, Intent, KnownEffect, Pages, Run, Store, StoreError};
use jiff::Timestamp;
use routing_core::reroute::RerouteState;
use routing_core::{EventId, InterruptId, InterruptType};
use serde_json::Value;

use engine::durable::inherited::{DECIDED, InheritedDecision, asked_at, filled_by, place_in_fork};
use engine::durable::inherited_event::{EVENT, InheritedEvent, came_with};
use engine::durable::undelivered::event_of;
use journal::entry::InterruptIntent;
use journal::input::{INPUT, content_of_decision, said_with};
use journal::kind::INTERRUPT;
use journal::place;
use planning::{PlanSnapshot, is_plan};

/// How many rows are read at a time.
const PAGE: u32 = 500;

/// Input to a run at rest, and decisions about its plan, its pauses and its questions, that the run has neither read
/// nor carried out. A fork from the run's current state inherits them, and reads and carries them out once, too. A fork
/// from an earlier checkpoint inherits nothing: later input was about something else.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn inherited(
    store: &dyn Store,
    run: &Run,
    from: CheckpointId,
) -> Result<Vec<KnownEffect>, StoreError> {
    if run.goes_on_from() != Some(from) {
        return Ok(Vec::new());
    }
    let Some(saved) = store.checkpoint(from).await? else {
        return Ok(Vec::new());
    };
    // An unreadable checkpoint does not say what was carried out.
    let standing = is_plan(run)
        .then(|| PlanSnapshot::of(&saved).ok())
        .flatten();
    let left = Left {
        run,
        from,
        // A fork of another run was created with what its journal holds.
        by_then: if from.run == run.id { saved.journal } else { 0 },
        standing,
    };
    let recorded = left.recorded(store).await?;
    let rows = left.interrupts(store).await?;
    let decided = left.decided(&rows, &recorded);
    let events = left.events(store, &rows, &recorded).await?;
    let mut known = recorded.said;
    for effect in decided.into_iter().chain(recorded.before).chain(events) {
        if !known.iter().any(|(_, it)| it.place == effect.place) {
            known.push((u64::MAX, effect));
        }
    }
    let known = known.into_iter();
    let unread = known.filter(|(count, _)| *count > left.by_then);
    Ok(unread.map(|(_, effect)| effect).collect())
}

/// The run that is forked.
struct Left<'a> {
    run: &'a Run,
    from: CheckpointId,
    /// The count of its journal entries when the checkpoint was saved.
    by_then: u64,
    /// The state of its plan, if it carries one out.
    standing: Option<PlanSnapshot>,
}

/// What the run's journal holds of all that.
#[derive(Default)]
struct Recorded {
    /// Input, each with the count at which it was recorded whole.
    said: Vec<(u64, KnownEffect)>,
    /// The places of interrupts that its agents raised and that were not resolved by then.
    raised: HashMap<InterruptId, String>,
    /// Decisions from before this run was forked, and not carried out by then.
    before: Vec<KnownEffect>,
    /// The supervisors' events that this run itself inherited.
    events: Vec<InheritedEvent>,
}

impl Left<'_> {
    async fn recorded(&self, store: &dyn Store) -> Result<Recorded, StoreError> {
        let mut recorded = Recorded::default();
        let mut resolved = HashSet::new();
        let mut pages = Pages::of(PAGE);
        while let Some(entries) = pages.next(|page| store.journal(self.run.id, page)).await? {
            for entry in entries {
                let count = entry.result.map_or(u64::MAX, |it| it.count);
                let Some(place) = entry.intent.place.clone() else {
                    continue;
                };
                match entry.intent.kind.as_str() {
                    INPUT => recorded.said.push((count, known(entry.intent, place))),
                    INTERRUPT if count <= self.by_then => {
                        resolved.insert(place);
                    }
                    INTERRUPT => {
                        let intent = serde_json::from_str::<InterruptIntent>(&entry.intent.content);
                        recorded
                            .raised
                            .extend(intent.ok().map(|it| (it.interrupt, place)));
                    }
                    DECIDED => {
                        let from = self.run.forked_from;
                        let asked = from.and_then(|from| asked_at(from, &place));
                        recorded.before.extend(asked.map(|asked| {
                            let there = place_in_fork(self.from, asked);
                            known(entry.intent, there)
                        }));
                    }
                    EVENT if self.run.forked_from.is_some_and(|it| came_with(it, &place)) => {
                        let handed = InheritedEvent::read(&entry.intent.content);
                        recorded.events.extend(handed.ok());
                    }
                    _ => {}
                }
            }
        }
        let is_resolved = |effect: &KnownEffect| {
            let asked = asked_at(self.from, &effect.place);
            asked.is_some_and(|it| resolved.contains(place::interrupt_of(it)))
        };
        recorded.before.retain(|effect| !is_resolved(effect));
        Ok(recorded)
    }

    async fn interrupts(&self, store: &dyn Store) -> Result<Vec<Interrupt>, StoreError> {
        let filter = Filter {
            run: Some(self.run.id),
            ..Filter::default()
        };
        let rows = Pages::of(PAGE).values(|page| store.interrupts(&filter, page));
        rows.await
    }

    /// Decisions about the run's pauses, its questions and a failure of its plan that are not in its journal yet.
    fn decided(&self, rows: &[Interrupt], recorded: &Recorded) -> Vec<KnownEffect> {
        let standing = self.standing.as_ref();
        let decided = rows.iter().filter_map(|interrupt| {
            let said = is_left(interrupt, self.run, self.from, standing)
                .then(|| effect_of(interrupt, standing.is_some()));
            said.flatten().or_else(|| {
                let place = self.asked_at(interrupt, recorded)?;
                InheritedDecision::of(interrupt)?.effect(interrupt, self.from, &place)
            })
        });
        decided.collect()
    }

    /// What supervisors have asked of the run's agents, and no answer has used up.
    async fn events(
        &self,
        store: &dyn Store,
        rows: &[Interrupt],
        recorded: &Recorded,
    ) -> Result<Vec<KnownEffect>, StoreError> {
        let mut events = Vec::new();
        for interrupt in rows {
            let found = match bound_by(interrupt, recorded) {
                Some(event) => Some((event, None)),
                None => waiting(store, interrupt).await?,
            };
            if let Some((event, until)) = found {
                let before = &recorded.events;
                let handed = InheritedEvent::of(store, self.run, &event, until, before).await?;
                events.extend(handed.and_then(|it| it.effect(self.from)));
            }
        }
        for handed in &recorded.events {
            // This run has not begun yet, so the event is not published in it.
            if !handed.is_among(self.run.id, rows) {
                events.extend(handed.effect(self.from));
            }
        }
        Ok(events)
    }

    /// Where the run asked this question, if its answer is not carried out yet; `None` if it waits for none.
    fn asked_at(&self, interrupt: &Interrupt, recorded: &Recorded) -> Option<String> {
        let Some(standing) = &self.standing else {
            let raised = |id: &InterruptId| recorded.raised.get(id).cloned();
            return raised(&interrupt.id).or_else(|| {
                let filled = filled_by(interrupt)?;
                raised(&filled).map(|place| place::request(&place))
            });
        };
        // The question of another run's checkpoint belongs to that run.
        let question = standing.question.as_ref().filter(|question| {
            self.from.run == self.run.id && question.interrupt == interrupt.id
        })?;
        let decision = interrupt.decision.as_ref()?;
        // Cancelling this plan does not cancel the fork's.
        let goes_on = !standing.asks_how_to_go_on() || decision.verdict == Verdict::Approve;
        goes_on.then(|| place::question(&question.node, question.turn))
    }
}

/// The event bound to a question whose answer is not carried out.
fn bound_by(interrupt: &Interrupt, recorded: &Recorded) -> Option<EventId> {
    let bound = interrupt.bound.as_ref()?;
    let is_raised = recorded.raised.contains_key(&interrupt.id);
    let goes_on = interrupt.state.is_live() || InheritedDecision::of(interrupt).is_some();
    (is_raised && goes_on).then(|| bound.event.clone())
}

/// The event of an interrupt that no agent has raised yet, and until when it waits.
async fn waiting(
    store: &dyn Store,
    interrupt: &Interrupt,
) -> Result<Option<(EventId, Option<Timestamp>)>, StoreError> {
    if !matches!(interrupt.state, State::Requested | State::Delivered) {
        return Ok(None);
    }
    let Some(event) = event_of(interrupt) else {
        return Ok(None);
    };
    let row = store.reroute(&event.event_id).await?;
    let row = row.filter(|row| row.state == RerouteState::Pending);
    Ok(row.map(|row| (row.event, Some(row.expires_at))))
}

/// An entry in the form in which another run begins with it.
fn known(intent: Intent, place: String) -> KnownEffect {
    KnownEffect {
        node: intent.node,
        kind: intent.kind,
        place,
        content: intent.content,
        result: "{}".to_owned(),
    }
}

/// Whether its decision can only be carried out by a run that continues, and none has done so.
fn is_left(
    interrupt: &Interrupt,
    run: &Run,
    from: CheckpointId,
    standing: Option<&PlanSnapshot>,
) -> bool {
    let is_pause = interrupt.interrupt_type == InterruptType::Pause
        && !interrupt.is_raised_by_agent()
        && event_of(interrupt).is_none();
    // The question of another run's checkpoint belongs to that run.
    let is_failure = |standing: &PlanSnapshot| {
        let question = standing.question.as_ref().filter(|_| from.run == run.id);
        question.is_some_and(|it| it.interrupt == interrupt.id) && standing.asks_how_to_go_on()
    };
    match standing {
        Some(standing) => {
            (is_pause && (from.run != run.id || !standing.applied.contains(&interrupt.id)))
                || is_failure(standing)
        }
        None => is_pause,
    }
}

/// The decision, as the fork has it in its journal; `None` if it says nothing.
fn effect_of(interrupt: &Interrupt, is_plan: bool) -> Option<KnownEffect> {
    let decision = interrupt.decision.as_ref()?;
    let says_how_to_go_on = matches!(
        decision.verdict,
        Verdict::Resume | Verdict::Respond | Verdict::ModifyPlan | Verdict::Edit
    );
    let content = decision.content.as_deref().filter(|_| says_how_to_go_on)?;
    let said: Value = serde_json::from_str(content).ok()?;
    let kept = content_of_decision(&said, is_plan)?;
    Some(KnownEffect {
        node: interrupt.node.clone(),
        kind: KindName::new(INPUT).ok()?,
        place: said_with(interrupt.id),
        content: kept,
        result: "{}".to_owned(),
    })
}

/// Whether it is input for the run that continues: that run reads it, even if nothing else is left to do.
pub fn is_said(known: &KnownEffect) -> bool {
    known.kind.as_str() == INPUT
}
