//! Where a command is sent: a run, an agent, an interrupt.
//!
//! An agent's id is unique in its run alone, so its full address is `RUN/AGENT`; the agent alone is enough
//! where one live run has it. Of an id, any beginning is enough that no other id has.

use interrupts::life::Interrupt;
use interrupts::store::{Filter, NodeRow, Run, Store};
use routing_core::{InterruptId, NodeId, RunId};

use crate::exit::{Exit, Failure};
use crate::listing;
use crate::nearest::nearest;
use crate::refused::{by_store, no_interrupt};

const RUN: &str = "run_";
const INTERRUPT: &str = "int_";

/// The most addresses that an error lists.
const LISTED: usize = 12;

/// What an address names.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    /// A run.
    Run(Run),
    /// An agent of a run.
    Agent(Run, NodeRow),
    /// An interrupt.
    Interrupt(Box<Interrupt>),
}

/// The full address of an agent.
pub(crate) fn full(run: RunId, node: &NodeId) -> String {
    format!("{run}/{node}")
}

/// Finds what an address names.
///
/// # Errors
///
/// [`Exit::NotFound`] where there is nothing of that name, [`Exit::Usage`] where there are several.
pub(crate) async fn find(store: &dyn Store, text: &str) -> Result<Address, Failure> {
    if text.starts_with(INTERRUPT) {
        let interrupt = find_interrupt(store, text).await?;
        return Ok(Address::Interrupt(Box::new(interrupt)));
    }
    if text.starts_with(RUN) && !text.contains('/') {
        return Ok(Address::Run(find_run(store, text).await?));
    }
    if !text.contains('/')
        && let Some(run) = store.run_of(text).await.map_err(|error| by_store(&error))?
    {
        return Ok(Address::Run(run));
    }
    let (run, node) = find_agent(store, text).await?;
    Ok(Address::Agent(run, node))
}

/// Finds a run by its id, the beginning of its id, or its alias.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_run(store: &dyn Store, text: &str) -> Result<Run, Failure> {
    let none = || {
        Failure::new(Exit::NotFound, format!("there is no run `{text}`"))
            .hint("`irq ps --all` lists all runs; is it another --store?")
    };
    if let Ok(id) = text.parse::<RunId>() {
        let run = store.run(id).await.map_err(|error| by_store(&error))?;
        return run.ok_or_else(none);
    }
    if let Some(run) = store.run_of(text).await.map_err(|error| by_store(&error))? {
        return Ok(run);
    }
    if !text.starts_with(RUN) {
        return Err(none());
    }
    let runs = listing::runs(store, &[]).await;
    let runs = runs.map_err(|error| by_store(&error))?;
    let found = runs
        .into_iter()
        .filter(|run| run.id.to_string().starts_with(text));
    one_of(found.collect(), text, |run| run.id.to_string())?.ok_or_else(none)
}

/// Finds an interrupt by its id or the beginning of its id.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_interrupt(store: &dyn Store, text: &str) -> Result<Interrupt, Failure> {
    if let Ok(id) = text.parse::<InterruptId>() {
        let found = store.interrupt(id).await;
        return found
            .map_err(|error| by_store(&error))?
            .ok_or_else(|| no_interrupt(id));
    }
    if !text.starts_with(INTERRUPT) {
        return Err(
            Failure::new(Exit::Usage, format!("`{text}` is no interrupt"))
                .hint("an interrupt's id begins with int_; `irq review` lists them"),
        );
    }
    let all = listing::interrupts(store, &Filter::default()).await;
    let found = all
        .map_err(|error| by_store(&error))?
        .into_iter()
        .filter(|interrupt| interrupt.id.to_string().starts_with(text));
    one_of(found.collect(), text, |interrupt| interrupt.id.to_string())?
        .ok_or_else(|| no_interrupt(text))
}

/// Finds an agent: `RUN/AGENT`, or the agent alone where one live run has it.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_agent(store: &dyn Store, text: &str) -> Result<(Run, NodeRow), Failure> {
    if text.starts_with(RUN) {
        let Some((run, node)) = text.split_once('/') else {
            return Err(
                Failure::new(Exit::Usage, format!("`{text}` is a run, not an agent"))
                    .hint("name one of its agents: RUN/AGENT; `irq ps` lists them"),
            );
        };
        let run = find_run(store, run).await?;
        return agent_of(store, run, node).await;
    }
    let Ok(node) = NodeId::new(text) else {
        return Err(no_agent(text));
    };
    let live = listing::live_runs(store).await;
    let mut found = Vec::new();
    for run in live.map_err(|error| by_store(&error))? {
        let row = store.node(run.id, &node).await;
        if let Some(row) = row.map_err(|error| by_store(&error))? {
            found.push((run, row));
        }
    }
    one_of(found, text, |(run, row)| full(run.id, &row.node))?.ok_or_else(|| no_agent(text))
}

async fn agent_of(store: &dyn Store, run: Run, text: &str) -> Result<(Run, NodeRow), Failure> {
    let nodes = listing::nodes(store, run.id).await;
    let nodes = nodes.map_err(|error| by_store(&error))?;
    let names: Vec<&str> = nodes.iter().map(|row| row.node.as_str()).collect();
    if let Some(row) = nodes.iter().find(|row| row.node.as_str() == text) {
        return Ok((run, row.clone()));
    }
    let near = nearest(text, &names)
        .map(|near| format!("did you mean {}/{near}? ", run.id))
        .unwrap_or_default();
    let failure = Failure::new(Exit::NotFound, format!("{} has no agent `{text}`", run.id));
    Err(failure.hint(format!("{near}`irq ps {} --all` lists its agents", run.id)))
}

fn no_agent(text: &str) -> Failure {
    Failure::new(Exit::NotFound, format!("no live run has an agent `{text}`"))
        .hint("`irq ps` lists the agents; one of a run that has ended is RUN/AGENT")
}

/// The only one, `None` where there is none.
fn one_of<T>(
    mut found: Vec<T>,
    text: &str,
    name: impl Fn(&T) -> String,
) -> Result<Option<T>, Failure> {
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let mut names: Vec<String> = found.iter().take(LISTED).map(name).collect();
    if found.len() > LISTED {
        names.push(format!("and {} more", found.len() - LISTED));
    }
    let failure = Failure::new(
        Exit::Usage,
        format!("`{text}` may be any of {}", found.len()),
    );
    Err(failure.hint(format!("say which:\n{}", names.join("\n"))))
}
