//! Workflows: registered and read; runs of them created.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use workers::{KindDraft, NewWork, RouteDraft, WorkflowDraft};

use super::super::list::RequestKey;
use super::super::runs::check_name;
use super::{labels_of, protocol_named, refused};
use crate::access::Works;
use crate::acting;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::Segment;
use crate::problem::{Problem, of_registration};
use crate::wire::{RegisteredView, WorkView, WorkflowView};

/// A kind of agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindBody {
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The route that its answers take unless they are sent elsewhere; its own name where it is absent, and where there is
    /// no such route its answers only come back.
    #[serde(default)]
    origin: Option<String>,
    /// The JSON Schema of the own fields of its questions.
    #[serde(default)]
    fields: Option<Value>,
}

/// A place where answers may go.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteBody {
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The property in which a model gives the request.
    #[schema(min_length = 1, max_length = 64)]
    field: String,
    /// The name of the request; that of the field where it is absent.
    #[serde(default)]
    request: Option<String>,
    /// What a model reads about it.
    #[serde(default)]
    description: String,
    /// The JSON Schema of the request: closed and bounded.
    schema: Value,
}

/// A workflow that is to be registered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkflowBody {
    /// The kinds of agents; the first one leads a run.
    kinds: Vec<KindBody>,
    /// Where answers may go.
    #[serde(default)]
    routes: Vec<RouteBody>,
}

impl From<WorkflowBody> for WorkflowDraft {
    fn from(body: WorkflowBody) -> Self {
        let kinds = body.kinds.into_iter().map(|kind| KindDraft {
            name: kind.name,
            origin: kind.origin,
            fields: kind.fields,
        });
        let routes = body.routes.into_iter().map(|route| RouteDraft {
            name: route.name,
            field: route.field,
            request: route.request,
            description: route.description,
            schema: route.schema,
        });
        Self {
            kinds: kinds.collect(),
            routes: routes.collect(),
        }
    }
}

/// Registers a workflow. The same content again is the same version; other content is a new one.
#[utoipa::path(put, path = "/v1/workflows/{name}", request_body = WorkflowBody, params(("name" = String, Path)),
    extensions(("x-right" = json!("work"))),
    responses((status = 201, body = RegisteredView), (status = 200, body = RegisteredView)))]
pub(crate) async fn register(
    State(app): State<App>,
    Works(caller): Works,
    Segment(name): Segment,
    StrictJson(body): StrictJson<WorkflowBody>,
) -> Result<Response, Problem> {
    let protocol = protocol_named(&app, &caller, &name)?;
    let catalogue = WorkflowDraft::from(body).check(protocol.workflow);
    let catalogue = catalogue.map_err(|errors| of_registration(&errors))?;
    let known = app.store().catalogue(catalogue.digest()).await?;
    let row = protocol.register(catalogue).await;
    let row = row.map_err(|error| refused(&app, &error))?;
    let status = match known {
        Some(_) => StatusCode::OK,
        None => StatusCode::CREATED,
    };
    Ok((status, Json(RegisteredView::of(&row))).into_response())
}

/// The newest version of a workflow.
#[utoipa::path(get, path = "/v1/workflows/{name}", params(("name" = String, Path)),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = WorkflowView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Works(caller): Works,
    Segment(name): Segment,
) -> Result<Json<WorkflowView>, Problem> {
    let newest = protocol_named(&app, &caller, &name)?.newest().await;
    let (catalogue, version) = newest.map_err(|error| refused(&app, &error))?;
    Ok(Json(WorkflowView::of(&catalogue, version)))
}

/// A run that is to be created.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWorkBody {
    /// What it works on: anything.
    #[serde(default)]
    input: Value,
    /// The worker's own name for it, by which it can be found: one line of at most 200 characters.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    thread_id: Option<String>,
    /// The labels that a worker must have to take it: `gpu`, `region=eu`.
    #[serde(default)]
    #[schema(max_items = 50)]
    needs: Vec<String>,
}

/// Creates a run. Created again with its key, or with its name, input and needs, it is the same run.
#[utoipa::path(post, path = "/v1/workflows/{name}/runs", request_body = NewWorkBody,
    params(("name" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("work"))),
    responses((status = 201, body = WorkView), (status = 200, body = WorkView)))]
pub(crate) async fn create_run(
    State(app): State<App>,
    Works(caller): Works,
    RequestKey(key): RequestKey,
    Segment(name): Segment,
    StrictJson(body): StrictJson<NewWorkBody>,
) -> Result<Response, Problem> {
    if let Some(name) = &body.thread_id {
        check_name(name)?;
    }
    let protocol = protocol_named(&app, &caller, &name)?;
    let new = NewWork {
        id: acting::run_id(&caller, key.as_deref()),
        alias: body.thread_id,
        input: body.input,
        needs: labels_of("$.needs", &body.needs)?,
    };
    let created = protocol.create(new).await;
    let (work, is_new) = created.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    let status = match is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let location = [(header::LOCATION, format!("/v1/work/{}", work.run.id))];
    let view = WorkView::of(&protocol, work);
    Ok((status, location, Json(view)).into_response())
}
