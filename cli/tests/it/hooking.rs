//! Programs that a policy has started before and after stops: heard of, bounded, and never in the way.

use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::place::Place;
use crate::program::{Ended, spawn};

/// A run under a policy with this text, stopped once by Ctrl+C when it has begun a call.
fn stopped(place: &Place, policy: &str) -> Ended {
    let child = started(place, policy);
    place.wait_for_call();
    interrupt(&child);
    child.wait_with_output().unwrap().into()
}

fn started(place: &Place, policy: &str) -> Child {
    let path = place.folder.path().join("policy.toml");
    std::fs::write(&path, policy).unwrap();
    spawn(place.run(&["--pace", "60", "--policy"]).arg(&path))
}

fn interrupt(child: &Child) {
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
}

fn shell(command: &str) -> String {
    format!("[\"sh\", \"-c\", {}]", Value::from(command))
}

fn told(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_program_is_started_before_and_after_a_stop_and_told_what_it_is_about() {
    let place = Place::new();
    let (before, after) = (
        place.keeping.path().join("before.json"),
        place.keeping.path().join("after.json"),
    );
    let policy = format!(
        "[hooks]\nbefore_stop = {}\nafter_stop = {}\n",
        shell(&format!("cat > {}", before.display())),
        shell(&format!("cat > {}", after.display())),
    );
    let ended = stopped(&place, &policy).exits_with(130);
    assert!(!ended.error_output.contains("the hook"), "{ended:#?}");
    let before = told(&before);
    assert_eq!(before["cause"], "user_escape", "{before:#}");
    assert_eq!(before["mode"], "graceful", "{before:#}");
    assert_eq!(before["run_id"], place.only_run(), "{before:#}");
    let after = told(&after);
    assert_eq!(after["run_id"], place.only_run(), "{after:#}");
    assert_eq!(after["type"], "PAUSE", "{after:#}");
    assert_eq!(after["state"], "awaiting_review", "{after:#}");
}

#[test]
fn a_program_that_fails_is_told_and_the_run_stops_all_the_same() {
    let place = Place::new();
    let policy = format!(
        "[hooks]\nbefore_stop = {}\nafter_stop = [\"no-such-program-at-all\"]\n",
        shell("echo out of paper >&2; exit 3"),
    );
    let ended = stopped(&place, &policy).exits_with(130);
    for words in [
        "the hook before_stop failed: it ended with exit status: 3: out of paper",
        "the hook after_stop failed: no-such-program-at-all cannot be started",
    ] {
        assert!(ended.error_output.contains(words), "{ended:#?}");
    }
    assert_eq!(place.runs()[0]["state"], "paused");
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started_and_holds_up_nothing() {
    let place = Place::new();
    let started = place.keeping.path().join("started");
    let policy = format!(
        "[default]\nhandler_limit = \"1s\"\n[hooks]\nbefore_stop = {}\n",
        shell(&format!(
            "sleep 600 & echo $! > {}; wait",
            started.display()
        )),
    );
    let ended = stopped(&place, &policy).exits_with(130);
    let words = "the hook before_stop failed: it took longer than 1s and was killed";
    assert!(ended.error_output.contains(words), "{ended:#?}");
    assert_eq!(place.runs()[0]["state"], "paused");
    let sleeping: i32 = std::fs::read_to_string(&started)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let sleeping = Pid::from_raw(sleeping).unwrap();
    let begun = std::time::Instant::now();
    while test_kill_process(sleeping).is_ok() {
        assert!(begun.elapsed().as_secs() < 20, "what it started lives on");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_program_may_interrupt_in_turn_and_is_not_started_about_its_own_stop() {
    let place = Place::new();
    let calls = place.keeping.path().join("calls");
    let policy = format!(
        "[hooks]\nbefore_stop = {}\n",
        shell(&format!(
            "echo called >> {}; {} interrupt --all --yes --type stop --store {}",
            calls.display(),
            env!("CARGO_BIN_EXE_irq"),
            place.store().display(),
        )),
    );
    let ended = stopped(&place, &policy);
    assert_eq!(place.runs()[0]["state"], "cancelled", "{ended:#?}");
    let calls = std::fs::read_to_string(&calls).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls} {ended:#?}");
}

#[test]
fn a_stop_of_another_process_is_announced_to_the_hooks_of_the_one_that_has_the_run() {
    let place = Place::new();
    let before = place.keeping.path().join("before.json");
    let policy = format!(
        "[hooks]\nbefore_stop = {}\n",
        shell(&format!("cat > {}", before.display())),
    );
    let child = started(&place, &policy);
    place.wait_for_call();
    let run = place.only_run();
    place
        .end(&["interrupt", &run, "--reason", "enough", "--wait"])
        .exits_with(0);
    child.wait_with_output().unwrap();
    let before = told(&before);
    assert_eq!(before["reason"], "enough", "{before:#}");
    assert_eq!(before["run_id"], run, "{before:#}");
}
