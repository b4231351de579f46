//! What is to be run.

use std::ffi::OsString;
use std::path::PathBuf;

use super::environment::ToolEnvironment;

/// A program to run, with everything that it gets from us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainedCommand {
    /// The program: a path, or a name to look for in the environment's `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: ToolEnvironment,
    /// The folder that it starts in.
    pub directory: PathBuf,
}
