//! The model of the runs: a server that plays a provider, numbers its calls and keeps a ledger of them.

use std::sync::{Arc, Mutex};

use agents::{AgentKind, catalogue};
use interrupts::Digest;
use llm::{Pace, RehearsalConfig, RehearsalModel, Script};
use routing_core::model::{Caller, Dialect, Message, Purpose};
use routing_core::{AgentType, NodeId, RunId};
use serde_json::Value;
use tests::auditor::{TargetCall, numbered};
use tests::providers::{Behaviour, ProviderDouble, Received, WireForm};

/// Two agents of each run ask by themselves: one a person, one the reviewing model.
const SCRIPT: &str = r#"{"version": 1, "steps": [
  {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1,
   "interrupt": {"type": "HUMAN_REVIEW", "reason": "How much shall be read?"}},
  {"agent": "DISCOVERY_AGENT", "turn": 1,
   "interrupt": {"type": "AGENT_REVIEW", "reason": "Is this part worth reading?"}},
  {"agent": "TICKET_AGENT", "turn": 1,
   "interrupt": {"type": "HUMAN_REVIEW", "reason": "Shall this ticket be done?"}}
]}"#;

/// The server, and what it was asked.
pub(crate) struct Brain {
    double: ProviderDouble,
    calls: Arc<Mutex<Vec<TargetCall>>>,
}

impl Brain {
    pub(crate) async fn start() -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let ledger = Arc::clone(&calls);
        let model = model();
        let answering = move |request: &Received| {
            let number = note(&ledger, request);
            numbered(&answer(&model, request), number)
        };
        let double = ProviderDouble::answering(WireForm::OpenAi, [Behaviour::Answers], answering);
        Self {
            double: double.await.unwrap(),
            calls,
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        self.double.address()
    }

    /// What it was asked so far.
    pub(crate) fn calls(&self) -> Vec<TargetCall> {
        self.calls.lock().unwrap().clone()
    }
}

fn model() -> RehearsalModel {
    let script = Script::parse(SCRIPT, &catalogue::script_vocabulary()).unwrap();
    let config = RehearsalConfig {
        seed: 3,
        pace: Pace::Unlimited,
        material: Vec::new(),
        script: Some(script),
    };
    RehearsalModel::new(config).with_dialect(Dialect::OpenAiStrict)
}

fn note(ledger: &Mutex<Vec<TargetCall>>, request: &Received) -> u64 {
    let mut calls = ledger.lock().unwrap();
    let number = u64::try_from(calls.len()).unwrap() + 1;
    calls.push(TargetCall {
        number,
        request: Digest::of(request.text.as_bytes()),
    });
    number
}

/// What the rehearsal model says, which knows nothing but the request: the same for the same request.
fn answer(model: &RehearsalModel, request: &Received) -> String {
    let asked = &request.body["response_format"]["json_schema"];
    let record = asked["name"].as_str().unwrap_or_default();
    let messages = messages(&request.body["messages"]);
    let turn = 1 + messages
        .iter()
        .filter(|(role, _)| role == "assistant")
        .count();
    let caller = Caller {
        run: RunId::from_uuid(uuid::Uuid::nil()),
        node: NodeId::new("double").unwrap(),
        agent_type: kind_of(record),
        purpose: match record {
            "InterruptRouting" => Purpose::Resolution,
            "ReviewDecision" => Purpose::Review,
            _ => Purpose::Step,
        },
        turn: u32::try_from(turn).unwrap(),
        correction: 0,
    };
    let said: Vec<Message> = messages
        .into_iter()
        .map(|(role, text)| match role.as_str() {
            "assistant" => Message::assistant(text),
            _ => Message::user(text),
        })
        .collect();
    model.answer(&asked["schema"], &said, &caller)
}

/// The kind of agent whose record it is.
fn kind_of(record: &str) -> &'static str {
    let bare = record.trim_end_matches("Routing").to_lowercase();
    let fits = |name: &&&str| name.replace('_', "").to_lowercase() == bare;
    AgentKind::NAMES
        .iter()
        .find(fits)
        .copied()
        .unwrap_or("ORCHESTRATOR")
}

/// Who said what, in order.
fn messages(list: &Value) -> Vec<(String, String)> {
    let said = list.as_array().into_iter().flatten();
    said.map(|message| {
        let content = &message["content"];
        let parts = content.as_array().into_iter().flatten();
        let texts: String = parts.filter_map(|part| part["text"].as_str()).collect();
        let whole = content.as_str().map_or(texts, str::to_owned);
        (
            message["role"].as_str().unwrap_or_default().to_owned(),
            whole,
        )
    })
    .collect()
}
