//! Where a server of a test runs: on loopback, or at an address of its own.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;

/// Where a server of a test runs.
#[derive(Debug, Clone)]
pub struct Place {
    /// The address that it listens at.
    pub address: IpAddr,
    /// The port; any free one where it is absent.
    pub port: Option<u16>,
    /// The command that enters its network namespace; empty where it shares the test's.
    pub enter: Vec<String>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: None,
            enter: Vec::new(),
        }
    }
}

impl Place {
    /// A command there.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match self.enter.split_first() {
            Some((enter, arguments)) => {
                let mut command = Command::new(enter);
                command.args(arguments).arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}
