//! The worker protocol: what an orchestrator in any language does with its workflow and its runs.

mod checkpoints;
mod effects;
mod leases;
mod questions;
mod runs;
mod settling;
mod signals;
mod workflows;

use std::time::Duration;

use control::{Caller, no_run};
use interrupt_router::{NodeId, RunId};
use interrupts::{Label, LabelError, Labels, WorkflowName};
use jiff::Timestamp;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use workers::{Owned, Protocol, WorkError, WorkKey};

use crate::app::App;
use crate::feed::{Concern, News};
use crate::parameters::wrong;
use crate::problem::{Code, Problem, of_work};

pub(crate) use settling::Settling;

/// The longest wait for news, in milliseconds.
const LONGEST_WAIT: u32 = 30_000;

/// How much of the time for a response is left for what follows a wait.
const SPARE: Duration = Duration::from_secs(2);

/// The resources for workers, with their description.
pub(super) fn resources() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(workflows::register, workflows::read))
        .routes(routes!(workflows::create_run))
        .routes(routes!(leases::take_next))
        .routes(routes!(runs::read))
        .routes(routes!(leases::take, leases::renew, leases::release))
        .routes(routes!(runs::tell_agents))
        .routes(routes!(runs::stopped))
        .routes(routes!(runs::end))
        .routes(routes!(
            questions::ask,
            questions::read,
            questions::withdraw
        ))
        .routes(routes!(questions::schema))
        .routes(routes!(questions::submit))
        .routes(routes!(signals::read))
        .routes(routes!(signals::messages_read))
        .routes(routes!(signals::read_under))
        .routes(routes!(effects::begin))
        .routes(routes!(effects::finish))
        .routes(routes!(checkpoints::save))
        .routes(routes!(checkpoints::last))
}

/// The epoch in which the worker has the run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EpochQuery {
    /// The epoch in which you have the run.
    epoch: u64,
}

/// The workflow of a worker's token.
fn workflow_of(caller: &Caller) -> Result<&WorkflowName, Problem> {
    let bound = caller.reach.0.as_ref().and_then(|scope| scope.workflow());
    bound.ok_or_else(|| {
        Problem::new(
            Code::Forbidden,
            "your token is bound to no workflow",
            "`irq token create --name NAME --role worker --workflow WORKFLOW` makes one that is",
        )
    })
}

/// The protocol for the workflow of a worker's token.
fn protocol<'a>(app: &'a App, caller: &'a Caller) -> Result<Protocol<'a>, Problem> {
    Ok(Protocol {
        store: app.store(),
        catalogues: &app.catalogues,
        policy: &app.config.policy,
        workflow: workflow_of(caller)?,
    })
}

/// As [`protocol`], if the address names the workflow.
fn protocol_named<'a>(
    app: &'a App,
    caller: &'a Caller,
    name: &str,
) -> Result<Protocol<'a>, Problem> {
    let protocol = protocol(app, caller)?;
    if protocol.workflow.as_str() == name {
        return Ok(protocol);
    }
    Err(Problem::new(
        Code::WorkflowNotFound,
        format!("your token reaches no workflow `{name}`"),
        format!("it is bound to the workflow `{}`", protocol.workflow),
    ))
}

/// The labels of a body.
fn labels_of(field: &str, labels: &[String]) -> Result<Labels, Problem> {
    let labels: Result<Vec<Label>, LabelError> = labels.iter().map(Label::new).collect();
    let labels = labels.and_then(Labels::new);
    labels.map_err(|error| {
        Problem::new(
            Code::Shape,
            format!("{field}: {error}"),
            "short words of your own, such as gpu and region=eu, and at most 50 of them",
        )
    })
}

/// The run of a segment of the address.
fn run_id(text: &str) -> Result<RunId, Problem> {
    Ok(text.parse().map_err(|_error| no_run(text))?)
}

/// The key of a segment of the address.
fn work_key(text: &str) -> Result<WorkKey, Problem> {
    let key = text.parse::<WorkKey>();
    key.map_err(|error| wrong("key", error.to_string()))
}

/// An agent that a body names.
fn node_id(pointer: &str, text: &str) -> Result<NodeId, Problem> {
    let reason = match NodeId::new(text) {
        Ok(node) if node.is_within(&NodeId::root()) => return Ok(node),
        Ok(node) => format!("{pointer}: `{node}` is neither `root` nor below it"),
        Err(error) => format!("{pointer}: {error}"),
    };
    Err(Problem::new(
        Code::Shape,
        reason,
        "the first agent of a run is `root`, others are below it: `root/refunds`",
    ))
}

/// A run that the caller owns in the epoch that it names. Every outcome that was sent to it is recorded.
async fn owned<'a>(
    app: &'a App,
    caller: &'a Caller,
    run: &str,
    epoch: u64,
) -> Result<Owned<'a>, Problem> {
    app.settling.settled(run_id(run)?).await;
    owned_at_once(app, caller, run, epoch).await
}

/// As [`owned`], for callers that need not wait for that record: it may be written in the same transaction.
async fn owned_at_once<'a>(
    app: &'a App,
    caller: &'a Caller,
    run: &str,
    epoch: u64,
) -> Result<Owned<'a>, Problem> {
    let run = run_id(run)?;
    let owned = protocol(app, caller)?.owned(run, epoch).await;
    owned.map_err(|error| refused(app, &error))
}

fn refused(app: &App, error: &WorkError) -> Problem {
    of_work(error, app.now())
}

/// How long a request waits for news.
fn wait_of(wait_ms: Option<u32>) -> Result<Duration, Problem> {
    match wait_ms.unwrap_or_default() {
        wait_ms @ 0..=LONGEST_WAIT => Ok(Duration::from_millis(wait_ms.into())),
        _ => Err(wrong("wait_ms", format!("at most {LONGEST_WAIT}"))),
    }
}

/// A request that waits for news.
struct WaitLimit<'a> {
    app: &'a App,
    ends: Instant,
    news: News,
}

impl<'a> WaitLimit<'a> {
    /// Begins before the first look, so that no news is missed in between.
    fn begin(app: &'a App, concern: Concern, wait: Duration) -> Self {
        let most = app.config.limits.answer_time.saturating_sub(SPARE);
        Self {
            app,
            ends: Instant::now() + wait.min(most),
            news: News::of(&app.feed, concern),
        }
    }

    /// Waits until there may be news. False when the time is over, or the server is asked to stop.
    ///
    /// Cancel safe: it only waits.
    async fn more(&mut self) -> bool {
        self.more_until(None).await
    }

    /// As [`WaitLimit::more`], but returns at the latest at this time, as if there were news.
    ///
    /// Cancel safe: it only waits.
    async fn more_until(&mut self, at: Option<Timestamp>) -> bool {
        let left = at.map(|at| Duration::try_from(at.duration_since(self.app.now())));
        // A time in the past is news at once.
        let news = left.map(|left| Instant::now() + left.unwrap_or_default());
        let next = news.map_or(self.ends, |at| at.min(self.ends));
        tokio::select! {
            () = self.news.come() => {}
            () = tokio::time::sleep_until(next) => {}
            () = self.app.draining.cancelled() => return false,
        }
        Instant::now() < self.ends
    }
}
