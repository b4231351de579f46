//! Dispatch nodes and their workers.
//!
//! Workers run side by side, each in a flow of its own: its own node, turns, conversation and interrupts. An interrupt
//! stops only its worker, and the answer comes back to that worker alone. If the answer sends it elsewhere, the worker
//! ends; its siblings finish, their results count, and then the run leaves the dispatch node for that target. If
//! several workers are sent elsewhere, the run goes to the first one's target, and to each of the others' when it would
//! otherwise end.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use interrupts::store::NodeActivity;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::agents_run::AgentsRun;
use super::failure::FlowError;
use super::flow::{Flow, FlowEnd, FlowRole, Next, Planner};
use super::node::{Path, WorkDone, Worked};
use super::node_requests::Batch;
use super::pruning;
use super::receive::receive;
use super::resume::Action;
use super::step::turn;
use crate::prompts;
use engine::durable::replay::{self, Replay};
use engine::run::failure::panicked;

/// The action of a batch: its dispatch node starts the workers, waits for all of them, and takes its turn.
pub(super) fn dispatch<'a, B: Batch>(batch: B, flow: &'a Flow) -> Action<'a> {
    Box::pin(async move {
        let mut path = flow.path.lock().await;
        if flow.role == (FlowRole::Worker { dispatch: B::KIND }) {
            go_on::<B>(flow, &mut path, &batch).await?;
            return turn::<B::WorkerRouting>(flow, &mut path).await;
        }
        receive(flow, &mut path, batch.clone()).await?;
        let node = path.top()?;
        let next_turn = node.turn + 1;
        if let Some(cut_off) = flow.engine.journal.cut_off(&node.id, next_turn)?
            && flow.engine.journal.start_of(&node.id, next_turn).is_none()
        {
            // Its workers were cut off with it, or with a node above it.
            flow.advance();
            return pruning::end(flow, &mut path, cut_off.node, cut_off.reason).await;
        }
        flow.set_state(node, NodeActivity::Running);
        match run_workers(flow, &mut path, &batch).await? {
            None => turn::<B::Routing>(flow, &mut path).await,
            Some(Next::Finished(FlowEnd::Interrupted(reason))) => {
                match pruning::wanted(flow, &mut path, next_turn).await? {
                    Some(cut_off) => {
                        flow.advance();
                        pruning::end(flow, &mut path, cut_off.node, cut_off.reason).await
                    }
                    None => Ok(Next::Finished(FlowEnd::Interrupted(reason))),
                }
            }
            Some(next) => Ok(next),
        }
    })
}

/// Applies the answer to a worker's interrupt, or the context that it missed, to this worker alone.
async fn go_on<B: Batch>(flow: &Flow, path: &mut Path, batch: &B) -> Result<(), FlowError> {
    flow.enter(path, B::WORKER).await?;
    let node = path.top()?;
    let mut given = Vec::new();
    for work in batch.work() {
        given.push(serde_json::to_value(work)?);
    }
    // The whole batch again, unchanged: the worker continues with the work that it had.
    let unchanged = node
        .assignment
        .as_ref()
        .is_some_and(|it| given.contains(it));
    if !unchanged && let Some(work) = given.into_iter().next() {
        let work = Arc::new(work);
        let told = Arc::clone(&work);
        node.conversation.tell(move || Ok(prompts::new_work(&told)));
        node.assignment = Some(work);
    }
    Ok(())
}

/// A worker that is to start.
struct Start<B: Batch> {
    flow: Arc<Flow>,
    work: B::Work,
}

/// A worker that has its node.
struct Started {
    id: interrupt_router::NodeId,
    work: Arc<Value>,
    flow: Arc<Flow>,
}

/// How the flow of a worker ended, and its place in the batch.
struct WorkerEnd {
    at: usize,
    end: Result<FlowEnd, FlowError>,
    /// Whether it did something new, not only replayed.
    is_live: bool,
}

