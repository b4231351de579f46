//! A process of `irq` as on a machine of its own: with its own links, its own clock, and where that is possible its own
//! network and its own list of processes, so that no other process can see whether it lives.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::MachineClock;
use crate::link::Link;

/// How long a process may take to be there once it was started.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a machine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    Worker,
    /// It listens here.
    Server(SocketAddr),
}

/// A machine.
pub(crate) struct Machine {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) duty: Duty,
    pub(crate) database: Vec<Link>,
    pub(crate) broker: Vec<Link>,
    pub(crate) clock: MachineClock,
    pub(crate) folder: PathBuf,
    state: Mutex<MachineState>,
}

#[derive(Default)]
struct MachineState {
    process: Option<MachineProcess>,
    /// A fault keeps it from being started.
    is_down: bool,
    starts: u32,
}

struct MachineProcess {
    /// What was started, which may have `irq` as its child.
    child: Child,
    /// The process of `irq`.
    pid: u32,
    owner: String,
}

impl Machine {
    pub(crate) fn new(
        (number, name): (usize, String),
        duty: Duty,
        links: (Vec<Link>, Vec<Link>),
        clock: MachineClock,
        folder: &Path,
    ) -> Self {
        let (database, broker) = links;
        Self {
            number,
            name,
            duty,
            database,
            broker,
            clock,
            folder: folder.to_owned(),
            state: Mutex::default(),
        }
    }

    pub(crate) const fn is_worker(&self) -> bool {
        matches!(self.duty, Duty::Worker)
    }

    /// Starts it where it is not there and no fault keeps it away. Returns what it said where it had ended by itself.
    pub(crate) fn is_kept_up(&self, command: impl FnOnce() -> Command) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        if state.is_down {
            return None;
        }
        let ended = match &mut state.process {
            Some(process) => Some(process.child.try_wait().unwrap()?),
            None => None,
        };
        let said = ended.map(|status| format!("{}: {status}: {}", self.name, self.last_words()));
        state.starts += 1;
        state.process = Some(self.start(command(), state.starts));
        said
    }

    fn start(&self, mut command: Command, starts: u32) -> MachineProcess {
        self.clock.is_read_by(&mut command);
        let output = |kind: &str| {
            let path = self.folder.join(format!("{}.{kind}", self.name));
            let file = File::options().append(true).create(true).open(path);
            file.unwrap()
        };
        let mut errors = output("err");
        std::io::Write::write_all(&mut errors, format!("== {starts}\n").as_bytes()).unwrap();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(output("out"))
            .stderr(errors)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let pid = loop {
            let found = irq_of(child.id());
            // One that has ended at once is seen by the next look.
            if found.is_some() || child.try_wait().unwrap().is_some() {
                break found.unwrap_or_else(|| child.id());
            }
            assert!(begun.elapsed() < PATIENCE, "{} does not start", self.name);
            std::thread::sleep(Duration::from_millis(2));
        };
        let owner = owner_name(pid).unwrap_or_default();
        MachineProcess { child, pid, owner }
    }

    fn last_words(&self) -> String {
        let path = self.folder.join(format!("{}.err", self.name));
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(6)..].join("\n")
    }

    /// Under which name it owns runs; none where it is not there.
    pub(crate) fn owner(&self) -> Option<String> {
        let state = self.state.lock().unwrap();
        state.process.as_ref().map(|process| process.owner.clone())
    }

    /// Kills it with SIGKILL, and keeps it away until it may come back.
    pub(crate) fn is_killed(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_down = true;
        if let Some(mut process) = state.process.take() {
            process.dies();
        }
    }

    pub(crate) fn may_come_back(&self) {
        self.state.lock().unwrap().is_down = false;
    }

    /// Stops it where it is, with SIGSTOP.
    pub(crate) fn stands_still(&self) {
        self.is_told(Signal::STOP);
    }

    pub(crate) fn goes_on(&self) {
        self.is_told(Signal::CONT);
    }

    fn is_told(&self, signal: Signal) {
        let state = self.state.lock().unwrap();
        if let Some(process) = &state.process {
            send(process.pid, signal);
        }
    }
}

impl MachineProcess {
    fn dies(&mut self) {
        send(self.pid, Signal::KILL);
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.is_killed();
    }
}

fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // An error says that it has ended by itself.
    let _sent = kill_process(pid, signal);
}

/// The process of `irq` that was started as this one, or by it.
fn irq_of(started: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{started}/task/{started}/children"));
    let children = children.unwrap_or_default();
    let child = children.split_whitespace().filter_map(|it| it.parse().ok());
    let is_irq = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "irq")
    };
    std::iter::once(started).chain(child).find(is_irq)
}

/// The name under which a process owns runs.
fn owner_name(pid: u32) -> Option<String> {
    let digits = |text: &str, is: fn(&char) -> bool| text.chars().filter(is).collect::<String>();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let boot = digits(&boot, char::is_ascii_hexdigit);
    let among = fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?;
    let among = digits(among.to_str()?, char::is_ascii_digit);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let pids = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    let own = pids.split_whitespace().next_back()?;
    let began = tests::processes::Process::of(pid)?.started;
    Some(format!("irq-{boot}.{among}-{own}-{began}"))
}
