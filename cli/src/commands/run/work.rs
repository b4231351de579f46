//! A run in the foreground: from its order, or from where it stopped, to its end.

use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;

use agents::run::RunOrder;
use engine::run::{RunObserver, RunOccurrence, RunReport, RunStatus};
use interrupt_router::{InterruptId, RunId, StopMode, StopSource};
use interrupts::OwnerName;
use interrupts::life::{Interrupt, State};
use interrupts::manager::{StopCause, StopRequest, Target};
use interrupts::policy::Policy;
use interrupts::signals::{Listening, OsSignals, Signal};
use interrupts::store::{Filter, Store, StoreError};

use super::after_visit::{AfterVisit, goes_on_elsewhere};
use super::ending::RunEnding;
use super::escape::{Escape, Where};
use super::limits::OuterLimits;
use super::notes;
use super::prepared::{Beside, Prepared, settle};
use super::raised::raised;
use super::talk::Talk;
use crate::actor::actor;
use crate::arguments::Global;
use crate::due::{answer_open, let_go_on};
use crate::exit::{Exit, Failure};
use crate::hooks::CommandHook;
use crate::listing;
use crate::model::{ModelTrouble, ModelWatch};
use crate::report::{Finished, RunLocation, SharedEvents};
use crate::reviewer::InterruptCount;
use crate::run_owner::{LocalRun, RunOwner, SeenSignal, SignalPrompts, not_taken, owner_words};
use crate::storage::Storage;
use crate::terminal_output::{OutputThread, TerminalOutput, is_of_closed_terminal};
use crate::tooling::InterruptedTools;

/// How fast the rehearsal speaks when a person watches, in tokens a second.
const WATCHED_PACE: u32 = 400;

/// Whether a run begins or goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum Begin {
    /// It begins.
    New,
    /// It goes on, with new input if there is some.
    GoesOn {
        /// A message for the agent whose turn it is.
        input: Option<String>,
    },
    /// It goes on by itself: the policy ends all that it waits for.
    GoesOnByItself,
}

/// How executing it ended.
pub(super) enum Performed {
    /// It has ended, is paused or waits.
    Ended(Box<Rest>),
    /// It was paused from the terminal, and the person there has let it go on.
    MayGoOn,
    /// It was to go on by itself, and another caller reached it first.
    StandsStill,
}

/// A run that has ended, is paused or waits, as it was reported.
pub(super) struct Rest {
    pub(super) report: RunReport,
    exit: Exit,
    /// What a person has to act on.
    pub(super) failure: Option<Failure>,
}

impl Rest {
    /// The result of a run, with what else is known: the error of the model's last answer, the signal that stopped it, and
    /// whether a limit did.
    pub(super) fn of(
        report: RunReport,
        trouble: Option<ModelTrouble>,
        signal: Option<Exit>,
        limited: bool,
    ) -> Self {
        let ending = RunEnding {
            status: &report.status,
            run: report.run,
            trouble,
            signal,
            limited,
        };
        let (exit, failure) = (ending.exit(), ending.failure());
        Self {
            report,
            exit,
            failure,
        }
    }

    /// The final summary.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn finished(&self, store: &dyn Store, is_file: bool) -> Finished {
        let kept = match store.run(self.report.run).await {
            Err(StoreError::Gone { .. }) => RunLocation::Nowhere,
            Ok(_) | Err(_) if is_file => RunLocation::Store,
            Ok(_) | Err(_) => RunLocation::Memory,
        };
        let (open, interrupts) = interrupts_of(store, &self.report).await;
        let raised = raised(store, self.report.run, &open).await;
        Finished {
            open: ids_of(open, &self.report),
            interrupts,
            raised,
            asks: self.exit == Exit::Asking,
            kept,
            report: self.report.clone(),
        }
    }

    /// What it means to the shell.
    ///
    /// # Errors
    ///
    /// If the run failed, or waits.
    pub(super) fn told(self) -> anyhow::Result<Exit> {
        match self.failure {
            Some(failure) => Err(failure.into()),
            None => Ok(self.exit),
        }
    }
}

