//! What a stop holds, before and after it ends.

use interrupts::life::{Family, Interrupt, Scope, State};
use interrupts::store::{ChangeError, Filter, Page, StoreError};
use routing_core::{InterruptId, StopSource};

use crate::operation::{Change, ChangeInterrupt, Held, LetGo};
use crate::query::Backend;

/// How many interrupts are read at a time.
const AT_A_TIME: u32 = 256;

/// Makes a change that may end an interrupt. The questions that a stop holds are shown again with its end.
pub(super) async fn apply_ending<B: Backend>(
    backend: &B,
    id: InterruptId,
    change: Change,
) -> Result<Interrupt, ChangeError> {
    let held = held_by(backend, id).await?;
    let change = ChangeInterrupt { id, change, held };
    let changed = backend.execute(change).await?;
    // It is changed by now: what fails here is let go by whoever keeps the run next.
    if let Err(error) = let_go_of_the_rest(backend, &changed).await {
        tracing::warn!(stop = %id, %error, "a question may still be held");
    }
    Ok(changed)
}

/// Lets go of what a stop came to hold between the look at what it holds and its end. Nothing comes to be held by
/// one that has ended, so this look is the last.
pub(super) async fn let_go_of_the_rest<B: Backend>(
    backend: &B,
    ended: &Interrupt,
) -> Result<(), ChangeError> {
    if ended.state.is_live() {
        return Ok(());
    }
    let held = held_by_stop(backend, ended).await?;
    if held.is_empty() {
        return Ok(());
    }
    let stop = ended.id;
    backend.execute(LetGo { stop, held }).await
}

/// The questions that an interrupt holds: only a stop holds any.
pub(super) async fn held_by<B: Backend>(
    backend: &B,
    id: InterruptId,
) -> Result<Vec<Held>, StoreError> {
    match backend.interrupt(id).await? {
        Some(stop) => held_by_stop(backend, &stop).await,
        None => Ok(Vec::new()),
    }
}

async fn held_by_stop<B: Backend>(backend: &B, stop: &Interrupt) -> Result<Vec<Held>, StoreError> {
    // Only what a user asks for goes before what agents ask.
    if stop.family() != Family::Stop || stop.source != StopSource::User {
        return Ok(Vec::new());
    }
    let live = live(backend, stop).await?;
    let held = live.iter().filter(|it| it.held_by == Some(stop.id));
    let others = || {
        live.iter()
            .filter(|it| it.family() == Family::Stop && it.source == StopSource::User)
            .filter(|it| it.id != stop.id)
    };
    let held = held.map(|question| Held {
        question: question.id,
        next: others().find(|it| reaches(it, question)).map(|it| it.id),
    });
    Ok(held.collect())
}

fn reaches(stop: &Interrupt, question: &Interrupt) -> bool {
    match stop.scope {
        Scope::Run => true,
        Scope::Agent => question.node.is_within(&stop.node),
    }
}

async fn live<B: Backend>(backend: &B, of: &Interrupt) -> Result<Vec<Interrupt>, StoreError> {
    let filter = Filter {
        run: Some(of.run),
        node: None,
        states: State::ALL.into_iter().filter(|it| it.is_live()).collect(),
    };
    let mut live = Vec::new();
    let mut page = Page {
        after: 0,
        limit: AT_A_TIME,
    };
    loop {
        let found = backend.interrupts(&filter, page).await?;
        let Some((last, _)) = found.last() else {
            return Ok(live);
        };
        page.after = *last;
        live.extend(found.into_iter().map(|(_position, interrupt)| interrupt));
    }
}
