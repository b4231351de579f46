//! A person's standing rule about a call: it answers the same call, says whose it is, and answers no other one.

use serde_json::{Value, json};

use super::{Place, data};
use crate::program::{Ended, end, lines};

const GOAL: &str = "Note it with `echo hello >> made.txt`";

const ALLOWING_TRUE: &str = r#"
otherwise = "ask"
[[rules]]
tool = "read_file|list_files|search_files"
then = "allow"
[[rules]]
tool = "shell"
arguments = { "/command" = "true" }
then = "allow"
"#;

/// A run that comes to a question about a call, which is returned.
fn asked(place: &Place, goal: &str) -> String {
    let ended = end(&mut place.run(goal, &["--no-input"])).exits_with(5);
    let id = ended.output.trim().to_owned();
    assert!(id.starts_with("int_"), "{ended:#?}");
    id
}

fn decide(place: &Place, id: &str, arguments: &[&str]) -> Ended {
    place.end(&[&["review", id, "--decision"], arguments].concat())
}

/// Goes on with all runs that can go on.
fn go_on(place: &Place, question: &str) {
    let shown = place.end(&["review", question, "--json"]).exits_with(0);
    let shown = lines(&shown.output).remove(0);
    let run = shown["run_id"].as_str().unwrap();
    place.end(&["resume", run, "--no-input"]).exits_with(0);
}

fn history(place: &Place) -> Vec<Value> {
    let listed = place.end(&["history", "--json"]).exits_with(0);
    lines(&listed.output)
}

#[test]
fn a_standing_rule_allows_the_same_call_in_a_later_run_and_history_says_whose_it_is() {
    let place = Place::new();
    let id = asked(&place, GOAL);
    decide(&place, &id, &["approve", "--remember", "everywhere"]).exits_with(0);
    go_on(&place, &id);
    assert_eq!(place.text("made.txt").unwrap(), "hello\n");

    // The same call, at another place of its run and under another id.
    let allowed = place.keeping.path().join("true.toml");
    std::fs::write(&allowed, ALLOWING_TRUE).unwrap();
    let goal = "Do `true` and `echo hello >> made.txt`";
    let allowed = ["--permissions", allowed.to_str().unwrap()];
    let arguments = [&allowed[..], &["--no-input", "--json"]].concat();
    let again = end(&mut place.run(goal, &arguments)).exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "hello\nhello\n");
    let events = again.events();
    let resolved = data(&events, "interrupt.resolved");
    assert_eq!(resolved.len(), 1, "{resolved:?}");
    let by = resolved[0]["decided_by"].as_str().unwrap();
    assert!(by.starts_with("a standing rule of "), "{by}");
    let answered = resolved[0]["interrupt_id"].as_str().unwrap();
    assert_ne!(answered, id, "it is a decision of its own");

    let rows = history(&place);
    let used = rows
        .iter()
        .find(|row| row["about"] == "rule" && row["event"] == "used")
        .unwrap();
    assert_eq!(used["interrupt"], answered);
    assert_eq!(used["actor"]["name"], "tester", "{used}");
    let listed = place.end(&["history"]).exits_with(0).output;
    assert!(listed.contains("by the standing rule rul_"), "{listed}");
    let shown = place.end(&["review", answered, "--json"]).exits_with(0);
    let decision = &lines(&shown.output)[0]["decision"];
    assert_eq!(decision["by"], "rule", "{decision}");
    assert_eq!(decision["name"], "tester", "{decision}");
    place.end(&["history", "--verify"]).exits_with(0);
}

#[test]
fn another_call_is_asked_about_and_so_is_the_same_one_when_the_rule_is_revoked() {
    let place = Place::new();
    let id = asked(&place, GOAL);
    decide(&place, &id, &["approve", "--remember", "everywhere"]).exits_with(0);
    go_on(&place, &id);
    asked(&place, "Note it with `echo hello >> other.txt`");
    assert!(place.text("other.txt").is_none());
    let rules = place.end(&["rules", "list", "--json"]).exits_with(0);
    let rules = lines(&rules.output);
    let rule = rules[0]["id"].as_str().unwrap();
    assert_eq!(rules[0]["uses"], 0, "the decision itself is no use of it");
    place.end(&["rules", "revoke", rule]).exits_with(0);
    asked(&place, GOAL);
    assert_eq!(place.text("made.txt").unwrap(), "hello\n");
}

#[test]
fn a_standing_rule_denies_as_well() {
    let place = Place::new();
    let id = asked(&place, GOAL);
    decide(&place, &id, &["reject", "--remember", "everywhere"]).exits_with(0);
    go_on(&place, &id);
    let again = end(&mut place.run(GOAL, &["--no-input", "--json"])).exits_with(0);
    let events = again.events();
    let denied = data(&events, "tool.finished");
    assert!(
        denied.iter().any(|it| it["outcome"] == "denied"),
        "{denied:?}"
    );
    assert!(place.text("made.txt").is_none());
}

#[test]
fn a_change_that_is_not_the_one_that_was_shown_is_asked_about() {
    let place = Place::new();
    let goal = r#"Use `write_file {"path":"made.txt","content":"new\n"}`"#;
    let id = asked(&place, goal);
    decide(&place, &id, &["approve", "--remember", "everywhere"]).exits_with(0);
    go_on(&place, &id);
    let made = place.folder.path().join("made.txt");
    assert_eq!(place.text("made.txt").unwrap(), "new\n");
    // By now it would take something else's place.
    std::fs::write(&made, "a person's work\n").unwrap();
    asked(&place, goal);
    assert_eq!(place.text("made.txt").unwrap(), "a person's work\n");
    // And here it would do what was shown again.
    std::fs::remove_file(&made).unwrap();
    end(&mut place.run(goal, &["--no-input"])).exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "new\n");
}

#[test]
fn edited_arguments_are_never_remembered() {
    let place = Place::new();
    let id = asked(&place, GOAL);
    let edited = json!({"editedRequest": {"command": "echo edited >> made.txt"}}).to_string();
    let arguments = ["edit", "--payload", &edited, "--remember", "everywhere"];
    decide(&place, &id, &arguments)
        .exits_with(2)
        .says("a decision to edit holds for one question alone");
    let payload = ["approve", "--payload", &edited, "--remember", "everywhere"];
    decide(&place, &id, &payload)
        .exits_with(2)
        .says("an edited request comes with --decision edit");
    let rules = place.end(&["rules", "list", "--json"]).exits_with(0);
    assert!(lines(&rules.output).is_empty(), "{}", rules.output);
}
