//! What helps if a schema breaks a limit.

/// What helps against a violation of this rule.
pub(super) fn of(rule: &str) -> &'static str {
    match rule {
        super::name::RULE => {
            "use at most 64 ASCII letters, digits, `_`, `.` and `-`: `#[serde(rename = ...)]`"
        }
        "roots that are no object" | "unions at the root" => "answer with a struct",
        "objects that take any property" => "write a struct, or a list of pairs in place of a map",
        "recursions" => "refer to the others by a name or a number in a flat list",
        "keywords that are not taken" => {
            "say it in the description, and check it when the answer is there"
        }
        "schemas without a type" => "give it a type: a text that holds JSON is one too",
        "optional parameters in all" | "union parameters in all" => {
            "give the request fewer optional fields, or split it into several routes"
        }
        "levels of nesting" => "put parts of the request at its top",
        "properties in all"
        | "enum values in all"
        | "characters of names and values"
        | "characters of an enumeration of more than 250 values" => "split it into several routes",
        _ => "leave the schema to schemars: only one that is written by hand is so",
    }
}
