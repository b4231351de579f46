//! `irq interrupt`: stops, pauses, prunes or questions runs and agents of other processes.

mod wait;

use std::io::IsTerminal;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use interrupt_router::{InterruptType, NodeId, StopMode};
use interrupts::life::{Family, Interrupt, Scope, State};
use interrupts::store::{Admitted, Checkpoint, NodeRow, Page, Run};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::print;
use crate::address::{Address, find, full};
use crate::advice::{advised, continuing};
use crate::arguments::{Global, InterruptArguments, ScopeChoice, StoreArguments};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::palette::Palette;
use crate::request::{Addressee, AskRequest};
use crate::reviewer::Alone;
use crate::run_owner::has_process;
use crate::storage::complete;
use crate::view::{self, json_line};
use control::{AskCheckpoints, StopOrder};

/// One request before it is made.
struct PlannedStop {
    to: Addressee,
    scope: Scope,
    /// The agents that it concerns, which have not ended.
    affected: Vec<NodeId>,
}

/// One request after it was made.
struct Made {
    interrupt: Interrupt,
    /// Whether the same was requested before.
    already: bool,
    affected: Vec<String>,
    run: Run,
}

/// Interrupts.
///
/// # Errors
///
/// If there is nothing of that name, it has ended, or waiting for it timed out.
pub(crate) fn interrupt(
    arguments: &InterruptArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open_to_stop(store).await?;
        let plans = plans(&*backend, arguments).await?;
        if arguments.dry_run {
            print(&dry(&plans, arguments))?;
            return Ok(Exit::Success);
        }
        if plans.is_empty() {
            print(if arguments.json {
                ""
            } else {
                "No live runs.\n"
            })?;
            return Ok(Exit::Success);
        }
        if arguments.all && !arguments.yes && !confirmed(&plans, global)? {
            print("Nothing was interrupted.\n")?;
            return Ok(Exit::Success);
        }
        carry_out(&*backend, arguments, plans).await
    })
}

/// Makes each request, and then waits for all of them together, so that a slow stop does not delay the request to another
/// run. If one of several fails, the others are still made.
async fn carry_out(
    backend: &dyn Backend,
    arguments: &InterruptArguments,
    plans: Vec<PlannedStop>,
) -> anyhow::Result<Exit> {
    let count = plans.len();
    let (mut refused, mut made) = (Vec::new(), Vec::new());
    for plan in plans {
        match make(backend, arguments, plan).await {
            Ok(one) => made.push(one),
            Err(failure) => refused.push(failure),
        }
    }
    let waits = made.into_iter();
    let waits = waits.map(|one| waited(backend, arguments, one));
    let mut waits: FuturesUnordered<_> = waits.collect();
    let mut unreached = Vec::new();
    while let Some(ended) = waits.next().await {
        if let Err(failure) = ended {
            unreached.push(failure);
        }
    }
    let told: Vec<String> = [
        (refused.len(), "could not be interrupted"),
        (unreached.len(), "did not come as far as was waited for"),
    ]
    .into_iter()
    .filter(|(failed, _)| *failed > 0)
    .map(|(failed, how)| format!("{failed} of {count} {how}"))
    .collect();
    match unreached.pop().or_else(|| refused.pop()) {
        None => Ok(Exit::Success),
        Some(failure) if count == 1 => Err(failure),
        Some(last) => {
            let text = format!("{}, the last: {last}", told.join(", "));
            Err(Failure::new(Exit::Partial, text).into())
        }
    }
}

/// Waits for the requested state if that is wanted, and reports the result.
async fn waited(
    backend: &dyn Backend,
    arguments: &InterruptArguments,
    mut made: Made,
) -> anyhow::Result<()> {
    let waited = match arguments.wait {
        Some(state) => {
            let waited = wait::wait(backend, &made.interrupt, state, arguments.timeout);
            match waited.await {
                Ok(interrupt) => {
                    made.interrupt = interrupt;
                    Ok(())
                }
                Err(failure) => {
                    if let Some(now) = backend.interrupt(made.interrupt.id).await? {
                        made.interrupt = now;
                    }
                    Err(failure)
                }
            }
        }
        None => Ok(()),
    };
    // The process that owned the run may have gone since it was looked up.
    if let Some(run) = backend.run(made.run.id).await? {
        made.run = run;
    }
    print(&summary(&made, arguments))?;
    Ok(waited?)
}

