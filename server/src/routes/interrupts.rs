//! Interrupts: listed, read, withdrawn, tried again.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use control::{Caller, Reach, Redrive, Withdraw, no_interrupt, route_of, target_of};
use interrupt_router::StopSource;
use interrupts::life::{AskingId, Interrupt, Lane, State as InterruptState};
use interrupts::store::Filter;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::to_raw_value;
use utoipa::IntoParams;

use super::list::{listed, versioned};
use crate::access::{Operates, Reads, Requests};
use crate::app::App;
use crate::parameters::{Parameters, Segment, one_of, page, wrong};
use crate::problem::{Code, Problem};
use crate::wire::{
    InboxName, InterruptKindName, InterruptPage, InterruptView, KINDS, SourceName, kind_of,
};

/// How many rows one request reads when it filters.
const MOST_ROWS: usize = 10_000;

/// Which interrupts.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxQuery {
    /// `open` (all that wait for a person), `live`, `claimed`, `resolved`, `expired`, `cancelled`, or one state.
    #[param(value_type = Option<InboxName>)]
    pub(crate) status: Option<String>,
    /// Only of this kind.
    #[param(value_type = Option<InterruptKindName>)]
    pub(crate) kind: Option<String>,
    /// Only of this source.
    #[param(value_type = Option<SourceName>)]
    pub(crate) source: Option<String>,
    /// Only of this agent.
    pub(crate) agent_id: Option<String>,
    /// Only of this run.
    pub(crate) run_id: Option<String>,
    /// Only those that this person shall look at.
    pub(crate) assignee: Option<String>,
    /// Only of this priority.
    #[param(minimum = 0, maximum = 255)]
    pub(crate) priority: Option<u8>,
    /// Where a part before ended.
    pub(crate) cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u32>,
}

/// Interrupts in the order of their admission.
#[utoipa::path(get, path = "/v1/interrupts", params(InboxQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = InterruptPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<InboxQuery>,
) -> Result<Response, Problem> {
    let query = bound(&app, &caller, query).await?;
    let reached = |one: &Interrupt| caller.reach.covers(one.run, &one.node);
    let (found, next_cursor) = find_such(&app, &query, reached).await?;
    // Each is written as it comes: the views of a whole part take many times the memory of its text.
    let mut interrupts = Vec::with_capacity(found.len());
    for interrupt in found {
        interrupts.extend(to_raw_value(&app.shown(&interrupt).await?));
    }
    let cursor = next_cursor.clone();
    let body = InterruptPage {
        interrupts,
        next_cursor,
    };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// The query of a caller who is bound to a run: it is limited to that run.
async fn bound(app: &App, caller: &Caller, query: InboxQuery) -> Result<InboxQuery, Problem> {
    let Some(run) = caller.reach.bound_run() else {
        return Ok(query);
    };
    if let Some(named) = &query.run_id {
        caller.reach.run(app.store(), named).await?;
    }
    let agent_id = match &query.agent_id {
        None => None,
        Some(agent) => Some(
            caller
                .reach
                .agent(app.store(), agent)
                .await?
                .address()
                .to_string(),
        ),
    };
    Ok(InboxQuery {
        run_id: Some(run.to_string()),
        agent_id,
        ..query
    })
}

/// The interrupts that match a query, and where the next part begins.
pub(crate) async fn find(
    app: &App,
    query: &InboxQuery,
) -> Result<(Vec<Interrupt>, Option<String>), Problem> {
    find_such(app, query, |_interrupt| true).await
}

/// As [`find`], with a further condition. Interrupts that do not meet it take no place in a part.
pub(crate) async fn find_such(
    app: &App,
    query: &InboxQuery,
    is_wanted: impl Fn(&Interrupt) -> bool + Send,
) -> Result<(Vec<Interrupt>, Option<String>), Problem> {
    let mut page = page(query.cursor.as_deref(), query.limit)?;
    let filter = filter_of(app, query).await?;
    let now = app.now();
    let (mut found, mut looked) = (Vec::new(), 0);
    loop {
        let rows = app.store().interrupts(&filter, page).await?;
        let full = rows.len() == page.limit as usize;
        for (position, interrupt) in rows {
            page.after = position;
            looked += 1;
            if fits(query, &interrupt, now) && is_wanted(&interrupt) {
                found.push(interrupt);
            }
            if found.len() == page.limit as usize || looked >= MOST_ROWS {
                return Ok((found, Some(position.to_string())));
            }
        }
        if !full {
            return Ok((found, None));
        }
    }
}

async fn filter_of(app: &App, query: &InboxQuery) -> Result<Filter, Problem> {
    one_of("kind", query.kind.as_deref(), &KINDS)?;
    one_of(
        "source",
        query.source.as_deref(),
        &StopSource::ALL.map(StopSource::name),
    )?;
    let mut filter = Filter {
        states: states_of(query.status.as_deref())?,
        ..Filter::default()
    };
    if let Some(run) = &query.run_id {
        filter.run = Some(Reach::EVERYTHING.run(app.store(), run).await?.id);
    }
    if let Some(agent) = &query.agent_id {
        let found = Reach::EVERYTHING.agent(app.store(), agent).await?;
        filter.run = Some(found.run.id);
        filter.node = Some(found.node.node);
    }
    Ok(filter)
}

fn states_of(status: Option<&str>) -> Result<Vec<InterruptState>, Problem> {
    use InterruptState as State;
    Ok(match status {
        None => Vec::new(),
        Some("open" | "claimed") => vec![State::AwaitingReview],
        Some("live") => State::ALL
            .into_iter()
            .filter(|state| state.is_live())
            .collect(),
        Some("resolved") => vec![State::Resolved, State::Rerouted],
        Some(state) => vec![state.parse().map_err(|_error| {
            let known: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
            wrong(
                "status",
                format!("known are: open, live, claimed, {}", known.join(", ")),
            )
        })?],
    })
}

fn fits(query: &InboxQuery, interrupt: &Interrupt, now: Timestamp) -> bool {
    let is = |wanted: &Option<String>, found: &str| {
        wanted.as_deref().is_none_or(|wanted| wanted == found)
    };
    let review = interrupt.review.as_ref();
    let assignee = review.and_then(|review| review.assignee.as_ref());
    let claimed = review.and_then(|review| review.claim_at(now)).is_some();
    // The subject is read from its content: only if a caller asks for it.
    query
        .kind
        .as_deref()
        .is_none_or(|wanted| wanted == kind_of(interrupt))
        && is(&query.source, interrupt.source.name())
        && query
            .assignee
            .as_deref()
            .is_none_or(|wanted| assignee.is_some_and(|name| name.as_str() == wanted))
        && query
            .priority
            .is_none_or(|priority| priority == Lane::of(interrupt.source).priority())
        && (query.status.as_deref() != Some("claimed") || claimed)
}

/// An interrupt.
#[utoipa::path(get, path = "/v1/interrupts/{interrupt_id}",
    params(("interrupt_id" = String, Path), ("If-None-Match" = Option<String>, Header)),
    extensions(("x-right" = json!("read"))),
    responses((status = 200, body = InterruptView, headers(("ETag" = String))), (status = 304)))]
