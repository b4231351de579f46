//! A NATS server of a test's own: a process on loopback, with a folder that goes with it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A NATS server with JetStream.
pub struct NatsServer {
    child: Option<Child>,
    folder: PathBuf,
    port: u16,
    arguments: Vec<String>,
}

/// Where `tests/nats/install` has put the server and the SDKs of supervisors.
pub fn installed() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    target.unwrap_or_else(usual).join("nats")
}

impl NatsServer {
    /// Starts one; none where none is installed.
    ///
    /// # Panics
    ///
    /// Where it does not start, or where it is not installed and everything must be proved.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// As [`NatsServer::start`], with more arguments.
    ///
    /// # Panics
    ///
    /// As [`NatsServer::start`].
    pub fn start_with(arguments: &[&str]) -> Option<Self> {
        if !program().exists() {
            assert!(
                std::env::var_os("PROVE_ALL").is_none(),
                "there is no NATS server; `tests/nats/install` installs it"
            );
            eprintln!("nothing was tested: `tests/nats/install` has not been run");
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let folder = std::env::temp_dir().join(format!("irq-nats-{}-{port}", std::process::id()));
        let mut server = Self {
            child: None,
            folder,
            port,
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        };
        server.comes_back();
        Some(server)
    }

    /// Starts three that keep everything together, each with more arguments; none where none is installed.
    ///
    /// # Panics
    ///
    /// As [`NatsServer::start`].
    pub fn cluster(arguments: &[&str]) -> Option<Vec<Self>> {
        let bind = |_server| TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let free: Vec<TcpListener> = (0..3).map(bind).collect();
        let route = |at: &TcpListener| {
            let address = at.local_addr().expect("it is bound");
            format!("nats://{address}")
        };
        let routes: Vec<String> = free.iter().map(route).collect();
        drop(free);
        let all = routes.join(",");
        let start = |(number, route): (usize, &String)| {
            let name = format!("n{number}");
            let cluster = ["--cluster_name", "irq", "--cluster", route, "--routes"];
            let named = [&all, "--server_name", &name];
            Self::start_with(&[&cluster[..], &named[..], arguments].concat())
        };
        routes.iter().enumerate().map(start).collect()
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Kills it as a power failure would.
    ///
    /// # Panics
    ///
    /// Where it cannot be killed.
    pub fn is_killed(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it has ended");
        }
    }

    /// Stops it where it is, with SIGSTOP: it is there, and answers nothing.
    ///
    /// # Panics
    ///
    /// Where it cannot be told.
    pub fn stands_still(&self) {
        self.is_told(Signal::STOP);
    }

    /// Lets it go on after it has stood still.
    ///
    /// # Panics
    ///
    /// Where it cannot be told.
    pub fn goes_on(&self) {
        self.is_told(Signal::CONT);
    }

    fn is_told(&self, signal: Signal) {
        let Some(child) = &self.child else { return };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("it has an id"), signal).expect("it is there");
    }

    /// Deletes all that it keeps.
    ///
    /// # Panics
    ///
    /// Where it is still running, or its folder cannot be deleted.
    pub fn is_wiped(&mut self) {
        assert!(self.child.is_none(), "it is still running");
        std::fs::remove_dir_all(&self.folder).expect("its folder can be deleted");
    }

    /// Starts it again at the same address.
    ///
    /// # Panics
    ///
    /// Where it does not listen in time.
    pub fn comes_back(&mut self) {
        let mut command = Command::new(program());
        command
            .args(["--addr", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--jetstream", "--store_dir"])
            .arg(&self.folder)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.child = Some(command.spawn().expect("it starts"));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "it does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _killed = child.kill();
            let _buried = child.wait();
        }
        let _deleted = std::fs::remove_dir_all(&self.folder);
    }
}

fn program() -> PathBuf {
    installed().join("python/bin/nats-server")
}
