//! A server of a test's own, which may be killed.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose server does not start cannot go on"
)]

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::place::Place;
use crate::processes::Process;

/// A PostgreSQL server. It ends with this.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    place: Place,
    programs: PathBuf,
    port: u16,
    options: String,
}

impl Server {
    /// Starts one on loopback, with more options; none where the tests have no PostgreSQL.
    ///
    /// # Panics
    ///
    /// Where it does not start, or there is none and every proof has to be made (`PROVE_ALL`).
    pub fn start(options: &[&str]) -> Option<Self> {
        Self::start_at(Place::default(), options)
    }

    /// As [`Server::start`], at a place.
    ///
    /// # Panics
    ///
    /// As [`Server::start`].
    pub fn start_at(place: Place, options: &[&str]) -> Option<Self> {
        let Some(programs) = std::env::var_os("IRQ_TEST_POSTGRES_PROGRAMS") else {
            assert!(std::env::var_os("PROVE_ALL").is_none());
            eprintln!("nothing was tested: IRQ_TEST_POSTGRES_PROGRAMS names no folder");
            return None;
        };
        let server = Self::in_folder(programs.into(), place, options.join(" "));
        server.run(
            "initdb",
            &[
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
                "--locale",
                "C.UTF-8",
                "--username",
                "postgres",
            ],
        );
        server.trusts_all();
        server.begin();
        Some(server)
    }

    fn in_folder(programs: PathBuf, place: Place, options: String) -> Self {
        let any_free = || {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs,
            port: place.port.unwrap_or_else(any_free),
            place,
            options,
        };
        if rustix::process::geteuid().is_root() {
            let mut owned = Command::new("chown");
            owned.arg("postgres").arg(server.folder.path());
            assert!(owned.status().unwrap().success());
        }
        server
    }

    /// Accepts every connection: only processes of the test can reach it.
    fn trusts_all(&self) {
        if self.place.address.is_loopback() {
            return;
        }
        let rules = self.folder.path().join("data/pg_hba.conf");
        let mut text = std::fs::read_to_string(&rules).unwrap();
        text.push_str("host all,replication all all trust\n");
        std::fs::write(rules, text).unwrap();
    }

    /// Starts another one on loopback, which follows this one and can take its place.
    pub fn standby(&self) -> Self {
        self.standby_at(Place::default(), &[])
    }

    /// As [`Server::standby`], at a place, with more options.
    pub fn standby_at(&self, place: Place, options: &[&str]) -> Self {
        let standby = Self::in_folder(self.programs.clone(), place, options.join(" "));
        let port = self.port.to_string();
        standby.run(
            "pg_basebackup",
            &[
                &format!("--host={}", self.place.address),
                "--port",
                &port,
                "--username=postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
            ],
        );
        standby.begin();
        standby
    }

    /// Makes a standby the primary.
    pub fn take_over(&self) {
        self.run("pg_ctl", &["promote", "--wait", "--silent"]);
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its address, with the database in it.
    pub fn address(&self) -> String {
        let Self { place, port, .. } = self;
        format!("postgres://postgres@{}:{port}/postgres", place.address)
    }

    /// Ends all its processes at once.
    pub fn die(&self) {
        self.run("pg_ctl", &["stop", "--mode", "immediate", "--silent"]);
    }

    /// Ends all its processes at once, and starts it again.
    pub fn die_and_come_back(self) -> Self {
        self.die();
        self.come_back()
    }

    /// Starts it again after it has died.
    #[must_use]
    pub fn come_back(self) -> Self {
        self.begin();
        self
    }

    /// Kills all its processes with SIGKILL, as the end of its machine would.
    ///
    /// # Panics
    ///
    /// Where it does not run.
    pub fn is_killed(&self) {
        let all = self.processes();
        for process in &all {
            signal(*process, Signal::KILL);
        }
        while all.iter().any(|process| process.is_alive()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // What it left there would keep it from being started where another process has its number, or it was not
        // buried yet.
        let lock = format!(".s.PGSQL.{}.lock", self.port);
        for left in [self.postmaster(), self.folder.path().join(lock)] {
            std::fs::remove_file(left).unwrap();
        }
    }

    /// Stops all its processes where they are, with SIGSTOP: it is there, and answers nothing.
    pub fn stands_still(&self) {
        for process in self.processes() {
            signal(process, Signal::STOP);
        }
    }

    /// Lets it go on after it has stood still.
    pub fn goes_on(&self) {
        for process in self.processes() {
            signal(process, Signal::CONT);
        }
    }

    /// Starts it after it was killed.
    pub fn comes_back(&self) {
        self.begin();
    }

    fn postmaster(&self) -> PathBuf {
        self.folder.path().join("data/postmaster.pid")
    }

    /// The process that began it, and those that it has begun.
    fn processes(&self) -> Vec<Process> {
        let told = std::fs::read_to_string(self.postmaster()).unwrap();
        let first: u32 = told.lines().next().unwrap().trim().parse().unwrap();
        let children = format!("/proc/{first}/task/{first}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let children = children.split_whitespace().map(|it| it.parse().unwrap());
        // The first one first: it begins no more of them then.
        std::iter::once(first)
            .chain(children)
            .filter_map(Process::of)
            .collect()
    }

    fn begin(&self) {
        let folder = self.folder.path().display();
        let log = format!("{folder}/log");
        let options = format!(
            "-p {} -k {folder} -c listen_addresses={} {}",
            self.port, self.place.address, self.options
        );
        self.run(
            "pg_ctl",
            &[
                "start",
                "--wait",
                "--silent",
                "--log",
                &log,
                "--options",
                &options,
            ],
        );
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let program = self.programs.join(program);
        let mut command = match rustix::process::geteuid().is_root() {
            // It does not run as root.
            true => {
                let mut command = self.place.command("setpriv");
                command.args([
                    "--reuid",
                    "postgres",
                    "--regid",
                    "postgres",
                    "--clear-groups",
                ]);
                command.arg(program);
                command
            }
            false => self.place.command(program),
        };
        let done = command
            .args(arguments)
            .arg("--pgdata")
            .arg(self.folder.path().join("data"))
            .current_dir(self.folder.path())
            .stdout(std::process::Stdio::null())
            .status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.postmaster().exists() {
            self.goes_on();
            self.die();
        }
    }
}

fn signal(process: Process, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
    // An error says that it has ended by itself.
    let _sent = kill_process(pid, signal);
}
