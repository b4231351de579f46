//! Running a program so that nothing of it outlives its call: the side of the process that waits for it.

mod command;
mod end;
mod environment;
mod output;
mod run;
mod talk;

use std::path::PathBuf;
use std::time::Duration;

pub use command::ContainedCommand;
pub use end::{ContainedEnd, ContainmentError};
pub use environment::{ALLOWED_VARIABLES, ToolEnvironment};
pub use output::BoundedOutput;
pub use talk::ContainedTalk;

use crate::keeper::WantedMechanism;

/// How programs are contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainmentConfig {
    /// The program that is started as the keeper: one that calls [`main_if_keeper`](crate::main_if_keeper).
    pub keeper: PathBuf,
    /// The mechanism that keeps track of the processes.
    pub wanted: WantedMechanism,
    /// Between asking the processes to end and killing them.
    pub grace: Duration,
    /// Between killing them and saying that they survived.
    pub verify_within: Duration,
    /// How many bytes of each of its two outputs are kept: half of them from its start, half from its end.
    pub kept_output: usize,
}

impl Default for ContainmentConfig {
    /// This very program as the keeper, the best mechanism, a second of grace, five to verify, 64 KiB of each output.
    fn default() -> Self {
        Self {
            // Also where the file was replaced by a newer one meanwhile.
            keeper: PathBuf::from("/proc/self/exe"),
            wanted: WantedMechanism::Best,
            grace: Duration::from_secs(1),
            verify_within: Duration::from_secs(5),
            kept_output: 64 * 1024,
        }
    }
}

/// Runs programs, each under a keeper of its own.
#[derive(Debug, Clone, Default)]
pub struct Containment {
    config: ContainmentConfig,
}

impl Containment {
    /// A containment of this configuration.
    pub fn new(config: ContainmentConfig) -> Self {
        Self { config }
    }

    /// Its configuration.
    pub fn config(&self) -> &ContainmentConfig {
        &self.config
    }
}
