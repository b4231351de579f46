//! One process of `irq`, from its start to its end or its death.

use std::fs::File;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::world::World;

/// The longest that a process may take to its end. Only what hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked whether a process has ended.
const LOOK: Duration = Duration::from_millis(5);

/// A process. Dropped, it is killed.
pub(crate) struct Life {
    pub(crate) child: Child,
    name: String,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was killed.
    Killed,
    /// It ended by itself, with this code.
    Ended(Option<i32>),
}

impl Life {
    /// Starts a process; what it says goes into files of this name.
    pub(crate) fn start(world: &World, mut command: Command, name: &str) -> Self {
        let file = |end: &str| File::create(world.file(&format!("{name}.{end}"))).unwrap();
        let child = command.stdout(file("out")).stderr(file("err")).spawn();
        Self {
            child: child.unwrap(),
            name: name.to_owned(),
        }
    }

    /// Waits for the end, at most so long.
    pub(crate) fn wait_for(&mut self, longest: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + longest;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            if Instant::now() >= end {
                return None;
            }
            std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
    }

    /// Kills it after a while, unless it has ended by then.
    pub(crate) fn die_after(&mut self, delay: Duration) -> End {
        match self.wait_for(delay) {
            Some(status) => End::Ended(status.code()),
            None => {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                End::Killed
            }
        }
    }

    /// Waits for the end.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let status = self.wait_for(PATIENCE);
        status
            .unwrap_or_else(|| panic!("{} hangs", self.name))
            .code()
    }

    /// What it wrote to standard output.
    pub(crate) fn output(&self, world: &World) -> String {
        std::fs::read_to_string(world.file(&format!("{}.out", self.name))).unwrap()
    }

    /// What it wrote to standard error.
    pub(crate) fn errors(&self, world: &World) -> String {
        std::fs::read_to_string(world.file(&format!("{}.err", self.name))).unwrap()
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
