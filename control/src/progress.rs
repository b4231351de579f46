//! How far a run has come, read from its store: by any process, also after restarts.

use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopSource};
use interrupts::KindName;
use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::{Filter, NodeActivity, Pages, Run, Store, StoreError};
use jiff::Timestamp;
use journal::{RunHeader, RunSnapshot, Steps, steps_of};
use planning::{Phase, PlanEnd, PlanSnapshot};
use serde::{Deserialize, Serialize};

/// How many rows are read together.
const PAGE: u32 = 500;

/// How far a run has come, and what stopped it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// The run.
    pub run: RunId,
    /// Its state.
    pub state: RunState,
    /// Its steps.
    pub steps: Steps,
    /// Its current plan: the agents that were given work, each below the one that gave it, in the order in which
    /// they came to be.
    pub plan: Vec<PlannedNode>,
    /// The interrupt that it waits for, the one that goes first; if it waits for none, its last one.
    pub interrupt: Option<LastInterrupt>,
    /// What came of it, once its work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A node in the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// Its state.
    pub state: State,
}

impl RunProgress {
    /// Reads how far a run has come; `None` if there is no such run. The caller says whether a process executes it: the
    /// agents of an abandoned run do nothing.
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
        let mut steps = steps_of(store, run).await?;
        if steps.most.is_none() {
            let header = RunHeader::from_content(&row.content).ok();
            steps.most = header.and_then(|header| header.max_steps());
        }
        let (interrupt, open) = interrupts(store, run).await?;
        Ok(Some(Self {
            run,
            state: row.state,
            steps,
            plan: plan(store, (run, for_nodes), &open).await?,
            interrupt,
            result: Self::result_of(store, &row).await?,
        }))
    }

    /// The result of a completed run, from its last checkpoint. Runs of another program's workflow have none there.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn result_of(store: &dyn Store, run: &Run) -> Result<Option<String>, StoreError> {
        if run.state != RunState::Completed {
            return Ok(None);
        }
        let last = match store.last_checkpoint(run.id).await {
            // Going on from it reports the damage.
            Err(StoreError::DamagedCheckpoint { .. }) => None,
            last => last?,
        };
        let Some(last) = last else {
            return Ok(None);
        };
        if let Ok(snapshot) = PlanSnapshot::of(&last) {
            return Ok(match snapshot.state.phase() {
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
}

async fn plan(
    store: &dyn Store,
    (run, state): (RunId, RunState),
    open: &[Interrupt],
) -> Result<Vec<PlannedNode>, StoreError> {
    let mut plan = Vec::new();
    let mut pages = Pages::of(PAGE);
    while let Some(rows) = pages.next(|page| store.nodes(Some(run), page)).await? {
        plan.extend(rows.into_iter().map(|(_position, row)| PlannedNode {
            activity: row.activity_in(state, open),
            node: row.node,
            kind: row.kind,
            step: row.step,
        }));
    }
    Ok(plan)
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
    let mut pages = Pages::of(PAGE);
    while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
        for (_position, interrupt) in found {
            if interrupt.state.is_live() {
                open.push(interrupt);
            } else {
                last = Some(interrupt);
            }
        }
    }
    // The first of those that go first.
    let first_open = open.iter().min_by_key(|interrupt| interrupt.lane());
    let matters = first_open.cloned().or(last).map(LastInterrupt::from);
    Ok((matters, open))
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