async fn plans(
    from: &dyn Backend,
    arguments: &InterruptArguments,
) -> anyhow::Result<Vec<PlannedStop>> {
    let mut addressed = Vec::new();
    match &arguments.address {
        Some(address) => addressed.push(addressee(from, arguments, address).await?),
        None => {
            refuse_whole_runs(arguments.interrupt_type)?;
            let live = listing::live_runs(from).await?;
            for run in live {
                let to = Addressee::whole(from, run).await?;
                addressed.push((to, Scope::Run));
            }
        }
    }
    let mut plans = Vec::new();
    for (to, scope) in addressed {
        let nodes = listing::nodes(from, to.run.id).await?;
        let affected = nodes
            .into_iter()
            .filter(|row| !row.activity.is_final())
            .filter(|row| scope == Scope::Run || row.node.is_within(&to.node))
            .map(|row| row.node)
            .collect();
        plans.push(PlannedStop {
            to,
            scope,
            affected,
        });
    }
    Ok(plans)
}

async fn addressee(
    from: &dyn Backend,
    arguments: &InterruptArguments,
    address: &str,
) -> anyhow::Result<(Addressee, Scope)> {
    match find(from, address).await? {
        Address::Run(run) => {
            refuse_ended(&run)?;
            refuse_whole_runs(arguments.interrupt_type)?;
            if arguments.scope == Some(ScopeChoice::Agent) {
                let text = format!("{} is a run: it has no agent's scope", run.id);
                return Err(Failure::new(Exit::Usage, text)
                    .hint("name an agent of it: RUN/AGENT")
                    .into());
            }
            Ok((Addressee::whole(from, run).await?, Scope::Run))
        }
        Address::Agent(run, row) => {
            refuse_ended(&run)?;
            refuse_ended_agent(&row)?;
            let scope = arguments.scope.map_or(Scope::Agent, Scope::from);
            if scope == Scope::Run {
                refuse_whole_runs(arguments.interrupt_type)?;
            }
            Ok((Addressee::agent(run, &row), scope))
        }
        Address::Interrupt(interrupt) => {
            let text = format!("{} is an interrupt, not a run or an agent", interrupt.id);
            let hint = format!(
                "`irq review {0}` decides it, `irq withdraw {0}` gives it up",
                interrupt.id
            );
            Err(Failure::new(Exit::Usage, text).hint(hint).into())
        }
    }
}

fn refuse_ended(run: &Run) -> Result<(), Failure> {
    if run.state.is_final() {
        let text = format!("{} is {}", run.id, run.state);
        return Err(Failure::new(Exit::Conflict, text).hint("`irq ps` lists the live runs"));
    }
    Ok(())
}

pub(super) fn refuse_ended_agent(row: &NodeRow) -> Result<(), Failure> {
    if !row.activity.is_final() {
        return Ok(());
    }
    let text = format!("{} is {}", full(row.run, &row.node), row.activity.name());
    Err(Failure::new(Exit::Conflict, text).hint("`irq ps` lists the agents that are not"))
}

/// Only an agent can be questioned or pruned.
fn refuse_whole_runs(interrupt_type: InterruptType) -> Result<(), Failure> {
    match interrupt_type {
        InterruptType::Pause | InterruptType::Stop | InterruptType::Branch => Ok(()),
        InterruptType::Prune | InterruptType::HumanReview | InterruptType::AgentReview => {
            let text = format!("{interrupt_type} concerns an agent, not a whole run");
            Err(Failure::new(Exit::Usage, text)
                .hint("name an agent, RUN/AGENT, without `--scope run`; `irq ps` lists them"))
        }
    }
}

/// Refuses to fork a paused or waiting run if the checkpoint that it would be forked from cannot be read.
async fn refuse_damaged(from: &dyn Backend, run: &Run) -> Result<(), Failure> {
    let Some(place) = run.goes_on_from() else {
        return Ok(());
    };
    let page = Page {
        after: place.number.saturating_sub(1),
        limit: 1,
    };
    let run = place.run;
    let found = from.ask(AskCheckpoints { run, page }).await?;
    let state_words = found.into_iter().find(|checkpoint| checkpoint.id == place);
    match state_words.map(Checkpoint::whole) {
        Some(Err(error)) => Err(error.into()),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Makes the request, or finds it if it was made before and is under way.
async fn make(
    backend: &dyn Backend,
    arguments: &InterruptArguments,
    plan: PlannedStop,
) -> anyhow::Result<Made> {
    let PlannedStop {
        to,
        scope,
        affected,
    } = plan;
    let run = to.run.clone();
    let affected = affected.iter().map(|node| full(run.id, node)).collect();
    if arguments.interrupt_type == InterruptType::Branch && !has_process(&run) {
        refuse_damaged(backend, &run).await?;
    }
    let requested = if Family::of(arguments.interrupt_type) == Family::Stop {
        let stop = StopOrder::new(
            arguments.interrupt_type,
            arguments.mode.into(),
            scope,
            arguments.reason.clone(),
        );
        backend.stop(&to, &stop).await?
    } else {
        let wish = AskRequest {
            event: None,
            at: Timestamp::now(),
            interrupt_type: arguments.interrupt_type,
            to: None,
            reason: arguments.reason.clone(),
        };
        backend.publish(&to, wish).await?
    };
    Ok(Made {
        already: matches!(requested, Admitted::Known(_)),
        interrupt: requested.into_interrupt(),
        affected,
        run,
    })
}

fn confirmed(plans: &[PlannedStop], global: Global) -> anyhow::Result<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let text = format!("this would interrupt {}", runs(plans.len()));
        return Err(Failure::new(Exit::Usage, text)
            .hint("say --yes, or look first with --dry-run")
            .into());
    }
    let alone = Alone::new(Palette::for_stream(&std::io::stderr(), global.no_color));
    let affected: usize = plans.iter().map(|plan| plan.affected.len()).sum();
    let text = format!(
        "Interrupt {} with {}? [y/N] ",
        runs(plans.len()),
        agents(affected)
    );
    Ok(alone.confirmed(&text)?)
}