/// How a run is watched, and by whom.
#[derive(Clone, Copy)]
pub(super) struct Performing<'p> {
    pub(super) talk: Talk,
    pub(super) escape: &'p Escape,
    /// The events, if programs read them.
    pub(super) events: Option<&'p SharedEvents>,
    pub(super) global: Global,
}

/// Everything that was checked before a run starts.
pub(in crate::commands) struct PreparedRun {
    prepared: Prepared,
    /// What the user should know before the run starts.
    notes: Vec<String>,
}

impl PreparedRun {
    /// Checks all that an order needs.
    ///
    /// # Errors
    ///
    /// If the folder, the model or the script cannot be had.
    pub(in crate::commands) fn prepare(
        order: RunOrder,
        limits: OuterLimits,
        talk: &Talk,
    ) -> anyhow::Result<Self> {
        let is_watched = io::stdout().is_terminal() && io::stderr().is_terminal();
        let default_pace = if is_watched { WATCHED_PACE } else { 0 };
        let prepared = Prepared::of(order, limits, talk.pace.unwrap_or(default_pace))?;
        let notes = if prepared.speaks_of_a_folder() {
            notes::notes(prepared.workspace(), prepared.is_deaf())
        } else {
            Vec::new()
        };
        Ok(Self { prepared, notes })
    }
}

impl PreparedRun {
    /// Drops the notes that are printed before the run starts.
    pub(super) fn forget_notes(&mut self) {
        self.notes.clear();
    }

    /// The policy for the run's interrupts.
    pub(super) fn policy(&self) -> Arc<Policy> {
        self.prepared.limits().policy()
    }
}

/// Runs to the end, or to where the run is paused or has to wait.
///
/// # Errors
///
/// If the run cannot be taken, or its end cannot be recorded or printed.
///
/// # Cancel safety
///
/// If dropped, the run is left in the store as if this process had died.
pub(super) async fn perform(
    id: RunId,
    begin: Begin,
    work: PreparedRun,
    performing: Performing<'_>,
    (storage, signals): (Storage, OsSignals),
) -> anyhow::Result<Performed> {
    let is_file = storage.location().path().is_some();
    let run_owner = RunOwner::over(storage.clone(), &work.policy())?;
    let Some(kept) = taken(&run_owner, id, begin, &work).await? else {
        return Ok(Performed::StandsStill);
    };
    let seen = SeenSignal::default();
    let output_thread = opened(performing, &kept, seen.clone())?;
    let output = output_thread.output();
    let listening = heard(&run_owner, (id, &work), signals, &output, &seen)?;
    let watch = Arc::new(ModelWatch::new(output.clone()));
    let told = seen.clone();
    let attending = performing
        .escape
        .attend(id, Where::Here(storage), output.clone(), move || {
            told.exit().is_some()
        });
    let shown = RunDisplay {
        performing,
        output: &output,
        watch: &watch,
    };
    let executed = execute(&run_owner, &kept, work, shown).await;
    let limited = kept.control.was_limited();
    let settled = match &executed {
        Ok(report) => settle(&run_owner, kept, report).await,
        Err(_) => Ok(()),
    };
    run_owner.manager.hooks_ended().await;
    let was_visited = attending.end().await;
    let mut report = executed?;
    if was_visited && settled.is_ok() && seen.exit().is_none() {
        match AfterVisit::of(run_owner.store(), &report).await? {
            AfterVisit::Rests => {}
            AfterVisit::MayGoOn => {
                closed(move || output_thread.leave()).await?;
                return Ok(Performed::MayGoOn);
            }
            AfterVisit::Ended(status) => report.status = status,
            AfterVisit::Elsewhere => {
                closed(move || output_thread.leave()).await?;
                return Err(goes_on_elsewhere(id).into());
            }
        }
    }
    let rest = Rest::of(report, watch.trouble(), seen.exit(), limited);
    // Signals are heard until all is written: the reader of the output may have stopped reading.
    let finished = rest.finished(run_owner.store(), is_file).await;
    let written = closed(move || output_thread.finish(finished)).await;
    drop(listening);
    settled?;
    written?;
    Ok(Performed::Ended(Box::new(rest)))
}

