//! Constraints that no dialect can say are checked when the answer comes back.

use llm::JsonSchemaConstraints;
use routing_core::answer::{AnswerFault, ConstraintCheck};
use routing_core::schema::Dialect;

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
