//! A control group (version 2) for one tool: what is born in it stays in it, and the kernel kills it as a whole.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::process::Process;

/// What the folders of our groups begin with.
const PREFIX: &str = "irq-tool-";

/// A control group for one tool. Its folder goes when this does, if nothing is left in it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Makes a group below the one that this process is in.
    pub(super) fn make(keeper: i32, started: u64) -> io::Result<Self> {
        let base = own_folder()?;
        let folder = base.join(format!("{PREFIX}{keeper}-{started}"));
        fs::create_dir(&folder)?;
        let group = Self { folder };
        // Kernels before 5.14 have control groups and cannot kill one.
        if !group.folder.join("cgroup.kill").exists() {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        Ok(group)
    }

    /// Whether a group can be made for a tool here: makes one, and removes it.
    pub(super) fn probe() -> io::Result<()> {
        let own = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        Self::make(own, 0).map(drop)
    }

    /// The group that a keeper said it made.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kills everything in it at one moment.
    pub(crate) fn kill(&self) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.kill"), "1")
    }

    /// Whether anything in it is alive.
    pub(crate) fn is_populated(&self) -> io::Result<bool> {
        let events = match fs::read_to_string(self.folder.join("cgroup.events")) {
            Ok(events) => events,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(events.lines().any(|line| line == "populated 1"))
    }

    /// The living processes in it and below it.
    pub(super) fn living(&self) -> Vec<Process> {
        let mut living: Vec<Process> = self
            .members()
            .into_iter()
            .filter_map(Process::alive)
            .collect();
        // One that died meanwhile may have left its pid to a stranger, who is not in here.
        let still = self.members();
        living.retain(|process| still.contains(&process.key.pid));
        living
    }

    /// The pids in it and below it.
    fn members(&self) -> HashSet<i32> {
        let mut found = HashSet::new();
        members(&self.folder, &mut found);
        found
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn members(folder: &Path, found: &mut HashSet<i32>) {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    found.extend(text.lines().filter_map(|pid| pid.parse::<i32>().ok()));
    for below in folders(folder) {
        members(&below, found);
    }
}

/// A tool may have made groups of its own below.
fn remove(folder: &Path) {
    for below in folders(folder) {
        remove(&below);
    }
    // Not empty: a process survived, and the group still contains it.
    let _kept = fs::remove_dir(folder);
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Enters a group: from now on this process and its children are in it.
pub(super) fn enter(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), "0")
}

/// The folder of the group that this process is in.
fn own_folder() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    folder_of(&mounts, &groups).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

fn folder_of(mounts: &str, groups: &str) -> Option<PathBuf> {
    let (root, mounted_at) = mounts.lines().find_map(mount_of_version_two)?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    // The mount may show a part of the tree only.
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(mounted_at).join(below))
}

/// The root and the folder of a line of the mount table that is a version 2 hierarchy.
fn mount_of_version_two(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    if after.split(' ').next() != Some("cgroup2") {
        return None;
    }
    let mut fields = before.split(' ').skip(3);
    Some((fields.next()?, fields.next()?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::folder_of;

    const MOUNTS: &str = "\
25 30 0:23 / /proc rw,nosuid shared:14 - proc proc rw
31 30 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_folder_of_a_group_is_below_the_mount() {
        let found = folder_of(MOUNTS, "4:memory:/x\n0::/user.slice/run.scope\n");
        assert_eq!(
            found.as_deref(),
            Some(Path::new("/sys/fs/cgroup/user.slice/run.scope"))
        );
        assert_eq!(
            folder_of(MOUNTS, "0::/\n").as_deref(),
            Some(Path::new("/sys/fs/cgroup/"))
        );
    }

    #[test]
    fn without_version_two_there_is_no_folder() {
        assert_eq!(
            folder_of("25 30 0:23 / /proc rw - proc proc rw\n", "0::/\n"),
            None
        );
        assert_eq!(folder_of(MOUNTS, "4:memory:/x\n"), None);
    }

    #[test]
    fn a_group_outside_of_a_partial_mount_is_not_guessed() {
        let part = "31 30 0:27 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(
            folder_of(part, "0::/docker/1/job\n").as_deref(),
            Some(Path::new("/sys/fs/cgroup/job"))
        );
        assert_eq!(folder_of(part, "0::/elsewhere\n"), None);
    }
}
