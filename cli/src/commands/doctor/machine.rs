//! What is around the program: its user, the terminal, keys of models, control groups for tools.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use llm::Provider;

use super::finding::Finding;
use crate::actor::actor;
use crate::exit::causes;
use crate::layout::screen_size;
use crate::palette::is_dumb;

/// The smallest screen that everything fits on.
const SCREEN: (usize, usize) = (80, 24);

/// What is known of the machine.
pub(super) fn findings() -> Vec<Finding> {
    vec![terminal(), keys(), control_groups()]
}

/// Who decides where no server says who its callers are.
pub(super) fn user() -> Finding {
    match actor() {
        Ok(actor) => Finding::well("user", format!("decisions here are {}'s", actor.name)),
        Err(error) => Finding::problem("user", causes(&error), "set IRQ_USER to a plain name"),
    }
}

fn terminal() -> Finding {
    if !io::stdout().is_terminal() {
        return Finding::well("terminal", "none: the output goes to a file or a program");
    }
    let (columns, rows) = screen_size();
    let found = format!("{columns} columns, {rows} rows");
    if is_dumb() {
        let remedy = "set TERM to what your terminal is, such as xterm-256color";
        return Finding::note("terminal", "TERM says that it can do nothing", remedy);
    }
    if columns < SCREEN.0 || rows < SCREEN.1 {
        let remedy = format!("irq watch wants {} columns and {} rows", SCREEN.0, SCREEN.1);
        return Finding::note("terminal", found, remedy);
    }
    Finding::well("terminal", found)
}

/// Which providers have a key; none is ever shown.
fn keys() -> Finding {
    let set: Vec<String> = Provider::all()
        .filter(|provider| {
            let variable = provider.key_variable();
            variable.is_some_and(|name| std::env::var_os(name).is_some_and(|key| !key.is_empty()))
        })
        .map(|provider| provider.to_string())
        .collect();
    if set.is_empty() {
        let remedy =
            "set the provider's variable, such as OPENAI_API_KEY; the rehearsal needs none";
        return Finding::note("keys", "no provider has a key", remedy);
    }
    Finding::well("keys", format!("set for {}", set.join(", ")))
}

/// Whether tools can be put into a control group of their own, which ends with all that they started.
fn control_groups() -> Finding {
    let remedy = "tools are then contained by a keeper that adopts what they leave behind and ends it; \
                  for a control group, run under a user's systemd session with Delegate=yes";
    let Some(folder) = own_group() else {
        return Finding::note("tools", "no control groups of version 2 here", remedy);
    };
    let probe = folder.join(format!("irq-doctor-{}", std::process::id()));
    let made = fs::create_dir(&probe);
    let can_kill = probe.join("cgroup.kill").exists();
    let removed = fs::remove_dir(&probe);
    match (made, can_kill, removed) {
        (Ok(()), true, Ok(())) => Finding::well("tools", "contained by control groups"),
        (Ok(()), _, _) => Finding::note("tools", "the kernel cannot kill a control group", remedy),
        (Err(error), _, _) => Finding::note(
            "tools",
            format!("no control group can be made: {error}"),
            remedy,
        ),
    }
}

fn own_group() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = PathBuf::from("/sys/fs/cgroup").join(path);
    folder.join("cgroup.controllers").exists().then_some(folder)
}
