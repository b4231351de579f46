//! What a stop leaves of tools, and what a death does: no process, and a record that is true.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tests::collector::{Collector, CollectorManner};
use tests::processes::{Process, working_in};

use super::Place;
use crate::running::Running;

/// Asserts that none of these is alive, and that nobody else works in the folder.
#[track_caller]
fn assert_none_is_left(processes: &[Process], folder: &Path) {
    let mut alive: Vec<Process> = processes.to_vec();
    alive.retain(|process| process.is_alive());
    alive.extend(working_in(folder));
    assert!(alive.is_empty(), "still alive: {alive:?}");
}

pub(super) fn wait_until_nobody_works_in(folder: &Path) {
    let begun = Instant::now();
    loop {
        let alive = working_in(folder);
        if alive.is_empty() {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "still alive: {alive:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A command that ends by itself only after a quarter of an hour, ignores SIGTERM, and has a child in a session of its
/// own.
pub(super) const STUBBORN: &str =
    "trap : TERM; setsid sleep 900 & echo at''work; while true; do sleep 900; done";

/// Commands that must not be interrupted.
const WHOLE: &str = "[[rules]]\ntool = \"shell\"\nthen = \"allow\"\nuninterruptible = true\n";

#[test]
fn a_stop_that_waits_for_a_call_which_must_not_be_interrupted_says_so() {
    let place = Place::new();
    let policy = place.all_allowed_but(WHOLE);
    let goal = "Do `echo at''work; until [ -e go ]; do sleep 0.05; done`";
    let mut run =
        Running::start(&mut place.run(goal, &["--no-input", "-v", "--permissions", &policy]));
    run.wait_for("atwork");
    run.send(Signal::TERM);
    run.wait_for("a call that must not be interrupted is running; the stop waits for its end");
    std::fs::write(place.folder.path().join("go"), "").unwrap();
    let (code, seen) = run.end();
    assert_eq!(code, Some(143), "{seen}");
    // Before or after: the two are told by tasks of their own.
    let words = "Received SIGTERM. Cancelling all running tools and finishing the current steps";
    assert!(seen.contains(words), "{seen}");
}

#[test]
fn ctrl_c_ends_a_stubborn_tool_says_so_and_the_run_goes_on() {
    let place = Place::new();
    let goal = format!("Do `{STUBBORN}`");
    let allowed = place.all_allowed();
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    let mut command = place.run(&goal, &["--no-input", "-v", "--permissions", &allowed]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let mut run = Running::start(&mut command);
    run.wait_for("atwork");
    let at_work = working_in(place.folder.path());
    assert!(!at_work.is_empty());
    run.send(Signal::INT);
    run.wait_for(
        "Received interrupt. Cancelling all running tools... (press Ctrl+C again to stop now)",
    );
    run.wait_for("shell (call_0_0): interrupted; all of its processes are dead");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(
        seen.contains("retry the interrupted call, choose another approach, or finish"),
        "{seen}"
    );
    assert!(seen.contains("Resume with: irq resume run_"), "{seen}");
    // What is logged with -v.
    assert!(seen.contains("cancelling all running tools"), "{seen}");
    assert!(
        seen.contains("a tool has stopped") && seen.contains("took_ms="),
        "{seen}"
    );
    assert_none_is_left(&at_work, place.folder.path());
    let counts = collector.collected().counts;
    let mut counts = counts.iter();
    let interrupts = counts
        .find(|it| it.name == "tool_interrupts_total")
        .unwrap();
    let by = [("reason", "user"), ("tool", "shell")].map(|(name, of)| (name.into(), of.into()));
    let mut attributes = interrupts.attributes.clone();
    attributes.sort();
    assert_eq!(attributes, by, "counted by nothing else");
    // The agent goes on from what had happened, and does not run it again by itself.
    let id = place.only_run();
    place.end(&["resume", &id, "--no-input"]).exits_with(0);
    let replayed = place.end(&["replay", &id]).exits_with(0).output;
    let calls = replayed.matches("calls a tool: shell").count();
    assert_eq!(calls, 1, "{replayed}");
    assert!(
        replayed.contains("interrupted: Tool execution interrupted by the user"),
        "{replayed}"
    );
}

#[test]
fn an_interrupt_waits_for_the_end_of_a_call_that_must_not_be_interrupted() {
    let place = Place::new();
    let permissions = place.all_allowed_but(WHOLE);
    let goal = "Do `echo at''work; until [ -e go ]; do sleep 0.05; done; echo done >> log.txt`";
    let mut run =
        Running::start(&mut place.run(goal, &["--no-input", "-v", "--permissions", &permissions]));
    run.wait_for("atwork");
    run.send(Signal::INT);
    run.wait_for("Received interrupt.");
    // Longer than the grace that any other call would have.
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(!working_in(place.folder.path()).is_empty());
    std::fs::write(place.folder.path().join("go"), "").unwrap();
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert_eq!(place.text("log.txt").as_deref(), Some("done\n"), "{seen}");
    let id = place.only_run();
    place.end(&["resume", &id, "--no-input"]).exits_with(0);
    assert_eq!(place.text("log.txt").as_deref(), Some("done\n"), "once");
}

#[test]
fn a_killed_irq_leaves_no_process_and_the_resumed_run_knows_what_had_finished() {
    let place = Place::new();
    let goal = format!("Do `echo one >> log.txt` and `{STUBBORN}`");
    let allowed = place.all_allowed();
    let mut run =
        Running::start(&mut place.run(&goal, &["--no-input", "-v", "--permissions", &allowed]));
    run.wait_for("atwork");
    let begun = Instant::now();
    while place.text("log.txt").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    let at_work = working_in(place.folder.path());
    assert!(!at_work.is_empty());
    // The first call is recorded as finished soon after.
    wait_for_finished_call(&place);
    run.send(Signal::KILL);
    let _ended = run.end();
    wait_until_nobody_works_in(place.folder.path());
    let id = place.only_run();
    let waiting = place.end(&["resume", &id, "--no-input"]).exits_with(5);
    let question = waiting.output.trim().to_owned();
    let shown = place.end(&["review", &question]).exits_with(0).output;
    assert!(
        shown.contains("The outcome of a call of `shell` is unknown"),
        "{shown}"
    );
    place
        .end(&[
            "review",
            &question,
            "--decision",
            "reject",
            "--remember",
            "run",
        ])
        .exits_with(2)
        .says("cannot be remembered: it is about this one moment");
    place
        .end(&["review", &question, "--decision", "reject"])
        .exits_with(0);
    place.end(&["resume", &id, "--no-input"]).exits_with(0);
    assert_eq!(
        place.text("log.txt").unwrap(),
        "one\n",
        "what had finished was not done again"
    );
    assert_none_is_left(&at_work, place.folder.path());
}

fn wait_for_finished_call(place: &Place) {
    let begun = Instant::now();
    let run = place.only_run();
    while begun.elapsed() < Duration::from_secs(60) {
        let replayed = place.end(&["replay", &run]).exits_with(0).output;
        if replayed.contains("of its call: finished: (no output)") {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no call has finished");
}

#[test]
fn a_plan_that_is_stopped_among_its_tools_goes_on_with_what_came_of_them() {
    let place = Place::new();
    let goal = format!("Do `{STUBBORN}`");
    let allowed = place.all_allowed();
    let arguments = [
        "--no-input",
        "-v",
        "--workflow",
        "plan-execute",
        "--permissions",
        &allowed,
    ];
    let mut run = Running::start(&mut place.run(&goal, &arguments));
    run.wait_for("atwork");
    let at_work = working_in(place.folder.path());
    run.send(Signal::INT);
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert_none_is_left(&at_work, place.folder.path());
    let id = place.only_run();
    place.end(&["resume", &id, "--no-input"]).exits_with(0);
    let replayed = place.end(&["replay", &id]).exits_with(0).output;
    let calls = replayed.matches("calls a tool: shell").count();
    assert_eq!(calls, 1, "{replayed}");
}
