//! `irq run`: the workflow on a folder, from its goal to its end.

mod after_visit;
mod by_itself;
mod ending;
mod escape;
mod goal;
mod limits;
mod notes;
mod prepared;
mod raised;
mod script;
mod talk;
pub(super) mod there;
mod work;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use agents::run::RunOrder;
use engine::run::RunLimits;
use futures_util::FutureExt;
use interrupt_router::RunId;
use interrupts::policy::Policy;
use interrupts::signals::{OsSignals, SignalSource};
use jiff::Timestamp;
use journal::Allowance;
use server::RunEvents;

use super::resume::to_go_on;
use crate::address::find_run;
use crate::advice::advised;
use crate::arguments::{Global, LimitArguments, RunArguments, StoreArguments};
use crate::backend::{Local, Whereabouts};
use crate::exit::{Exit, Failure, tell};
use crate::report::SharedEvents;
use crate::storage::Storage;
use crate::tooling;
use crate::workflows;

use by_itself::WaitOutcome;
use escape::Escape;
use goal::GoalSource;

pub(super) use limits::OuterLimits;
pub(super) use prepared::{Beside, Prepared, settle};
pub(super) use talk::Talk;
pub(super) use work::{Begin, PreparedRun};
use work::{Performed, Performing, perform};

/// The model of a run that names none.
const USUAL_MODEL: &str = "rehearsal";

/// Runs the workflow.
///
/// # Errors
///
/// If something that the run needs is wrong; nothing was started then. A run that fails is an error too.
pub(crate) fn run(
    arguments: &RunArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    if let Whereabouts::Server(place) = Whereabouts::of(store)? {
        return there::run(arguments, &place, global);
    }
    if arguments.detach {
        return Err(no_server_named().into());
    }
    if !arguments.needs.is_empty() {
        let text = "--needs says which worker executes a run of a server, and none is named";
        return Err(Failure::new(Exit::Usage, text)
            .hint("name it with --server, or leave --needs out")
            .into());
    }
    let source = GoalSource::of(arguments.goal.as_deref());
    let input_is_free = !source.takes_input();
    let limits = OuterLimits::of(&arguments.limits)?;
    let order = RunOrder {
        allowance: limits.allowance().clone(),
        ..order(arguments, source)?
    };
    let talk = Talk {
        input_is_free,
        ..Talk::of(&arguments.talk)
    };
    // Errors in the order are reported before a store is touched.
    let work = PreparedRun::prepare(order, limits, &talk)?;
    complete(async {
        let storage = Storage::create(store).await?;
        let way = ExecutionOptions {
            limits: &arguments.limits,
            talk,
            global,
        };
        way.go(RunId::generate(), Begin::New, work, storage).await
    })
}

/// How a run is executed and continued.
pub(super) struct ExecutionOptions<'arguments> {
    pub(super) limits: &'arguments LimitArguments,
    pub(super) talk: Talk,
    pub(super) global: Global,
}

impl ExecutionOptions<'_> {
    /// The events of a run from now on, if programs read them.
    async fn events(&self, run: RunId, storage: &Storage) -> Result<Option<SharedEvents>, Failure> {
        if !self.talk.json {
            return Ok(None);
        }
        let events = RunEvents::from_now(Arc::clone(&storage.store), run).await?;
        Ok(Some(Arc::new(Mutex::new(events))))
    }

    /// Executes a run, and continues it as long as a policy ends its pauses.
    ///
    /// # Errors
    ///
    /// As [`perform`].
    ///
    /// # Cancel safety
    ///
    /// As [`perform`].
    pub(super) async fn go(
        &self,
        run: RunId,
        begin: Begin,
        work: PreparedRun,
        storage: Storage,
    ) -> anyhow::Result<Exit> {
        let policy = work.policy();
        // Listens from the beginning, so that a signal between two executions is not lost.
        let mut signals = OsSignals::listen()?;
        let escape = Escape::of(self.talk, self.global, self.limits.grace)?;
        let waits = storage.location().path().is_some() && *policy != Policy::default();
        let events = self.events(run, &storage).await?;
        let performing = Performing {
            talk: self.talk,
            escape: &escape,
            events: events.as_ref(),
            global: self.global,
        };
        let local = Local::over(storage.clone());
        let (mut begin, mut work) = (begin, work);
        let mut rested = None;
        loop {
            let heard = OsSignals::listen()?;
            if let Some(signal) = signals.next().now_or_never().flatten() {
                // The signal came when nothing was executing that could hear it.
                if begin != Begin::New {
                    let way = format!("It rests, and can go on: irq resume {run}");
                    tell(advised(&way));
                }
                return Ok(Exit::by(signal));
            }
            let began = Timestamp::now();
            begin = match perform(run, begin, work, performing, (storage.clone(), heard)).await? {
                Performed::MayGoOn => Begin::GoesOn { input: None },
                Performed::Ended(rest) => {
                    let policy = waits.then_some(&*policy);
                    match by_itself::waited(&local, (policy, began), &rest, &mut signals).await? {
                        WaitOutcome::AsTold => return rest.told(),
                        WaitOutcome::Otherwise => {
                            return by_itself::told_otherwise(&local, *rest, performing).await;
                        }
                        WaitOutcome::Due => rested = Some(rest),
                    }
                    Begin::GoesOnByItself
                }
                Performed::StandsStill => {
                    return match rested {
                        Some(rest) => by_itself::told_otherwise(&local, *rest, performing).await,
                        None => Err(after_visit::goes_on_elsewhere(run).into()),
                    };
                }
            };
            let row = find_run(&local, &run.to_string()).await?;
            (_, work) = to_go_on(&storage, &row, self.limits, &self.talk).await?;
            // They were printed when this process began.
            work.forget_notes();
        }
    }
}

/// Why a run cannot be detached without a server.
pub(super) fn no_server_named() -> Failure {
    Failure::new(
        Exit::Usage,
        "--detach leaves a run to a server, and none is named",
    )
    .hint("name it with --server, or start one: irq serve")
}

/// Runs to the end on all processors.
pub(super) fn complete(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(work);
    // A thread that reads the terminal cannot be joined.
    runtime.shutdown_background();
    ended
}

/// The run that the command line requests, the cheapest checks first.
fn order(arguments: &RunArguments, source: GoalSource) -> Result<RunOrder, Failure> {
    let model = arguments.model.as_deref().unwrap_or(USUAL_MODEL);
    crate::model::ModelChoice::parse(model, arguments.base_url.clone())?;
    let script = match &arguments.script {
        Some(path) => Some(script::read(path, &arguments.workflow)?),
        None => None,
    };
    let goal = source.read()?;
    let workspace = std::path::absolute(&arguments.workspace)
        .unwrap_or_else(|_no_place| arguments.workspace.clone());
    let defaults = RunLimits::default();
    let tools = tooling::order(&arguments.tools)?;
    Ok(RunOrder {
        version: RunOrder::form(&arguments.workflow, tools.as_ref()),
        input: workflows::input_of(&arguments.workflow, goal.as_str())?,
        workflow: arguments.workflow.clone(),
        goal: goal.as_str().to_owned(),
        workspace: workspace.to_string_lossy().into_owned(),
        model: model.to_owned(),
        base_url: arguments.base_url.clone(),
        seed: arguments.seed,
        script,
        limits: RunLimits {
            max_steps: arguments
                .limits
                .max_steps
                .map_or(defaults.max_steps, NonZeroU32::get),
            corrections: arguments.corrections.unwrap_or(defaults.corrections),
            ..defaults
        },
        allowance: Allowance::default(),
        tools,
    })
}
