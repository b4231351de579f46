//! Processes as the kernel's table shows them.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use journal::tool::ProcessKey;

/// A process that was alive when the table was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) key: ProcessKey,
    pub(super) parent: i32,
    pub(super) group: i32,
}

/// A line of the table, dead or alive.
struct ProcessRow {
    process: Process,
    alive: bool,
    stopped: bool,
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

/// Whether a process was stopped, and does nothing until it is continued.
pub(crate) fn is_stopped(pid: i32) -> bool {
    row(pid).is_some_and(|row| row.stopped)
}

/// Reads `/proc/<pid>/stat`. The name in it may contain anything, also spaces and brackets.
fn row(pid: i32) -> Option<ProcessRow> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(text.get(after_name..)?).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let (state, parent, group) = (fields.first()?, fields.get(1)?, fields.get(2)?);
    let started = fields.get(19)?.parse().ok()?;
    // One whose first thread has ended looks dead, and runs as long as another thread does.
    let threads: u32 = fields.get(17)?.parse().ok()?;
    Some(ProcessRow {
        process: Process {
            key: ProcessKey { pid, started },
            parent: parent.parse().ok()?,
            group: group.parse().ok()?,
        },
        alive: threads > 1 || !matches!(*state, "Z" | "X" | "x"),
        stopped: matches!(*state, "T" | "t"),
    })
}

/// The living descendants of a process, as far as one look can tell: what forks meanwhile may be missed, and what was
/// adopted meanwhile is found by the next look. A process that got the pid of a dead one is never among them.
pub(super) fn descendants(of: i32) -> Vec<Process> {
    let Some(root) = Process::alive(of) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut waiting = vec![root.key];
    while let Some(parent) = waiting.pop() {
        let Ok(children) = children_of(parent) else {
            return by_whole_table(root.key);
        };
        waiting.extend(children.iter().map(|child| child.key));
        found.extend(children);
    }
    found
}

/// The living children of a process; an error where the kernel does not list them.
fn children_of(parent: ProcessKey) -> io::Result<Vec<Process>> {
    let children = listed_children(parent.pid)?
        .into_iter()
        .filter_map(Process::alive);
    Ok(still_of(parent, children.collect()))
}

/// Those of a list that are children of this very process. The pids of the dead go to strangers, so both ends are
/// looked at again: a process with this parent's pid for a parent while the parent lives is its child.
fn still_of(parent: ProcessKey, mut children: Vec<Process>) -> Vec<Process> {
    children.retain(|child| child.parent == parent.pid);
    if Process::alive(parent.pid).is_none_or(|now| now.key != parent) {
        children.clear();
    }
    children
}

