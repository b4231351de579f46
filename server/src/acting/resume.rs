//! Continuing a run that has stopped or waits.

use control::{Caller, DecisionParts, NewDecision, ResumeOrder, Right, not_asked, refuse_ended};
use interrupt_router::RunId;
use interrupts::life::{Family, Interrupt, RunState, State, Verdict};
use interrupts::store::{CheckpointId, Filter, Pages, Run};
use journal::ResumeRequest;
use uuid::Uuid;

use super::decide::{DecisionOrder, RefusedAt, decide_all, decision_id, made_before, not_made};
use super::readable::refuse_unread;
use crate::app::App;
use crate::launcher::LaunchError;
use crate::metrics::Way;
use crate::problem::{Code, Problem, of_launch};

/// How many interrupts are read at a time.
const PAGE: u32 = 500;

/// How a run is to continue, and the key by which a repeated request is the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyedResume {
    /// How.
    pub(crate) order: ResumeOrder,
    /// The key.
    pub(crate) key: Option<String>,
}

/// What the same request has done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that is known.
    Nothing,
    /// It is kept with the run, which no process has continued yet.
    Kept,
    /// All of it.
    Everything,
}

/// Continues a run. Returns the run that continues: a new one if a checkpoint is named.
///
/// It lifts the pauses that wait when it comes and have not ended meanwhile, all of them in one transaction or none.
/// Sent again with its key it lifts no other pause, whatever was requested since.
pub(crate) async fn resume(
    app: &App,
    caller: &Caller,
    run: &Run,
    how: KeyedResume,
) -> Result<RunId, Problem> {
    Right::Direct.demand(caller)?;
    let checked = how.order.check();
    checked.map_err(not_asked)?;
    if how.order.accept_catalogue {
        accept_catalogue(app, caller, run).await?;
    }
    // The key of a fork belongs to its run: it can be used once, whichever the checkpoint.
    let fork = how.key.as_deref();
    let fork = fork.map(|key| RunId::from_uuid(caller.keyed(&format!("fork {}", run.id), key)));
    // Read before checking what the key has done: pauses that begin to wait after that are not part of this request.
    let open = reviews_of(app, run.id).await?;
    let before = done_before(app, caller, run, &how).await?;
    let is_fork = how.order.checkpoint.is_some();
    if before == Before::Nothing && (is_fork || !run.state.is_final()) {
        refuse_unread(app, run, how.order.checkpoint).await?;
    }
    if let Some(number) = how.order.checkpoint {
        if before != Before::Nothing {
            return Err(key_was_used());
        }
        let checkpoint = CheckpointId {
            run: run.id,
            number,
        };
        let id = fork.unwrap_or_else(RunId::generate);
        return forked(app, caller, checkpoint, (id, how.order)).await;
    }
    match before {
        Before::Nothing => {}
        Before::Kept => return go_on(app, caller, run, &how).await,
        Before::Everything => {
            // The process that did it may have died before it woke the run.
            app.wake_run(run.id);
            return Ok(run.id);
        }
    }
    if let Some(fork) = fork
        && app.store().run(fork).await?.is_some()
    {
        return Err(key_was_used());
    }
    refuse_ended(run)?;
    for_the_first_time(app, caller, run, (&how, open)).await
}

/// Switches the run to the current catalogue of its workflow. Repeated, it changes nothing.
async fn accept_catalogue(app: &App, caller: &Caller, run: &Run) -> Result<(), Problem> {
    if run.state.is_final() {
        return Ok(());
    }
    let by = caller.actor.clone();
    let accepted = app.config.launcher.accept_catalogue(run.id, by).await;
    accepted.map_err(|error| of_launch(&error))?;
    app.feed.nudge();
    Ok(())
}

