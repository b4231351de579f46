//! Where a command is sent: a run, an agent, an interrupt.
//!
//! An agent's id is unique in its run alone, so its full address is `RUN/AGENT`; the agent alone is enough
//! if one live run has it. Of an id, any beginning is enough that no other id has.

use control::AskAgent;
use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::{AskingId, Interrupt};
use interrupts::store::{Filter, NodeRow, Run};

use crate::backend::Backend;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::refused::no_interrupt;
use interrupts::nearest;

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
/// [`Exit::NotFound`] if there is nothing of that name, [`Exit::Usage`] if there are several.
pub(crate) async fn find(from: &dyn Backend, text: &str) -> Result<Address, Failure> {
    if text.starts_with(INTERRUPT) {
        let interrupt = find_interrupt(from, text).await?;
        return Ok(Address::Interrupt(Box::new(interrupt)));
    }
    if text.starts_with(RUN) && !text.contains('/') {
        return Ok(Address::Run(find_run(from, text).await?));
    }
    if !text.contains('/')
        && let Some(run) = from.run_of(text).await?
    {
        return Ok(Address::Run(run));
    }
    let (run, node) = find_agent(from, text).await?;
    Ok(Address::Agent(run, node))
}

/// Finds a run by its id, the beginning of its id, or its alias.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_run(from: &dyn Backend, text: &str) -> Result<Run, Failure> {
    let none = || {
        let failure = Failure::new(Exit::NotFound, format!("there is no run `{text}`"));
        failure.hint(match text.split_once('/') {
            Some((run, _agent)) if run.starts_with(RUN) => {
                format!("this is an agent's address; its run is `{run}`")
            }
            _ => "`irq ps --all` lists all runs; is it another --store or --server?".to_owned(),
        })
    };
    if let Ok(id) = text.parse::<RunId>() {
        let run = from.run(id).await?;
        return run.ok_or_else(none);
    }
    if let Some(run) = from.run_of(text).await? {
        return Ok(run);
    }
    if !text.starts_with(RUN) {
        return Err(none());
    }
    let runs = listing::runs(from, &[]).await;
    let runs = runs?;
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
pub(crate) async fn find_interrupt(from: &dyn Backend, text: &str) -> Result<Interrupt, Failure> {
    if let Ok(id) = text.parse::<InterruptId>() {
        let found = from.interrupt(id).await;
        return found?.ok_or_else(|| no_interrupt(id));
    }
    if !text.starts_with(INTERRUPT) {
        return Err(
            Failure::new(Exit::Usage, format!("`{text}` is no interrupt"))
                .hint("an interrupt's id begins with int_; `irq review` lists them"),
        );
    }
    let all = listing::interrupts(from, &Filter::default()).await;
    let found = all?
        .into_iter()
        .filter(|interrupt| interrupt.id.to_string().starts_with(text));
    one_of(found.collect(), text, |interrupt| interrupt.id.to_string())?
        .ok_or_else(|| no_interrupt(text))
}

/// Finds an interrupt, or one of those who ask for a stop: its id, a dot, and a number.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_asking(
    from: &dyn Backend,
    text: &str,
) -> Result<(Interrupt, Option<u32>), Failure> {
    let Some((interrupt, number)) = text.split_once('.') else {
        return Ok((find_interrupt(from, text).await?, None));
    };
    let interrupt = find_interrupt(from, interrupt).await?;
    let asking = format!("{}.{number}", interrupt.id).parse::<AskingId>();
    let asking = asking.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    Ok((interrupt, Some(asking.number)))
}

/// Finds an agent: `RUN/AGENT`, or the agent alone if one live run has it.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_agent(from: &dyn Backend, text: &str) -> Result<(Run, NodeRow), Failure> {
    if text.starts_with(RUN) {
        let Some((run, node)) = text.split_once('/') else {
            return Err(
                Failure::new(Exit::Usage, format!("`{text}` is a run, not an agent"))
                    .hint("name one of its agents: RUN/AGENT; `irq ps` lists them"),
            );
        };
        let run = find_run(from, run).await?;
        return agent_in(from, run, node).await;
    }
    let Ok(node) = NodeId::new(text) else {
        return Err(no_agent(text));
    };
    let live = listing::live_runs(from).await;
    let mut found = Vec::new();
    for run in live? {
        let row = from
            .ask(AskAgent {
                run: run.id,
                node: node.clone(),
            })
            .await;
        if let Some(row) = row? {
            found.push((run, row));
        }
    }
    one_of(found, text, |(run, row)| full(run.id, &row.node))?.ok_or_else(|| no_agent(text))
}

/// Finds an agent of a run by its id.
///
/// # Errors
///
/// [`Exit::NotFound`] if the run has none of that name.
pub(crate) async fn agent_in(
    from: &dyn Backend,
    run: Run,
    text: &str,
) -> Result<(Run, NodeRow), Failure> {
    let nodes = listing::nodes(from, run.id).await;
    let nodes = nodes?;
    let names: Vec<&str> = nodes.iter().map(|row| row.node.as_str()).collect();
    if let Some(row) = nodes.iter().find(|row| row.node.as_str() == text) {
        return Ok((run, row.clone()));
    }
    let near = nearest(text, names.iter().copied())
        .map(|near| format!("did you mean {}/{near}? ", run.id))
        .unwrap_or_default();
    let failure = Failure::new(Exit::NotFound, format!("{} has no agent `{text}`", run.id));
    Err(failure.hint(format!("{near}`irq ps {} --all` lists its agents", run.id)))
}

fn no_agent(text: &str) -> Failure {
    Failure::new(Exit::NotFound, format!("no live run has an agent `{text}`"))
        .hint("`irq ps` lists the agents; one of a run that has ended is RUN/AGENT")
}

/// The only match; `None` if there is none.
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
