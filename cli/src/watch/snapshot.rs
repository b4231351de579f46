//! What the screens show, at one moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use control::{AskAgents, AskJournal, AskRuns, LIVE};
use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::{Interrupt, State};
use interrupts::store::{Filter, JournalEntry, NodeRow, Page, Pages, Run};
use jiff::Timestamp;
use planning::{StoredPlan, is_plan};
use serde_json::Value;

use crate::backend::Backend;
use crate::exit::Failure;
use crate::plan;
use crate::run_owner::has_process;
use crate::view::goal;
use crate::visible::visible_line;

/// The most runs that are shown.
const MOST_RUNS: u32 = 200;
/// The most agents of a run, interrupts, or lines of a stream that are shown.
const MOST_ROWS: u32 = 500;

/// A run and its agents.
#[derive(Debug, Clone)]
pub(super) struct RunView {
    pub(super) run: Run,
    /// What it shall do, in one line.
    pub(super) goal: String,
    pub(super) nodes: Vec<NodeRow>,
    /// Its plan, if it carries out one and has saved it.
    pub(super) plan: Option<Arc<StoredPlan>>,
}

/// A line of a run's stream.
#[derive(Debug, Clone)]
pub(super) struct StreamLine {
    pub(super) at: Timestamp,
    pub(super) node: NodeId,
    /// What kind of effect it is.
    pub(super) kind: String,
    /// What came of it, in one line; nothing while it is under way.
    pub(super) result: Option<String>,
}

/// Everything that the screens show.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    pub(super) runs: Vec<RunView>,
    /// Interrupts that are under way, those of people first.
    pub(super) interrupts: Vec<Interrupt>,
    /// Whether more of them are under way than were read.
    pub(super) more_interrupts: bool,
    /// The last effects of the run that is looked at.
    pub(super) stream: Vec<StreamLine>,
    /// The interrupts that are followed and have ended.
    pub(super) ended: Vec<Interrupt>,
    /// Those that are followed and are not there any more.
    pub(super) gone: Vec<InterruptId>,
    /// The name of the user at this terminal, as it is recorded with their actions.
    pub(super) me: Option<String>,
}

/// What is to be read beside what is always read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SnapshotRequest {
    /// The run whose stream is shown.
    pub(super) run: Option<RunId>,
    /// Interrupts whose ends are waited for: one that a list does not name may be newer than the list.
    pub(super) followed: Vec<InterruptId>,
}

/// Reads the backend again and again. What only grows is read on from where it was left.
pub(super) struct SnapshotReader {
    from: Arc<dyn Backend>,
    /// By their positions in the journal.
    stream: BTreeMap<u64, StreamLine>,
    /// The plans of runs, each as of the checkpoint of this number.
    plans: HashMap<RunId, (u64, Option<Arc<StoredPlan>>)>,
    me: Option<String>,
    looked_at: Option<RunId>,
    /// The only run that is shown, if it is one; nothing is read of others then.
    only: Option<RunId>,
}

impl SnapshotReader {
    pub(super) fn new(from: Arc<dyn Backend>, only: Option<RunId>) -> Self {
        Self {
            from,
            stream: BTreeMap::new(),
            plans: HashMap::new(),
            me: None,
            looked_at: None,
            only,
        }
    }

    /// The runs that are shown.
    async fn runs(&self) -> Result<Vec<Run>, Failure> {
        if let Some(only) = self.only {
            return Ok(self.from.run(only).await?.into_iter().collect());
        }
        let live = self
            .from
            .ask(AskRuns {
                states: LIVE.to_vec(),
                page: first(MOST_RUNS),
            })
            .await?;
        Ok(live.into_iter().map(|(_position, run)| run).collect())
    }

