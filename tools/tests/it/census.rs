//! Who is alive, seen from outside: by pid and start time, and by a word on the command line.

use std::fs;
use std::path::Path;

/// A process, as it named itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) pid: i32,
    pub(crate) started: u64,
}

/// Those in a file of `pid start-time` lines that are alive.
pub(crate) fn alive_of(call_log: &Path) -> Vec<Named> {
    named(call_log)
        .into_iter()
        .filter(|named| is_alive(*named))
        .collect()
}

/// All that are in such a file.
pub(crate) fn named(call_log: &Path) -> Vec<Named> {
    let text = fs::read_to_string(call_log).unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let (pid, started) = line.split_once(' ')?;
        Some(Named {
            pid: pid.parse().ok()?,
            started: started.parse().ok()?,
        })
    });
    lines.collect()
}

pub(crate) fn is_alive(named: Named) -> bool {
    let Ok(stat) = fs::read(format!("/proc/{}/stat", named.pid)) else {
        return false;
    };
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    // One whose first thread has ended looks dead, and runs as long as another thread does.
    let dead = matches!(fields[0], "Z" | "X")
        && fields[17].parse::<u32>().is_ok_and(|threads| threads <= 1);
    !dead && fields[19].parse() == Ok(named.started)
}

/// The pids of all living processes, but this one, that have a word on their command line or in the name of the folder
/// that they are in.
pub(crate) fn with_word(word: &str) -> Vec<u32> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own)
        .filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(word) || folder.to_string_lossy().contains(word)
        })
        .collect()
}
