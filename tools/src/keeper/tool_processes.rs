//! All processes of one tool: how they are found, and killed.

use std::collections::HashSet;

use rustix::process::Signal;

use super::cgroup::Cgroup;
use super::process::{Process, descendants};

/// The processes of one tool: the descendants of its keeper, who adopts every orphan of them as long as it lives, and
/// what else is in the tool's group.
pub(crate) struct ToolProcesses {
    keeper: i32,
    group: Option<Cgroup>,
}

impl ToolProcesses {
    /// Those of the tool that a keeper has started.
    pub(crate) fn of(keeper: i32, group: Option<Cgroup>) -> Self {
        Self { keeper, group }
    }

    /// Those that are alive, as far as one look can tell.
    pub(crate) fn living(&self) -> Vec<Process> {
        let mut living = descendants(self.keeper);
        if let Some(group) = &self.group {
            for process in group.living() {
                if !living.contains(&process) {
                    living.push(process);
                }
            }
        }
        living
    }

    /// Whether the group says that something in it is alive. One that cannot be read says nothing.
    pub(crate) fn is_populated(&self) -> bool {
        let group = self.group.as_ref();
        group.is_some_and(|group| group.is_populated().unwrap_or(false))
    }

    /// Nothing is in the group any more: its folder is removed.
    pub(super) fn forget_group(&mut self) {
        self.group = None;
    }

    /// Kills all that can be found at this moment.
    pub(crate) fn kill(&self) {
        if let Some(group) = &self.group {
            // What the group does not kill, the sweep below does.
            let _swept = group.kill();
        }
        let living = self.living();
        let mut groups = HashSet::new();
        for process in &living {
            if groups.insert(process.group) {
                process.kill_group();
            }
            process.signal(Signal::KILL);
        }
    }
}
