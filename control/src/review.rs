//! What holds for everybody who answers.

use interrupts::life::{Actor, Interrupt, Role};
use jiff::SignedDuration;

/// How long a claim holds where nobody says how long.
pub const CLAIM: SignedDuration = SignedDuration::from_mins(5);

/// Whoever raised a question must not answer it, under whatever role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("whoever asks a question cannot answer it")]
pub struct OwnQuestion;

/// Whether somebody may answer an interrupt, whatever his rights.
///
/// # Errors
///
/// [`OwnQuestion`].
pub fn may_answer(actor: &Actor, interrupt: &Interrupt) -> Result<(), OwnQuestion> {
    let asker = &interrupt.requested_by;
    let is_own = asker.role == Role::Requester && asker.name == actor.name;
    let is_agent = actor.name.as_str() == interrupt.node.as_str();
    if is_own || is_agent {
        return Err(OwnQuestion);
    }
    Ok(())
}
