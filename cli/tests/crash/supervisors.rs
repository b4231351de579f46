//! Supervisors in another process, who reroute agents, and write down what they try and what they are told.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use agents::{AgentKind, RouteType};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::{AgentType, EventId, InterruptId, InterruptType, StopMode, StopSource};
use interrupts::life::{Actor, Admission, ExpiryOutcome, Recurrence, Role, Scope, USUAL_ATTEMPTS};
use interrupts::store::{AdmitError, NodeRow, Run};
use interrupts::{ActorName, IdempotencyKey, RouteName};
use jiff::Timestamp;
use tests::auditor::{Attempt, Outcome};

use crate::world::{ALL, World};

/// Who is rerouted, and where to. All lead onwards, so that runs come to their ends.
const REROUTES: [(AgentKind, RouteType); 3] = [
    (
        AgentKind::DiscoveryOrchestrator,
        RouteType::PlanningOrchestrator,
    ),
    (
        AgentKind::PlanningOrchestrator,
        RouteType::TicketOrchestrator,
    ),
    (
        AgentKind::TicketOrchestrator,
        RouteType::OrchestratorCollector,
    ),
];

/// The file that the publishers write.
const LOG: &str = "attempts.ndjson";

/// Publishes an event for every second agent that can be rerouted, once each, until it is aborted.
pub(crate) fn publish_all(world: &Arc<World>) -> tokio::task::JoinHandle<()> {
    let world = Arc::clone(world);
    tokio::spawn(async move {
        let path = world.file(LOG);
        let mut log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        let mut published: BTreeMap<String, Admission> = BTreeMap::new();
        loop {
            for run in world.runs().await {
                if run.state.is_final() {
                    continue;
                }
                for (_position, row) in world.store.nodes(Some(run.id), ALL).await.unwrap() {
                    consider(&world, &mut log, &mut published, &run, &row).await;
                }
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    })
}

/// What the publishers wrote down.
pub(crate) fn attempts(world: &World) -> Vec<Attempt> {
    let text = std::fs::read_to_string(world.file(LOG)).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn consider(
    world: &World,
    log: &mut File,
    published: &mut BTreeMap<String, Admission>,
    run: &Run,
    row: &NodeRow,
) {
    let reroute = REROUTES
        .iter()
        .find(|(kind, _to)| kind.name() == row.kind.as_str());
    let Some((kind, to)) = reroute.filter(|_| row.takes_messages && !row.activity.is_final())
    else {
        return;
    };
    // Which agents are chosen follows from the run's own goal: every other one of each run.
    let place = REROUTES.iter().position(|(each, _)| each == kind).unwrap();
    if (place + run.content.len()) % 2 == 1 {
        return;
    }
    let key = format!("event-{}-{}", run.id, kind.name());
    let is_known = published.contains_key(&key);
    let admission = published
        .entry(key.clone())
        .or_insert_with(|| admission(run, row, *kind, *to, &key));
    // Published again it is the same event: whoever was not told tries again.
    if !is_known || row.turn.is_multiple_of(3) {
        publish(world, log, admission.clone()).await;
        world.notify(run).await;
    }
}

async fn publish(world: &World, log: &mut File, admission: Admission) {
    let key = admission.key.as_str().to_owned();
    note(log, &key, Outcome::Unknown);
    let outcome = match world.store.admit(admission).await {
        Ok(admitted) => Outcome::Acknowledged {
            interrupt: admitted.into_interrupt().id,
        },
        Err(AdmitError::Store(_)) => Outcome::Unknown,
        Err(_refused) => Outcome::Refused,
    };
    note(log, &key, outcome);
}

fn note(log: &mut File, key: &str, outcome: Outcome) {
    let attempt = Attempt {
        key: key.to_owned(),
        outcome,
    };
    writeln!(log, "{}", serde_json::to_string(&attempt).unwrap()).unwrap();
}

fn admission(run: &Run, row: &NodeRow, kind: AgentKind, to: RouteType, key: &str) -> Admission {
    let event = InterruptRequestEvent::<AgentKind> {
        event_id: EventId::try_from(key.to_owned()).unwrap(),
        timestamp: Timestamp::now(),
        node_id: row.node.clone(),
        source_agent_type: kind,
        reroute_to_agent_type: Some(to),
        interrupt_type: InterruptType::HumanReview,
        reason: "The supervisor knows better.".to_owned(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    };
    Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: row.node.clone(),
        kind: row.kind.clone(),
        origin: RouteName::new(kind.origin_route().name()).unwrap(),
        routes: RouteType::NAMES
            .iter()
            .map(|route| RouteName::new(*route).unwrap())
            .collect(),
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::User,
        requested_by: Actor {
            name: ActorName::new("supervisor").unwrap(),
            role: Role::Supervisor,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: event.reason.clone(),
        content: serde_json::to_string(&event).unwrap(),
        key: IdempotencyKey::new(key).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: Some(RouteName::new(to.name()).unwrap()),
    }
}
