//! Processes as the kernel's table shows them.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::order::ProcessKey;

/// A process that was alive when the table was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) key: ProcessKey,
    pub(super) parent: i32,
    pub(super) group: i32,
}

/// A line of the table, dead or alive.
struct Row {
    process: Process,
    alive: bool,
}

impl Process {
    /// The process of this pid, unless there is none or it is dead and only waits to be collected.
    pub(super) fn alive(pid: i32) -> Option<Self> {
        row(pid).filter(|row| row.alive).map(|row| row.process)
    }

    /// Signals this very process, and no other that got its pid since.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.key.pid) else {
            return;
        };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => {
                // What the handle means can no longer change, so it is enough to look once more now.
                if Self::alive(self.key.pid).is_some_and(|now| now.key == self.key) {
                    let _gone = pidfd_send_signal(&handle, signal);
                }
            }
            // Kernels before 5.3, and some sandboxes.
            Err(Errno::NOSYS | Errno::PERM) => {
                let _gone = kill_process(pid, signal);
            }
            Err(_gone) => {}
        }
    }

    /// Kills all of its group at one moment, so that none of them can fork in between. A group keeps its number only
    /// as long as one of it is there, so it is left alone where this process has died: what remains of it is found
    /// by the next look.
    pub(super) fn kill_group(&self) {
        let now = Self::alive(self.key.pid);
        if !now.is_some_and(|now| now.key == self.key && now.group == self.group) {
            return;
        }
        if let Some(group) = Pid::from_raw(self.group) {
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads `/proc/<pid>/stat`. The name in it may hold anything, also spaces and brackets.
fn row(pid: i32) -> Option<Row> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(text.get(after_name..)?).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let (state, parent, group) = (fields.first()?, fields.get(1)?, fields.get(2)?);
    let started = fields.get(19)?.parse().ok()?;
    Some(Row {
        process: Process {
            key: ProcessKey { pid, started },
            parent: parent.parse().ok()?,
            group: group.parse().ok()?,
        },
        alive: !matches!(*state, "Z" | "X" | "x"),
    })
}

/// The living descendants of a process, as far as one look can tell: what forks meanwhile may be missed.
pub(super) fn descendants(of: i32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut waiting = vec![of];
    while let Some(parent) = waiting.pop() {
        let Ok(children) = children(parent) else {
            return by_whole_table(of);
        };
        for child in children {
            // A dead one has no children any more: they were adopted when it died.
            if let Some(process) = Process::alive(child) {
                found.push(process);
                waiting.push(child);
            }
        }
    }
    found
}

/// The children of all threads of a process; an error where the kernel does not list them.
fn children(parent: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Ok(children);
    };
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(text) => children.extend(
                text.split_whitespace()
                    .filter_map(|pid| pid.parse::<i32>().ok()),
            ),
            // The thread ended, or the kernel was built without this list.
            Err(error) if error.kind() == io::ErrorKind::NotFound && thread.path().exists() => {
                return Err(error);
            }
            Err(_ended) => {}
        }
    }
    Ok(children)
}

fn by_whole_table(of: i32) -> Vec<Process> {
    let Ok(folders) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let all: Vec<Process> = folders
        .flatten()
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .filter_map(Process::alive)
        .collect();
    let mut found: Vec<Process> = Vec::new();
    let mut waiting = vec![of];
    while let Some(parent) = waiting.pop() {
        for process in all.iter().filter(|process| process.parent == parent) {
            found.push(*process);
            waiting.push(process.key.pid);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{Process, by_whole_table, descendants};

    #[test]
    fn both_ways_to_find_descendants_agree() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & cat; kill $!; wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shell_pid = i32::try_from(shell.id()).unwrap();
        // What comes after the first has echoed: both exist then.
        use std::io::{Read as _, Write as _};
        shell.stdin.as_mut().unwrap().write_all(b"x\n").unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let pids = |found: Vec<Process>| {
            let mut pids: Vec<i32> = found.iter().map(|process| process.key.pid).collect();
            pids.sort_unstable();
            pids
        };
        let (listed, scanned) = (
            pids(descendants(shell_pid)),
            pids(by_whole_table(shell_pid)),
        );
        assert!(!listed.is_empty());
        assert_eq!(listed, scanned);
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(Process::alive(shell_pid).is_none());
        assert!(descendants(shell_pid).is_empty());
    }
}
