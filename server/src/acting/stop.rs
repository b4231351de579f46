//! Interrupting an agent or a run.

use interrupts::IdempotencyKey;
use interrupts::life::{
    Admission, ExpiryOutcome, Family, Interrupt, Recurrence, Scope, USUAL_ATTEMPTS,
};
use interrupts::manager::{Facing, StopCause, StopNote};
use interrupts::store::{AdmitError, Admitted};
use journal::Workflow;
use planning::plan_kind;
use routing_core::{InterruptId, InterruptType, StopMode, StopSource};
use serde_json::{Value, json};

use super::request_key;
use crate::access::{Caller, Right};
use crate::address::{AgentAddress, Found, agents_of};
use crate::app::App;
use crate::problem::{Kind, Problem, of_refusal, of_store};

/// A stop that somebody wants.
#[derive(Debug, Clone)]
pub(crate) struct StopOrder {
    /// What it does.
    pub(crate) interrupt_type: InterruptType,
    /// How.
    pub(crate) mode: StopMode,
    /// How far it reaches.
    pub(crate) scope: Scope,
    /// Why.
    pub(crate) reason: String,
    /// Words beside the reason.
    pub(crate) message: Option<String>,
    /// After how many milliseconds a graceful stop becomes immediate.
    pub(crate) limit_ms: Option<u64>,
    /// Whatever the caller wants to keep with it.
    pub(crate) metadata: Option<Value>,
    /// What makes it the same request when it is sent again.
    pub(crate) key: Option<String>,
}

/// What asking for a stop did.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It is new.
    New(Interrupt),
    /// One is under way already; where this one is harder, it is harder now.
    UnderWay(Interrupt),
}

impl Stopped {
    /// The interrupt.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        match self {
            Self::New(interrupt) | Self::UnderWay(interrupt) => interrupt,
        }
    }
}

/// Asks for a stop of an agent. It is recorded when this returns, and has not taken hold yet.
pub(crate) async fn stop(
    app: &App,
    caller: &Caller,
    agent: &Found,
    order: StopOrder,
) -> Result<Stopped, Problem> {
    Right::Request.demand(caller)?;
    if Family::of(order.interrupt_type) == Family::Question {
        return Err(Problem::new(
            Kind::Shape,
            format!("{} asks a question", order.interrupt_type),
            "publish it as an event: `POST /v1/interrupt-requests`",
        ));
    }
    if order.interrupt_type == InterruptType::Prune && order.scope == Scope::Run {
        return Err(Problem::new(
            Kind::Shape,
            "PRUNE concerns an agent, not a whole run",
            "leave `scope` out, or end the whole run with the type STOP",
        ));
    }
    if order.interrupt_type == InterruptType::Branch {
        refuse_branch_of_code(agent)?;
    }
    if order.scope == Scope::Run {
        caller.demand_whole_run()?;
    }
    if ends_run(agent, &order) {
        Right::Direct.demand(caller)?;
    }
    let key = request_key(caller, "stop", order.key.as_deref())?;
    let known = app.store().interrupt_of(&key).await;
    let known = known.map_err(|error| of_store(&error))?;
    // What was asked for before is answered whatever became of its run since, and whatever else is under way.
    if known.is_none() {
        refuse_ended(agent)?;
    }
    let facing = facing_of(app, agent).await?;
    let admission = admission(caller, (agent, facing), order, key)?;
    // Its key is kept with the stop that it joins, so that it is answered the same when it is sent again.
    let admitted = match app.store().join(admission).await {
        Ok(admitted) => admitted,
        Err(AdmitError::NotRaised(refusal)) => return Err(of_refusal(&refusal, app.now())),
        Err(error) => return Err(refused(&error)),
    };
    app.wake(&agent.run);
    Ok(match admitted {
        Admitted::New(interrupt) => Stopped::New(interrupt),
        Admitted::Known(interrupt) => Stopped::UnderWay(interrupt),
    })
}