/// The terminal output that a run is shown on.
fn opened(
    performing: Performing<'_>,
    kept: &LocalRun,
    seen: SeenSignal,
) -> io::Result<OutputThread> {
    let Performing {
        talk,
        global,
        events,
        ..
    } = performing;
    let report = talk.report(global, events);
    TerminalOutput::open(report, unread(kept, seen))
}

/// Hears signals from now on and says what they do; prints what the user should know before the run.
fn heard(
    run_owner: &RunOwner,
    (id, work): (RunId, &PreparedRun),
    signals: OsSignals,
    output: &TerminalOutput,
    seen: &SeenSignal,
) -> anyhow::Result<Listening> {
    let told = output.clone();
    if let Some(hook) = CommandHook::of(&work.policy(), move |text| told.notice(text)) {
        run_owner.manager.add_hook(Arc::new(hook.of_run(id)));
    }
    let settings = work.prepared.limits().signals(actor()?)?;
    let spoken = SignalPrompts::new(output.clone(), seen.clone(), work.prepared.has_tools());
    let listening = run_owner.listen(signals, settings, spoken);
    for note in &work.notes {
        output.notice(note.clone());
    }
    Ok(listening)
}

/// Makes this process the owner of a run, which begins or goes on from here. A run that was to go on by itself is not taken
/// if another process has it or something holds it by now.
async fn taken(
    run_owner: &RunOwner,
    id: RunId,
    begin: Begin,
    work: &PreparedRun,
) -> anyhow::Result<Option<LocalRun>> {
    if begin == Begin::New {
        run_owner.create(id, work.prepared.order()).await?;
    }
    let workflow = work.prepared.workflow();
    let kept = run_owner.take_soon(id, workflow, |owner| waits_for(id, owner));
    let mut kept = match (kept.await, &begin) {
        (Err(failure), Begin::GoesOnByItself) if failure.exit == Exit::Conflict => return Ok(None),
        (kept, _) => kept?,
    };
    if begin == Begin::GoesOnByItself {
        match let_go_on(run_owner, &work.policy(), kept).await? {
            Some(goes_on) => kept = goes_on,
            None => return Ok(None),
        }
    }
    let goes_on = begin != Begin::New;
    if let Some(input) = lifted(&kept, begin).await? {
        run_owner.keep_input(&kept, workflow, &input).await?;
    }
    if goes_on {
        answer_open(run_owner.store(), &work.policy(), id).await?;
    }
    kept.run.begin().await?;
    Ok(Some(kept))
}

/// Says that the run is taken once its owner releases it.
fn waits_for(run: RunId, owner: &OwnerName) {
    let owner = owner_words(owner.as_str());
    let words = format!("another process has {run} at this moment ({owner}); waiting for it");
    // If this cannot be printed, the process waits all the same.
    let _unread = writeln!(io::stderr(), "{words}");
}

/// The interrupts of a run that wait for a person, those that can be decided now first; and how many it has had in all.
async fn interrupts_of(store: &dyn Store, report: &RunReport) -> (Vec<Interrupt>, usize) {
    let filter = Filter {
        run: Some(report.run),
        ..Filter::default()
    };
    let (mut open, count) = match listing::interrupts_in(store, &filter).await {
        Ok(all) => {
            let count = all.len();
            (all, count)
        }
        Err(error) => {
            tracing::warn!(%error, "the interrupts of the run cannot be read");
            (Vec::new(), report.interrupts.len())
        }
    };
    open.retain(|interrupt| interrupt.state == State::AwaitingReview);
    open.sort_by_key(|interrupt| interrupt.held_by.is_some());
    (open, count)
}

fn ids_of(open: Vec<Interrupt>, report: &RunReport) -> Vec<InterruptId> {
    let mut ids: Vec<InterruptId> = open.into_iter().map(|interrupt| interrupt.id).collect();
    if let RunStatus::Waiting { interrupts, .. } = &report.status {
        // What the run waits for is known even if the store is gone.
        let unlisted = interrupts.iter().filter(|id| !ids.contains(id));
        let unlisted: Vec<InterruptId> = unlisted.copied().collect();
        ids.extend(unlisted);
    }
    ids
}

