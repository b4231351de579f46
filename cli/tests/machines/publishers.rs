//! Supervisors who reroute agents, over NATS and over REST, each event twice and in any order. They write down what they
//! try and what they are told.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::{AgentKind, RouteType};
use async_nats::HeaderMap;
use futures_util::StreamExt as _;
use interrupt_router::AgentType as _;
use interrupts::life::RunState;
use interrupts::store::{NodeRow, Run};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tests::auditor::{Attempt, Outcome};

use crate::count::Fault;
use crate::installation::{ALL, Installation};

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

/// How many events each of them gets: the later ones take the place of those that wait.
const EVENTS: u32 = 8;

/// How often they look for agents.
const LOOK: Duration = Duration::from_millis(80);

/// How many events are under way at once.
const AT_ONCE: usize = 8;

/// How often one that was not answered is published again.
const TRIES: u32 = 40;

const STRUCTURED: (&str, &str) = ("Content-Type", "application/cloudevents+json");

/// The supervisors.
pub(crate) struct Publishers {
    installation: Arc<Installation>,
    client: async_nats::Client,
    log: Mutex<File>,
}

/// One event of a supervisor.
#[derive(Clone)]
struct PublishedEvent {
    key: String,
    body: Value,
    number: u32,
}

impl Publishers {
    /// Publishes for each agent that can be rerouted, until it is aborted.
    pub(crate) async fn publish_all(
        installation: &Arc<Installation>,
    ) -> tokio::task::JoinHandle<()> {
        let addresses = installation.broker.lock().unwrap().addresses();
        let options = async_nats::ConnectOptions::new()
            .retry_on_initial_connect()
            .request_timeout(Some(Duration::from_secs(5)));
        let path = installation.file(LOG);
        let log = OpenOptions::new().append(true).create(true).open(path);
        let publishers = Self {
            installation: Arc::clone(installation),
            client: options.connect(addresses).await.unwrap(),
            log: Mutex::new(log.unwrap()),
        };
        tokio::spawn(async move { publishers.publish_for_ever().await })
    }

    async fn publish_for_ever(&self) {
        let mut seen = BTreeSet::new();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        loop {
            let states = [RunState::Running, RunState::Waiting];
            let runs = self.installation.store.runs(&states, ALL).await.unwrap();
            let mut events = Vec::new();
            for (_position, run) in runs {
                let nodes = self.installation.store.nodes(Some(run.id), ALL).await;
                for (_position, row) in nodes.unwrap() {
                    if let Some(reroute) = reroute_of(&row)
                        && seen.insert((run.id, row.node.to_string()))
                    {
                        events.extend(events_for(&run, &row, reroute));
                    }
                }
            }
            let events = self.disordered(events, &mut random);
            futures_util::stream::iter(events)
                .for_each_concurrent(AT_ONCE, |event| self.publish(event))
                .await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Each event twice, all of them in any order.
    fn disordered(
        &self,
        events: Vec<PublishedEvent>,
        random: &mut ChaCha8Rng,
    ) -> Vec<PublishedEvent> {
        let faults = &self.installation.faults;
        let mut all = [events.clone(), events].concat();
        for place in (1..all.len()).rev() {
            let other = random.next_u32() as usize % (place + 1);
            all.swap(place, other);
        }
        let mut last = 0;
        let mut seen = BTreeSet::new();
        for event in &all {
            if !seen.insert(event.key.clone()) {
                faults.add(Fault::EventPublishedTwice);
            }
            if event.number < last {
                faults.add(Fault::EventPublishedOutOfOrder);
            }
            last = event.number;
        }
        all
    }

    /// Publishes until an answer has come.
    async fn publish(&self, event: PublishedEvent) {
        for number in 0..TRIES {
            self.note(&event.key, Outcome::Unknown);
            let outcome = match number % 2 == event.number % 2 {
                true => self.over_nats(&event).await,
                false => self.over_rest(&event).await,
            };
            self.note(&event.key, outcome);
            if outcome != Outcome::Unknown {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn over_nats(&self, event: &PublishedEvent) -> Outcome {
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {}", self.installation.token());
        headers.insert("Authorization", token);
        headers.insert(STRUCTURED.0, STRUCTURED.1);
        let (subject, body) = ("irq.v1.local.cmd.reroute", event.body.to_string().into());
        let asked = self.client.request_with_headers(subject, headers, body);
        let Ok(answer) = asked.await else {
            return Outcome::Unknown;
        };
        let status = answer
            .headers
            .as_ref()
            .and_then(|it| it.get("Nats-Service-Error-Code"))
            .map_or(200, |it| it.as_str().parse().unwrap());
        outcome(status, &serde_json::from_slice(&answer.payload).unwrap())
    }

    async fn over_rest(&self, event: &PublishedEvent) -> Outcome {
        let posted = self
            .installation
            .post("/v1/events", &[STRUCTURED], &event.body);
        match posted.await {
            Some((status, answer)) => outcome(status.as_u16(), &answer),
            None => Outcome::Unknown,
        }
    }

    fn note(&self, key: &str, outcome: Outcome) {
        let attempt = Attempt {
            key: key.to_owned(),
            outcome,
        };
        let line = serde_json::to_string(&attempt).unwrap();
        writeln!(self.log.lock().unwrap(), "{line}").unwrap();
    }
}

/// The file that the publishers write.
const LOG: &str = "attempts.ndjson";

/// What the publishers wrote down.
pub(crate) fn attempts(installation: &Installation) -> Vec<Attempt> {
    let text = std::fs::read_to_string(installation.file(LOG)).unwrap_or_default();
    let attempts = text.lines().map(|line| serde_json::from_str(line).unwrap());
    attempts.collect()
}

/// What an answer says.
fn outcome(status: u16, answer: &Value) -> Outcome {
    match (status, answer["results"][0]["interrupt_id"].as_str()) {
        (_, Some(id)) => Outcome::Acknowledged {
            interrupt: id.parse().unwrap(),
        },
        // Too many at once, or the store is away.
        (408 | 429 | 500.., None) => Outcome::Unknown,
        (_, None) => Outcome::Refused,
    }
}

fn reroute_of(row: &NodeRow) -> Option<(AgentKind, RouteType)> {
    if !row.takes_messages || row.activity.is_final() {
        return None;
    }
    let is_it = |(kind, _to): &&(AgentKind, RouteType)| kind.name() == row.kind.as_str();
    REROUTES.iter().find(is_it).copied()
}

fn events_for(run: &Run, row: &NodeRow, reroute: (AgentKind, RouteType)) -> Vec<PublishedEvent> {
    let (kind, to) = reroute;
    let event = |number: u32| {
        let key = format!("event-{}-{}-{number}", run.id, row.node);
        let data = json!({
            "eventId": key, "timestamp": "2026-11-25T10:00:00Z",
            "nodeId": format!("{}/{}", run.id, row.node), "sourceAgentType": kind.name(),
            "rerouteToAgentType": to.name(), "interruptType": "HUMAN_REVIEW",
            "reason": format!("The supervisor knows better, for the time {number}"),
            "choices": [], "confirmationItems": [], "contextForDecision": "",
        });
        let body = json!({
            "specversion": "1.0", "id": key, "source": "/supervisors/ada",
            "type": "dev.irq.interrupt.request_event.v1", "datacontenttype": "application/json",
            "data": data,
        });
        PublishedEvent { key, body, number }
    };
    (1..=EVENTS).map(event).collect()
}
