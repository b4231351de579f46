//! `irq hook`: permission questions of coding agents.

use std::io::{IsTerminal as _, stderr, stdin};

use similar::TextDiff;

use super::print;
use crate::arguments::{
    HookArguments, HookCommand, HookInstallArguments, HookRemoveArguments, StoreArguments,
};
use crate::exit::{Exit, Failure, tell};
use crate::hook::{Change, CodingAgent, HookSpec, Scope, answer, demand_store};
use crate::visible::visible_lines;

/// Answers an agent, or changes its settings.
///
/// # Errors
///
/// [`Exit::Usage`], which blocks the agent, if its event cannot be read; if settings cannot be changed.
pub(crate) fn hook(arguments: &HookArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let (agent, timeout) = match &arguments.command {
        HookCommand::ClaudeCode(run) => (CodingAgent::ClaudeCode, run.timeout),
        HookCommand::Codex(run) => (CodingAgent::Codex, run.timeout),
        HookCommand::Opencode(run) => (CodingAgent::Opencode, run.timeout),
        HookCommand::Install(install) => return installed(install, store),
        HookCommand::Remove(remove) => return removed(remove),
    };
    let text = answer(agent, timeout, store)?;
    // If the agent does not receive the decision, it must not go on: this exit code blocks.
    print(&text).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("the agent does not hear the decision: {error}"),
        )
    })?;
    Ok(Exit::Success)
}

fn installed(arguments: &HookInstallArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    demand_store(store)?;
    let wanted = HookSpec {
        event: arguments.event,
        matcher: arguments.matcher.clone(),
        timeout: arguments.timeout,
        program: program()?,
        options: options(store),
    };
    let change = Change::install(arguments.agent, scope(arguments.user), &wanted)?;
    changed(&change, arguments.yes, "the hook is installed already")
}

fn removed(arguments: &HookRemoveArguments) -> anyhow::Result<Exit> {
    let change = Change::remove(arguments.agent, scope(arguments.user))?;
    changed(&change, arguments.yes, "the hook is not installed")
}

const fn scope(user: bool) -> Scope {
    if user { Scope::User } else { Scope::Project }
}

/// Shows a change, asks, and makes it.
fn changed(change: &Change, yes: bool, nothing: &str) -> anyhow::Result<Exit> {
    let path = change.path.display().to_string();
    if change.is_nothing() {
        tell(format_args!("{path}: {nothing}; nothing changes"));
        return Ok(Exit::Success);
    }
    let diff = TextDiff::from_lines(&change.before, &change.after);
    let diff = diff.unified_diff().header(&path, &path).to_string();
    for line in visible_lines(&diff) {
        print(&format!("{line}\n"))?;
    }
    if !yes {
        if !stdin().is_terminal() || !stderr().is_terminal() {
            return Err(
                Failure::new(Exit::Usage, "nothing was changed: no one can be asked here")
                    .hint("--yes makes the change that is shown")
                    .into(),
            );
        }
        eprint!("Write this to {path}? [y/N] ");
        let mut said = String::new();
        stdin().read_line(&mut said)?;
        if !matches!(said.trim(), "y" | "Y" | "yes") {
            tell("Nothing was changed.");
            return Ok(Exit::Success);
        }
    }
    change.write()?;
    tell(format_args!("{path} is written"));
    Ok(Exit::Success)
}

/// This program as an agent finds it: by its name if the search path leads here, else by its path.
fn program() -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    let real = std::fs::canonicalize(&own).unwrap_or_else(|_gone| own.clone());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path)
        .map(|folder| folder.join("irq"))
        .find(|file| file.is_file());
    let is_here = |file: std::path::PathBuf| std::fs::canonicalize(file).is_ok_and(|it| it == real);
    if first.is_some_and(is_here) {
        return Ok("irq".to_owned());
    }
    Ok(own.display().to_string())
}

/// The hook gets the store of the command line as an option; the one of the environment is there when it runs.
fn options(store: &StoreArguments) -> Vec<String> {
    let of_environment = std::env::var("IRQ_STORE").ok();
    match &store.store {
        Some(named) if of_environment.as_ref() != Some(named) => {
            vec!["--store".to_owned(), named.clone()]
        }
        Some(_) | None => Vec::new(),
    }
}
