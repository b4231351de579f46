//! Windows that are closed at any moment: the run in them pauses where it can go on; under `nohup` it goes on without them.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::place::Place;
use crate::program::{interrupt, lines, script, spawn, until};
use crate::served::Served;

/// How many windows are open at once.
const AT_ONCE: usize = 4;

/// The latest moment at which one is closed.
const LATEST: u64 = 1_500;

/// How long a run may take to come to its boundary.
const PATIENCE: Duration = Duration::from_secs(60);

fn closings() -> usize {
    std::env::var("WINDOWS_CLOSED").map_or(4, |times| times.parse().unwrap())
}

/// A terminal, and the program in it that leads its session.
struct Window {
    terminal: File,
    child: Child,
    shown: String,
}

impl Window {
    fn open(command: &Command) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave: OwnedFd = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        let stdio = || Stdio::from(slave.try_clone().unwrap());
        let mut leader = started_by(&["setsid", "--ctty"], command);
        leader.env("TERM", "xterm-256color");
        let child = leader.stdin(stdio()).stdout(stdio()).stderr(stdio());
        Self {
            child: child.spawn().unwrap(),
            terminal: master.into(),
            shown: String::new(),
        }
    }

    /// Shows what comes for so long, or until a text is there.
    fn shows(&mut self, limit: Duration, text: &str) -> bool {
        let end = Instant::now() + limit;
        loop {
            if !text.is_empty() && self.shown.contains(text) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap(),
                tv_nsec: left.subsec_nanos().into(),
            };
            let mut waited = [PollFd::new(&self.terminal, PollFlags::IN)];
            if poll(&mut waited, Some(&left)).unwrap() == 0 {
                return false;
            }
            let mut bytes = [0; 4096];
            match self.terminal.read(&mut bytes) {
                Ok(count) if count > 0 => {
                    self.shown
                        .push_str(&String::from_utf8_lossy(&bytes[..count]));
                }
                // The program has ended.
                Ok(_) | Err(_) => return false,
            }
        }
    }

    /// Closes it, and waits until the program has ended.
    fn close(self) -> ExitStatus {
        let Self {
            terminal,
            mut child,
            ..
        } = self;
        drop(terminal);
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("it does not end");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What is run in the window: each form of telling, each workflow, and below a shell, too.
fn run_in_window(place: &Place, nth: usize) -> Command {
    let forms: [&[&str]; 4] = [
        &["--pace", "300"],
        &["--pace", "300", "--json"],
        &["--pace", "300", "--workflow", "plan-execute"],
        &["--pace", "300", "-v", "--no-color"],
    ];
    let run = place.run(forms[nth % forms.len()]);
    if (nth / forms.len()).is_multiple_of(2) {
        return run;
    }
    // The shell leads the session, and dies of the same signal.
    let shell = "trap 'exit 129' HUP; \"$@\" & wait; wait $!";
    started_by(&["sh", "-c", shell, "sh"], &run)
}

/// A command that another program starts, in its environment.
fn started_by(program: &[&str], command: &Command) -> Command {
    let mut starts = Command::new(program[0]);
    starts.args(&program[1..]);
    starts.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => starts.env(name, value),
            None => starts.env_remove(name),
        };
    }
    starts
}

/// A command that `nohup` starts; its output goes to `nohup.out` beside the store.
fn under_nohup(place: &Place, command: &Command) -> Command {
    let folder = place.keeping.path().to_str().unwrap();
    started_by(&["env", "--chdir", folder, "nohup"], command)
}

/// Closes a window after so long, and looks what it leaves. Whether there was a run that had not ended.
fn close_after(nth: usize, delay: Duration, goes_on: bool) -> bool {
    let place = Place::new();
    let mut window = Window::open(&run_in_window(&place, nth));
    window.shows(delay, "");
    let status = window.close();
    until("no process has it", || {
        place.runs().iter().all(|run| run["is_owned"] == false)
    });
    let runs = place.runs();
    let Some(run) = runs.first() else {
        // It had not begun.
        return false;
    };
    if run["state"] == "completed" {
        return false;
    }
    assert_eq!(
        status.code(),
        Some(129),
        "{nth} after {delay:?}: {status:?} {run:#}"
    );
    assert_eq!(run["state"], "paused", "{nth} after {delay:?}: {run:#}");
    let saved = run["checkpoint"].as_u64();
    assert!(saved > Some(0), "{nth} after {delay:?}: {run:#}");
    assert_eq!(run["reason"], "its terminal was closed", "{run:#}");
    if goes_on {
        let id = run["id"].as_str().unwrap();
        let resumed = place.end(&["resume", id, "--no-input", "--pace", "0"]);
        resumed.exits_with(0);
    }
    true
}