/// Closes a terminal output, once it has written all.
///
/// # Errors
///
/// If that cannot be written.
///
/// # Cancel safety
///
/// If dropped, it is closed all the same, but no task waits for it.
pub(super) async fn closed(
    close: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<(), Failure> {
    let written = tokio::task::spawn_blocking(close)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    let written = match written {
        // If the terminal was closed, no one can read the error.
        Err(error) if is_of_closed_terminal(&error) => Ok(()),
        written => written,
    };
    written.map_err(|error| {
        let message = format!("the output could not be written to its end: {error}");
        Failure::new(Exit::Failure, message)
    })
}

/// How a run is watched and answered.
struct RunDisplay<'stage> {
    performing: Performing<'stage>,
    output: &'stage TerminalOutput,
    watch: &'stage Arc<ModelWatch>,
}

/// Executes what was prepared, and prints the choices that an interrupt of tools leaves.
async fn execute(
    run_owner: &RunOwner,
    kept: &LocalRun,
    work: PreparedRun,
    shown: RunDisplay<'_>,
) -> anyhow::Result<RunReport> {
    let RunDisplay {
        performing,
        output,
        watch,
    } = shown;
    let Performing {
        talk,
        escape,
        global,
        ..
    } = performing;
    let count = Arc::new(InterruptCount::default());
    let interrupted = Arc::new(InterruptedTools::default());
    let beside = Beside {
        watch: Some(Arc::clone(watch)),
        reviewer: talk.reviewer(
            escape.keyboard(),
            work.prepared.script(),
            &count,
            output,
            global,
        )?,
        observer: Arc::new(Observers(vec![
            count,
            Arc::clone(&interrupted) as Arc<_>,
            Arc::clone(watch) as Arc<_>,
            Arc::new(output.clone()),
        ])),
        note: note_on(output),
    };
    let report = work.prepared.execute(run_owner, kept, beside).await?;
    if interrupted.any() {
        output.notice(tools::wording::CHOICES);
    }
    Ok(report)
}

/// Shows notes about the tools to people watching.
fn note_on(output: &TerminalOutput) -> Box<dyn Fn(String) + Send + Sync> {
    let output = output.clone();
    Box::new(move |note| output.notice(note))
}

/// Lifts the pauses that a run was found with. Returns the input that no pause carries.
async fn lifted(kept: &LocalRun, begin: Begin) -> anyhow::Result<Option<String>> {
    let Begin::GoesOn { input } = begin else {
        return Ok(None);
    };
    let content = input
        .as_ref()
        .map(|input| serde_json::json!({ "input": input }).to_string());
    let lifted = kept.run.resume(&actor()?, content.clone()).await;
    let lifted = lifted.map_err(|error| not_taken(kept.run.run(), &error))?;
    // If a pause was lifted, its decision carries the input. A decision that another caller made does not.
    let decisions = lifted.iter().filter_map(|pause| pause.decision.as_ref());
    let is_said = decisions
        .into_iter()
        .any(|decision| decision.content == content);
    Ok(input.filter(|_input| !is_said))
}

/// Stops a run whose output is no longer read. If its terminal was closed, the stop is the user's.
fn unread(kept: &LocalRun, seen: SeenSignal) -> impl FnOnce(&io::Error) + Send + 'static {
    let requests = kept.run.requests();
    let target = Target::Run(kept.run.run());
    move |error| {
        let Ok(by) = actor() else {
            return;
        };
        let request = if is_of_closed_terminal(error) {
            seen.remember(Exit::HungUp);
            StopRequest {
                source: StopSource::User,
                cause: StopCause::Shutdown,
                ..StopRequest::pause(target, by, Signal::Hangup.why_it_stops())
            }
        } else {
            StopRequest {
                mode: StopMode::Immediate,
                source: StopSource::System,
                ..StopRequest::pause(target, by, "the output of the run was closed")
            }
        };
        let _handle = requests.request(request);
    }
}

/// Passes each event to all of them, in this order.
struct Observers(Vec<Arc<dyn RunObserver>>);

impl RunObserver for Observers {
    fn observe(&self, occurrence: &RunOccurrence) {
        for observer in &self.0 {
            observer.observe(occurrence);
        }
    }

    fn wants_chunks(&self) -> bool {
        self.0.iter().any(|observer| observer.wants_chunks())
    }
}