/// Runs the workers of a batch. Work that has a result already is not done again.
///
/// If the run does not continue at the dispatch node, returns where it goes instead.
async fn run_workers<B: Batch>(
    flow: &Flow,
    path: &mut Path,
    batch: &B,
) -> Result<Option<Next>, FlowError> {
    let node = path.top()?;
    let mut waiting = VecDeque::new();
    let mut started = Vec::new();
    for work in batch.work() {
        let value = serde_json::to_value(work)?;
        if node.work.iter().any(|done| *done.work == value) {
            continue;
        }
        node.workers += 1;
        let id = node.id.child(&format!("worker-{}", node.workers))?;
        let how = Launch::below(flow, &id, node.workers);
        let value = Arc::new(value);
        let flow = worker_flow::<B>(how, Arc::clone(&value)).await?;
        waiting.push_back((
            started.len(),
            Start::<B> {
                flow: Arc::clone(&flow),
                work: work.clone(),
            },
        ));
        started.push(Started {
            id,
            work: value,
            flow,
        });
    }
    if started.is_empty() {
        return Ok(None);
    }
    let mut ends = run_side_by_side(flow, waiting).await;
    ends.sort_by_key(|ended| ended.at);
    if ends.iter().any(|ended| ended.is_live) {
        // What follows from their results is new, too.
        replay::go_live();
    }
    let mut settled = Settled::default();
    for WorkerEnd { at, end, .. } in ends {
        if let Some(outcome) = settled.take(end)
            && let Some(worker) = started.get(at)
        {
            node.work.push(Arc::new(WorkDone {
                worker: worker.id.clone(),
                work: Arc::clone(&worker.work),
                outcome,
            }));
        }
    }
    for worker in started {
        // Only a worker that panicked has left nodes behind.
        let Started { flow, .. } = worker;
        let mut path = flow.path.lock().await;
        flow.leave_all(&mut path, NodeActivity::Failed).await?;
    }
    if let Some(next) = settled.next(flow)? {
        return Ok(Some(next));
    }
    let done = node.work.clone();
    node.conversation.tell(move || Ok(results_message(&done)));
    Ok(None)
}

/// How a worker begins.
pub(crate) struct Launch {
    pub(crate) engine: Arc<AgentsRun>,
    pub(crate) planner: Arc<Planner>,
    /// The turn of the run's own flow after which it begins.
    pub(crate) began: u64,
    /// Which of its launcher's workers it is, from 1.
    pub(crate) number: usize,
    pub(crate) id: interrupt_router::NodeId,
}

impl Launch {
    /// For a worker of a dispatch node that has the turn.
    fn below(flow: &Flow, id: &interrupt_router::NodeId, number: usize) -> Self {
        Self {
            engine: Arc::clone(&flow.engine),
            planner: Arc::clone(&flow.planner),
            // Its workers begin after what the run's own flow has done.
            began: flow.place().main + 1,
            number,
            id: id.clone(),
        }
    }
}

/// The flow of a worker, with its node in it.
async fn worker_flow<B: Batch>(
    how: Launch,
    assignment: Arc<Value>,
) -> Result<Arc<Flow>, FlowError> {
    let Launch {
        engine,
        planner,
        began,
        number,
        id,
    } = how;
    let worker = Flow {
        engine,
        planner,
        role: FlowRole::Worker { dispatch: B::KIND },
        worker: Some(id.clone()),
        began,
        turns: AtomicU64::new(0),
        path: Mutex::default(),
    };
    {
        let mut path = worker.path.lock().await;
        worker.spawn(&mut path, B::WORKER, id);
        let node = path.top()?;
        node.home = Some(B::KIND);
        node.number = number;
        node.assignment = Some(assignment);
    }
    Ok(Arc::new(worker))
}

/// Runs one worker by itself, to its end.
pub(crate) async fn launch<B: Batch>(how: Launch, work_of: B::Work) -> Result<FlowEnd, FlowError> {
    let value = serde_json::to_value(&work_of)?;
    let start = Start::<B> {
        flow: worker_flow::<B>(how, Arc::new(value)).await?,
        work: work_of,
    };
    work(&start).await
}

/// Runs the flows of workers, as many at a time as the limits allow, and waits for all of them.
///
/// They take their turns in one task: each waits for its model most of the time, and a resumed run has thousands of
/// them to replay.
async fn run_side_by_side<B: Batch>(
    flow: &Flow,
    mut waiting: VecDeque<(usize, Start<B>)>,
) -> Vec<WorkerEnd> {
    let most = flow.engine.limits.parallel_workers.get();
    let mut running = FuturesUnordered::new();
    let mut ends = Vec::new();
    loop {
        while running.len() < most
            && let Some((at, start)) = waiting.pop_front()
        {
            // Each flow determines for itself how far it has been recorded.
            let replay = Replay::since(replay::recorded());
            running.push(replay.clone().around(worked(flow, at, start, replay)));
        }
        match running.next().await {
            None => return ends,
            Some(ended) => ends.push(ended),
        }
    }
}

