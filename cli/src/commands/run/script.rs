//! Reading a script from a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use agents::catalogue::{self, RecordKind, SchemaQuery};
use agents::{AgentKind, RouteType};
use llm::{Script, ScriptVocabulary};
use routing_core::AgentType;
use routing_core::model::Dialect;
use serde_json::Value;

use crate::exit::{Exit, Failure};

/// The longest script, in bytes.
const LONGEST: u64 = 4_000_000;

/// The field of every agent's record in which its interrupts stand.
const INTERRUPT_FIELD: &str = "interruptRequest";

/// Reads and checks a script.
///
/// # Errors
///
/// Where the file is not there or cannot be read, or its content is no script.
pub(super) fn read(path: &Path) -> Result<Script, Failure> {
    let text = read_text(path)?;
    Script::parse(&text, &vocabulary()).map_err(|error| {
        let message = format!("the script {} cannot be used: {error}", path.display());
        Failure::new(Exit::Usage, message)
    })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: &std::io::Error| {
        let message = match error.kind() {
            ErrorKind::NotFound => format!("there is no script {}", path.display()),
            _ => format!("the script {} cannot be read: {error}", path.display()),
        };
        Failure::new(Exit::NotFound, message)
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("the script {} has more than {LONGEST} bytes", path.display());
        return Err(Failure::new(Exit::Usage, message));
    }
    String::from_utf8(bytes).map_err(|_invalid| {
        let message = format!("the script {} is no UTF-8 text", path.display());
        Failure::new(Exit::Usage, message)
    })
}

fn vocabulary() -> ScriptVocabulary {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    ScriptVocabulary {
        agent_types: names(AgentKind::NAMES),
        routes: names(RouteType::NAMES),
        interrupt_fields: interrupt_fields(),
    }
}

/// The fields of each agent's own kind of interrupt, read from the schema that its model gets.
fn interrupt_fields() -> BTreeMap<String, Vec<String>> {
    let query = SchemaQuery::new(Dialect::JsonSchema);
    catalogue::records()
        .iter()
        .filter_map(|record| {
            let RecordKind::AgentAnswer(kind) = record.kind else {
                return None;
            };
            let schema = catalogue::schema(record.name, &query).ok()?.value();
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
    use routing_core::AgentType;

    use super::interrupt_fields;

    #[test]
    fn every_agents_own_interrupt_fields_are_known() {
        let fields = interrupt_fields();
        assert_eq!(fields.len(), agents::AgentKind::ALL.len());
        let of_worker = fields.get("DISCOVERY_AGENT").unwrap();
        assert!(of_worker.iter().any(|field| field == "codeFindings"), "{of_worker:?}");
    }
}
