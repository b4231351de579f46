//! How far a run has come, read from its store by anybody, in any process and after any restart.

use std::collections::{HashMap, HashSet};

use interrupts::KindName;
use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::{Filter, JournalEntry, NodeActivity, Page, Run, Store, StoreError};
use jiff::Timestamp;
use routing_core::{InterruptId, InterruptType, NodeId, RunId, StopSource};
use serde::{Deserialize, Serialize};

use super::RunOrder;
use crate::plan_execute::{Phase, PlanEnd, PlanStanding};
use engine::durable::allowance::{ALLOWANCE, Allowance};
use engine::durable::attempts::{ATTEMPT, AttemptEnd, AttemptIntent};
use engine::durable::entry::CallResult;
use engine::durable::journal::MODEL_CALL;
use engine::durable::place;
use engine::run::RunSnapshot;

/// How many rows are read together.
const PAGE: u32 = 500;

/// How far a run has come, and what stopped it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// The run.
    pub run: RunId,
    /// Where it stands.
    pub state: RunState,
    /// Its steps.
    pub steps: Steps,
    /// Its current plan: the agents that were given work, each below the one that gave it, in the order in which
    /// they came to be.
    pub plan: Vec<PlannedNode>,
    /// The interrupt that it waits for, the one that goes first; where it waits for none, the last one it had.
    pub interrupt: Option<LastInterrupt>,
    /// What came of it, once its work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// The steps of a run: the answers that its agents were asked for, corrections not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// How many are done: answered, and that is recorded.
    pub completed: u32,
    /// How many have begun, the completed ones included.
    pub total: u32,
    /// How many it may take at most, as it was ordered or as whoever resumed it last has changed that; `None` where
    /// its order cannot be read.
    pub most: Option<u32>,
}

/// A node in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedNode {
    /// Its id, which begins with that of the node above it.
    pub node: NodeId,
    /// Its kind.
    pub kind: KindName,
    /// What it does.
    pub activity: NodeActivity,
    /// The step that it took last, from 1; 0 before its first.
    pub step: u32,
}

/// The interrupt that matters now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastInterrupt {
    /// Its id.
    pub id: InterruptId,
    /// Its kind.
    #[serde(rename = "type")]
    pub interrupt_type: InterruptType,
    /// Who is behind it.
    pub source: StopSource,
    /// The node that it concerns.
    pub node: NodeId,
    /// Why.
    pub reason: String,
    /// When it was requested.
    pub at: Timestamp,
    /// Where it stands.
    pub state: State,
}

impl RunProgress {
    /// Reads how far a run has come; `None` where there is no such run. Whether a process executes it is for the caller
    /// to say: the agents of one that was left at its work do nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn of(
        store: &dyn Store,
        run: RunId,
        is_executed: impl FnOnce(&Run) -> bool,
    ) -> Result<Option<Self>, StoreError> {
        let Some(row) = store.run(run).await? else {
            return Ok(None);
        };
        let for_nodes = row.state_for_nodes(is_executed(&row));
        let Counted {
            completed,
            total,
            most,
        } = steps(store, run).await?;
        let order = RunOrder::from_content(&row.content).ok();
        let (interrupt, open) = interrupts(store, run).await?;
        Ok(Some(Self {
            run,
            state: row.state,
            steps: Steps {
                completed,
                total,
                most: most.or(order.map(|order| order.limits.max_steps)),
            },
            plan: plan(store, (run, for_nodes), &open).await?,
            interrupt,
            result: result(store, &row).await?,
        }))
    }
}

/// What came of a run, as its last checkpoint says. One of another program's workflow says nothing.
async fn result(store: &dyn Store, run: &Run) -> Result<Option<String>, StoreError> {
    if run.state != RunState::Completed {
        return Ok(None);
    }
    let last = match store.last_checkpoint(run.id).await {
        // That nothing can be read of it is told to whoever goes on from it.
        Err(StoreError::DamagedCheckpoint { .. }) => None,
        last => last?,
    };
    let Some(last) = last else {
        return Ok(None);
    };
    if let Ok(standing) = PlanStanding::of(&last) {
        return Ok(match standing.state.phase() {
            Phase::Ended(PlanEnd::Completed { response }) => Some(response.clone()),
            Phase::Created
            | Phase::Working { .. }
            | Phase::Asking { .. }
            | Phase::BackingOff { .. }
            | Phase::Held(_)
            | Phase::Ended(PlanEnd::Cancelled { .. }) => None,
        });
    }
    let snapshot = serde_json::from_str::<RunSnapshot>(&last.content).ok();
    Ok(snapshot.and_then(|snapshot| snapshot.result))
}

