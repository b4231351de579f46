//! Waiting until an interrupt has come so far.

use std::time::Duration;

use interrupts::life::{Interrupt, State};
use jiff::SignedDuration;
use tokio::time::{Instant, sleep, timeout_at};

use crate::exit::{Exit, Failure};
use crate::installation::Installation;
use crate::refused::no_interrupt;

/// Waits until the interrupt has, or has had, a state. Returns it as it is then.
///
/// # Errors
///
/// [`Exit::TimedOut`] where that takes too long, [`Exit::Conflict`] where it ended otherwise.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn wait(
    from: &dyn Installation,
    interrupt: &Interrupt,
    wanted: State,
    patience: SignedDuration,
) -> Result<Interrupt, Failure> {
    let patience_in_full = Duration::try_from(patience).unwrap_or(Duration::MAX);
    let id = interrupt.id;
    let reached = async {
        loop {
            let found = from.interrupt(id).await?;
            let now = found.ok_or_else(|| no_interrupt(id))?;
            if has_reached(&now, wanted) {
                return Ok(now);
            }
            if now.state.is_final() || now.state == State::DeadLettered {
                let text = format!("{id} is {}, and was never {wanted}", now.state);
                return Err(Failure::new(Exit::Conflict, text).hint(format!(
                    "`irq history --interrupt {id}` tells what happened"
                )));
            }
            sleep(from.pace()).await;
        }
    };
    let Some(deadline) = Instant::now().checked_add(patience_in_full) else {
        return reached.await;
    };
    timeout_at(deadline, reached).await.unwrap_or_else(|_late| {
        let text = format!("{id} was not {wanted} within {patience:#}");
        Err(Failure::new(Exit::TimedOut, text)
            .hint(format!("it is kept; look with `irq review {id}`")))
    })
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