/// Continues a run by a request that has done nothing before; `open` are the interrupts that wait for people.
async fn for_the_first_time(
    app: &App,
    caller: &Caller,
    run: &Run,
    (how, open): (&KeyedResume, Vec<Interrupt>),
) -> Result<RunId, Problem> {
    let (pauses, questions): (Vec<Interrupt>, Vec<Interrupt>) = open
        .into_iter()
        .partition(|interrupt| interrupt.family() == Family::Stop);
    // A run that is paused with no open pause continues to its questions: something else has stopped it.
    let waits = !questions.is_empty() && run.state != RunState::Paused;
    match (pauses.is_empty(), waits) {
        // The questions are asked again; the run continues with their answers.
        (true, true) if how.order.accept_catalogue && how.order.input.is_none() => Ok(run.id),
        (true, true) => Err(open_questions(&questions)),
        (true, false) => nothing_to_decide(app, caller, run, how).await,
        (false, _) => {
            lift(app, caller, pauses, how).await?;
            Ok(run.id)
        }
    }
}

/// Forks a run as the run with this id, which is new or was made by the same request.
async fn forked(
    app: &App,
    caller: &Caller,
    checkpoint: CheckpointId,
    (id, order): (RunId, ResumeOrder),
) -> Result<RunId, Problem> {
    let launcher = &app.config.launcher;
    let by = caller.actor.clone();
    let forked = launcher.fork(checkpoint, id, order, by).await;
    forked.map_err(|error| {
        if error == (LaunchError::Taken { run: id }) {
            key_was_used()
        } else {
            of_launch(&error)
        }
    })
}

/// What the same request has done before. The key of another one is refused.
async fn done_before(
    app: &App,
    caller: &Caller,
    run: &Run,
    how: &KeyedResume,
) -> Result<Before, Problem> {
    if how.key.is_none() {
        return Ok(Before::Nothing);
    }
    let request = request(caller, run, how);
    let Some(entry) = app.store().effect(request.effect_in(run.id)).await? else {
        let lifted = lifted_before(app, caller, run, how).await?;
        return Ok(if lifted {
            Before::Everything
        } else {
            Before::Nothing
        });
    };
    if !request.is_kept_by(&entry) {
        return Err(key_was_used());
    }
    Ok(match entry.result {
        None => Before::Kept,
        Some(_) => Before::Everything,
    })
}

/// The request in the form that is kept with the run if no pause has its decision.
fn request(caller: &Caller, run: &Run, how: &KeyedResume) -> ResumeRequest {
    let id = match &how.key {
        Some(key) => caller.keyed(&format!("resume {}", run.id), key),
        None => Uuid::now_v7(),
    };
    ResumeRequest {
        id,
        input: how.order.input.clone(),
    }
}