/// The steps of a run: the completed ones, those that have begun, and how many it may take where that was changed.
struct Counted {
    completed: u32,
    total: u32,
    most: Option<u32>,
}

/// How many steps a run has taken, in whatever processes: those whose model was called.
pub(crate) async fn steps_taken(store: &dyn Store, run: RunId) -> Result<u32, StoreError> {
    Ok(steps(store, run).await?.total)
}

async fn steps(store: &dyn Store, run: RunId) -> Result<Counted, StoreError> {
    let mut counting = Counting::default();
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let entries = store.journal(run, page).await?;
        let Some(last) = entries.last() else {
            return Ok(counting.counted());
        };
        after = last.position;
        entries.iter().for_each(|entry| counting.take(entry));
    }
}

/// The steps among the entries of a journal.
#[derive(Default)]
struct Counting {
    most: Option<u32>,
    /// The calls that were begun, each with its step.
    begun: Vec<(String, String)>,
    done: HashSet<String>,
    /// The calls that were tried, and whether they were made in any of the tries. The first try of a call has no entry
    /// of its own until it ends without an answer.
    tries: HashMap<String, bool>,
}

impl Counting {
    fn take(&mut self, entry: &JournalEntry) {
        let result = entry.result.as_ref();
        match entry.intent.kind.as_str() {
            ALLOWANCE => {
                let changed = serde_json::from_str::<Allowance>(&entry.intent.content);
                self.most = changed.ok().and_then(|it| it.max_steps).or(self.most);
            }
            ATTEMPT => {
                let Ok(intent) = serde_json::from_str::<AttemptIntent>(&entry.intent.content)
                else {
                    return;
                };
                let end = result.map(|it| serde_json::from_str::<AttemptEnd>(&it.content));
                let was_made = !matches!(end, Some(Ok(end)) if end.was_not_made());
                *self.tries.entry(intent.call).or_default() |= was_made;
            }
            MODEL_CALL => {
                let Some(place) = &entry.intent.place else {
                    return;
                };
                let Some(step) = place::step_of(place) else {
                    return;
                };
                self.begun.push((place.clone(), step.to_owned()));
                if result.is_some_and(|it| is_answer(&it.content)) {
                    self.done.insert(step.to_owned());
                }
            }
            // What else is in the journal is no part of a step.
            _ => {}
        }
    }

    fn counted(self) -> Counted {
        let was_made = |call: &str| self.tries.get(call).copied().unwrap_or(true);
        let begun = self.begun.iter().filter(|(call, _step)| was_made(call));
        let begun: HashSet<&str> = begun.map(|(_call, step)| step.as_str()).collect();
        let count = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        Counted {
            completed: count(self.done.len()),
            total: count(begun.len().max(self.done.len())),
            most: self.most,
        }
    }
}

/// Whether a model's recorded answer is one, and no request for tools that comes before it.
fn is_answer(content: &str) -> bool {
    serde_json::from_str::<CallResult>(content).is_ok_and(|result| result.tool_requests.is_empty())
}

async fn plan(
    store: &dyn Store,
    (run, state): (RunId, RunState),
    open: &[Interrupt],
) -> Result<Vec<PlannedNode>, StoreError> {
    let mut plan = Vec::new();
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let rows = store.nodes(Some(run), page).await?;
        let Some((last, _row)) = rows.last() else {
            return Ok(plan);
        };
        after = *last;
        plan.extend(rows.into_iter().map(|(_position, row)| PlannedNode {
            activity: row.stands(state, open),
            node: row.node,
            kind: row.kind,
            step: row.step,
        }));
    }
}

/// The interrupt of a run that matters now, and all that have not ended.
async fn interrupts(
    store: &dyn Store,
    run: RunId,
) -> Result<(Option<LastInterrupt>, Vec<Interrupt>), StoreError> {
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let (mut open, mut last): (Vec<Interrupt>, Option<Interrupt>) = (Vec::new(), None);
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let found = store.interrupts(&filter, page).await?;
        let Some((position, _)) = found.last() else {
            // The first of those that go first.
            let first_open = open.iter().min_by_key(|interrupt| interrupt.lane());
            let matters = first_open.cloned().or(last).map(LastInterrupt::from);
            return Ok((matters, open));
        };
        after = *position;
        for (_position, interrupt) in found {
            if interrupt.state.is_live() {
                open.push(interrupt);
            } else {
                last = Some(interrupt);
            }
        }
    }
}

impl From<Interrupt> for LastInterrupt {
    fn from(interrupt: Interrupt) -> Self {
        Self {
            id: interrupt.id,
            interrupt_type: interrupt.interrupt_type,
            source: interrupt.source,
            node: interrupt.node,
            reason: interrupt.reason,
            at: interrupt.requested_at,
            state: interrupt.state,
        }
    }
}
