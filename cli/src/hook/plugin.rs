//! The plugin through which opencode asks: a file of its own, written as a whole and taken away as a whole.

use std::path::Path;

use serde_json::json;

use super::CodingAgent;
use super::installing::HookSpec;
use crate::exit::{Exit, Failure};
use crate::visible::visible_line;

/// The plugin, with a word in the place of what differs from one installation to the next.
const PLUGIN: &str = include_str!("plugin.js");

/// The word.
const SETTINGS: &str = "SETTINGS";

/// The plugin that asks as it is wanted.
///
/// # Errors
///
/// [`Exit::Conflict`] if another file is in its place.
pub(super) fn with(wanted: &HookSpec, before: &str, path: &Path) -> Result<String, Failure> {
    check_own(before, path)?;
    let settings = json!({
        "event": wanted.event.name(),
        "matcher": wanted.matcher,
        "seconds": wanted.patience(),
        "command": wanted.command(CodingAgent::Opencode),
    });
    Ok(PLUGIN.replacen(SETTINGS, &format!("{settings:#}"), 1))
}

/// What is left without the plugin: nothing.
///
/// # Errors
///
/// As [`with`].
pub(super) fn without(before: &str, path: &Path) -> Result<String, Failure> {
    check_own(before, path)?;
    Ok(String::new())
}

/// Checks that a file may be replaced: there is none, or it was written here.
fn check_own(before: &str, path: &Path) -> Result<(), Failure> {
    let first = PLUGIN.lines().next();
    if before.is_empty() || before.lines().next() == first {
        return Ok(());
    }
    let path = path.display().to_string();
    let text = format!("{} is not from irq", visible_line(&path));
    Err(Failure::new(Exit::Conflict, text)
        .hint("nothing was changed; move that file elsewhere first"))
}
