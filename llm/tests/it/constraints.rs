//! Constraints that no dialect can say are checked when the answer comes back.

use interrupt_router::answer::{AnswerFault, ConstraintCheck};
use interrupt_router::schema::{AnswerSchema, Dialect};
use llm::JsonSchemaConstraints;
use schemars::JsonSchema;

use crate::calls::schema;

#[test]
fn a_broken_constraint_is_told_with_its_path() {
    let check = JsonSchemaConstraints::new();
    let place = r#"{"file":"a.rs","kind":"CODE"}"#;
    let long = r#"{"file":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","kind":"CODE"}"#;
    for dialect in Dialect::ALL {
        let schema = schema(dialect);
        for (answer, path) in [
            (
                r#"{"answer":"a","confidence":11,"places":[]}"#.to_owned(),
                "$.confidence",
            ),
            (
                format!(r#"{{"answer":"a","places":[{place},{place},{long}]}}"#),
                "$.places[2].file",
            ),
            (
                format!(r#"{{"answer":"a","places":[{place},{place},{place},{place}]}}"#),
                "$.places",
            ),
        ] {
            let error = check.check(&schema, answer.as_bytes()).unwrap_err();
            assert_eq!(error.fault(), AnswerFault::Constraint);
            assert_eq!(error.path(), path, "{dialect}: {error}");
        }
        let fine = format!(r#"{{"answer":"a","confidence":10,"places":[{place}]}}"#);
        check.check(&schema, fine.as_bytes()).unwrap();
    }
}

/// A meeting, perhaps with a room.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Meeting {
    #[schemars(extend("format" = "date-time"))]
    begins: String,
    room: Option<Room>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Room {
    #[schemars(length(max = 3))]
    number: String,
}

#[test]
fn a_format_is_checked_and_what_is_wrong_with_an_option_is_told_at_its_place() {
    let check = JsonSchemaConstraints::new();
    for dialect in Dialect::ALL {
        let schema = AnswerSchema::from_type::<Meeting>("Meeting", dialect);
        assert!(schema.has_constraints());
        for (answer, path) in [
            (r#"{"begins":"soon","room":null}"#, "$.begins"),
            (
                r#"{"begins":"2026-03-01T08:30:00Z","room":{"number":"secret"}}"#,
                "$.room.number",
            ),
        ] {
            let error = check.check(&schema, answer.as_bytes()).unwrap_err();
            assert_eq!(error.path(), path, "{dialect}: {error}");
            // The model knows what it said; nobody else need read it in an error.
            assert!(error.reason().starts_with("the value "), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let fine = r#"{"begins":"2026-03-01T08:30:00Z","room":{"number":"101"}}"#;
        check.check(&schema, fine.as_bytes()).unwrap();
    }
}