    /// Reads what there is now, with what is wanted beside it.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn read(&mut self, wanted: &SnapshotRequest) -> Result<Snapshot, Failure> {
        if self.me.is_none() {
            self.me = Some(self.from.my_name().await?);
        }
        let mut runs = Vec::new();
        for run in self.runs().await? {
            let nodes = self
                .from
                .ask(AskAgents {
                    run: run.id,
                    page: first(MOST_ROWS),
                })
                .await?;
            let plan = self.plan_of(&run).await;
            runs.push(RunView {
                plan,
                goal: visible_line(&goal(&run).unwrap_or_default()),
                nodes: nodes.into_iter().map(|(_, node)| node).collect(),
                run,
            });
        }
        let is_shown = |id: &RunId| runs.iter().any(|view| view.run.id == *id);
        self.plans.retain(|id, _| is_shown(id));
        if wanted.run != self.looked_at {
            self.stream.clear();
            self.looked_at = wanted.run;
        }
        self.read_stream().await?;
        let Followed {
            open: interrupts,
            more,
            ended,
            gone,
        } = open(&*self.from, self.only, &wanted.followed).await?;
        for view in &mut runs {
            let state = view.run.state_for_nodes(has_process(&view.run));
            for node in &mut view.nodes {
                node.activity = node.activity_in(state, &interrupts);
            }
        }
        Ok(Snapshot {
            runs,
            interrupts,
            more_interrupts: more,
            ended,
            gone,
            stream: self.stream.values().cloned().collect(),
            me: self.me.clone(),
        })
    }

    /// The plan of a run, read again if it has saved another one.
    async fn plan_of(&mut self, run: &Run) -> Option<Arc<StoredPlan>> {
        if let Some((number, plan)) = self.plans.get(&run.id)
            && *number == run.checkpoint
        {
            return plan.clone();
        }
        let plan = if is_plan(run) {
            // `irq plan` reports what cannot be read; the screens show the run without it.
            let read = plan::saved(&*self.from, run).await;
            read.ok().flatten().map(Arc::new)
        } else {
            None
        };
        self.plans.insert(run.id, (run.checkpoint, plan.clone()));
        plan
    }

    /// Reads on from the first effect that was under way: its result may be there now.
    async fn read_stream(&mut self) -> Result<(), Failure> {
        let Some(run) = self.looked_at else {
            return Ok(());
        };
        let begun =
            |(position, line): (&u64, &StreamLine)| line.result.is_none().then_some(*position);
        let after = match self.stream.iter().find_map(begun) {
            Some(under_way) => under_way.saturating_sub(1),
            None => self.stream.keys().next_back().copied().unwrap_or(0),
        };
        let mut pages = Pages::after(after, MOST_ROWS);
        while let Some(entries) = pages
            .next(|page| self.from.ask(AskJournal { run, page }))
            .await?
        {
            for entry in &entries {
                self.stream.insert(entry.position, line(entry));
            }
            while self.stream.len() > MOST_ROWS as usize {
                self.stream.pop_first();
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// A run that is shown.
    pub(super) fn run(&self, id: RunId) -> Option<&RunView> {
        self.runs.iter().find(|view| view.run.id == id)
    }

    /// An interrupt that is shown.
    pub(super) fn interrupt(&self, id: InterruptId) -> Option<&Interrupt> {
        let known = self.interrupts.iter().chain(&self.ended);
        known.into_iter().find(|interrupt| interrupt.id == id)
    }

    /// Whether a followed interrupt is known to have ended.
    pub(super) fn has_ended(&self, id: InterruptId) -> bool {
        self.gone.contains(&id) || self.ended.iter().any(|interrupt| interrupt.id == id)
    }

    /// The interrupts that wait for a person, in the order in which they should be answered.
    pub(super) fn inbox(&self) -> impl Iterator<Item = &Interrupt> {
        self.interrupts
            .iter()
            .filter(|interrupt| interrupt.state == State::AwaitingReview)
    }
}

const fn first(limit: u32) -> Page {
    Page { after: 0, limit }
}

/// The interrupts that are under way, and what became of those that are followed.
struct Followed {
    open: Vec<Interrupt>,
    /// Whether more are under way than were read.
    more: bool,
    ended: Vec<Interrupt>,
    gone: Vec<InterruptId>,
}

/// The interrupts that are under way, and those of the followed that have ended.
async fn open(
    from: &dyn Backend,
    run: Option<RunId>,
    followed: &[InterruptId],
) -> Result<Followed, Failure> {
    let filter = Filter {
        run,
        states: State::ALL
            .into_iter()
            .filter(|state| state.is_live() || *state == State::DeadLettered)
            .collect(),
        ..Filter::default()
    };
    let rows = from.interrupts(&filter, first(MOST_ROWS)).await?;
    let more = rows.len() >= MOST_ROWS as usize;
    let mut open: Vec<Interrupt> = rows
        .into_iter()
        .map(|(_position, interrupt)| interrupt)
        .collect();
    let (mut ended, mut gone) = (Vec::new(), Vec::new());
    for id in followed {
        if open.iter().any(|interrupt| interrupt.id == *id) {
            continue;
        }
        match from.interrupt(*id).await? {
            Some(interrupt) if !interrupt.state.is_final() => open.push(interrupt),
            Some(interrupt) => ended.push(interrupt),
            None => gone.push(*id),
        }
    }
    // The order within a lane is that of admission, which the list has.
    open.sort_by_key(|interrupt| interrupt.lane().priority());
    Ok(Followed {
        open,
        more,
        ended,
        gone,
    })
}

fn line(entry: &JournalEntry) -> StreamLine {
    let result = entry.result.as_ref().map(|result| gist(&result.content));
    StreamLine {
        at: entry
            .result
            .as_ref()
            .map_or(entry.begun_at, |result| result.at),
        node: entry.intent.node.clone(),
        kind: entry.intent.kind.to_string().replace('_', " "),
        result,
    }
}

/// The text of a result in one line: what a model answered, if it is an answer.
fn gist(content: &str) -> String {
    let value: Value = serde_json::from_str(content).unwrap_or_default();
    let text = value.get("text").and_then(Value::as_str).unwrap_or(content);
    visible_line(text.trim())
}
