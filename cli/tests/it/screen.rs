//! A program on a pseudo-terminal, and the keys that a person presses there.

use std::process::{Command, Stdio};
use std::time::Duration;

use rexpect::session::{PtySession, spawn_command};
use rustix::process::Pid;

use crate::program::until;

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

/// What stands on a terminal once all that was painted on it is taken together: a program paints only the letters
/// that differ, so that a word that stands there may never have been painted whole.
pub(crate) struct Painted(vt100::Parser);

impl Painted {
    const ROWS: u16 = 36;
    const COLUMNS: u16 = 110;

    /// Of another size, a terminal is painted anew.
    pub(crate) fn anew(terminal: &str) -> Self {
        resize(
            terminal,
            &Self::ROWS.to_string(),
            &Self::COLUMNS.to_string(),
        );
        Self(vt100::Parser::new(Self::ROWS, Self::COLUMNS, 0))
    }

    pub(crate) fn until_it_shows(&mut self, screen: &mut PtySession, text: &str) {
        until(text, || {
            // What is read is bytes, each as a character.
            while let Some(byte) = screen.try_read() {
                self.0.process(&[byte as u8]);
            }
            self.0.screen().contents().contains(text)
        });
    }
}

/// Presses keys that decide about what is shown, once a person can have read it.
pub(crate) fn read_and_press(screen: &mut PtySession, keys: &str) {
    std::thread::sleep(Duration::from_millis(400));
    press(screen, keys);
}