/// The pids that the kernel lists as children of all threads of a process.
fn listed_children(parent: i32) -> io::Result<Vec<i32>> {
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

fn by_whole_table(root: ProcessKey) -> Vec<Process> {
    let Ok(folders) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let all: Vec<Process> = folders
        .flatten()
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .filter_map(Process::alive)
        .collect();
    let mut found: Vec<Process> = Vec::new();
    let mut waiting = vec![root];
    while let Some(parent) = waiting.pop() {
        // What the table says of a child may be older than this parent, so the child is looked at once more.
        let children = all
            .iter()
            .filter(|process| process.parent == parent.pid)
            .filter_map(|process| Process::alive(process.key.pid));
        let children = still_of(parent, children.collect());
        waiting.extend(children.iter().map(|child| child.key));
        found.extend(children);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use rustix::process::{Signal, getpid};

    use super::{Process, ProcessKey, by_whole_table, children_of, descendants};

    /// A shell that says a line once its child runs, and waits until its input ends.
    fn shell_with_child() -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 60 & echo ready; cat; kill $!; wait $!"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn wait_for_ready(shell: &mut Child) {
        use std::io::Read as _;
        let output = shell.stdout.as_mut().unwrap();
        output.read_exact(&mut [0; "ready\n".len()]).unwrap();
    }

    fn end(mut shell: Child) {
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }

    fn alive(child: &Child) -> Process {
        Process::alive(i32::try_from(child.id()).unwrap()).unwrap()
    }

    /// Lets the next process that is born have this pid. Others are born meanwhile, so it takes a few times. `None`
    /// where one of them keeps the pid; an error where the system does not allow it.
    fn born_as(pid: i32, command: &mut Command) -> std::io::Result<Option<Child>> {
        // Else the two could have the same start time, which is counted in hundredths of a second.
        std::thread::sleep(Duration::from_millis(30));
        for _time in 0..50 {
            std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string())?;
            let mut child = command.spawn()?;
            if i32::try_from(child.id()) == Ok(pid) {
                return Ok(Some(child));
            }
            child.kill()?;
            child.wait()?;
        }
        Ok(None)
    }

    /// A process that has died and was collected, and a stranger with a child of its own that has its pid now, and
    /// leads a group of that number.
    fn recycled() -> Option<(Process, Child)> {
        use std::os::unix::process::CommandExt as _;
        for _time in 0..20 {
            let mut first = Command::new("sleep")
                .arg("60")
                .process_group(0)
                .spawn()
                .unwrap();
            let process = alive(&first);
            first.kill().unwrap();
            first.wait().unwrap();
            match born_as(process.key.pid, shell_with_child().process_group(0)) {
                Ok(Some(mut stranger)) => {
                    wait_for_ready(&mut stranger);
                    return Some((process, stranger));
                }
                Ok(None) => {}
                Err(error) => {
                    assert!(
                        std::env::var_os("PROVE_ALL").is_none(),
                        "pids cannot be chosen here, so this is not proved: {error}"
                    );
                    eprintln!("left out: pids cannot be chosen here");
                    return None;
                }
            }
        }
        panic!("somebody else keeps each pid");
    }

    #[test]
    fn whoever_got_the_pid_of_a_dead_process_is_not_signalled_in_its_place() {
        let Some((dead, mut stranger)) = recycled() else {
            return;
        };
        dead.signal(Signal::KILL);
        dead.kill_group();
        // Its pipe still works, so neither the shell nor what reads for it has died.
        use std::io::{Read as _, Write as _};
        stranger.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        drop(stranger.stdin.take());
        let mut said = String::new();
        let output = stranger.stdout.as_mut().unwrap();
        output.read_to_string(&mut said).unwrap();
        assert_eq!(said, "x");
        assert_eq!(stranger.wait().unwrap().code(), Some(143), "of its child");
    }

    #[test]
    fn the_children_of_whoever_got_the_pid_of_a_dead_process_are_not_taken_for_its_children() {
        let Some((dead, stranger)) = recycled() else {
            return;
        };
        assert!(!children_of(alive(&stranger).key).unwrap().is_empty());
        assert_eq!(children_of(dead.key).unwrap(), []);
        assert!(!by_whole_table(alive(&stranger).key).is_empty());
        assert_eq!(by_whole_table(dead.key), []);
        end(stranger);
    }

    #[test]
    fn a_process_of_another_parent_is_not_taken_for_a_child() {
        let mut shell = shell_with_child().spawn().unwrap();
        wait_for_ready(&mut shell);
        let child = alive(&shell);
        let own = Process::alive(getpid().as_raw_nonzero().get()).unwrap();
        assert_eq!(super::still_of(own.key, vec![child]), [child]);
        let elsewhere = ProcessKey {
            pid: child.parent + 1,
            ..own.key
        };
        assert_eq!(super::still_of(elsewhere, vec![child]), []);
        end(shell);
    }

    #[test]
    fn both_ways_to_find_descendants_agree() {
        let mut shell = shell_with_child().spawn().unwrap();
        wait_for_ready(&mut shell);
        let of = alive(&shell).key;
        let pids = |found: Vec<Process>| {
            let mut pids: Vec<i32> = found.iter().map(|process| process.key.pid).collect();
            pids.sort_unstable();
            pids
        };
        // The shell may still be about to start the second.
        let both = |pids: &[i32]| pids.len() == 2;
        let listed = loop {
            let listed = pids(descendants(of.pid));
            if both(&listed) {
                break listed;
            }
        };
        assert_eq!(listed, pids(by_whole_table(of)));
        end(shell);
        assert!(Process::alive(of.pid).is_none_or(|now| now.key != of));
        assert_eq!(by_whole_table(of), []);
    }
}
