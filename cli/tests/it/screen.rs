//! A program on a pseudo-terminal, and the keys that a person presses there.

use std::process::{Command, Stdio};
use std::time::Duration;

use rexpect::session::{PtySession, spawn_command};
use rustix::process::Pid;

/// How long what is expected may take to be shown, in milliseconds.
const PATIENCE: u64 = 60_000;

/// Starts a program on a terminal of its own.
pub(crate) fn on_a_terminal(mut command: Command) -> PtySession {
    command
        .env("TERM", "xterm-256color")
        .stdin(Stdio::inherit());
    spawn_command(command, Some(PATIENCE)).unwrap()
}

/// What a shell does on a terminal of 30 rows and 100 columns.
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("stty rows 30 cols 100; {script}"));
    command
}

/// The program that a shell runs.
pub(crate) fn program_of(shell: u32) -> Pid {
    let path = format!("/proc/{shell}/task/{shell}/children");
    let children = std::fs::read_to_string(path).unwrap();
    let child = children.split_whitespace().next().unwrap();
    Pid::from_raw(child.parse().unwrap()).unwrap()
}

pub(crate) fn resize(terminal: &str, rows: &str, columns: &str) {
    let done = Command::new("stty")
        .args(["-F", terminal, "rows", rows, "cols", columns])
        .status()
        .unwrap();
    assert!(done.success());
}

pub(crate) fn press(screen: &mut PtySession, keys: &str) {
    screen.send(keys).unwrap();
    screen.flush().unwrap();
}

/// Presses keys that decide about what is shown, once a person can have read it.
pub(crate) fn read_and_press(screen: &mut PtySession, keys: &str) {
    std::thread::sleep(Duration::from_millis(400));
    press(screen, keys);
}
