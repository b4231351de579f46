//! The program's environment: its user, the terminal, keys of models, control groups for tools.

use std::io::{self, IsTerminal};

use llm::Provider;

use super::finding::Finding;
use crate::actor::actor;
use crate::exit::causes;
use crate::layout::screen_size;
use crate::palette::is_dumb;

/// The smallest screen that everything fits on.
const SCREEN: (usize, usize) = (80, 24);

/// The findings about the machine.
pub(super) fn findings() -> Vec<Finding> {
    vec![terminal(), keys(), control_groups()]
}

/// Who decides if no server says who its callers are.
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

/// Which providers have a key; no key is ever shown.
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
    match tools::probe_control_groups() {
        Ok(()) => Finding::well("tools", "contained by control groups"),
        Err(error) => Finding::note("tools", no_group(&error), remedy),
    }
}

/// Why a tool gets no control group of its own.
fn no_group(error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        "no control groups of version 2 here".to_owned()
    } else if kind == io::ErrorKind::Unsupported {
        "the kernel cannot kill a control group".to_owned()
    } else {
        format!("no control group can be made: {error}")
    }
}
