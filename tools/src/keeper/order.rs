//! What a keeper and the process that started it say to each other: one JSON value a line, over a socket.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use journal::tool::{Mechanism, ProcessKey};
use serde::{Deserialize, Serialize};

/// Which mechanism is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedMechanism {
    /// A control group where one can be had, else the sweep.
    #[default]
    Best,
    /// A control group, or the tool does not start.
    Cgroup,
    /// The sweep, also where a control group could be had.
    Sweep,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessExit {
    /// It left with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Where a tool's standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Input {
    /// There is none.
    Nothing,
    /// From where its output goes: a socket, by which it is talked with.
    Output,
}

/// What the keeper is to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// The whole environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: PathBuf,
    pub(crate) input: Input,
    pub(crate) wanted: WantedMechanism,
    /// Between asking the processes to end and killing them.
    pub(crate) grace: Duration,
    /// Between killing them and giving up waiting for their death.
    pub(crate) verify_within: Duration,
}

/// A line to the keeper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToKeeper {
    Run(Order),
    Stop,
}

/// A line from the keeper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromKeeper {
    Started {
        mechanism: Mechanism,
        /// The control group's folder, so that others can kill it where the keeper dies.
        group: Option<PathBuf>,
    },
    Refused {
        reason: String,
    },
    Ended(KeeperEnd),
}

/// The last thing a keeper says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeeperEnd {
    /// How the tool's first process ended; unknown where it survived.
    pub(crate) exit: Option<ProcessExit>,
    /// Whether its first process ended after a stop was asked for.
    pub(crate) stopped: bool,
    /// Whether anything had to be killed after the grace.
    pub(crate) forced: bool,
    /// How many processes the tool's first process left behind, all of them ended since.
    pub(crate) leftovers: usize,
    /// Whether it is certain that nothing of the tool is alive.
    pub(crate) verified: bool,
    /// What is known to be alive.
    pub(crate) survivors: Vec<ProcessKey>,
}
