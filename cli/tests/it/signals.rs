//! Ctrl+C and SIGTERM, sent by process id.

use std::io::{PipeWriter, Write};
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::program::{interrupt, irq, lines, run_in, script, spawn, until, workspace};
use crate::running::Running;

const FIRST: &str =
    "Received interrupt. Finishing the current steps... (press Ctrl+C again to stop now)";

/// A run so slow that it is at work for minutes.
fn slow() -> Running {
    let folder = workspace();
    let child = spawn(run_in(folder.path()).args(["--pace", "1", "-v"]));
    Running::in_folder(child, folder)
}

#[test]
fn the_first_lets_the_step_finish_and_the_second_stops_at_once() {
    let mut run = slow();
    run.wait_for("asks its model");
    run.send(Signal::INT);
    run.wait_for(FIRST);
    run.send(Signal::INT);
    run.wait_for("Stopping now.");
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("stopped"), "{seen}");
    // What is kept in memory cannot be gone on with, and nobody is told so.
    assert!(seen.contains("kept in memory alone"), "{seen}");
    assert!(!seen.contains("irq resume"), "{seen}");
}

#[test]
fn one_alone_ends_the_run_after_its_step() {
    let folder = workspace();
    // Fast enough that a step ends soon, slow enough that the run does not.
    let child = spawn(run_in(folder.path()).args(["--pace", "200", "-v"]));
    let mut run = Running::in_folder(child, folder);
    run.wait_for("asks its model");
    run.send(Signal::INT);
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains(FIRST), "{seen}");
    assert!(!seen.contains("Stopping now."), "{seen}");
}

#[test]
fn a_termination_is_graceful_and_has_its_own_code() {
    let mut run = slow();
    run.wait_for("asks its model");
    run.send(Signal::TERM);
    run.wait_for("Received SIGTERM.");
    run.send(Signal::TERM);
    let (code, seen) = run.end();
    assert_eq!(code, Some(143), "{seen}");
}

#[test]
fn a_hangup_pauses_as_a_termination_does_however_often_it_is_told() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "100", "-v"]));
    let mut run = Running::in_folder(child, workspace());
    run.wait_for("asks its model");
    for _told in 0..3 {
        run.send(Signal::HUP);
    }
    run.wait_for("The terminal was closed. Finishing the current steps...");
    run.send(Signal::HUP);
    let (code, seen) = run.end();
    assert_eq!(code, Some(129), "{seen}");
    assert!(!seen.contains("Stopping now."), "it is in no hurry: {seen}");
    let run = &place.runs()[0];
    assert_eq!(run["state"], "paused", "{run:#}");
    assert_eq!(run["reason"], "its terminal was closed", "{run:#}");
    let stops = place.end(&["review", "--json"]).exits_with(0);
    let stops = lines(&stops.output);
    assert_eq!(stops.len(), 1, "{stops:#?}");
    assert_eq!(stops[0]["source"], "user", "a person's pause: {stops:#?}");
    assert_eq!(stops[0]["mode"], "graceful", "{stops:#?}");
}

#[test]
fn a_quit_pauses_at_once() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "1", "-v"]));
    let mut run = Running::in_folder(child, workspace());
    run.wait_for("asks its model");
    run.send(Signal::QUIT);
    run.wait_for("Stopping now.");
    let (code, seen) = run.end();
    assert_eq!(code, Some(131), "{seen}");
    let stops = place.end(&["review", "--json"]).exits_with(0);
    let stops = lines(&stops.output);
    assert_eq!(stops[0]["mode"], "immediate", "{stops:#?}");
    place
        .end(&["resume", &place.only_run(), "--no-input", "--pace", "0"])
        .exits_with(0);
}

#[test]
fn a_second_signal_of_another_kind_changes_how_it_stops_and_not_why() {
    let (escape, end) = (
        "interrupted from the terminal",
        "the process was told to end",
    );
    for (signals, code, reason, other) in [
        ([Signal::INT, Signal::TERM], 130, escape, end),
        ([Signal::TERM, Signal::INT], 143, end, escape),
    ] {
        let place = Place::new();
        let child = spawn(&mut place.run(&["--pace", "1", "-v"]));
        let mut run = Running::in_folder(child, workspace());
        run.wait_for("asks its model");
        run.send(signals[0]);
        run.wait_for("Finishing the current steps");
        run.send(signals[1]);
        let (ended, seen) = run.end();
        assert_eq!(ended, Some(code), "{seen}");
        assert!(seen.contains(reason) && !seen.contains(other), "{seen}");
        assert_eq!(place.runs()[0]["reason"], reason);
        let stops = place.end(&["review", "--json"]).exits_with(0);
        let stops = lines(&stops.output);
        assert_eq!(stops.len(), 1, "{stops:#?}");
        assert_eq!(stops[0]["reason"], reason, "{stops:#?}");
        assert_eq!(stops[0]["mode"], "immediate", "{stops:#?}");
    }
}

#[test]
fn an_open_question_is_left_at_once() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut command = run_in(folder.path());
    command.arg("--script").arg(script);
    let child = spawn(command.stdin(std::process::Stdio::piped()));
    let mut run = Running::in_folder(child, folder);
    run.wait_for("1 choose, or write an answer");
    run.send(Signal::INT);
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
}

#[test]
fn a_third_one_leaves_although_the_output_hangs() {
    let folder = workspace();
    let mut command = irq();
    command.args(["run", "Describe the bakery", "--json", "--no-input"]);
    command.arg("--workspace").arg(folder.path());
    let (unread, full) = std::io::pipe().unwrap();
    let mut filling = full.try_clone().unwrap();
    // More than any pipe holds, and nobody reads: the program hangs in writing its first event.
    std::thread::spawn(move || filling.write_all(&vec![b' '; 1 << 24]));
    until("the pipe is full", || !takes_more(&full));
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    until("it hangs", || hangs_in_writing(child.id()));
    let mut run = Running::in_folder(child, folder);
    while run.child.try_wait().unwrap().is_none() {
        run.send(Signal::INT);
        std::thread::yield_now();
    }
    let (code, seen) = run.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Left at once. Skipped:"), "{seen}");
    drop(unread);
}

fn takes_more(pipe: &PipeWriter) -> bool {
    let at_once = Timespec::default();
    poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&at_once)).unwrap() > 0
}

/// Whether a thread of a process waits until a pipe takes more.
fn hangs_in_writing(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.flatten().any(|thread| {
        // The function of the kernel that it waits in.
        let waits_in = std::fs::read_to_string(thread.path().join("wchan"));
        waits_in.is_ok_and(|waits_in| waits_in.contains("pipe_write"))
    })
}
