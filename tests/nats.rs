//! A NATS server of a test's own: a process with a folder that goes with it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A NATS server with JetStream.
pub struct NatsServer {
    child: Option<Child>,
    folder: PathBuf,
    place: Place,
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
    /// Starts one on loopback; none where none is installed.
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
        Self::start_at(Place::default(), arguments)
    }

    fn start_at(place: Place, arguments: &[&str]) -> Option<Self> {
        if !program().exists() {
            assert!(
                std::env::var_os("PROVE_ALL").is_none(),
                "there is no NATS server; `tests/nats/install` installs it"
            );
            eprintln!("nothing was tested: `tests/nats/install` has not been run");
            return None;
        }
        let port = place.port.unwrap_or_else(|| number_of(&any_port()));
        let name = format!("irq-nats-{}-{}-{port}", std::process::id(), place.address);
        let mut server = Self {
            child: None,
            folder: std::env::temp_dir().join(name),
            place,
            port,
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        };
        server.comes_back();
        Some(server)
    }

    /// Starts one at each place, which keep everything together, with more arguments; none where none is installed.
    ///
    /// # Panics
    ///
    /// As [`NatsServer::start`].
    pub fn cluster(places: &[Place], arguments: &[&str]) -> Option<Vec<Self>> {
        // All at once, so that no port is found free twice.
        let free: Vec<TcpListener> = places.iter().map(|_place| any_port()).collect();
        let route = |(place, free): (&Place, &TcpListener)| {
            format!("nats://{}:{}", place.address, number_of(free))
        };
        let routes: Vec<String> = places.iter().zip(&free).map(route).collect();
        drop(free);
        let all = routes.join(",");
        let start = |(number, (place, route)): (usize, (&Place, &String))| {
            let name = format!("n{number}");
            let cluster = ["--cluster_name", "irq", "--cluster", route, "--routes"];
            let named = [&all, "--server_name", &name];
            Self::start_at(
                place.clone(),
                &[&cluster[..], &named[..], arguments].concat(),
            )
        };
        places.iter().zip(&routes).enumerate().map(start).collect()
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("{}:{}", self.place.address, self.port)
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
        let mut command = self.place.command(program());
        command
            .args(["--addr", &self.place.address.to_string()])
            .args(["--port", &self.port.to_string()])
            .args(["--jetstream", "--store_dir"])
            .arg(&self.folder)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.child = Some(command.spawn().expect("it starts"));
        let begun = Instant::now();
        while TcpStream::connect((self.place.address, self.port)).is_err() {
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

fn any_port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("loopback has a free port")
}

fn number_of(port: &TcpListener) -> u16 {
    port.local_addr().expect("it is bound").port()
}

fn program() -> PathBuf {
    installed().join("python/bin/nats-server")
}
