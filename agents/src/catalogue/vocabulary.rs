//! The names that a script for this workflow may use.

use std::collections::BTreeMap;

use interrupt_router::AgentType;
use interrupt_router::model::Dialect;
use llm::ScriptVocabulary;
use serde_json::Value;

use super::{RecordKind, SchemaQuery, records, schema};
use crate::agent_kind::{AgentKind, RouteType};
use planning::PlanRole;

/// The field of every agent's record that has its interrupt.
const INTERRUPT_FIELD: &str = "interruptRequest";

/// The names that a script may use, for the agents of the reference workflow and those of a plan.
pub fn script_vocabulary() -> ScriptVocabulary {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    // The agents of a plan raise interrupts too, which have the shared fields alone.
    let of_plans = PlanRole::ALL.map(|role| role.name().to_owned());
    let mut agent_types: Vec<String> = names(AgentKind::NAMES);
    agent_types.extend(of_plans.clone());
    let mut interrupt_fields = interrupt_fields();
    interrupt_fields.extend(of_plans.map(|name| (name, Vec::new())));
    ScriptVocabulary {
        has_code: false,
        agent_types,
        routes: names(RouteType::NAMES),
        interrupt_fields,
    }
}

/// The fields of each agent's own kind of interrupt, read from the schema that its model gets.
fn interrupt_fields() -> BTreeMap<String, Vec<String>> {
    let query = SchemaQuery::new(Dialect::JsonSchema);
    records()
        .iter()
        .filter_map(|record| {
            let RecordKind::AgentAnswer(kind) = record.kind else {
                return None;
            };
            let schema = schema(record.name, &query).ok()?.value();
            let field = schema.get("properties")?.get(INTERRUPT_FIELD)?;
            let fields = object_fields(schema, field)?;
            Some((kind.name().to_owned(), fields))
        })
        .collect()
}

/// The names of an object's properties, through references and the choice between it and null.
fn object_fields(root: &Value, schema: &Value) -> Option<Vec<String>> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.strip_prefix('#')?)?;
        return object_fields(root, target);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        return Some(properties.keys().cloned().collect());
    }
    schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))
        .and_then(Value::as_array)?
        .iter()
        .find_map(|variant| object_fields(root, variant))
}

#[cfg(test)]
mod tests {
    use interrupt_router::AgentType;

    use super::interrupt_fields;

    #[test]
    fn every_agents_own_interrupt_fields_are_known() {
        let fields = interrupt_fields();
        assert_eq!(fields.len(), crate::AgentKind::ALL.len());
        let of_worker = fields.get("DISCOVERY_AGENT").unwrap();
        assert!(
            of_worker.iter().any(|field| field == "codeFindings"),
            "{of_worker:?}"
        );
    }
}
