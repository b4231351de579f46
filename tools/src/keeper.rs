//! The keeper: a process between ours and a tool's, which keeps track of all of the tool's processes.
//!
//! It is this very program, started again with an argument of its own; [`main_if_keeper`] is what tells the two apart.
//! What is process-wide, the adoption of orphans and the handling of signals, is so in a process that does nothing
//! else. When its socket closes, because the process that started it died, it ends the tool too.
//!
//! `order` is what is said over the socket, `launch` starts the tool, `watch` decides when what is killed;
//! `cgroup` and `process` are the two ways of finding what to kill, which `tool_processes` joins.

mod cgroup;
mod launch;
mod order;
mod process;
mod tool_processes;
mod watch;

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use journal::tool::{Mechanism, ProcessKey};
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub(crate) use cgroup::Cgroup;
pub(crate) use order::{FromKeeper, Input, KeeperEnd, Order, ToKeeper};
pub use order::{ProcessExit, WantedMechanism};
pub(crate) use process::{Process, is_stopped};
pub(crate) use tool_processes::ToolProcesses;

use launch::{LAUNCH, LaunchFault};
use watch::{KeeperEvent, Watch};

/// The first argument of a keeper.
pub(crate) const KEEPER: &str = "--irq-tool-keeper";

/// Call this first thing in `main`: where this process was started as a keeper, it does a keeper's work to its
/// end and returns the code to leave with; else it returns `None` at once.
///
/// A program that starts contained tools and does not call this names another that does, in its
/// [`ContainmentConfig`](crate::ContainmentConfig).
pub fn main_if_keeper() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next()?;
    if first == KEEPER {
        return Some(match keep() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the keeper of a tool failed: {error}");
                ExitCode::FAILURE
            }
        });
    }
    (first == LAUNCH).then(|| launch::become_tool(arguments))
}

/// Whether tools can be put into control groups of their own, which end with all that they started: the way in which a
/// keeper does it is tried, and nothing is left of it.
///
/// # Errors
///
/// Why they cannot: [`io::ErrorKind::NotFound`] where there are no control groups of version 2,
/// [`io::ErrorKind::Unsupported`] where the kernel cannot kill one.
pub fn probe_control_groups() -> io::Result<()> {
    Cgroup::probe()
}

/// Runs one tool to its end, which includes the end of everything that it started.
fn keep() -> io::Result<()> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut lines = BufReader::new(control.try_clone()?);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let order = match serde_json::from_str(&line)? {
        ToKeeper::Run(order) => order,
        ToKeeper::Stop => return Ok(()),
    };
    let (events, inbox) = channel();
    watch_signals(events.clone())?;
    set_child_subreaper(Some(getpid()))?;
    let (main, group) = match start(&order) {
        Ok(started) => started,
        Err(fault) => {
            let reason = fault.to_string();
            return say(&mut control, &FromKeeper::Refused { reason });
        }
    };
    let started = FromKeeper::Started {
        mechanism: if group.is_some() {
            Mechanism::Cgroup
        } else {
            Mechanism::Sweep
        },
        group: group.as_ref().map(|group| group.folder().to_owned()),
    };
    // The process that started us may be gone; the reader below ends the tool then.
    let _heard = say(&mut control, &started);
    read_orders(lines, events.clone());
    collect_the_dead(events);
    let mut watch = Watch::new(main, group, &order, inbox);
    let end = watch.until_the_end();
    let survived = !end.verified;
    let _heard = say(&mut control, &FromKeeper::Ended(end));
    if survived {
        // Orphans are adopted by this process alone, so it has to stay until they are gone.
        drop(control);
        watch.until_empty();
    }
    Ok(())
}

/// Starts the tool in the best place that can be had.
fn start(order: &Order) -> Result<(Pid, Option<Cgroup>), LaunchFault> {
    if order.wanted == WantedMechanism::Sweep {
        return Ok((launch::launch(order, None)?, None));
    }
    let keeper = getpid();
    let made = Cgroup::make(keeper.as_raw_nonzero().get(), key_of(keeper).started)
        .map_err(|error| LaunchFault::Group(error.to_string()))
        .and_then(|group| {
            let main = launch::launch(order, Some(group.folder()))?;
            Ok((main, Some(group)))
        });
    match made {
        Err(LaunchFault::Group(_cannot)) if order.wanted == WantedMechanism::Best => {
            Ok((launch::launch(order, None)?, None))
        }
        done => done,
    }
}

fn key_of(pid: Pid) -> ProcessKey {
    let pid = pid.as_raw_nonzero().get();
    // One that has ended meanwhile has no row any more, and needs no name.
    Process::alive(pid).map_or(ProcessKey { pid, started: 0 }, |process| process.key)
}

fn say(control: &mut UnixStream, what: &FromKeeper) -> io::Result<()> {
    write_line(control, what)
}

/// Writes a value as one line.
pub(crate) fn write_line(to: &mut impl io::Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// A signal to the keeper ends the tool in good order, instead of leaving it behind.
fn watch_signals(events: Sender<KeeperEvent>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    thread::spawn(move || {
        for _signal in signals.forever() {
            if events.send(KeeperEvent::Stop).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// The socket's end means that the process that started us has ended.
fn read_orders(mut lines: BufReader<UnixStream>, events: Sender<KeeperEvent>) {
    thread::spawn(move || {
        let mut line = String::new();
        loop {
            line.clear();
            let read = lines.read_line(&mut line);
            if events.send(KeeperEvent::Stop).is_err() || !matches!(read, Ok(1..)) {
                return;
            }
        }
    });
}

/// Collects every child that dies, adopted ones too. That there is none left means that there is no descendant
/// left either: the chain from any living process upwards ends at a child of ours.
fn collect_the_dead(events: Sender<KeeperEvent>) {
    thread::spawn(move || {
        loop {
            let event = match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => match exit_of(status) {
                    Some(exit) => KeeperEvent::Ended(pid, exit),
                    None => continue,
                },
                Err(rustix::io::Errno::CHILD) => KeeperEvent::Empty,
                Ok(None) | Err(_) => continue,
            };
            let last = matches!(event, KeeperEvent::Empty);
            if events.send(event).is_err() || last {
                return;
            }
        }
    });
}

fn exit_of(status: WaitStatus) -> Option<ProcessExit> {
    let by_signal = status.terminating_signal().map(ProcessExit::Signal);
    status.exit_status().map(ProcessExit::Code).or(by_signal)
}
