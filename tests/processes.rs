//! Processes, seen from outside. A pid alone may be another process by now; with its start time it is that one.

use std::fs;
use std::path::Path;

/// A process that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it was started, in ticks since the system was.
    pub started: u64,
}

impl Process {
    /// The process that has an id now; `None` where none is alive that has. One that is dead and was not collected yet
    /// is not alive.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat).into_owned();
        // The name of the program may have spaces and parentheses in it.
        let (_name, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let started = fields.get(19)?.parse().ok()?;
        let is_alive = !matches!(*fields.first()?, "Z" | "X");
        is_alive.then_some(Self { pid, started })
    }

    /// Whether it is alive.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// All living processes that work in a folder.
pub fn working_in(folder: &Path) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let works = fs::read_link(format!("/proc/{pid}/cwd"));
        works.is_ok_and(|works| works.starts_with(folder))
    })
    .filter_map(Process::of)
    .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Process;

    #[test]
    fn a_process_is_alive_until_it_has_ended_and_another_one_with_its_id_is_not_it() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();
        assert!(process.is_alive());
        let later = Process {
            started: process.started + 1,
            ..process
        };
        assert!(!later.is_alive(), "its id was given to another one");
        child.kill().unwrap();
        // Dead, whether collected or not.
        while process.is_alive() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!process.is_alive());
    }
}
