//! Tokens: made, listed and revoked by operators of the installation.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use control::{Caller, MakeToken, RevokeToken};
use interrupts::life::Role;
use interrupts::store::TokenScope;
use interrupts::{ActorName, WorkflowName};
use jiff::SignedDuration;
use serde::Deserialize;
use utoipa::ToSchema;

use super::list::RequestKey;
use crate::access::Operates;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Segment, wrong};
use crate::problem::{Code, Problem};

/// The longest life of a token that ends, in seconds.
const LONGEST_LIFE: u32 = 2_147_483_647;

/// A role.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoleName {
    /// Looks.
    Viewer,
    /// Answers interrupts.
    Reviewer,
    /// Directs agents too.
    Supervisor,
    /// Runs the installation.
    Admin,
    /// Is an agent: looks at its run, asks for interrupts there, withdraws its own, and never decides.
    Agent,
    /// Executes the runs of a workflow by the worker protocol, and never decides.
    Worker,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Viewer => Self::Observer,
            RoleName::Reviewer => Self::Reviewer,
            RoleName::Supervisor => Self::Supervisor,
            RoleName::Admin => Self::Operator,
            RoleName::Agent => Self::Requester,
            RoleName::Worker => Self::Worker,
        }
    }
}

/// A token as it stands.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the JSON of `control::TokenView`")]
pub(crate) struct TokenView {
    /// Names it: the beginning of its secret's digest.
    id: String,
    /// Who it speaks for.
    name: String,
    /// What it lets its holder do.
    role: String,
    /// The run that it is bound to: that of an agent.
    run_id: Option<String>,
    /// The agent of that run that it is bound to, with those that it started.
    agent_id: Option<String>,
    /// The workflow that it is bound to: that of a worker.
    workflow: Option<String>,
    /// When it was made.
    created_at: String,
    /// When it ends.
    expires_at: Option<String>,
    /// Whether it is void after its first use.
    once: bool,
    /// When it was used, where it can be used once.
    used_at: Option<String>,
    /// When it was revoked.
    revoked_at: Option<String>,
    /// Whether it lets anybody in now.
    holds: bool,
    /// The token that it was bought with: that of a session. It ends with that one.
    bought_with: Option<String>,
}

/// The tokens, in the order in which they were made.
#[utoipa::path(get, path = "/v1/tokens", extensions(("x-right" = json!("operate"))),
    responses((status = 200, body = [TokenView])))]
pub(crate) async fn list(
    State(app): State<App>,
    Operates(_caller): Operates,
) -> Result<Json<Vec<control::TokenView>>, Problem> {
    let all = control::TokenView::all(app.store(), app.now()).await?;
    Ok(Json(all))
}

/// A token that shall be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenBody {
    /// Who it speaks for: this name stands in the audit.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// What it lets its holder do.
    role: RoleName,
    /// With the role `agent`, the run that it is bound to: its holder sees and reaches nothing else.
    #[serde(default)]
    run_id: Option<String>,
    /// With the role `agent`, the agent that it is bound to, with those that it started: its address, or its id in
    /// the run that `run_id` names.
    #[serde(default)]
    agent_id: Option<String>,
    /// With the role `worker`, the workflow that it is bound to.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    workflow: Option<String>,
    /// How long it holds, in seconds; for ever where it is absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 2147483647)]
    lifetime_s: Option<u32>,
}

/// A token that was made.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the JSON of `control::MadeToken`")]
pub(crate) struct NewTokenView {
    /// The secret. It is kept nowhere and cannot be shown again.
    secret: String,
    /// The token.
    token: TokenView,
}

/// Makes a token. A secret is shown once, so a request with an `Idempotency-Key` is refused: it could not be answered
/// again.
#[utoipa::path(post, path = "/v1/tokens", request_body = TokenBody, extensions(("x-right" = json!("operate"))),
    responses((status = 201, body = NewTokenView)))]
pub(crate) async fn create(
    State(app): State<App>,
    Operates(caller): Operates,
    RequestKey(key): RequestKey,
    StrictJson(body): StrictJson<TokenBody>,
) -> Result<Response, Problem> {
    if key.is_some() {
        return Err(wrong(
            "Idempotency-Key",
            "a secret is shown once: the same request makes another token",
        ));
    }
    let shape = |detail: String| Problem::new(Code::Shape, detail, "correct the field");
    if !(1..=LONGEST_LIFE).contains(&body.lifetime_s.unwrap_or(1)) {
        let reason = format!("$.lifetime_s: 1 to {LONGEST_LIFE} are possible");
        return Err(shape(reason));
    }
    let scope = scope_of(&app, &caller, &body).await?;
    let make = MakeToken {
        name: ActorName::new(body.name).map_err(|error| shape(format!("$.name: {error}")))?,
        role: body.role.into(),
        lifetime: body
            .lifetime_s
            .map(|seconds| SignedDuration::from_secs(seconds.into())),
        scope,
    };
    let made = app.carry_out(&caller, make).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// What a token is to be bound to.
async fn scope_of(
    app: &App,
    caller: &Caller,
    body: &TokenBody,
) -> Result<Option<TokenScope>, Problem> {
    let run = match &body.run_id {
        Some(run) => Some(caller.reach.run(app.store(), run).await?.id),
        None => None,
    };
    if let Some(name) = &body.workflow {
        return workflow_scope(name, run.is_some() || body.agent_id.is_some()).map(Some);
    }
    let Some(agent) = &body.agent_id else {
        return Ok(run.map(|run| TokenScope::Run { run, node: None }));
    };
    let address = match run {
        Some(run) if !agent.starts_with("run_") => format!("{run}/{agent}"),
        Some(_) | None => agent.clone(),
    };
    let found = caller.reach.agent(app.store(), &address).await?;
    if run.is_some_and(|run| run != found.run.id) {
        return Err(Problem::new(
            Code::Shape,
            "$.agent_id: the agent is of another run",
            "leave `run_id` away where `agent_id` is a whole address",
        ));
    }
    Ok(Some(TokenScope::Run {
        run: found.run.id,
        node: Some(found.node.node),
    }))
}

fn workflow_scope(name: &str, and_run: bool) -> Result<TokenScope, Problem> {
    let shape = |detail: String| Problem::new(Code::Shape, detail, "correct the field");
    if and_run {
        let both = "$.workflow: a token is bound to a workflow, or to a run, and not to both";
        return Err(shape(both.to_owned()));
    }
    let workflow = WorkflowName::new(name);
    let workflow = workflow.map_err(|error| shape(format!("$.workflow: {error}")))?;
    Ok(TokenScope::Workflow { workflow })
}

/// Makes a token void.
#[utoipa::path(delete, path = "/v1/tokens/{token_id}", params(("token_id" = String, Path)),
    extensions(("x-right" = json!("operate"))), responses((status = 200, body = TokenView)))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Operates(caller): Operates,
    Segment(id): Segment,
) -> Result<Json<control::TokenView>, Problem> {
    app.carry_out(&caller, RevokeToken { id }).await.map(Json)
}
