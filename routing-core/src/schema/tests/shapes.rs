//! Golden forms of the shapes that requests are made of.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect_file;
use schemars::JsonSchema;

use crate::schema::{AnswerSchema, Dialect, check_limits};

/// Expects the schema of `T` in each dialect, followed by the limits that it breaks. Rewrite the
/// files with `UPDATE_EXPECT=1`.
#[track_caller]
fn check<T: JsonSchema>(shape: &str) {
    for dialect in Dialect::ALL {
        let schema = AnswerSchema::from_type::<T>(shape, dialect);
        let mut text = serde_json::to_string_pretty(schema.value()).unwrap();
        text.push('\n');
        for violation in check_limits(&schema) {
            writeln!(text, "! {violation}").unwrap();
        }
        expect_file![format!("shapes/{shape}.{dialect}.txt")].assert_eq(&text);
    }
}

/// A person.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Person {
    /// What they are called.
    name: String,
    /// Where they live.
    home: Address,
    work: Address,
    nickname: Option<String>,
    /// Another place.
    holiday: Option<Address>,
    #[serde(default)]
    tags: Vec<String>,
}

/// A place.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Address {
    street: String,
}

/// How urgent it is.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Urgency {
    /// It can wait.
    Low,
    High,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Plain {
    One,
    Two,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Enumerations {
    urgency: Urgency,
    /// Perhaps urgent.
    perhaps: Option<Urgency>,
    plain: Plain,
}

/// What to do.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Tagged {
    /// Go somewhere.
    Go {
        place: String,
    },
    Ask(Question),
    Stop,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Question {
    text: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum External {
    Named(String),
    Struct { size: u32 },
    Unit,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Unions {
    action: Tagged,
    external: External,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Numbers {
    small: u8,
    large: i64,
    real: f64,
    #[schemars(range(min = 1, max = 10))]
    bounded: u8,
    #[schemars(length(min = 2, max = 5))]
    short: String,
    #[schemars(length(min = 2))]
    several: Vec<String>,
    #[schemars(email)]
    address: String,
    pair: (String, u8),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Maps {
    by_name: BTreeMap<String, u8>,
    by_number: BTreeMap<u32, String>,
    anything: serde_json::Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Tree {
    /// What is below.
    children: Vec<Tree>,
    next: Option<Box<Tree>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Flattened {
    own: String,
    #[serde(flatten)]
    address: Address,
    #[serde(flatten)]
    tagged: Tagged,
}

#[test]
fn nested_structs_options_and_defaults() {
    check::<Person>("person");
}

#[test]
fn enums_of_unit_variants() {
    check::<Enumerations>("enumerations");
}

#[test]
fn enums_with_data() {
    check::<Unions>("unions");
}

#[test]
fn numbers_bounds_formats_and_tuples() {
    check::<Numbers>("numbers");
}

#[test]
fn maps_and_values_of_any_type() {
    check::<Maps>("maps");
}

#[test]
fn recursion() {
    check::<Tree>("tree");
}

#[test]
fn flattened_parts() {
    check::<Flattened>("flattened");
}

#[test]
fn a_list_at_the_root() {
    check::<Vec<String>>("list");
}