/// One worker's work, and its place in the batch. A panic in it ends the run, but not the other workers.
async fn worked<B: Batch>(flow: &Flow, at: usize, start: Start<B>, live: Replay) -> WorkerEnd {
    match AssertUnwindSafe(work(&start)).catch_unwind().await {
        Ok(end) => WorkerEnd {
            at,
            end,
            is_live: live.recorded().is_none(),
        },
        Err(panic) => {
            flow.engine.halt();
            WorkerEnd {
                at: usize::MAX,
                end: Err(panicked(&*panic)),
                is_live: true,
            }
        }
    }
}

/// One worker's work, from its first turn to its end. Ends the run if it cannot continue.
async fn work<B: Batch>(start: &Start<B>) -> Result<FlowEnd, FlowError> {
    let flow = &start.flow;
    let first = async {
        let mut path = flow.path.lock().await;
        let node = path.top()?;
        flow.engine.nodes.open(&node.id);
        flow.set_state(node, NodeActivity::Ready);
        flow.engine.blackboard.post(&node.id, start.work.clone());
        if let Some(work) = node.assignment.clone() {
            let id = node.id.clone();
            node.conversation
                .tell(move || Ok(prompts::work(&id, &work)));
        }
        turn::<B::WorkerRouting>(flow, &mut path).await
    };
    let end = match first.await {
        Ok(next) => flow.run(next).await,
        Err(error) => Err(error),
    };
    match &end {
        Ok(
            FlowEnd::Completed(_)
            | FlowEnd::WorkerDone(_)
            | FlowEnd::Pruned(_)
            | FlowEnd::Leaves(_)
            | FlowEnd::Halted,
        ) => {}
        // Its siblings finish their work; the run is stopped then.
        Ok(FlowEnd::Interrupted(_)) => {}
        Ok(FlowEnd::Stopped(_) | FlowEnd::Waiting) | Err(_) => {
            flow.engine.halt();
        }
    }
    flow.settle(&end).await?;
    if replay::recorded().is_none() {
        // Its siblings may work for long yet, and meanwhile it must not be shown as working.
        flow.engine.keep_nodes().await?;
    }
    end
}

/// What the workers' ends mean for the run, the gravest first.
#[derive(Default)]
struct Settled {
    failed: Option<FlowError>,
    interrupted: Option<FlowEnd>,
    stopped: Option<FlowEnd>,
    waiting: bool,
    halted: bool,
    leaves: Vec<crate::records::InterruptRouting>,
}

impl Settled {
    /// The note to the dispatch node about a worker's end, if the node continues at all.
    fn take(&mut self, end: Result<FlowEnd, FlowError>) -> Option<Worked> {
        match end {
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
            Ok(FlowEnd::WorkerDone(result)) => Some(Worked::Result(result)),
            Ok(FlowEnd::Completed(summary)) => Some(Worked::Result(Value::String(summary))),
            Ok(FlowEnd::Pruned(reason)) => Some(Worked::Missing(format!("cut off: {reason}"))),
            Ok(FlowEnd::Leaves(routing)) => {
                self.leaves.push(*routing);
                Some(Worked::Missing(
                    "its interrupt was sent elsewhere".to_owned(),
                ))
            }
            Ok(end @ FlowEnd::Interrupted(_)) => {
                self.interrupted.get_or_insert(end);
                None
            }
            Ok(end @ FlowEnd::Stopped(_)) => {
                self.stopped.get_or_insert(end);
                None
            }
            Ok(FlowEnd::Waiting) => {
                self.waiting = true;
                None
            }
            Ok(FlowEnd::Halted) => {
                self.halted = true;
                None
            }
        }
    }

    /// Where the run goes, if it does not continue at the dispatch node.
    fn next(self, flow: &Flow) -> Result<Option<Next>, FlowError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some(end) = self.interrupted.or(self.stopped) {
            return Ok(Some(Next::Finished(end)));
        }
        if self.waiting {
            return Ok(Some(Next::Finished(FlowEnd::Waiting)));
        }
        if self.halted {
            return Ok(Some(Next::Finished(FlowEnd::Halted)));
        }
        let mut leaves = self.leaves.into_iter();
        let first = leaves.next().map(Next::routing);
        for later in leaves {
            flow.engine.go_later(later);
        }
        Ok(first)
    }
}

/// The workers' results, for their dispatch node.
fn results_message(done: &[Arc<WorkDone>]) -> String {
    let results: Vec<Value> = done
        .iter()
        .map(|done| match &done.outcome {
            Worked::Result(result) => {
                json!({ "worker": done.worker, "work": *done.work, "result": result })
            }
            Worked::Missing(note) => {
                json!({ "worker": done.worker, "work": *done.work, "noResult": note })
            }
        })
        .collect();
    format!(
        "[results]\nYour workers are done. What they brought:\n{:#}",
        Value::Array(results)
    )
}
