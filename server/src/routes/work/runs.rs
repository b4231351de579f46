//! Runs of workers: their state, what their agents do, and how they stop and end.

use axum::Json;
use axum::extract::State;
use interrupt_router::NodeId;
use interrupts::store::NodeActivity;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use workers::{AgentReport, RunResult};

use super::{EpochQuery, node_id, owned, protocol, refused, run_id};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segment};
use crate::problem::{Code, Problem, of_launch};
use crate::wire::{AgentsView, WorkView};

/// The most agents that are reported at once.
const MOST_AGENTS: usize = 1_000;

/// How a run stands.
#[utoipa::path(get, path = "/v1/work/{run_id}", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = WorkView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
) -> Result<Json<WorkView>, Problem> {
    let protocol = protocol(&app, &caller)?;
    let work = protocol.work(run_id(&run)?).await;
    let work = work.map_err(|error| refused(&app, &error))?;
    Ok(Json(WorkView::of(&protocol, work)))
}

/// What an agent does.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentStatusName {
    /// It has nothing to do yet.
    Pending,
    /// It waits for its turn.
    Ready,
    /// It works.
    Running,
    /// It has done its work.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped for good.
    Cancelled,
    /// It was cut off, with all below it.
    Pruned,
}

impl From<AgentStatusName> for NodeActivity {
    fn from(name: AgentStatusName) -> Self {
        match name {
            AgentStatusName::Pending => Self::Pending,
            AgentStatusName::Ready => Self::Ready,
            AgentStatusName::Running => Self::Running,
            AgentStatusName::Completed => Self::Completed,
            AgentStatusName::Failed => Self::Failed,
            AgentStatusName::Cancelled => Self::Cancelled,
            AgentStatusName::Pruned => Self::Pruned,
        }
    }
}

/// An agent, and what it does.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentBody {
    /// Its id: `root`, or below it as `root/refunds`.
    #[schema(min_length = 1, max_length = 200)]
    agent_id: String,
    /// Its kind.
    kind: String,
    /// What it does.
    status: AgentStatusName,
    /// The step of the run that it took last, from 1.
    #[serde(default)]
    step: Option<u32>,
    /// The tokens that its model calls have read and written.
    #[serde(default)]
    #[schema(maximum = 9007199254740991_u64)]
    tokens: Option<u64>,
}

/// What agents do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsBody {
    /// The agents; those that are not named stay as they were told.
    agents: Vec<AgentBody>,
}

/// Tells what agents do, and says how each stands then. One that was not there is from now on; one that has ended stays so.
#[utoipa::path(put, path = "/v1/work/{run_id}/agents", request_body = AgentsBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 200, body = AgentsView)))]
pub(crate) async fn tell_agents(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<AgentsBody>,
) -> Result<Json<AgentsView>, Problem> {
    if body.agents.len() > MOST_AGENTS {
        let detail = format!("$.agents: {MOST_AGENTS} at once are possible");
        return Err(Problem::new(Code::Shape, detail, "tell them in parts"));
    }
    let mut agents = Vec::with_capacity(body.agents.len());
    for agent in body.agents {
        agents.push(AgentReport {
            node: node_id("$.agents", &agent.agent_id)?,
            kind: agent.kind,
            activity: agent.status.into(),
            step: agent.step,
            tokens: agent.tokens,
        });
    }
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let told = owned.tell(agents).await;
    let told = told.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    Ok(Json(AgentsView::of(&told)))
}

/// What has stopped.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StoppedBody {
    /// The agent that has ended because a stop cuts it off, with those below it: the run goes on. The whole run where it
    /// is absent.
    agent_id: Option<String>,
}

/// Says that nothing of the run, or of an agent of it, works any more. Of a run the lease is over: its stops have taken
/// hold when this returns.
#[utoipa::path(post, path = "/v1/work/{run_id}/stopped", request_body = StoppedBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 200, body = WorkView)))]
pub(crate) async fn stopped(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<StoppedBody>,
) -> Result<Json<WorkView>, Problem> {
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let id = owned.run.id;
    let agent = body.agent_id.as_deref();
    let node = agent
        .map(|agent| node_id("$.agent_id", agent))
        .transpose()?;
    if let Some(node) = node.filter(|node| *node != NodeId::root()) {
        let cut = owned.cut_off(&node).await;
        cut.map_err(|error| refused(&app, &error))?;
    } else {
        let stopped = owned.stopped().await;
        stopped.map_err(|error| refused(&app, &error))?;
        let carried_out = app.config.launcher.wake(id).await;
        carried_out.map_err(|error| of_launch(&error))?;
    }
    app.feed.nudge();
    let protocol = protocol(&app, &caller)?;
    let work = protocol.work(id).await;
    let work = work.map_err(|error| refused(&app, &error))?;
    Ok(Json(WorkView::of(&protocol, work)))
}

/// How a run ends.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndName {
    /// Its work is done.
    Completed,
    /// It cannot go on.
    Failed,
    /// It was given up.
    Cancelled,
}

/// The end of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndBody {
    /// How it ends.
    state: EndName,
    /// Why, in words.
    #[serde(default)]
    reason: Option<String>,
    /// What came of it, where it is completed: anything.
    #[serde(default)]
    result: Value,
}

/// Ends a run. What it had begun is not gone on with, and its agents end with it.
#[utoipa::path(post, path = "/v1/work/{run_id}/end", request_body = EndBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 200, body = WorkView)))]
pub(crate) async fn end(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<EndBody>,
) -> Result<Json<WorkView>, Problem> {
    let (result, usual) = match body.state {
        EndName::Completed => (RunResult::Completed(body.result), "its work is done"),
        EndName::Failed => (RunResult::Failed, "its worker gave no reason"),
        EndName::Cancelled => (RunResult::Cancelled, "its worker gave it up"),
    };
    let reason = body.reason.unwrap_or_else(|| usual.to_owned());
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let work = owned.end(result, reason).await;
    let work = work.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    let protocol = protocol(&app, &caller)?;
    Ok(Json(WorkView::of(&protocol, work)))
}
