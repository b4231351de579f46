//! The model of the runs: a server that plays a provider, numbers its calls and keeps a ledger of them.

use std::sync::{Arc, Mutex};

use agents::catalogue;
use interrupt_router::model::Dialect;
use interrupts::Digest;
use llm::{Pace, RehearsalConfig, RehearsalModel, Script};
use tests::auditor::{TargetCall, numbered};
use tests::providers::{Behaviour, ProviderDouble, Received, WireForm};

use crate::wire_brain::answer;

/// Two agents of each run ask by themselves: one a person, one the reviewing model.
pub(crate) const SCRIPT: &str = r#"{"version": 1, "steps": [
  {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1,
   "interrupt": {"type": "HUMAN_REVIEW", "reason": "How much shall be read?"}},
  {"agent": "DISCOVERY_AGENT", "turn": 1,
   "interrupt": {"type": "AGENT_REVIEW", "reason": "Is this part worth reading?",
                 "choices": [{"value": "yes", "label": "Yes", "description": "Reads on."}]}},
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
        let model = model();
        Self::answering(move |request, _number| answer(&model, request)).await
    }

    /// One that answers so, knowing what is asked and the number of the call.
    pub(crate) async fn answering(
        says: impl Fn(&Received, u64) -> String + Send + Sync + 'static,
    ) -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let ledger = Arc::clone(&calls);
        let answering = move |request: &Received| {
            let number = note(&ledger, request);
            numbered(&says(request, number), number)
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
        facts: Vec::new(),
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
