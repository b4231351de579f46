//! `irq resume` and `irq fork`: continuing a run in this process.

mod for_worker;

use agents::run::RunOrder;
use control::refuse_ended;
use engine::run::RunUse;
use interrupt_router::RunId;
use interrupts::store::{CheckpointId, NewRun, Run};
use journal::executed_by_worker;

use super::run::{Begin, ExecutionOptions, OuterLimits, PreparedRun, Talk, complete};
use crate::address::find_run;
use crate::arguments::{ForkArguments, Global, LimitArguments, ResumeArguments, StoreArguments};
use crate::backend::{Local, Whereabouts, me};
use crate::exit::{Exit, Failure};
use crate::refused::by_run;
use crate::run_owner::{
    accept_catalogue, refuse_fork, refuse_over, refuse_said, refuse_unread, start_of_fork,
};
use crate::storage::Storage;
use for_worker::let_go_on;
pub(crate) use for_worker::refuse_work;

/// Goes on with a run.
///
/// # Errors
///
/// If there is no such run, it has ended, another process owns it, or it fails.
pub(crate) fn resume(
    arguments: &ResumeArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    refuse_empty(arguments.message.as_deref())?;
    if let Whereabouts::Server(place) = Whereabouts::of(store)? {
        refuse_limits(&arguments.limits, &format!("irq resume {}", arguments.run))?;
        return super::run::there::resume(arguments, &place, global);
    }
    if arguments.detach {
        return Err(super::run::no_server_named().into());
    }
    complete(async {
        let local = Local::open(store).await?;
        let run = find_run(&local, &arguments.run).await?;
        refuse_ended(&run).map_err(Failure::from)?;
        let storage = local.into_storage();
        if arguments.accept_catalogue {
            let by = me()?;
            accept_catalogue(&storage.store, &run, by).await?;
        }
        if executed_by_worker(&run.content) {
            let message = arguments.message.as_deref();
            return Ok(let_go_on(&run, storage, message).await?);
        }
        let talk = Talk::of(&arguments.talk);
        let (order, work) = to_go_on(&storage, &run, &arguments.limits, &talk).await?;
        refuse_said(&order.workflow, arguments.message.as_deref())?;
        refuse_unread(&*storage.store, &order.workflow, run.goes_on_from()).await?;
        let begin = Begin::GoesOn {
            input: arguments.message.clone(),
        };
        let way = ExecutionOptions {
            limits: &arguments.limits,
            talk,
            global,
        };
        way.go(run.id, begin, work, storage).await
    })
}

/// Begins a run that continues from a checkpoint of another one.
///
/// # Errors
///
/// If there is no such checkpoint, or the new run fails.
pub(crate) fn fork(
    arguments: &ForkArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    refuse_empty(arguments.message.as_deref())?;
    if let Whereabouts::Server(place) = Whereabouts::of(store)? {
        refuse_limits(&arguments.limits, &format!("irq fork {}", arguments.run))?;
        return super::run::there::fork(arguments, &place, global);
    }
    if arguments.detach {
        return Err(super::run::no_server_named().into());
    }
    complete(async {
        let local = Local::open(store).await?;
        let from = find_run(&local, &arguments.run).await?;
        refuse_work(&from)?;
        let storage = local.into_storage();
        let talk = Talk::of(&arguments.talk);
        let (order, work) = to_go_on(&storage, &from, &arguments.limits, &talk).await?;
        refuse_fork(&order.workflow)?;
        let checkpoint = CheckpointId {
            run: from.id,
            number: arguments.at.unwrap_or(from.checkpoint),
        };
        refuse_unread(&*storage.store, &order.workflow, Some(checkpoint)).await?;
        let id = RunId::generate();
        let new = NewRun {
            root: None,
            id,
            alias: None,
            // The new run gets the limits as they are now.
            content: order.allowance.written_into(&from.content)?,
        };
        // The input is created with the run: even if this process dies at once, the run never goes on without it.
        let input = arguments.message.as_deref();
        let start = start_of_fork((id, &order.workflow), input, arguments.drop_pending)?;
        refuse_over(&*storage.store, &order.workflow, checkpoint, &start).await?;
        let forked = storage.store.fork_run_with(checkpoint, new, start).await;
        let forked = forked.map_err(|error| by_run(&error))?;
        let begin = Begin::GoesOn { input: None };
        let way = ExecutionOptions {
            limits: &arguments.limits,
            talk,
            global,
        };
        way.go(forked.id, begin, work, storage).await
    })
}

/// Refuses limits that a server ignores: it continues a run with the limits of its order.
fn refuse_limits(limits: &LimitArguments, command: &str) -> Result<(), Failure> {
    let flag = if limits.max_steps.is_some() {
        "--max-steps"
    } else if limits.timeout.is_some() {
        "--timeout"
    } else if limits.budget.budget_usd.is_some() {
        "--budget-usd"
    } else if limits.max_memory.is_some() {
        "--max-memory"
    } else if limits.max_cpu_time.is_some() {
        "--max-cpu-time"
    } else {
        return Ok(());
    };
    let text = format!(
        "{flag} cannot be changed through a server, which goes on with a run as it was ordered"
    );
    let beside = format!(
        "leave {flag} out, or go on beside the server's store: {command} {flag} … --store PATH"
    );
    Err(Failure::new(Exit::Usage, text).hint(beside))
}

/// Refuses an empty message: the caller surely meant to say something.
fn refuse_empty(message: Option<&str>) -> Result<(), Failure> {
    match message {
        Some(text) if text.trim().is_empty() => {
            let failure = Failure::new(Exit::Usage, "the message is empty");
            Err(failure.hint("leave --message out to say nothing"))
        }
        Some(_) | None => Ok(()),
    }
}

/// What a stored run needs to go on: its order with the current limits, and the work.
///
/// # Errors
///
/// If `irq run` did not begin it, or what it needs is missing.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn to_go_on(
    storage: &Storage,
    run: &Run,
    limits: &LimitArguments,
    talk: &Talk,
) -> anyhow::Result<(RunOrder, PreparedRun)> {
    let mut order = RunOrder::from_content(&run.content).map_err(|error| {
        Failure::new(Exit::Failure, crate::exit::causes(&error))
            .hint("only a run that `irq run` began can go on here")
    })?;
    let mut used = RunUse::of(&*storage.store, run.id).await?;
    let kept = used.allowance.take().unwrap_or(order.allowance);
    let limits = OuterLimits::over(limits, kept)?;
    order.allowance = limits.allowance().clone();
    if let Some(most) = order.allowance.max_steps {
        order.limits.max_steps = most;
    }
    let work = PreparedRun::prepare(order.clone(), limits, talk)?;
    Ok((order, work))
}
