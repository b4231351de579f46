//! Who sits at this terminal.

use interrupts::life::{Actor, Role};
use interrupts::{ActorName, NameError};
use rustix::process::getuid;

/// The user of the operating system. Whoever can write the store's file can do anything with it, so there is
/// no role below operator to pretend; who decides over the network is told by other means.
///
/// # Errors
///
/// [`NameError`] where the user's name has control characters or is too long.
pub(crate) fn actor() -> Result<Actor, NameError> {
    let name = user_name().unwrap_or_else(|| format!("user-{}", getuid().as_raw()));
    Ok(Actor {
        name: ActorName::new(name)?,
        role: Role::Operator,
    })
}

/// The name that the environment gives.
pub(crate) fn user_name() -> Option<String> {
    ["IRQ_USER", "USER", "LOGNAME"]
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find(|name| !name.is_empty())
}
