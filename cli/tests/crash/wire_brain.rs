//! The rehearsal model behind the wire form of a provider: it sees nothing but what arrived.

use agents::AgentKind;
use interrupt_router::model::{Message, ModelCaller, Purpose};
use interrupt_router::{AgentType, NodeId, RunId};
use llm::RehearsalModel;
use serde_json::Value;
use tests::providers::Received;

/// What the rehearsal model says, which knows nothing but the request: the same for the same request.
pub(crate) fn answer(model: &RehearsalModel, request: &Received) -> String {
    let asked = &request.body["response_format"]["json_schema"];
    let record = asked["name"].as_str().unwrap_or_default();
    let messages = messages(&request.body["messages"]);
    let turn = 1 + messages
        .iter()
        .filter(|(role, _)| role == "assistant")
        .count();
    let caller = caller(record, u32::try_from(turn).unwrap());
    let said: Vec<Message> = messages
        .into_iter()
        .map(|(role, text)| match role.as_str() {
            "assistant" => Message::assistant(text),
            _ => Message::user(text),
        })
        .collect();
    let forward = forward(said.iter().map(|message| &*message.text));
    model.answer(&asked["schema"], &said, &caller, forward)
}

/// Where an orchestrator goes, which a request does not say: to the first phase, until the last one has its result. Others
/// take the first of their routes.
pub(crate) fn forward<'t>(mut said: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    let has_tickets = said.any(|text| text.contains("ticketCollectorResult"));
    (!has_tickets).then_some("discoveryOrchestratorRequest")
}

/// Who asks for this record.
pub(crate) fn caller(record: &str, turn: u32) -> ModelCaller {
    ModelCaller {
        run: RunId::from_uuid(uuid::Uuid::nil()),
        node: NodeId::new("double").unwrap(),
        agent_type: kind_of(record),
        purpose: match record {
            "InterruptRouting" => Purpose::Resolution,
            "ReviewDecision" => Purpose::Review,
            _ => Purpose::Step,
        },
        turn,
        correction: 0,
    }
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
