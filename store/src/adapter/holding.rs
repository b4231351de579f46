//! What follows from the end of a stop: it releases the questions that it holds, and its run may come to wait.

use interrupts::life::{Family, Interrupt, RunState, Scope, State};
use interrupts::store::{ChangeError, Filter, Pages, StoreError};
use routing_core::{InterruptId, RunId, StopSource};

use crate::operation::{Change, ChangeInterrupt, EndedStop, HeldQuestion, LetGo, PausedRun};
use crate::query::Backend;

/// How many interrupts are read at a time.
const AT_A_TIME: u32 = 256;

/// Makes a change that may end an interrupt. The questions that a stop holds are shown again with its end, and a paused
/// run with nothing but questions open then waits.
pub(super) async fn apply_ending<B: Backend>(
    backend: &B,
    id: InterruptId,
    change: Change,
) -> Result<Interrupt, ChangeError> {
    let ending = end_seen(backend, id).await?;
    let change = ChangeInterrupt { id, change, ending };
    let changed = backend.execute(change).await?;
    follow_the_rest(backend, &changed).await;
    Ok(changed)
}

/// Does what could not be seen to follow when the end of a stop was looked at: it came between that look and the end.
pub(super) async fn follow_the_rest<B: Backend>(backend: &B, ended: &Interrupt) {
    // It is changed by now: if this fails, the run's next owner lets go.
    if let Err(error) = let_go_of_the_rest(backend, ended).await {
        tracing::warn!(stop = %ended.id, %error, "a question may still be held");
    }
}

/// Lets go of what a stop came to hold between the look at what it holds and its end. An ended stop takes no new
/// questions, so this look is the last.
async fn let_go_of_the_rest<B: Backend>(backend: &B, ended: &Interrupt) -> Result<(), ChangeError> {
    if ended.state.is_live() {
        return Ok(());
    }
    let ending = end_seen_of(backend, ended).await?;
    let may_wait = |resting: &PausedRun| resting.pauses.is_empty();
    if ending.held.is_empty() && !ending.resting.as_ref().is_some_and(may_wait) {
        return Ok(());
    }
    let stop = ended.id;
    backend.execute(LetGo { stop, ending }).await
}

/// What is seen of an interrupt that is about to end, where it is a stop.
pub(super) async fn end_seen<B: Backend>(
    backend: &B,
    id: InterruptId,
) -> Result<EndedStop, StoreError> {
    match backend.interrupt(id).await? {
        Some(stop) => end_seen_of(backend, &stop).await,
        None => Ok(EndedStop::default()),
    }
}

async fn end_seen_of<B: Backend>(backend: &B, stop: &Interrupt) -> Result<EndedStop, StoreError> {
    if stop.family() != Family::Stop {
        return Ok(EndedStop::default());
    }
    // Reads the run first: a process that owns it after this look changes it.
    let run = if stop.pauses_run() {
        backend.run(stop.run).await?
    } else {
        None
    };
    let run = run.filter(|run| run.state == RunState::Paused);
    if run.is_none() && !may_hold(stop) {
        return Ok(EndedStop::default());
    }
    let live = live(backend, stop.run).await?;
    Ok(EndedStop {
        held: held_by(stop, &live),
        resting: run.and_then(|run| PausedRun::of(&run, &live, stop.id, backend.now())),
    })
}

/// Only what a user asks for goes before what agents ask.
fn may_hold(stop: &Interrupt) -> bool {
    stop.source == StopSource::User
}

fn held_by(stop: &Interrupt, live: &[Interrupt]) -> Vec<HeldQuestion> {
    if !may_hold(stop) {
        return Vec::new();
    }
    let held = live.iter().filter(|it| it.held_by == Some(stop.id));
    let others = || {
        live.iter()
            .filter(|it| it.family() == Family::Stop && it.source == StopSource::User)
            .filter(|it| it.id != stop.id)
    };
    let held = held.map(|question| HeldQuestion {
        question: question.id,
        next: others().find(|it| reaches(it, question)).map(|it| it.id),
    });
    held.collect()
}

fn reaches(stop: &Interrupt, question: &Interrupt) -> bool {
    match stop.scope {
        Scope::Run => true,
        Scope::Agent => question.node.is_within(&stop.node),
    }
}

/// What is live of a run.
pub(super) async fn live<B: Backend>(
    backend: &B,
    run: RunId,
) -> Result<Vec<Interrupt>, StoreError> {
    let filter = Filter {
        run: Some(run),
        node: None,
        states: State::ALL.into_iter().filter(|it| it.is_live()).collect(),
    };
    let live = Pages::of(AT_A_TIME).values(|page| backend.interrupts(&filter, page));
    live.await
}
