//! Editing a request in the person's own editor.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

use crate::visible::{visible_json, visible_line};

/// What a comment line of a draft starts with.
const COMMENT: &str = "//";

/// How deep a draft is filled in; a schema may refer to itself.
const DEEPEST: usize = 8;

/// The text that the person edits: what the request has to be, and a start to fill in.
pub(super) fn draft(target: &str, schema: &Value, begun: Option<&str>) -> String {
    if let Some(begun) = begun {
        return begun.to_owned();
    }
    let mut text = format!(
        "{COMMENT} The request of {target}, as JSON. Lines that start with {COMMENT} are left out.\n\
         {COMMENT} Leave the file empty to go back.\n"
    );
    let resolved = resolve(schema, schema);
    if let Some(Value::Object(properties)) = resolved.get("properties") {
        for (name, property) in properties {
            let property = resolve(property, schema);
            if let Some(Value::String(description)) = property.get("description") {
                text.push_str(&format!(
                    "{COMMENT}   {name}: {}\n",
                    visible_line(description)
                ));
            }
        }
    }
    let skeleton = skeleton(schema, schema, DEEPEST);
    let json = serde_json::to_string_pretty(&skeleton).unwrap_or_default();
    text.push_str(&visible_json(&json));
    text.push('\n');
    text
}

/// Reads a draft; `None` if nothing is left of it.
pub(super) fn read_draft(text: &str) -> Result<Option<Value>, serde_json::Error> {
    let json: Vec<&str> = text
        .lines()
        // An empty line in a comment's place keeps the line numbers of errors right.
        .map(|line| {
            if line.trim_start().starts_with(COMMENT) {
                ""
            } else {
                line
            }
        })
        .collect();
    let json = json.join("\n");
    if json.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&json).map(Some)
}

/// Lets the person edit a text. Blocks until the editor ends.
pub(super) fn edit(text: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("irq-request-")
        .suffix(".json")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    run_editor(&editor()?, file.path())?;
    // Read by its path: many editors write a new file in place of the old one.
    std::fs::read_to_string(file.path())
}

fn editor() -> io::Result<OsString> {
    ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|editor| !editor.is_empty())
        .ok_or_else(|| {
            io::Error::other("no editor is set; set VISUAL or EDITOR, or type e {…} with the JSON")
        })
}

fn run_editor(editor: &OsString, path: &Path) -> io::Result<()> {
    // The shell splits the variable, which may contain arguments; the path is never split.
    let mut script = editor.clone();
    script.push(" \"$1\"");
    let status = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg("irq-editor")
        .arg(path)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the editor ended with {status}")))
    }
}

/// A value of the schema's shape with nothing in it.
fn skeleton(schema: &Value, root: &Value, depth: usize) -> Value {
    let schema = resolve(schema, root);
    if depth == 0 {
        return Value::Null;
    }
    if let Some(fixed) = schema.get("default").or_else(|| schema.get("const")) {
        return fixed.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(variants) = schema.get(union).and_then(Value::as_array) {
            let variant = variants
                .iter()
                .find(|variant| kind_of(variant) != Some("null"));
            return variant.map_or(Value::Null, |variant| skeleton(variant, root, depth - 1));
        }
    }
    match kind_of(schema) {
        Some("object") => {
            let mut fields = Map::new();
            if let Some(Value::Object(properties)) = schema.get("properties") {
                for (name, property) in properties {
                    fields.insert(name.clone(), skeleton(property, root, depth - 1));
                }
            }
            Value::Object(fields)
        }
        Some("string") => Value::String(String::new()),
        Some("integer" | "number") => Value::from(0),
        Some("boolean") => Value::Bool(false),
        Some("array") => Value::Array(Vec::new()),
        Some(_) | None => Value::Null,
    }
}

/// The schema's type, the one that is not null if there are two.
fn kind_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null"),
        Some(_) | None => None,
    }
}

fn resolve<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{draft, read_draft};

    #[test]
    fn a_draft_has_every_field_and_reads_back() {
        let schema = json!({
            "type": "object",
            "properties": {
                "goal": {"type": "string", "description": "What shall be done."},
                "kind": {"$ref": "#/$defs/Kind"},
                "notes": {"anyOf": [{"type": "null"}, {"type": "array"}]},
            },
            "$defs": {"Kind": {"enum": ["A", "B"]}},
        });
        let text = draft("ORCHESTRATOR", &schema, None);
        assert!(text.contains("//   goal: What shall be done."), "{text}");
        assert_eq!(
            read_draft(&text).unwrap(),
            Some(json!({"goal": "", "kind": "A", "notes": []}))
        );
    }

    #[test]
    fn an_empty_draft_goes_back_and_a_broken_one_says_in_which_line() {
        assert_eq!(read_draft("// nothing\n\n").unwrap(), None);
        let error = read_draft("// a comment\n{\n  \"a\": }\n").unwrap_err();
        assert_eq!(error.line(), 3);
    }
}
