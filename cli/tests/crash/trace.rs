//! What a run has left in its journal, without what names it: the same for runs that went the same way.

use std::collections::BTreeMap;

use interrupts::life::RunState;
use serde_json::{Value, json};

use crate::world::{ALL, World};

/// What was done at each place of a run, and what came of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) state: RunState,
    pub(crate) effects: BTreeMap<String, Value>,
}

impl Trace {
    /// Of the run with this goal.
    pub(crate) async fn of(world: &World, goal: &str) -> Self {
        let run = world.run_of(goal).await.unwrap();
        let entries = world.store.journal(run.id, ALL).await.unwrap();
        // How often a call was tried is what differs: only what came of it must not.
        let entries = entries.into_iter();
        let done = entries.filter(|entry| entry.intent.kind.as_str() != "model_attempt");
        let placed = done.filter_map(|entry| {
            let result = entry.result.map(|result| result.content);
            let content = result.map(|text| serde_json::from_str(&text).unwrap());
            Some((entry.intent.place?, nameless(content.unwrap_or_default())))
        });
        Self {
            state: run.state,
            effects: placed.collect(),
        }
    }
}

/// What a model said, or what was decided; without ids, times and the numbers of calls.
fn nameless(content: Value) -> Value {
    if let Some(text) = content.get("text").and_then(Value::as_str) {
        return json!(text.trim());
    }
    let kept = [
        "routing",
        "target",
        "decidedBy",
        "filledBy",
        "answer",
        "outcome",
    ];
    let of_interest = |(name, value): (String, Value)| {
        let camel = kept.contains(&name.as_str());
        let snake = ["decided_by", "filled_by"].contains(&name.as_str());
        (camel || snake).then_some((name, value))
    };
    match content {
        Value::Object(fields) => fields.into_iter().filter_map(of_interest).collect(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => other,
    }
}
