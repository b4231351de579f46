//! Requests to running agents: stops, and events that ask an agent to interrupt itself.

use interrupt_router::{EventId, InterruptType, NodeId};
use interrupts::catalogue::{EventError, NamedEvent};
use interrupts::store::{NodeRow, Run};
use interrupts::{KindName, RouteName};
use jiff::Timestamp;

use crate::address::full;
use crate::backend::Backend;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::workflows;

/// Whom a request concerns.
#[derive(Debug, Clone)]
pub(crate) struct Addressee {
    /// The run.
    pub(crate) run: Run,
    /// The agent; of a whole run, its first one.
    pub(crate) node: NodeId,
    /// The agent's kind.
    pub(crate) kind: KindName,
}

impl Addressee {
    /// An agent.
    pub(crate) fn agent(run: Run, row: &NodeRow) -> Self {
        Self {
            run,
            node: row.node.clone(),
            kind: row.kind.clone(),
        }
    }

    /// The first agent of a run, which represents all of them.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    pub(crate) async fn whole(from: &dyn Backend, run: Run) -> Result<Self, Failure> {
        let nodes = listing::nodes(from, run.id).await?;
        if let Some(first) = nodes.iter().find(|row| row.node.parent().is_none()) {
            return Ok(Self::agent(run, first));
        }
        let first = workflows::of_run(&run).and_then(|it| it.agent_routes(None));
        let kind = match first
            .map(|agent_routes| agent_routes.kind)
            .or_else(workflows::leading)
        {
            Some(kind) => kind,
            None => name(KindName::new("AGENT"))?,
        };
        Ok(Self {
            run,
            node: NodeId::root(),
            kind,
        })
    }
}

fn name<T>(made: Result<T, interrupts::NameError>) -> Result<T, Failure> {
    made.map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

/// Why an agent cannot be asked to interrupt itself.
fn unasked(to: &Addressee) -> Failure {
    let address = full(to.run.id, &to.node);
    let catalogue = workflows::of_run(&to.run);
    if catalogue.is_none_or(|it| it.kind(to.kind.as_str()).is_none()) {
        let text = format!("this program cannot ask a {} anything", to.kind);
        return Failure::new(Exit::Usage, text);
    }
    let text = format!(
        "{address} is an agent of a plan, which has no routes: its answers go back into the plan"
    );
    Failure::new(Exit::Usage, text).hint(format!(
        "`irq send {address} TEXT` reaches the next replan; `irq interrupt {}` lets you change the plan",
        to.run.id
    ))
}

/// What an agent has to ask, and where its answer goes.
#[derive(Debug, Clone)]
pub(crate) struct AskRequest {
    /// The id of the event; a new one if absent.
    pub(crate) event: Option<String>,
    /// When it was published.
    pub(crate) at: Timestamp,
    /// Who answers.
    pub(crate) interrupt_type: InterruptType,
    /// Where the answer goes; back to the agent's origin if absent.
    pub(crate) to: Option<RouteName>,
    /// Why.
    pub(crate) reason: String,
}

/// The event that carries a request.
///
/// # Errors
///
/// If the agent's kind is not one of this program's, or the event's id is no id.
pub(crate) fn wished(
    to: &Addressee,
    wish: &AskRequest,
) -> Result<(NamedEvent, RouteName), Failure> {
    let usage = |text: String| Failure::new(Exit::Usage, text);
    let catalogue = workflows::of_run(&to.run).ok_or_else(|| unasked(to))?;
    let agent_routes = catalogue
        .agent_routes(Some(&to.kind))
        .ok_or_else(|| unasked(to))?;
    if let Some(target) = &wish.to
        && catalogue.route(agent_routes.origin.as_str()).is_some()
    {
        workflows::check_target(target, &agent_routes.routes)?;
    }
    let event_id = match &wish.event {
        Some(id) => {
            EventId::try_from(id.clone()).map_err(|error| usage(format!("--event-id: {error}")))?
        }
        None => EventId::generate(),
    };
    let event = NamedEvent {
        event_id,
        timestamp: wish.at,
        node_id: to.node.clone(),
        source_agent_type: to.kind.clone(),
        reroute_to_agent_type: wish.to.clone(),
        interrupt_type: wish.interrupt_type,
        reason: wish.reason.clone(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    };
    let target = catalogue.check_event(&event, &to.kind);
    let target = target.map_err(|error| {
        if let EventError::NoRoutes { .. } = error {
            unasked(to)
        } else {
            usage(error.to_string())
        }
    })?;
    Ok((event, target))
}
