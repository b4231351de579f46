//! `irq resume` and `irq fork`: going on with a run, in this process.

use agents::run::RunOrder;
use interrupts::store::{CheckpointId, NewRun, Run};
use routing_core::RunId;

use super::run::{Begin, Talk, Work, complete, perform};
use crate::address::find_run;
use crate::arguments::{ForkArguments, Global, ResumeArguments, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::installation::{Local, Whereabouts};
use crate::refused::by_run;

/// Goes on with a run.
///
/// # Errors
///
/// Where there is no such run, it has ended, another process has it, or it fails.
pub(crate) fn resume(
    arguments: &ResumeArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    if let Whereabouts::Server(place) = Whereabouts::of(store)? {
        return super::run::there::resume(arguments, &place, global);
    }
    if arguments.detach {
        return Err(super::run::nobody_executes().into());
    }
    complete(async {
        let local = Local::open(store).await?;
        let run = find_run(&local, &arguments.run).await?;
        refuse_ended(&run)?;
        let talk = Talk::of(&arguments.talk);
        let work = work(&run, &arguments.limits, &talk)?;
        let begin = Begin::GoesOn {
            input: arguments.message.clone(),
        };
        perform(run.id, begin, work, talk, local.into_storage(), global).await
    })
}

/// Begins a run that goes on from a checkpoint of another one.
///
/// # Errors
///
/// Where there is no such checkpoint, or the new run fails.
pub(crate) fn fork(
    arguments: &ForkArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    if let Whereabouts::Server(place) = Whereabouts::of(store)? {
        return super::run::there::fork(arguments, &place, global);
    }
    if arguments.detach {
        return Err(super::run::nobody_executes().into());
    }
    complete(async {
        let local = Local::open(store).await?;
        let from = find_run(&local, &arguments.run).await?;
        let storage = local.into_storage();
        let talk = Talk::of(&arguments.talk);
        let work = work(&from, &arguments.limits, &talk)?;
        let checkpoint = CheckpointId {
            run: from.id,
            number: arguments.at.unwrap_or(from.checkpoint),
        };
        let new = NewRun {
            id: RunId::generate(),
            alias: None,
            content: from.content.clone(),
        };
        let forked = storage.store.fork_run(checkpoint, new).await;
        let forked = forked.map_err(|error| {
            by_run(&error).hint(format!("`irq checkpoints {}` lists them", from.id))
        })?;
        let begin = Begin::GoesOn {
            input: arguments.message.clone(),
        };
        perform(forked.id, begin, work, talk, storage, global).await
    })
}

fn refuse_ended(run: &Run) -> Result<(), Failure> {
    if !run.state.is_final() {
        return Ok(());
    }
    let text = format!("{} is {}; it has ended", run.id, run.state);
    Err(Failure::new(Exit::Conflict, text).hint(format!(
        "`irq fork {}` begins another one from its last checkpoint",
        run.id
    )))
}

/// What a stored run needs to go on.
fn work(run: &Run, limits: &crate::arguments::LimitArguments, talk: &Talk) -> anyhow::Result<Work> {
    let mut order = RunOrder::from_content(&run.content).map_err(|error| {
        Failure::new(Exit::Failure, crate::exit::causes(&error))
            .hint("only a run that `irq run` began can go on here")
    })?;
    if let Some(most) = limits.max_steps {
        order.limits.max_steps = most.get();
    }
    let limits = super::run::OuterLimits::of(limits)?;
    Work::prepare(order, limits, talk)
}
