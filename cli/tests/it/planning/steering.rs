//! Messages to plans, reroutes that they refuse, cancels without side effects, forks, and deaths in the middle.

use super::desk::{Desk, kinds, tasks};
use crate::program::end;
use crate::running::Running;

const CONFLICT: i32 = 4;

#[test]
fn a_message_reaches_the_replan_before_the_next_step() {
    let desk = Desk::new();
    let running = desk.at_its_first_step();
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let address = format!("{run}/root");
    end(&mut desk.irq(&["send", &address, "mind the gap"])).exits_with(0);
    let (code, seen) = running.end();
    assert_eq!(code, Some(0), "{seen}");
    let told = desk.told(&run);
    let read: Vec<_> = told.iter().filter(|fact| fact["kind"] == "told").collect();
    assert_eq!(read.len(), 1, "once: {:?}", kinds(&told));
    assert_eq!(read[0]["reason"], "mind the gap");
    assert_eq!(read[0]["completed_steps"], 1, "at the next boundary");
    let late = end(&mut desk.irq(&["send", &address, "too late"]));
    late.exits_with(CONFLICT);
}

#[test]
fn a_reroute_of_a_plans_agent_is_refused_with_the_reason_and_nothing_is_left_behind() {
    let desk = Desk::new();
    let mut running = desk.at_its_first_step();
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let address = format!("{run}/root/executor");
    let reroute = ["reroute", &address, "--to", "DISCOVERY_ORCHESTRATOR"];
    let refused = end(&mut desk.irq(&reroute));
    refused
        .exits_with(2)
        .says("an agent of a plan, which has no routes");
    let ask = ["interrupt", &address, "--type", "HUMAN_REVIEW"];
    let refused = end(&mut desk.irq(&ask));
    refused
        .exits_with(2)
        .says("an agent of a plan, which has no routes");
    assert!(desk.open().is_empty());
    running.child.kill().unwrap();
    running.child.wait().unwrap();
}

#[test]
fn a_cancelled_plan_does_nothing_more_and_undoes_nothing() {
    let desk = Desk::new();
    for way in ["stop", "decision"] {
        let desk = if way == "stop" { &desk } else { &Desk::new() };
        let run = desk.stopped_after_its_first_step();
        let before = (desk.calls(&run), desk.plan(&run));
        if way == "stop" {
            end(&mut desk.irq(&["interrupt", &run, "--type", "STOP"])).exits_with(0);
        } else {
            let id = desk.open()[0]["id"].as_str().unwrap().to_owned();
            end(&mut desk.irq(&["review", &id, "--decision", "cancel"])).exits_with(0);
            let resumed = end(&mut desk.irq(&["resume", &run]));
            assert_ne!(resumed.code, Some(0), "{resumed:#?}");
        }
        let after = desk.plan(&run);
        assert_eq!(after["state"], "cancelled", "{way}");
        assert_eq!(desk.calls(&run), before.0, "{way}: no model was asked");
        assert_eq!(after["done"], before.1["done"], "{way}: what is done stays");
        assert_eq!(after["versions"], before.1["versions"], "{way}");
        assert!(desk.open().is_empty(), "{way}: nobody is asked any more");
        let files = std::fs::read_dir(desk.folder.path()).unwrap().count();
        assert_eq!(files, 2, "{way}: the folder is as it was");
        let resumed = end(&mut desk.irq(&["resume", &run]));
        resumed.exits_with(CONFLICT).says("has ended");
    }
}

#[test]
fn a_fork_goes_on_from_its_checkpoint_with_the_versions_of_the_plan_and_repeats_no_step() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let calls = desk.calls(&run);
    let before = desk.plan(&run);
    end(&mut desk.irq(&["fork", &run, "--message", "in other words"])).exits_with(0);
    let all = end(&mut desk.irq(&["ps", "--all", "--json"])).exits_with(0);
    let runs = crate::program::lines(&all.output);
    let fork = runs
        .iter()
        .find(|other| other["id"] != run.as_str())
        .unwrap();
    let fork = fork["id"].as_str().unwrap();
    let forked = desk.plan(fork);
    assert_eq!(forked["state"], "completed");
    assert_eq!(forked["done"][0], before["done"][0], "not done again");
    assert_eq!(forked["versions"][0], before["versions"][0]);
    assert!(kinds(&desk.told(fork)).contains(&"modification_requested".to_owned()));
    assert_eq!(
        desk.plan(&run),
        before,
        "the run that it began from stands as it stood"
    );
    assert_eq!(desk.calls(&run), calls);
}

#[test]
fn killed_after_its_plan_was_changed_it_carries_the_change_out_once() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let wanted = r#"["knead", "bake", "sell"]"#;
    let digest = desk.json(&["plan", &run, "--preview", wanted])["proposal"]["digest"].clone();
    desk.json(&["plan", &run, "--apply", digest.as_str().unwrap()]);
    let mut resumed = Running::start(&mut desk.irq(&["resume", &run, "-v", "--pace", "60"]));
    resumed.wait_for("a step is done");
    resumed.child.kill().unwrap();
    resumed.child.wait().unwrap();
    let cut_off = desk.plan(&run);
    assert_eq!(cut_off["completed_steps"], 2, "{cut_off:#}");
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let ended = desk.plan(&run);
    assert_eq!(tasks(&ended["done"])[1..], ["knead", "bake", "sell"]);
    assert_eq!(ended["done"][1], cut_off["done"][1], "not done again");
    let told = kinds(&desk.told(&run));
    let steps = told.iter().filter(|kind| *kind == "step_done").count();
    assert_eq!(steps, 4, "{told:?}");
}
