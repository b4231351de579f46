//! What became of a call's processes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a tool's processes are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// A control group of its own (version 2), which the kernel kills as a whole.
    Cgroup,
    /// The keeper adopts every orphan, and kills its descendants until it has none.
    Sweep,
}

impl Mechanism {
    /// The word for it in logs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::Sweep => "sweep",
        }
    }
}

/// Names one process for good: a pid is used again, a pid with its start time is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessKey {
    /// The process id.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
}

/// What is known of the death of a program's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainmentReport {
    /// What kept them together.
    pub mechanism: Mechanism,
    /// Whether it was seen that none of them is alive.
    pub verified: bool,
    /// Whether any had to be killed after the grace.
    pub forced: bool,
    /// How many the program's first process had left running when it ended.
    pub leftovers: usize,
    /// Those that are known to be alive.
    pub survivors: Vec<ProcessKey>,
    /// From the request to stop until the keeper confirmed their death; `None` if the program ended by itself.
    pub took: Option<Duration>,
}
