//! Interrupting an agent or a run.

use control::{EndedRun, InvalidRequest, StopOrder, StopRequester, Terms};
use interrupts::life::{Interrupt, Scope};
use interrupts::manager::StopCause;
use interrupts::store::{AdmitError, Admitted, Run};
use routing_core::StopSource;

use super::publish::misnamed;
use super::request_key;
use crate::access::{Caller, Right};
use crate::address::{AgentAddress, Found, agents_of};
use crate::app::App;
use crate::problem::{Kind, Problem, of_refusal, of_store};

/// The result of requesting a stop.
#[derive(Debug)]
pub(crate) enum StopResult {
    /// It is new.
    New(Interrupt),
    /// One is under way already; if this one is harder, the stop is raised to it.
    UnderWay(Interrupt),
}

impl StopResult {
    /// The interrupt.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        match self {
            Self::New(interrupt) | Self::UnderWay(interrupt) => interrupt,
        }
    }
}

/// Requests a stop of an agent. It is recorded when this returns, but not applied yet.
pub(crate) async fn stop(
    app: &App,
    caller: &Caller,
    agent: &Found,
    order: StopOrder,
    key: Option<String>,
) -> Result<StopResult, Problem> {
    Right::Request.demand(caller)?;
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let target = agent.target(catalogue.as_deref());
    order.check(&target).map_err(|error| not_asked(&error))?;
    if order.scope == Scope::Run {
        caller.demand_whole_run()?;
    }
    if order.ends_run(&target) {
        Right::Direct.demand(caller)?;
    }
    let key = request_key(caller, "stop", key.as_deref())?;
    let known = app.store().interrupt_of(&key).await?;
    // A repeated request is answered whatever became of its run since, and whatever else is under way.
    if known.is_none() {
        refuse_ended(&agent.run)?;
    }
    let terms = Terms {
        policy: &app.config.policy,
        known: known.as_ref(),
    };
    let admission = order.admission(&target, asker(caller), key, terms);
    let admission = admission.map_err(|error| not_asked(&error))?;
    // Its key is stored with the stop that it joins, so that a repeated request gets the same answer.
    let admitted = match app.store().join(admission).await {
        Ok(admitted) => admitted,
        Err(AdmitError::NotRaised(refusal)) => return Err(of_refusal(&refusal, app.now())),
        Err(error) => return Err(refused(&error)),
    };
    app.wake(&agent.run);
    Ok(match admitted {
        Admitted::New(interrupt) => StopResult::New(interrupt),
        Admitted::Known(interrupt) => StopResult::UnderWay(interrupt),
    })
}

/// The problem for a stop that cannot be requested.
pub(super) fn not_asked(error: &InvalidRequest) -> Problem {
    let detail = error.to_string();
    match error {
        InvalidRequest::Question(_) => Problem::new(
            Kind::Shape,
            detail,
            "publish it as an event, `dev.irq.interrupt.request_event.v1`: `POST /v1/interrupt-requests`",
        ),
        InvalidRequest::PruneOfRun => Problem::new(
            Kind::Shape,
            detail,
            "leave `scope` out, or end the whole run with the type STOP",
        ),
        InvalidRequest::Fork { .. } => Problem::new(
            Kind::NotInState,
            detail,
            "begin another run with the same input",
        ),
        InvalidRequest::EmptyInput => {
            Problem::new(Kind::Shape, detail, "leave it out to say nothing")
        }
        InvalidRequest::CatalogueOfFork => Problem::new(
            Kind::Shape,
            detail,
            "fork the run first, then resume the fork with `accept_catalogue`",
        ),
        InvalidRequest::DropsWithoutFork => Problem::new(
            Kind::Shape,
            detail,
            "leave it out: a run that goes on carries all of it out",
        ),
        InvalidRequest::Event(error) => misnamed(error),
        InvalidRequest::EventId(_) => Problem::new(Kind::Shape, detail, "shorten it"),
        InvalidRequest::Json(_) | _ => Problem::new(Kind::Internal, detail, "report this"),
    }
}

/// Refuses requests to a run that has ended.
pub(super) fn refuse_ended(run: &Run) -> Result<(), Problem> {
    EndedRun::refuse(run)
        .map_err(|ended| Problem::new(Kind::RunFinished, ended.to_string(), ended.hint()))
}

/// The problem for a refused admission.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(super) fn refused(error: &AdmitError) -> Problem {
    use interrupts::life::AdmissionError;
    match error {
        AdmitError::Store(error) => of_store(error),
        AdmitError::OtherContent { interrupt, .. } => Problem::new(
            Kind::IdempotencyConflict,
            error.to_string(),
            "use another key for another request",
        )
        .with("interrupt_id", interrupt.to_string()),
        AdmitError::UnknownRun { .. } => Problem::new(
            Kind::RunNotFound,
            error.to_string(),
            "`irq ps --all` lists the runs",
        ),
        AdmitError::Refused(refusal @ AdmissionError::RunEnded { .. }) => {
            let hint = "`irq ps` lists the live runs";
            Problem::new(Kind::RunFinished, refusal.to_string(), hint)
        }
        AdmitError::NodeEnded { .. } => Problem::new(
            Kind::RunFinished,
            error.to_string(),
            "`irq ps` lists the agents that are not",
        ),
        AdmitError::MessagesWait(_) => Problem::new(
            Kind::NotInState,
            error.to_string(),
            "fork the run once its agents have read it, or take it back: `DELETE` of the message",
        ),
        AdmitError::Refused(AdmissionError::RouteUnknown { route }) => Problem::new(
            Kind::RouteNotAllowed,
            format!("`{route}` is not where it can go"),
            "`can_route_to` of the agent lists the routes",
        ),
        _ => Problem::new(
            Kind::Shape,
            error.to_string(),
            "`/openapi.json` describes what is taken",
        ),
    }
}

/// The requester, in the store's form.
pub(super) fn asker(caller: &Caller) -> StopRequester {
    let source = source_of(caller);
    StopRequester {
        actor: caller.actor.clone(),
        source,
        cause: match source {
            StopSource::User => StopCause::UserEscape,
            StopSource::Programmatic | StopSource::System => StopCause::Code,
        },
    }
}

/// An agent's token speaks for a program, all others for people.
fn source_of(caller: &Caller) -> StopSource {
    if caller.actor.role == interrupts::life::Role::Requester {
        StopSource::Programmatic
    } else {
        StopSource::User
    }
}

/// The agents that an interrupt concerns: those in its scope that have not ended.
pub(crate) async fn affected(app: &App, interrupt: &Interrupt) -> Result<Vec<String>, Problem> {
    let rows = agents_of(app, interrupt.run).await?;
    Ok(rows
        .into_iter()
        .filter(|row| !row.activity.is_final())
        .filter(|row| interrupt.scope == Scope::Run || row.node.is_within(&interrupt.node))
        .map(|row| {
            let address = AgentAddress {
                run: row.run,
                node: row.node,
            };
            address.to_string()
        })
        .collect())
}