/// Whether the same request lifted the pauses of the run before. The key of another one is refused.
async fn lifted_before(
    app: &App,
    caller: &Caller,
    run: &Run,
    how: &KeyedResume,
) -> Result<bool, Problem> {
    let Some(key) = how.key.as_deref() else {
        return Ok(false);
    };
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::Resolved, State::Rerouted],
    };
    let mut pages = Pages::of(PAGE);
    let read = |page| app.store().interrupts(&filter, page);
    while let Some(ended) = pages.next(read).await? {
        for (_position, pause) in &ended {
            let id = decision_id(caller, pause, Some(key));
            // The first pause that the request lifted has its input, and comes before all others.
            let lifting = lifting(pause, how, how.order.input.as_ref());
            if made_before(app, pause, id, &lifting).await?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn key_was_used() -> Problem {
    Problem::new(
        Code::IdempotencyConflict,
        "the key was used to go on with this run in another way",
        "use a new `Idempotency-Key` for a new request",
    )
}

/// The run is not running, and no question is open: its process died. It only needs a process to execute it.
async fn nothing_to_decide(
    app: &App,
    caller: &Caller,
    run: &Run,
    how: &KeyedResume,
) -> Result<RunId, Problem> {
    let executed = app.is_executed(run);
    if executed && matches!(run.state, RunState::Running | RunState::Stopping) {
        return Err(Problem::new(
            Code::NotInState,
            format!("{} is {}", run.id, run.state),
            format!(
                "it goes on by itself; `GET /v1/runs/{}/events` shows how",
                run.id
            ),
        ));
    }
    go_on(app, caller, run, how).await
}

/// Lets the launcher continue a run; it keeps the request with the run.
async fn go_on(app: &App, caller: &Caller, run: &Run, how: &KeyedResume) -> Result<RunId, Problem> {
    let request = request(caller, run, how);
    let resumed = app.config.launcher.resume(run.id, request).await;
    resumed.map_err(|error| of_launch(&error))?;
    app.feed.nudge();
    Ok(run.id)
}

/// The decision by which a pause is lifted.
fn lifting(pause: &Interrupt, how: &KeyedResume, said: Option<&String>) -> DecisionOrder {
    let verdict = match said {
        Some(_) => Verdict::Respond,
        None => Verdict::Resume,
    };
    DecisionOrder {
        decision: NewDecision {
            version: Some(pause.version),
            shown: None,
            parts: DecisionParts {
                message: said.cloned(),
                ..DecisionParts::new(verdict)
            },
            remember: None,
        },
        key: how.key.clone(),
        way: Way::Resume,
    }
}

/// Lifts pauses, all together or none of them. A pause that has ended meanwhile is no reason to leave the others: the
/// caller who ended it wanted nothing else.
async fn lift(
    app: &App,
    caller: &Caller,
    mut pauses: Vec<Interrupt>,
    how: &KeyedResume,
) -> Result<(), Problem> {
    loop {
        let orders: Vec<(Interrupt, DecisionOrder)> = pauses
            .iter()
            .enumerate()
            .map(|(place, pause)| {
                // The input is given once, so it is read once, however many pauses are lifted with it.
                let said = how.order.input.as_ref().filter(|_input| place == 0);
                (pause.clone(), lifting(pause, how, said))
            })
            .collect();
        let Err(refused) = decide_all(app, caller, &orders).await else {
            return Ok(());
        };
        let left = unended(app, &pauses).await?;
        if left.is_empty() || left.len() == pauses.len() {
            return Err(first_of(refused, &pauses));
        }
        pauses = left;
    }
}

/// Those of these pauses that have not ended by now. A pause whose deadline has passed counts as ended.
async fn unended(app: &App, pauses: &[Interrupt]) -> Result<Vec<Interrupt>, Problem> {
    let mut left = Vec::with_capacity(pauses.len());
    for pause in pauses {
        let found = app.store().interrupt(pause.id).await?;
        let is_due = |it: &Interrupt| it.due_at().is_some_and(|deadline| deadline <= app.now());
        left.extend(found.filter(|it| it.state == State::AwaitingReview && !is_due(it)));
    }
    Ok(left)
}

/// Why pauses were not lifted: the reason of the first that was not.
fn first_of(refused: Vec<RefusedAt>, pauses: &[Interrupt]) -> Problem {
    let Some((place, problem)) = refused.into_iter().next() else {
        return not_made();
    };
    match pauses.get(place) {
        Some(pause) => problem.about(format!("/v1/interrupts/{}", pause.id)),
        None => problem,
    }
}

/// The interrupts of a run that wait for a person.
async fn reviews_of(app: &App, run: RunId) -> Result<Vec<Interrupt>, Problem> {
    let filter = Filter {
        run: Some(run),
        node: None,
        states: vec![State::AwaitingReview],
    };
    let open = Pages::of(PAGE).values(|page| app.store().interrupts(&filter, page));
    Ok(open.await?)
}

fn open_questions(questions: &[Interrupt]) -> Problem {
    let ids: Vec<String> = questions
        .iter()
        .map(|question| question.id.to_string())
        .collect();
    Problem::new(
        Code::OpenInterrupts,
        "the run waits for answers",
        format!("answer it: `irq review {}`", ids[0]),
    )
    .with("open_interrupts", ids)
}
