//! `irq run --workflow plan-execute` and `irq plan`: a plan that is stopped, changed, killed, and goes on.

mod at_a_terminal;
mod changing;
mod clash;
pub(crate) mod desk;
mod policies;
mod steering;
mod taken_back;
mod troubled;
mod watching;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::end;
use desk::{Desk, kinds, run_id};

#[test]
fn a_plan_runs_until_its_end_and_tells_how_much_is_done() {
    let desk = Desk::new();
    let ended = end(&mut desk.run()).exits_with(0);
    assert!(
        ended.error_output.contains("the plan is done"),
        "{ended:#?}"
    );
    assert!(ended.error_output.contains("plan 1/"), "{ended:#?}");
    let events = end(desk.run().arg("--json")).exits_with(0).events();
    let last = events
        .iter()
        .rfind(|event| event["type"] == "dev.irq.run.plan_told.v1")
        .unwrap();
    assert_eq!(last["data"]["kind"], "completed");
    assert_eq!(
        last["data"]["completed_steps"], last["data"]["total_steps"],
        "{last}"
    );
}

#[test]
fn ctrl_c_stops_before_the_next_step_and_a_message_changes_the_plan() {
    let desk = Desk::new();
    let running = desk.at_its_first_step();
    running.send(Signal::INT);
    let (code, seen) = running.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Resume with: irq resume run_"), "{seen}");
    let run = run_id(&seen[seen.find("irq resume").unwrap()..]);
    let before = desk.told(&run);
    assert_eq!(kinds(&before).last().unwrap(), "user_escape");
    assert_eq!(before.last().unwrap()["completed_steps"], 1);
    let message = "add a validation step";
    end(&mut desk.irq(&["resume", &run, "--message", message])).exits_with(0);
    let after = desk.told(&run);
    let told = kinds(&after);
    let requested = told
        .iter()
        .position(|kind| kind == "modification_requested")
        .unwrap();
    assert_eq!(after[requested]["reason"], message);
    assert!(
        told[requested..].contains(&"completed".to_owned()),
        "{told:?}"
    );
    assert_eq!(
        told.iter().filter(|kind| *kind == "user_escape").count(),
        1,
        "{told:?}"
    );
}

#[test]
fn killed_at_a_step_it_goes_on_in_another_process_without_repeating_one() {
    let desk = Desk::new();
    let mut running = desk.at_its_first_step();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let run = desk.only_run();
    let run = run_id(&run.to_string());
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let told = desk.told(&run);
    assert_eq!(told.last().unwrap()["kind"], "completed");
    let done: Vec<_> = told
        .iter()
        .filter(|fact| fact["kind"] == "step_done")
        .map(|fact| fact["completed_steps"].as_u64().unwrap())
        .collect();
    let expected: Vec<_> = (1..=u64::try_from(done.len()).unwrap()).collect();
    assert_eq!(done, expected, "each step is done once");
    // The planner was asked once, by the process that died.
    let ended = end(&mut desk.irq(&["replay", &run, "--json"])).exits_with(0);
    let planned = ended
        .output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|moment| moment["what"] == "effect_begun" && moment["agent_id"] == "root/planner");
    assert_eq!(planned.count(), 1);
}
