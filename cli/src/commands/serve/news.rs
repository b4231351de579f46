//! Whether a run that waits for people has something to do.

use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::{Filter, NodeActivity, NodeRow, Pages, Run, Store, StoreError};
use journal::Workflow;

use crate::listing::interrupts_in;
use crate::run_owner::workflow_of;

/// How many rows are read at a time.
const PAGE: u32 = 200;

/// Whether a waiting run can do anything: a decision is not carried out, it was sent something, what it waited for is gone,
/// or an agent was stopped that can work although others wait. Always true for a run in another state.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn has_news(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    if run.state != RunState::Waiting {
        return Ok(true);
    }
    let arrived = vec![State::Requested, State::Delivered];
    if !of_run(store, run, arrived).await?.is_empty() || has_undone_decision(store, run).await? {
        return Ok(true);
    }
    let open = of_run(store, run, vec![State::Acknowledged, State::AwaitingReview]).await?;
    let nodes = nodes(store, run).await?;
    let works = |node: &NodeRow| can_work(node, &workflow_of(run), &open);
    let was_stopped = |node: &NodeRow| works(node) && !has_live_below(&nodes, node);
    Ok(open.len() < waiting_nodes(&nodes) || nodes.iter().any(was_stopped))
}

async fn of_run(
    store: &dyn Store,
    run: &Run,
    states: Vec<State>,
) -> Result<Vec<Interrupt>, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states,
    };
    interrupts_in(store, &filter).await
}

async fn has_undone_decision(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    let mut pages = Pages::of(PAGE);
    while let Some(undone) = pages
        .next(|page| store.unknown_effects(run.id, page))
        .await?
    {
        if undone.iter().any(|it| it.dispatched().is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn nodes(store: &dyn Store, run: &Run) -> Result<Vec<NodeRow>, StoreError> {
    let all = Pages::of(PAGE).values(|page| store.nodes(Some(run.id), page));
    all.await
}

/// How many nodes wait on their own: a node that waits because one below it does asks nothing.
fn waiting_nodes(nodes: &[NodeRow]) -> usize {
    let waits = |node: &&NodeRow| node.activity == NodeActivity::WaitingReview;
    let waiting: Vec<&NodeRow> = nodes.iter().filter(waits).collect();
    let lowest = waiting.iter().filter(|node| {
        let mut others = waiting.iter().filter(|other| other.node != node.node);
        !others.any(|other| other.node.is_within(&node.node))
    });
    lowest.count()
}

/// Whether a node has work that does not wait for a person, unless that is with the nodes below it.
fn can_work(node: &NodeRow, workflow: &Workflow, open: &[Interrupt]) -> bool {
    let was_at_it = node.activity == NodeActivity::Running;
    match node.activity_in(RunState::Waiting, open) {
        NodeActivity::Running => true,
        // In a plan one agent has the turn, and the others are ready for theirs.
        NodeActivity::Pending | NodeActivity::Ready => *workflow == Workflow::Agents || was_at_it,
        NodeActivity::WaitingReview
        | NodeActivity::Paused
        | NodeActivity::Completed
        | NodeActivity::Failed
        | NodeActivity::Cancelled
        | NodeActivity::Pruned => false,
    }
}

fn has_live_below(nodes: &[NodeRow], node: &NodeRow) -> bool {
    let below = |other: &NodeRow| other.node != node.node && other.node.is_within(&node.node);
    let mut others = nodes.iter().filter(|other| below(other));
    others.any(|other| !other.activity.is_final())
}

#[cfg(test)]
mod tests {
    use agents::run::RunOrder;
    use engine::run::RunLimits;
    use interrupt_router::{NodeId, RunId};
    use interrupts::KindName;
    use interrupts::life::RunState;
    use interrupts::store::{Delivery, NewRun, NodeActivity, NodeRow, Nodes as _, Runs as _};
    use jiff::{SignedDuration, Timestamp};
    use journal::Allowance;
    use journal::Workflow;
    use store::{MemoryStore, StoreSettings};

    use super::has_news;
    use crate::run_owner::own_name;

    fn order(workflow: Workflow) -> RunOrder {
        RunOrder {
            input: None,
            version: RunOrder::VERSION,
            workflow,
            goal: "Describe the bakery".to_owned(),
            workspace: "/".to_owned(),
            model: "rehearsal".to_owned(),
            base_url: None,
            seed: 1,
            script: None,
            limits: RunLimits::default(),
            allowance: Allowance::default(),
            tools: None,
        }
    }

    /// Whether there is news for a run that waits and has these nodes.
    async fn news(workflow: Workflow, nodes: &[(&str, NodeActivity)]) -> bool {
        let store = MemoryStore::new(StoreSettings::default());
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: order(workflow).to_content().unwrap(),
        };
        let run = store.create_run(new).await.unwrap().id;
        let owner = Delivery {
            owner: own_name().unwrap(),
            lease: SignedDuration::from_secs(60),
            lost: None,
        };
        let epoch = store.own_run(run, owner).await.unwrap().epoch;
        let row = |(node, activity): &(&str, NodeActivity)| NodeRow {
            run,
            node: NodeId::new(*node).unwrap(),
            kind: KindName::new("AGENT").unwrap(),
            activity: *activity,
            takes_messages: false,
            turn: 1,
            step: 1,
            tokens: 0,
            since: Timestamp::UNIX_EPOCH,
            waits: None,
        };
        let rows = nodes.iter().map(row).collect();
        store.put_nodes(run, epoch, rows).await.unwrap();
        for state in [RunState::Running, RunState::Waiting] {
            store.change_run(run, epoch, state, None).await.unwrap();
        }
        let run = store.run(run).await.unwrap().unwrap();
        has_news(&store, &run).await.unwrap()
    }

    #[tokio::test]
    async fn an_agent_that_was_stopped_at_its_work_has_something_to_do_whoever_waits() {
        use NodeActivity::{Completed, Paused, Ready, Running};
        let above = ("root", Running);
        for stopped in [Running, Ready, Paused] {
            assert!(news(Workflow::Agents, &[above, ("root/a", stopped)]).await);
        }
        assert!(
            !news(
                Workflow::Agents,
                &[("root", Completed), ("root/a", Completed)]
            )
            .await
        );
        // Another agent of a plan has the turn.
        assert!(!news(Workflow::PlanExecute, &[("root/planner", Ready)]).await);
        assert!(news(Workflow::PlanExecute, &[above, ("root/executor", Running)]).await);
    }
}