pub(crate) async fn read(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(id): Segment,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let interrupt = caller.reach.interrupt(app.store(), &id).await?;
    let view = app.shown(&interrupt).await?;
    Ok(versioned(interrupt.version, &headers, view))
}

/// Withdraws an interrupt. Of a stop, this withdraws the caller's own requests; with the id of one of its `askings`, that
/// one. Only a supervisor or an admin can withdraw the request of another, by its id, or by the interrupt's where it is
/// the only one left. The mode never falls. The stop ends with the last of its requests: at once before it is delivered;
/// after that it takes hold first, and the run then goes on in a new turn. A STOP or PRUNE that was delivered cannot be
/// withdrawn: `not-cancelable`.
#[utoipa::path(delete, path = "/v1/interrupts/{interrupt_id}",
    params(("interrupt_id" = String, Path, description = "The id of an interrupt, or of an asking: `int_….2`")),
    extensions(("x-right" = json!("request"))), responses((status = 200, body = InterruptView)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    Requests(caller): Requests,
    Segment(id): Segment,
) -> Result<Json<InterruptView>, Problem> {
    let (interrupt, asking) = match id.parse::<AskingId>() {
        Ok(asking) => (asking.interrupt, Some(asking.number)),
        Err(_error) => (id.parse().map_err(|_error| no_interrupt(&id))?, None),
    };
    let withdraw = Withdraw { interrupt, asking };
    let withdrawn = app.carry_out(&caller, withdraw).await?;
    app.shown(&withdrawn).await.map(Json)
}

/// Tries a dead-lettered interrupt again.
#[utoipa::path(post, path = "/v1/interrupts/{interrupt_id}/redrive", params(("interrupt_id" = String, Path)),
    extensions(("x-right" = json!("operate"))), responses((status = 200, body = InterruptView)))]
pub(crate) async fn redrive(
    State(app): State<App>,
    Operates(caller): Operates,
    Segment(id): Segment,
) -> Result<Json<InterruptView>, Problem> {
    let interrupt = id.parse().map_err(|_error| no_interrupt(&id))?;
    let redriven = app.carry_out(&caller, Redrive { interrupt }).await?;
    app.shown(&redriven).await.map(Json)
}

/// The schema of the routing record that a model fills in for this interrupt: one property is left.
#[utoipa::path(get, path = "/v1/interrupts/{interrupt_id}/routing-schema",
    params(("interrupt_id" = String, Path)), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = Object, content_type = "application/schema+json")))]
pub(crate) async fn routing_schema_of(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let interrupt = caller.reach.interrupt(app.store(), &id).await?;
    let catalogue = app.catalogue_of(&interrupt).await?;
    let Some(route) = route_of(&interrupt, catalogue.as_deref(), None) else {
        return Err(Problem::new(
            Code::NotFound,
            format!(
                "the catalogue of its run has no route `{}`",
                target_of(&interrupt)
            ),
            "its answer goes back to the agent that asked, and is no request",
        ));
    };
    let kind = [(axum::http::header::CONTENT_TYPE, "application/schema+json")];
    Ok((StatusCode::OK, kind, route.schema.to_string()).into_response())
}
