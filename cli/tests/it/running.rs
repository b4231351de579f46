//! A run whose standard error is read line by line.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::spawn;

pub(crate) struct Running {
    pub(crate) child: Child,
    errors: BufReader<ChildStderr>,
    seen: String,
    _folder: Option<TempDir>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::of(spawn(command), None)
    }

    /// One that uses a folder until its end.
    pub(crate) fn in_folder(child: Child, folder: TempDir) -> Self {
        Self::of(child, Some(folder))
    }

    fn of(mut child: Child, folder: Option<TempDir>) -> Self {
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            errors,
            seen: String::new(),
            _folder: folder,
        }
    }

    /// Reads until a line has this text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            let read = self.errors.read_line(&mut line).unwrap();
            assert!(read > 0, "no `{text}` in {}", self.seen);
            self.seen.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    pub(crate) fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.errors.read_to_string(&mut self.seen).unwrap();
        (self.child.wait().unwrap().code(), self.seen)
    }
}
