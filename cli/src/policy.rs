//! Policy files: reading them, and which one applies.

use std::path::Path;

use interrupts::policy::{Policy, Vocabulary};

use crate::exit::{Exit, Failure};
use crate::workflows;

/// The variable that names the policy file.
const VARIABLE: &str = "IRQ_POLICY";

/// Reads a policy that may name this program's agents and routes.
///
/// # Errors
///
/// [`Exit::NotFound`] if the file cannot be read, [`Exit::Usage`] if it is no policy.
pub(crate) fn read(file: &Path) -> Result<Policy, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let text = format!("cannot read the policy {}: {error}", file.display());
        Failure::new(Exit::NotFound, text)
    })?;
    let known = workflows::built_in().iter();
    let agents = known.clone().flat_map(|it| it.kinds());
    let routes = known.flat_map(|it| it.routes());
    let vocabulary = Vocabulary {
        agents: agents.map(|kind| kind.name.to_string()).collect(),
        routes: routes.map(|route| route.name.to_string()).collect(),
    };
    Policy::from_toml(&text, &vocabulary).map_err(|error| {
        let text = format!("{} is no policy:\n{error}", file.display());
        Failure::new(Exit::Usage, text)
    })
}

/// The policy of a file, or the built-in one if none is named.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn of(file: Option<&Path>) -> Result<Policy, Failure> {
    file.map_or_else(|| Ok(Policy::default()), read)
}

/// The policy that the environment names, for commands that act on runs of others.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn of_environment() -> Result<Policy, Failure> {
    let named = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
    of(named.as_deref().map(Path::new))
}