#[test]
fn a_run_whose_window_is_closed_is_paused_with_a_checkpoint_and_goes_on() {
    let closings = closings();
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let delays: Vec<Duration> = (0..closings)
        .map(|_nth| Duration::from_millis(random.next_u64() % LATEST))
        .collect();
    let paused: usize = thread::scope(|scope| {
        let windows: Vec<_> = (0..AT_ONCE)
            .map(|first| {
                let delays = &delays;
                scope.spawn(move || {
                    (first..closings)
                        .step_by(AT_ONCE)
                        .filter(|nth| close_after(*nth, delays[*nth], nth % 10 < 4))
                        .count()
                })
            })
            .collect();
        windows.into_iter().map(|it| it.join().unwrap()).sum()
    });
    println!("{closings} windows closed, {paused} runs paused, none lost");
    assert!(paused > 0, "all of them had not begun, or had ended");
}

#[test]
fn a_run_under_nohup_goes_on_without_its_window() {
    let place = Place::new();
    let window = Window::open(&under_nohup(&place, &place.run(&["--pace", "300"])));
    place.wait_for_call();
    assert_eq!(window.close().code(), Some(0));
    assert_eq!(place.runs()[0]["state"], "completed");
    let told = std::fs::read_to_string(place.keeping.path().join("nohup.out")).unwrap();
    assert!(told.contains("completed"), "{told}");
}

#[test]
fn the_questions_of_a_run_under_nohup_wait() {
    let place = Place::new();
    let asks = script(place.keeping.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut run = place.irq(&["run", "Describe the bakery", "--pace", "0", "--workspace"]);
    run.arg(place.folder.path()).arg("--script").arg(asks);
    let window = Window::open(&under_nohup(&place, &run));
    until("it asks", || {
        let runs = place.runs();
        runs.first().is_some_and(|run| run["state"] == "waiting")
    });
    assert_eq!(window.close().code(), Some(5));
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open.len(), 1, "{open:#?}");
}

#[test]
fn a_window_that_follows_a_run_of_a_server_pauses_it_there() {
    let place = Place::new();
    let served = Served::paced(&place.store(), "100");
    let mut window = Window::open(&served.irq(&["run", "Describe the bakery"]));
    assert!(window.shows(PATIENCE, "step 1"), "{}", window.shown);
    assert_eq!(window.close().code(), Some(129));
    until("it is paused", || place.runs()[0]["state"] == "paused");
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let reasons: Vec<_> = open.iter().map(|stop| &stop["reason"]).collect();
    assert_eq!(reasons, ["its terminal was closed"], "{open:#?}");
}

#[test]
fn a_person_whose_window_is_closed_at_a_question_has_decided_nothing() {
    let place = Place::new();
    let asks = script(place.keeping.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let asks = asks.to_str().unwrap();
    place.end_of_run(&["--script", asks]).exits_with(5);
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let question = open[0]["id"].as_str().unwrap();
    let mut window = Window::open(&place.irq(&["review", question]));
    assert!(
        window.shows(PATIENCE, "write an answer"),
        "{}",
        window.shown
    );
    let status = window.close();
    let is_hangup = status.signal() == Some(1) || matches!(status.code(), Some(0 | 129));
    assert!(is_hangup, "{status:?}");
    let still = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(still[0]["state"], "awaiting_review", "{still:#?}");
}

#[test]
fn a_conversation_ends_with_its_window() {
    let place = Place::new();
    let mut window = Window::open(&place.irq(&["chat", "--pace", "5"]));
    assert!(window.shows(PATIENCE, "rehearsal"), "{}", window.shown);
    let status = window.close();
    assert_eq!(status.code(), Some(129), "{status:?}");
}

#[test]
fn a_signal_in_the_first_moments_of_a_run_loses_nothing_that_is_recorded() {
    let signals = [Signal::HUP, Signal::INT, Signal::TERM, Signal::QUIT];
    for (nth, signal) in signals.into_iter().cycle().take(12).enumerate() {
        let place = Place::new();
        let mut child = spawn(&mut place.run(&["--pace", "300"]));
        thread::sleep(Duration::from_millis(nth as u64 * 3));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        let status = child.wait().unwrap();
        let runs = place.runs();
        let Some(run) = runs.first() else {
            assert!(!status.success(), "{status:?}");
            continue;
        };
        assert_eq!(run["state"], "paused", "{signal:?}: {run:#}");
        assert_eq!(status.code(), Some(128 + signal.as_raw()), "{status:?}");
        let id = run["id"].as_str().unwrap();
        let resume = ["resume", id, "--no-input", "--pace", "300"];
        // The same for whoever goes on with it.
        let mut child = spawn(&mut place.irq(&resume));
        thread::sleep(Duration::from_millis(nth as u64 * 3));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(place.runs()[0]["state"], "paused", "{signal:?}");
        place
            .end(&["resume", id, "--no-input", "--pace", "0"])
            .exits_with(0);
    }
}
