//! Going on with a run that stands still.

use interrupts::life::{Family, Interrupt, RunState, State, Verdict};
use interrupts::store::{CheckpointId, Filter, Page, Run};
use routing_core::RunId;
use serde_json::Value;

use super::decide::{DecisionOrder, decide, decision_id};
use super::keyed;
use crate::access::{Caller, Right};
use crate::app::App;
use crate::metrics::Way;
use crate::problem::{Kind, Problem, of_launch, of_store};

/// How a run shall go on.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResumeOrder {
    /// From this checkpoint, as a run of its own; where it stands otherwise.
    pub(crate) checkpoint: Option<u64>,
    /// New input.
    pub(crate) input: Option<String>,
    /// What makes it the same request when it is sent again.
    pub(crate) key: Option<String>,
}

/// Goes on with a run. Returns the run that goes on: a new one where a checkpoint is named.
pub(crate) async fn resume(
    app: &App,
    caller: &Caller,
    run: &Run,
    order: ResumeOrder,
) -> Result<RunId, Problem> {
    Right::Direct.demand(caller)?;
    if let Some(number) = order.checkpoint {
        let checkpoint = CheckpointId {
            run: run.id,
            number,
        };
        let id = match order.key.as_deref() {
            Some(key) => RunId::from_uuid(keyed(caller, &format!("fork {checkpoint}"), key)),
            None => RunId::generate(),
        };
        return app
            .config
            .launcher
            .fork(checkpoint, id, order.input, caller.actor.clone())
            .await
            .map_err(|error| of_launch(&error));
    }
    if let Some(key) = order.key.as_deref()
        && resumed_before(app, caller, run, key).await?
    {
        return Ok(run.id);
    }
    if run.state.is_final() {
        return Err(super::stop::finished(&format!(
            "{} is {}",
            run.id, run.state
        )));
    }
    let open = reviews_of(app, run.id).await?;
    let (pauses, questions): (Vec<Interrupt>, Vec<Interrupt>) = open
        .into_iter()
        .partition(|interrupt| interrupt.family() == Family::Stop);
    match (pauses.is_empty(), questions.is_empty()) {
        (true, false) => Err(open_questions(&questions)),
        (true, true) => nothing_to_decide(app, run, order.input).await,
        (false, _) => {
            for pause in pauses {
                lift(app, caller, &pause, &order).await?;
            }
            Ok(run.id)
        }
    }
}

/// Whether the same request lifted a pause of the run before.
async fn resumed_before(app: &App, caller: &Caller, run: &Run, key: &str) -> Result<bool, Problem> {
    let filter = Filter {
        run: Some(run.id),
        node: None,
        states: vec![State::Resolved, State::Rerouted],
    };
    let mut page = Page {
        after: 0,
        limit: 500,
    };
    loop {
        let ended = app.store().interrupts(&filter, page).await;
        let ended = ended.map_err(|error| of_store(&error))?;
        let Some((last, _)) = ended.last() else {
            return Ok(false);
        };
        page.after = *last;
        for (_position, interrupt) in &ended {
            let id = decision_id(caller, interrupt, Some(key));
            if interrupt.decision.as_ref().is_some_and(|it| it.id == id) {
                return Ok(true);
            }
        }
    }
}

/// The run stands still though nobody is asked: its process died. Somebody has to execute it, that is all.
async fn nothing_to_decide(app: &App, run: &Run, input: Option<String>) -> Result<RunId, Problem> {
    let executed = run
        .lease
        .as_ref()
        .is_some_and(|lease| lease.until > app.now());
    if executed && matches!(run.state, RunState::Running | RunState::Stopping) {
        return Err(Problem::new(
            Kind::NotInState,
            format!("{} is {}", run.id, run.state),
            format!(
                "it goes on by itself; `GET /v1/runs/{}/events` shows how",
                run.id
            ),
        ));
    }
    let resumed = app.config.launcher.resume(run.id, input).await;
    resumed.map_err(|error| of_launch(&error))?;
    app.feed.nudge();
    Ok(run.id)
}

async fn lift(
    app: &App,
    caller: &Caller,
    pause: &Interrupt,
    order: &ResumeOrder,
) -> Result<(), Problem> {
    let verdict = match &order.input {
        Some(_) => Verdict::Respond,
        None => Verdict::Resume,
    };
    let decision = DecisionOrder {
        version: Some(pause.version),
        shown: None,
        key: order.key.clone(),
        verdict,
        payload: None::<Value>,
        message: order.input.clone(),
        reroute_to: None,
        remember: None,
        way: Way::Resume,
    };
    decide(app, caller, pause, decision)
        .await
        .map(|_decided| ())
}

/// The interrupts of a run that wait for a person.
async fn reviews_of(app: &App, run: RunId) -> Result<Vec<Interrupt>, Problem> {
    let filter = Filter {
        run: Some(run),
        node: None,
        states: vec![State::AwaitingReview],
    };
    let page = Page {
        after: 0,
        limit: 500,
    };
    let open = app
        .store()
        .interrupts(&filter, page)
        .await
        .map_err(|error| of_store(&error))?;
    Ok(open
        .into_iter()
        .map(|(_position, interrupt)| interrupt)
        .collect())
}

fn open_questions(questions: &[Interrupt]) -> Problem {
    let ids: Vec<String> = questions
        .iter()
        .map(|question| question.id.to_string())
        .collect();
    Problem::new(
        Kind::OpenInterrupts,
        "the run waits for answers",
        format!("answer it: `irq review {}`", ids[0]),
    )
    .with("open_interrupts", ids)
}
