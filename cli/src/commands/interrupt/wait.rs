//! Waiting until an interrupt reaches a state.

use std::time::Duration;

use control::AskAgent;
use interrupt_router::StopMode;
use interrupts::life::{Family, Interrupt, Scope, State};
use jiff::SignedDuration;
use tokio::time::{Instant, sleep, timeout_at};

use crate::address::full;
use crate::advice::continuing;
use crate::backend::Backend;
use crate::exit::{Exit, Failure};
use crate::refused::no_interrupt;
use crate::run_owner::has_process;
use crate::state_words::state_words;

/// How long to wait for what follows a stop that took effect: usually it is recorded right after it.
const SETTLING: Duration = Duration::from_secs(2);

/// Waits until the interrupt has, or has had, a state. Returns it as it is then. If the process of the stop's run dies
/// meanwhile, the stop is carried out here.
///
/// # Errors
///
/// [`Exit::TimedOut`] if that takes too long, [`Exit::Conflict`] if it ended otherwise.
///
/// # Cancel safety
///
/// If dropped, the stop may have taken effect, and its run may be owned for some seconds more.
pub(super) async fn wait(
    from: &dyn Backend,
    interrupt: &Interrupt,
    wanted: State,
    patience: SignedDuration,
) -> Result<Interrupt, Failure> {
    let patience_in_full = Duration::try_from(patience).unwrap_or(Duration::MAX);
    let id = interrupt.id;
    let reached = async {
        let mut reached_at = None;
        loop {
            let found = from.interrupt(id).await?;
            let now = found.ok_or_else(|| no_interrupt(id))?;
            if has_reached(&now, wanted) {
                let since = *reached_at.get_or_insert_with(Instant::now);
                let settles = wanted == State::Acknowledged && now.state == State::Acknowledged;
                if !settles || since.elapsed() >= SETTLING {
                    return Ok(now);
                }
            }
            if now.state.is_final() || now.state == State::DeadLettered {
                return Err(never(from, &now, wanted).await?);
            }
            if now.family() == Family::Stop && now.acknowledged_at.is_none() {
                from.see_to(&now).await?;
            }
            sleep(from.pace()).await;
        }
    };
    let Some(deadline) = Instant::now().checked_add(patience_in_full) else {
        return reached.await;
    };
    if let Ok(reached) = timeout_at(deadline, reached).await {
        return reached;
    }
    let run = from.run(interrupt.run).await?;
    let text = format!("{id} was not {wanted} within {patience:#}");
    let now = from.interrupt(id).await?;
    if now.is_some_and(|now| now.state == State::AwaitingReview) {
        let going_on = run.as_ref().map(continuing);
        let going_on = going_on.map_or_else(String::new, |way| format!(", {way} goes on"));
        let hint = format!(
            "its agent has stopped, and it waits for you: `irq review {id}` decides it{going_on}"
        );
        return Err(Failure::new(Exit::TimedOut, text).hint(hint));
    }
    let hint = match run.filter(|run| !run.state.is_final() && !has_process(run)) {
        Some(run) => format!(
            "no process runs it now: {} goes on with it, and the interrupt reaches its agent then",
            continuing(&run)
        ),
        None => format!("it is kept; look with `irq review {id}`"),
    };
    Err(Failure::new(Exit::TimedOut, text).hint(hint))
}

/// Why an interrupt that has ended never reached the wanted state.
async fn never(from: &dyn Backend, now: &Interrupt, wanted: State) -> Result<Failure, Failure> {
    let id = now.id;
    let text = match ended_agent(from, now).await? {
        Some(agent) => format!("{id} came too late: {agent} before the stop reached it"),
        None => format!(
            "{id} is {}, and was never {}",
            state_words(now.state),
            state_words(wanted)
        ),
    };
    let look = format!("`irq history --interrupt {id}` tells what happened");
    let hint = match now.mode {
        StopMode::Graceful if now.family() == Family::Stop => format!(
            "a graceful stop waits for the end of a step, and an agent with one step ends with it; \
             `--mode immediate` stops within a step; {look}"
        ),
        StopMode::Graceful | StopMode::Immediate => look,
    };
    Ok(Failure::new(Exit::Conflict, text).hint(hint))
}

/// The agent that ended before it could be stopped, and how it ended.
async fn ended_agent(from: &dyn Backend, stop: &Interrupt) -> Result<Option<String>, Failure> {
    if stop.scope != Scope::Agent || stop.state != State::Cancelled {
        return Ok(None);
    }
    let agent = from
        .ask(AskAgent {
            run: stop.run,
            node: stop.node.clone(),
        })
        .await?;
    let ended = agent.filter(|agent| agent.activity.is_final());
    Ok(ended.map(|agent| {
        format!(
            "{} is {}",
            full(agent.run, &agent.node),
            agent.activity.name()
        )
    }))
}

fn has_reached(interrupt: &Interrupt, wanted: State) -> bool {
    match wanted {
        State::Requested => true,
        State::Delivered => interrupt.epoch > 0,
        State::Acknowledged => interrupt.acknowledged_at.is_some(),
        State::AwaitingReview => interrupt.review.is_some(),
        State::Resolved
        | State::Rerouted
        | State::Expired
        | State::Cancelled
        | State::DeadLettered => interrupt.state == wanted,
    }
}