fn dry(plans: &[PlannedStop], arguments: &InterruptArguments) -> String {
    let mut text = String::new();
    for plan in plans {
        let affected: Vec<String> = plan
            .affected
            .iter()
            .map(|node| full(plan.to.run.id, node))
            .collect();
        if arguments.json {
            text.push_str(&json_line(&json!({
                "dry_run": true,
                "run_id": plan.to.run.id,
                "agent_id": plan.to.node,
                "type": arguments.interrupt_type,
                "scope": plan.scope,
                "affected": affected,
            })));
            continue;
        }
        text.push_str(&format!(
            "{} would concern {} of {}:\n",
            arguments.interrupt_type,
            agents(affected.len()),
            plan.to.run.id
        ));
        for address in affected {
            text.push_str(&format!("  {address}\n"));
        }
    }
    if plans.is_empty() && !arguments.json {
        text.push_str("No live runs.\n");
    }
    text
}

fn runs(count: usize) -> String {
    match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    }
}

fn agents(count: usize) -> String {
    match count {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    }
}

fn summary(made: &Made, arguments: &InterruptArguments) -> String {
    let interrupt = &made.interrupt;
    if arguments.json {
        let mut view = view::interrupt(interrupt);
        if let Value::Object(view) = &mut view {
            view.insert("already".to_owned(), json!(made.already));
            view.insert("affected".to_owned(), json!(made.affected));
            view.insert("is_owned".to_owned(), json!(has_process(&made.run)));
        }
        return json_line(&view);
    }
    let known = if made.already {
        " (asked for before)"
    } else {
        ""
    };
    let is_applied = interrupt.state == State::Resolved && interrupt.family() == Family::Stop;
    let state = if is_applied {
        "applied"
    } else {
        interrupt.state.name()
    };
    let mut text = format!(
        "{} {} {state}{known}, {} of {}\n",
        interrupt.id,
        interrupt.interrupt_type,
        agents(made.affected.len()),
        made.run.id
    );
    let is_under_way = matches!(interrupt.state, State::Requested | State::Delivered);
    if is_under_way && !has_process(&made.run) {
        text.push_str(
            "No process runs it now: the interrupt reaches its agent once the run is resumed.\n",
        );
    }
    if is_under_way && has_process(&made.run) && waits_for_a_step(interrupt) {
        text.push_str(
            "Its agent stops once its current step has ended; `--mode immediate` stops it within the step.\n",
        );
    }
    if interrupt.state == State::AwaitingReview {
        text.push_str(&format!("Go on with: {}\n", continuing(&made.run)));
    }
    if let Some(why) = left_behind(interrupt, "not_branched") {
        text.push_str(&format!(
            "No branch was made: {why}\nGo on with: {}\n",
            continuing(&made.run)
        ));
    }
    if let Some(branch) = left_behind(interrupt, "branch") {
        text.push_str(&advised(&format!(
            "Go on with: {}\nThe branch with: irq resume {branch}\n",
            continuing(&made.run)
        )));
    }
    text
}

/// Whether an agent stops only when its step has ended. An agent with a single step has no later step to stop before.
fn waits_for_a_step(interrupt: &Interrupt) -> bool {
    interrupt.family() == Family::Stop
        && interrupt.scope == Scope::Agent
        && interrupt.mode == StopMode::Graceful
}

/// What a BRANCH has left behind: its run, or why there is none.
fn left_behind(interrupt: &Interrupt, what: &str) -> Option<String> {
    let content = interrupt.decision.as_ref()?.content.as_deref()?;
    let left: Value = serde_json::from_str(content).ok()?;
    left.get(what)?.as_str().map(str::to_owned)
}
