//! Whether there is something to do for a run that waits for people.

use interrupts::life::{RunState, State};
use interrupts::store::{Filter, NodeActivity, Page, Run, Store, StoreError};

/// How many rows one look reads.
const PAGE: u32 = 200;

/// The kind of effect with which a decision is carried out.
const DISPATCH: &str = "dispatch";

/// Whether a run that waits can do anything: a decision is not carried out, something was sent to it, or what it
/// waited for is gone. Of a run in another state, always.
///
/// # Errors
///
/// Where the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn has_news(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    if run.state != RunState::Waiting {
        return Ok(true);
    }
    let arrived = vec![State::Requested, State::Delivered];
    if count(store, run, arrived).await? > 0 || has_undone_decision(store, run).await? {
        return Ok(true);
    }
    let open = vec![State::Acknowledged, State::AwaitingReview];
    Ok(count(store, run, open).await? < waiting_nodes(store, run).await?)
}

async fn count(store: &dyn Store, run: &Run, states: Vec<State>) -> Result<usize, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states,
    };
    let (mut after, mut count) = (0, 0);
    loop {
        let page = Page { after, limit: PAGE };
        let found = store.interrupts(&filter, page).await?;
        count += found.len();
        match found.last() {
            Some((position, _)) => after = *position,
            None => return Ok(count),
        }
    }
}

async fn has_undone_decision(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let undone = store.unknown_effects(run.id, page).await?;
        if undone.iter().any(|it| it.intent.kind.as_str() == DISPATCH) {
            return Ok(true);
        }
        match undone.last() {
            Some(entry) => after = entry.position,
            None => return Ok(false),
        }
    }
}

/// How many nodes wait by themselves: one that waits because one below it does asks nothing.
async fn waiting_nodes(store: &dyn Store, run: &Run) -> Result<usize, StoreError> {
    let (mut after, mut waiting) = (0, Vec::new());
    loop {
        let page = Page { after, limit: PAGE };
        let nodes = store.nodes(Some(run.id), page).await?;
        let Some((position, _)) = nodes.last() else {
            break;
        };
        after = *position;
        let nodes = nodes.into_iter().map(|(_, node)| node);
        let waits = nodes.filter(|node| node.activity == NodeActivity::WaitingReview);
        waiting.extend(waits.map(|node| node.node));
    }
    let lowest = waiting.iter().filter(|node| {
        let mut others = waiting.iter().filter(|other| other != node);
        !others.any(|other| other.is_within(node))
    });
    Ok(lowest.count())
}
