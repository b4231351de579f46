//! What a reviewing model would have said that was not sure enough: kept, and shown to whoever decides.

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{end, interrupt, lines, script};

#[test]
fn the_suggestion_of_an_unsure_reviewer_is_shown_in_another_process() {
    let place = Place::new();
    let unsure = json!({
        "agent": "ORCHESTRATOR", "turn": 1, "purpose": "review",
        "answer": {"selectedChoices": ["left"], "text": "perhaps left", "confirmations": [], "confidence": 12},
    });
    let script = script(
        place.folder.path(),
        &json!([interrupt("AGENT_REVIEW"), unsure]),
    );
    end(place.run(&["--script"]).arg(&script)).exits_with(5);
    let listed = place.end(&["review", "--json"]).exits_with(0);
    let id = lines(&listed.output)[0]["id"].as_str().unwrap().to_owned();
    let shown: Value =
        serde_json::from_str(&place.end(&["review", &id, "--json"]).exits_with(0).output).unwrap();
    assert_eq!(shown["suggestion"]["confidence"], 12, "{shown:#}");
    assert_eq!(shown["suggestion"]["text"], "perhaps left", "{shown:#}");
    let text = place.end(&["review", &id]).exits_with(0).output;
    assert!(
        text.contains("left; perhaps left (a model, 12 % sure)"),
        "{text}"
    );
}
