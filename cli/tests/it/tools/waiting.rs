//! An agent whose call waits for a person says so, as long as it does.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Place;
use crate::program::lines;
use crate::running::Running;

/// Waits until the agents of the only run stand as they should, and returns how those at work stand.
fn wait_for_status(place: &Place, agent: &str, status: &str) {
    let begun = Instant::now();
    loop {
        let listed = place.end(&["ps", "--json"]).exits_with(0);
        let runs = lines(&listed.output);
        let agents = runs[0]["agents"].as_array().unwrap();
        let found = agents.iter().find(|it| it["agent_id"] == agent).unwrap();
        if found["status"] == status {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{agent} is {}",
            found["status"]
        );
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// A run that asks about a call, which goes on until the file `go` is there.
fn asked_and_answered(arguments: &[&str]) {
    let place = Place::new();
    let goal = "Do `until [ -e go ]; do sleep 0.05; done`";
    // Standard input stays open: somebody could answer there too.
    let run = Running::start(place.run(goal, arguments).stdin(Stdio::piped()));
    let question: Value = place.open_question();
    let agent = question["agent_id"].as_str().unwrap();
    wait_for_status(&place, agent, "waiting_review");
    if let Some((parent, _)) = agent.rsplit_once('/')
        && !arguments.is_empty()
    {
        wait_for_status(&place, parent, "waiting_review");
    }
    let id = question["id"].as_str().unwrap();
    place
        .end(&["review", id, "--decision", "approve"])
        .exits_with(0);
    wait_for_status(&place, agent, "running");
    std::fs::write(place.folder.path().join("go"), "").unwrap();
    let (code, seen) = run.end();
    assert_eq!(code, Some(0), "{seen}");
}

#[test]
fn an_agent_of_a_workflow_waits_while_a_person_is_asked_about_its_call() {
    asked_and_answered(&[]);
}

#[test]
fn an_agent_of_a_plan_waits_while_a_person_is_asked_about_its_call() {
    asked_and_answered(&["--workflow", "plan-execute"]);
}
