//! Esc in `irq run` on a real terminal: the run is paused, its window opens over the lines, and the same process goes
//! on with it.

use std::path::PathBuf;
use std::process::Command;

use rexpect::session::PtySession;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{end, interrupt, irq, lines, script, until, workspace};
use crate::screen::{on_a_terminal, press, program_of, read_and_press, shell};
use crate::served::Served;

/// Slow enough for a person, in tokens a second.
pub(crate) const SLOW: &str = "400";

/// A store, a folder, and a run on a terminal of its own.
pub(crate) struct Desk {
    pub(crate) store: PathBuf,
    pub(crate) workspace: TempDir,
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: folder.path().join("irq.db"),
            workspace: workspace(),
            folder,
        }
    }

    /// The command line of a run.
    pub(crate) fn run(&self, arguments: &str) -> String {
        format!(
            "run 'Describe the bakery' --no-color --store {} --workspace {} {arguments}",
            self.store.display(),
            self.workspace.path().display()
        )
    }

    /// A run whose orchestrator asks something.
    pub(crate) fn asking(&self) -> String {
        let asks = script(self.folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
        self.run(&format!("--pace 0 --script {}", asks.display()))
    }

    pub(crate) fn told(&self, arguments: &[&str]) -> Vec<Value> {
        let told = end(irq()
            .args(arguments)
            .arg("--json")
            .arg("--store")
            .arg(&self.store));
        lines(&told.exits_with(0).output)
    }

    /// The state of the only run there is.
    pub(crate) fn state(&self) -> Value {
        let mut runs = self.told(&["ps", "--all"]);
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)["state"].take()
    }
}

/// A run on a terminal, and the shell around it, which tells what it leaves of the terminal.
pub(crate) fn start(arguments: &str, before: &str) -> (PtySession, u32) {
    let script = format!(
        "{before} echo in $$ now; {} {arguments}; code=$?; stty -a; echo LEFT $code at last",
        env!("CARGO_BIN_EXE_irq")
    );
    let mut command = shell(&script);
    command.env("IRQ_USER", "ada");
    let mut screen = on_a_terminal(command);
    screen.exp_string("in ").unwrap();
    let shell = screen.exp_string(" now").unwrap();
    (screen, shell.parse().unwrap())
}

/// Waits for the end, and looks whether the terminal is as it was. Returns what was shown last.
pub(crate) fn leaves(screen: &mut PtySession, code: &str) -> String {
    let shown = screen.exp_string("LEFT ").unwrap();
    assert_eq!(screen.exp_string(" at last").unwrap(), code, "{shown}");
    let words: Vec<&str> = shown.split_whitespace().collect();
    for mode in ["icanon", "isig"] {
        assert!(words.contains(&mode), "{mode} in {shown}");
    }
    assert!(shown.contains("eol = <undef>"), "{shown}");
    shown
}

/// Presses Esc while agents work, and waits for the window.
pub(crate) fn escape(screen: &mut PtySession) {
    screen.exp_string("the model answers").unwrap();
    press(screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
}

fn journal(desk: &Desk) -> Vec<Value> {
    let runs = desk.told(&["ps", "--all"]);
    let run = runs[0]["id"].as_str().unwrap().to_owned();
    let replayed = end(irq()
        .args(["replay", &run, "--json", "--store"])
        .arg(&desk.store));
    lines(&replayed.exits_with(0).output)
}

#[test]
fn esc_opens_the_window_and_what_is_written_there_goes_on_in_the_same_process() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    screen.exp_string("Esc interrupts").unwrap();
    escape(&mut screen);
    screen
        .exp_string("How would you like to modify the plan?")
        .unwrap();
    press(&mut screen, "QXZ");
    screen.exp_string("Z").unwrap();
    press(&mut screen, "\x03\r");
    screen.exp_string("it goes on").unwrap();
    let shown = leaves(&mut screen, "0");
    assert!(shown.contains("completed"), "{shown}");
    assert_eq!(desk.state(), "completed");
    let steps = journal(&desk);
    let text = serde_json::to_string(&steps).unwrap();
    assert!(text.contains("QXZ"), "{text}");
}

/// Presses Esc on a terminal that never answers what it can; whether the stop was there before the screen changed.
fn is_stopped_before_the_terminal_answers() -> bool {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    screen.exp_string("the model answers").unwrap();
    press(&mut screen, "\x1b");
    until("the stop is recorded", || desk.state() != "running");
    let mut shown = String::new();
    while let Some(letter) = screen.try_read() {
        shown.push(letter);
    }
    let is_before = !shown.contains("[?1049h");
    if is_before {
        screen.exp_string("Interrupted").unwrap();
    }
    press(&mut screen, "\x03");
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    leaves(&mut screen, "0");
    is_before
}

#[test]
fn esc_stops_at_once_though_the_terminal_is_asked_something_and_never_answers() {
    // It is asked for two seconds, in which a busy machine may see nothing of the stop.
    let is_seen = (0..5).any(|_try| is_stopped_before_the_terminal_answers());
    assert!(is_seen, "the stop came after the terminal");
}

