//! A server over a store, and the program as its client.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ended, end, irq, spawn, workspace};

/// A server that runs, with a token for `ada`, who may do everything.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    port: u16,
    store: PathBuf,
    folder: TempDir,
    workspace: TempDir,
    pace: &'static str,
}

impl Served {
    /// A server over the store in a file.
    pub(crate) fn over(store: &Path) -> Self {
        Self::paced(store, "0")
    }

    /// A server whose rehearsals speak so many tokens a second.
    pub(crate) fn paced(store: &Path, pace: &'static str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace();
        let child = start(port, store, workspace.path(), pace);
        let served = Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            port,
            store: store.to_owned(),
            folder,
            workspace,
            pace,
        };
        served.token("ada", "admin");
        served
    }

    /// The file with a token for somebody.
    pub(crate) fn token(&self, name: &str, role: &str) -> PathBuf {
        let made = end(irq()
            .args(["token", "create", "--name", name, "--role", role, "--store"])
            .arg(&self.store))
        .exits_with(0);
        let file = self.folder.path().join(name);
        std::fs::write(&file, made.output).unwrap();
        file
    }

    /// The program as a client of this server, with `ada`'s token.
    pub(crate) fn irq(&self, arguments: &[&str]) -> Command {
        self.irq_as(&self.folder.path().join("ada"), arguments)
    }

    /// The program as a client of this server, reached at another address, with `ada`'s token.
    pub(crate) fn irq_through(&self, url: &str, arguments: &[&str]) -> Command {
        let mut command = irq();
        command
            .args(arguments)
            .env("IRQ_SERVER", url)
            .env("IRQ_TOKEN_FILE", self.folder.path().join("ada"))
            .env_remove("IRQ_STORE");
        command
    }

    /// The program as a client of this server, with a token.
    pub(crate) fn irq_as(&self, token: &Path, arguments: &[&str]) -> Command {
        let mut command = irq();
        command
            .args(arguments)
            .args(["--server", &self.url, "--token-file"])
            .arg(token)
            .env_remove("IRQ_STORE")
            .env("IRQ_USER", "nobody-here");
        command
    }

    /// The client to its end.
    pub(crate) fn end(&self, arguments: &[&str]) -> Ended {
        end(&mut self.irq(arguments))
    }

    /// The one JSON object that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.end(arguments).exits_with(0);
        serde_json::from_str(&ended.output).unwrap()
    }

    /// Kills the server and starts the next one at the same place.
    pub(crate) fn is_killed_and_comes_back(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = start(self.port, &self.store, self.workspace.path(), self.pace);
    }

    /// The most memory that it has ever had, in KiB.
    pub(crate) fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.unwrap().split_whitespace().next().unwrap();
        number.parse().unwrap()
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Sends the server a signal, and waits for its exit code.
    pub(crate) fn ends_after(&mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }

    /// Stops the server in order.
    pub(crate) fn is_stopped(&mut self) {
        let _code = self.ends_after(Signal::TERM);
    }

    /// Stops the server in order, and starts the next one at the same place.
    pub(crate) fn is_stopped_and_comes_back(&mut self) {
        self.is_stopped();
        self.child = start(self.port, &self.store, self.workspace.path(), self.pace);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

/// Starts a server, and waits until it has said where it is.
fn start(port: u16, store: &Path, workspace: &Path, pace: &str) -> Child {
    let mut command = irq();
    command
        .args(["serve", "--pace", pace])
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .arg("--workspace")
        .arg(workspace)
        .env("IRQ_STORE", store);
    let mut child = spawn(&mut command);
    let mut page = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut page).unwrap();
    let mut errors = child.stderr.take().unwrap();
    if page.is_empty() {
        let mut told = String::new();
        errors.read_to_string(&mut told).unwrap();
        panic!("it did not start: {told}");
    }
    // What it logs must not fill a pipe that nobody reads.
    std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    child
}
