//! OpenAI's sums over the whole schema, each definition counted once, as it is written.

use serde_json::Value;

use super::{
    OPENAI_ENUM_VALUES, OPENAI_LARGE_ENUM, OPENAI_LARGE_ENUM_CHARACTERS, OPENAI_NAME_CHARACTERS,
    OPENAI_PROPERTIES, Report, each_schema,
};
use crate::schema::definition::definitions;

/// Counts properties, values of enumerations, and characters of names.
pub(super) fn check(schema: &Value, report: &mut Report) {
    let mut properties = 0;
    let mut enum_values = 0;
    let mut characters: usize = definitions(schema)
        .into_iter()
        .flat_map(|definitions| definitions.keys())
        .map(|name| name.chars().count())
        .sum();
    each_schema(schema, |path, schema| {
        if let Some(Value::Object(named)) = schema.get("properties") {
            properties += named.len();
            characters += named.keys().map(|name| name.chars().count()).sum::<usize>();
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            let length = values.iter().map(length).sum();
            enum_values += values.len();
            characters += length;
            if values.len() > OPENAI_LARGE_ENUM {
                report.limit(
                    "characters of an enumeration of more than 250 values",
                    OPENAI_LARGE_ENUM_CHARACTERS,
                    length,
                    path,
                );
            }
        }
        characters += schema.get("const").map_or(0, length);
    });
    report.limit("properties in all", OPENAI_PROPERTIES, properties, "#");
    report.limit("enum values in all", OPENAI_ENUM_VALUES, enum_values, "#");
    report.limit(
        "characters of names and values",
        OPENAI_NAME_CHARACTERS,
        characters,
        "#",
    );
}

fn length(value: &Value) -> usize {
    value.as_str().map_or_else(
        || value.to_string().chars().count(),
        |text| text.chars().count(),
    )
}
