//! A decision whose request no model could write: the open question is another one, and every word names that.

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{lines, script};

const WAITS: i32 = 5;

#[test]
fn what_is_told_is_the_question_about_the_request_and_writing_it_ends_the_run() {
    let place = Place::new();
    let wrong = |correction: u8| {
        json!({
            "agent": "ORCHESTRATOR", "turn": 1, "purpose": "resolution",
            "correction": correction, "answer": {},
        })
    };
    let mut steps = vec![
        json!({
            "agent": "ORCHESTRATOR", "turn": 1,
            "interrupt": {"type": "HUMAN_REVIEW", "reason": "which way?", "choices": [],
                          "confirmationItems": [], "contextForDecision": "two ways"},
        }),
        json!({"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1},
                          "answer": {"text": "the left one"}}}),
    ];
    steps.extend((0..4).map(wrong));
    let script = script(place.keeping.path(), &Value::from(steps));
    let ended = place.end_of_run(&["--script", script.to_str().unwrap()]);
    let ended = ended.exits_with(WAITS);
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open.len(), 1, "{open:#?}");
    let id = open[0]["id"].as_str().unwrap();
    assert_eq!(ended.output.trim(), id, "{ended:#?}");
    let advised = format!("irq review {id}");
    assert!(ended.error_output.contains(&advised), "{ended:#?}");
    let shown = place.end(&["review", id]).exits_with(0).output;
    let way_on = format!("{advised} --decision edit --payload '{{\"editedRequest\": ...}}'");
    assert!(shown.contains(&way_on), "{shown}");
    let request = json!({"editedRequest": {"goal": "bake the left one"}}).to_string();
    let decide = ["review", id, "--decision", "edit", "--payload", &request];
    place.end(&decide).exits_with(0);
    let run = place.only_run();
    place.end(&["resume", &run]).exits_with(0);
    let asked = place.told(&run, "model_call");
    let filled: Vec<&Value> = asked
        .iter()
        .filter(|call| call["purpose"] == "resolution")
        .collect();
    assert!(filled.len() <= 4, "{filled:#?}");
}