#[test]
fn esc_in_the_window_lets_the_run_go_on_unchanged() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    escape(&mut screen);
    press(&mut screen, "\x03");
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("it goes on").unwrap();
    leaves(&mut screen, "0");
    assert_eq!(desk.state(), "completed");
}

#[test]
fn a_change_of_the_plan_is_seen_and_applied_in_the_window() {
    let desk = Desk::new();
    let arguments = desk.run("--workflow plan-execute --pace 15");
    let (mut screen, _shell) = start(&arguments, "");
    screen.exp_string("plan 0/").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("paused").unwrap();
    press(&mut screen, "QXZ");
    screen.exp_string("Z").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("Apply").unwrap();
    read_and_press(&mut screen, "\r");
    screen.exp_string("it goes on").unwrap();
    leaves(&mut screen, "0");
    assert_eq!(desk.state(), "completed");
}

#[test]
fn a_run_that_is_ended_in_its_window_is_told_as_ended() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    escape(&mut screen);
    press(&mut screen, "\x03");
    screen.exp_string("paused").unwrap();
    press(&mut screen, "\t\t\t\r");
    screen.exp_string("good?").unwrap();
    read_and_press(&mut screen, "y");
    let shown = leaves(&mut screen, "6");
    assert!(shown.contains("ended from the terminal"), "{shown}");
    assert_eq!(desk.state(), "cancelled");
}

#[test]
fn a_window_that_is_left_leaves_the_run_paused_and_what_was_written_is_told() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    escape(&mut screen);
    press(&mut screen, "\x03QXZ");
    screen.exp_string("paused").unwrap();
    press(&mut screen, "\x04");
    screen.exp_string("Not sent").unwrap();
    screen.exp_string("QXZ").unwrap();
    let shown = leaves(&mut screen, "5");
    assert!(shown.contains("irq resume"), "{shown}");
    assert_eq!(desk.state(), "paused");
}

#[test]
fn esc_at_a_question_takes_the_terminal_from_it_and_it_is_asked_again() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.asking(), "stty echo;");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("> ").unwrap();
    press(&mut screen, "1\x1b");
    let typed = screen.exp_string("Interrupted").unwrap();
    assert!(
        typed.contains("^[\x08\x08  \x08\x08"),
        "`^[` stays: {typed:?}"
    );
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("it goes on").unwrap();
    screen.exp_string("which way?").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("1").unwrap();
    leaves(&mut screen, "0");
    assert_eq!(desk.state(), "completed");
}

#[test]
fn an_arrow_is_no_esc() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    screen.exp_string("the model answers").unwrap();
    press(&mut screen, "\x1b[A");
    let shown = leaves(&mut screen, "0");
    assert!(!shown.contains("Interrupted"), "{shown}");
}

#[test]
fn ctrl_c_is_a_signal_while_keys_are_listened_to() {
    let desk = Desk::new();
    // The shell has the same signal.
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "trap : INT;");
    screen.exp_string("the model answers").unwrap();
    screen.send_control('c').unwrap();
    screen.exp_string("Received interrupt.").unwrap();
    screen.send_control('c').unwrap();
    let shown = leaves(&mut screen, "130");
    assert!(shown.contains("irq resume"), "{shown}");
}

#[test]
fn the_terminal_is_given_back_by_whoever_leaves_at_once() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    screen.exp_string("the model answers").unwrap();
    let program = program_of(shell);
    // Ctrl+S holds what is written back, so that the summary hangs.
    press(&mut screen, "\x13");
    while kill_process(program, Signal::INT).is_ok() {
        std::thread::yield_now();
    }
    press(&mut screen, "\x11");
    leaves(&mut screen, "130");
}

#[test]
fn sigterm_closes_the_window_and_pauses_the_run() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    escape(&mut screen);
    kill_process(program_of(shell), Signal::TERM).unwrap();
    let shown = leaves(&mut screen, "143");
    assert!(shown.contains("irq resume"), "{shown}");
    assert_eq!(desk.state(), "paused");
}

#[test]
fn a_run_in_the_background_leaves_the_terminal_alone() {
    let desk = Desk::new();
    let script = format!(
        "set -m; {} {} & wait %1; echo LEFT $? at last",
        env!("CARGO_BIN_EXE_irq"),
        desk.run("--pace 0")
    );
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &script]);
    let mut screen = on_a_terminal(command);
    screen.exp_string("LEFT ").unwrap();
    assert_eq!(screen.exp_string(" at last").unwrap(), "0");
}

#[test]
fn esc_interrupts_a_run_of_a_server_which_goes_on_there() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::paced(&folder.path().join("irq.db"), SLOW);
    let token = served.token("eve", "admin");
    let arguments = format!(
        "run 'Describe the bakery' --no-color --server {} --token-file {}",
        served.url,
        token.display()
    );
    let (mut screen, _shell) = start(&arguments, "");
    screen.exp_string("step 1, ").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    press(&mut screen, "\x03");
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("Decided").unwrap();
    let shown = leaves(&mut screen, "0");
    assert!(shown.contains("completed"), "{shown}");
}