/// Whether a whole run ends with a stop: it is meant so, or concerns the agent that stands for the run, or one of a plan,
/// of which none can be left out.
fn ends_run(agent: &Found, order: &StopOrder) -> bool {
    let ends = matches!(
        order.interrupt_type,
        InterruptType::Stop | InterruptType::Prune
    );
    let is_root = agent.node.node.parent().is_none();
    let is_of_a_plan = plan_kind(agent.node.kind.as_str()).is_some();
    ends && (order.scope == Scope::Run || is_root || is_of_a_plan)
}

/// Refuses to fork a run of code: it is executed from its start, so a fork would do again what was done.
fn refuse_branch_of_code(agent: &Found) -> Result<(), Problem> {
    match Workflow::in_content(&agent.run.content) {
        Workflow::Embedded(name) => Err(Problem::new(
            Kind::NotInState,
            format!("`{name}` is code, which is executed from its start: it cannot be forked"),
            "begin another run with the same input",
        )),
        Workflow::Agents | Workflow::PlanExecute => Ok(()),
    }
}

/// Refuses what is asked of a run that has ended.
pub(super) fn refuse_ended(agent: &Found) -> Result<(), Problem> {
    if !agent.run.state.is_final() {
        return Ok(());
    }
    Err(finished(&format!(
        "{} is {}",
        agent.run.id, agent.run.state
    )))
}

pub(super) fn finished(detail: &str) -> Problem {
    Problem::new(
        Kind::RunFinished,
        detail,
        "start a new run, or fork this one from a checkpoint: `irq fork`",
    )
}

/// The problem that a refused admission is.
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
            finished(&refusal.to_string())
        }
        AdmitError::NodeEnded { .. } => Problem::new(
            Kind::RunFinished,
            error.to_string(),
            "stop an agent that still works, or the whole run",
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

fn admission(
    caller: &Caller,
    (agent, facing): (&Found, Facing),
    order: StopOrder,
    key: IdempotencyKey,
) -> Result<Admission, Problem> {
    let Facing { origin, routes, .. } = facing;
    let note = note(caller, &order)?;
    Ok(Admission {
        id: InterruptId::generate(),
        run: agent.run.id,
        node: agent.node.node.clone(),
        kind: agent.node.kind.clone(),
        origin,
        routes,
        interrupt_type: order.interrupt_type,
        source: source_of(caller),
        requested_by: caller.actor.clone(),
        mode: order.mode,
        scope: order.scope,
        reason: order.reason,
        content: note,
        key,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    })
}

/// What is kept beside the reason.
fn note(caller: &Caller, order: &StopOrder) -> Result<String, Problem> {
    let mut metadata = order.metadata.clone();
    if let Some(message) = &order.message {
        metadata = Some(json!({"message": message, "metadata": metadata}));
    }
    let note = StopNote {
        cause: match source_of(caller) {
            StopSource::User => StopCause::UserEscape,
            StopSource::Programmatic | StopSource::System => StopCause::Code,
        },
        limit_ms: order.limit_ms,
        metadata,
    };
    serde_json::to_string(&note)
        .map_err(|error| Problem::new(Kind::Internal, error.to_string(), "report this"))
}

/// An agent's token speaks for a program, all others for people.
pub(super) fn source_of(caller: &Caller) -> StopSource {
    if caller.actor.role == interrupts::life::Role::Requester {
        StopSource::Programmatic
    } else {
        StopSource::User
    }
}

/// Where the answer to an agent's interrupt goes, and where it may go. An agent of a kind that the catalogue of its run
/// does not have can only get it back.
pub(super) async fn facing_of(app: &App, agent: &Found) -> Result<Facing, Problem> {
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let kind = &agent.node.kind;
    let facing = catalogue.and_then(|it| it.facing(Some(kind)));
    Ok(facing.unwrap_or_else(|| Facing::alone(kind)))
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
