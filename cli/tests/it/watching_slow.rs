//! `irq watch` where the terminal takes little, nothing, or is gone; and what any end leaves of the terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use interrupts::life::{Scope, State};
use rexpect::session::PtySession;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::program::until;
use crate::screen::{on_a_terminal, press, program_of, shell};
use crate::seed::Seed;
use crate::watching_windows::{pause, takes_hold};

/// What the slow link takes at a time, and how often.
const PIECE: usize = 30;
const PAUSE: Duration = Duration::from_millis(100);
/// How often the screen is changed whole: more than the link could show in a test's time.
const CHANGES: usize = 120;
/// How long a test waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal whose other side reads as this test says, and the screens on it.
struct Link {
    master: File,
    name: String,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reads_fast: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Link {
    fn of(seed: &Seed) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let slave = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let end = || Stdio::from(OwnedFd::from(slave.try_clone().unwrap()));
        let child = Command::new(env!("CARGO_BIN_EXE_irq"))
            .args(["watch", "--silent", "--no-color", "--store"])
            .arg(seed.path())
            .env("TERM", "xterm-256color")
            .env("IRQ_USER", "ada")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        Self {
            master: File::from(master),
            name: name.to_str().unwrap().to_owned(),
            child,
            shown: Arc::default(),
            reads_fast: Arc::default(),
            reader: None,
        }
    }

    /// Begins to take a few hundred bytes a second.
    fn reads_slowly(mut self) -> Self {
        let mut master = self.master.try_clone().unwrap();
        let (shown, fast) = (Arc::clone(&self.shown), Arc::clone(&self.reads_fast));
        self.reader = Some(thread::spawn(move || {
            let mut piece = [0; PIECE];
            // The terminal's end is an error here, once the program has let go of it.
            while let Ok(count @ 1..) = master.read(&mut piece) {
                shown.lock().unwrap().extend_from_slice(&piece[..count]);
                if !fast.load(Ordering::Relaxed) {
                    thread::sleep(PAUSE);
                }
            }
        }));
        self
    }

    /// Lets the terminal keep as much as it can for whoever reads late, so that it takes nothing more.
    fn is_full(&self) {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut slave = File::from(open(&*self.name, flags, Mode::empty()).unwrap());
        while slave.write(&[b'.'; 1_000]).is_ok() {}
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    fn until_shown(&self, text: &str) {
        let shown = || self.shown().contains(text);
        until(text, shown);
    }

    /// Takes everything from now on, and waits for the program's end: its code, and all that it has written.
    fn ended(mut self) -> (Option<i32>, String) {
        self.reads_fast.store(true, Ordering::Relaxed);
        let mut code = None;
        let begun = Instant::now();
        while code.is_none() {
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            code = self.child.try_wait().unwrap();
            thread::sleep(Duration::from_millis(10));
        }
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        (code.unwrap().code(), self.shown())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

/// Changes the whole screen very often.
fn flood(link: &mut Link) {
    for _ in 0..CHANGES / 4 {
        link.press("?q21");
    }
}

#[test]
fn over_a_slow_link_no_key_is_lost_and_esc_interrupts_before_what_was_drawn_is_shown() {
    let seed = Seed::new();
    let run = seed.run();
    let mut link = Link::of(&seed).reads_slowly();
    link.until_shown("Agents");
    flood(&mut link);
    link.press("1jj\x1b");
    // A screen has a thousand bytes and more, so the link would show these for minutes.
    let pause = pause(&seed, &run, Scope::Agent);
    assert_eq!(pause.node.as_str(), "orchestrator/discovery");
    let by_then = link.shown().len();
    link.press("look at the tests, then at the ovens\r");
    takes_hold(&seed, &pause);
    until("it goes on", || {
        seed.interrupt(pause.id).state == State::Resolved
    });
    let content = seed.interrupt(pause.id).decision.unwrap().content.unwrap();
    assert!(content.contains("look at the tests, then at the ovens"));
    link.press("\x04");
    let (code, shown) = link.ended();
    assert_eq!(code, Some(0));
    assert!(
        shown.contains("\x1b[?1049l"),
        "the screen was not given back"
    );
    // What was not seen was not drawn either: neither by then, nor after it.
    assert!(by_then < 20_000, "{by_then} bytes were shown before Esc");
    assert!(shown.len() < 40_000, "{} bytes were drawn", shown.len());
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_no_end() {
    let seed = Seed::new();
    let run = seed.run();
    let mut link = Link::of(&seed);
    link.press("1jj\x1b");
    until("a pause", || !seed.interrupts(&run).is_empty());
    link.press("\t\t\r");
    until("the pause is taken back", || {
        let asked = seed.interrupts(&run);
        asked.iter().all(|pause| pause.state == State::Cancelled)
    });
    link.is_full();
    flood(&mut link);
    link.press("1jj\x1b");
    until("keys are heard though nothing is taken", || {
        seed.interrupts(&run).len() > 1
    });
    let id = Pid::from_child(&link.child);
    kill_process(id, Signal::TERM).unwrap();
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = link.child.try_wait().unwrap() {
            break status.code();
        }
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(code, Some(143));
    let (_code, shown) = link.reads_slowly().ended();
    assert!(
        shown.contains("\x1b[?1049l"),
        "the screen was not given back"
    );
}

/// The screens in a shell that tells what they have left of the terminal, and the program's id.
fn in_a_shell(seed: &Seed, afterwards: &str) -> (PtySession, Pid) {
    // A shell without jobs: one with jobs mends some of a terminal by itself.
    let script = format!(
        "echo is $$ now; {} watch --no-color --silent --store {}; {afterwards}",
        env!("CARGO_BIN_EXE_irq"),
        seed.path().display(),
    );
    let mut screen = on_a_terminal(shell(&script));
    screen.exp_string("is ").unwrap();
    let shell = screen.exp_string(" now").unwrap();
    screen.exp_string("orchestrator").unwrap();
    (screen, program_of(shell.parse().unwrap()))
}

fn is_usable(modes: &str) -> bool {
    let words: Vec<&str> = modes.split_whitespace().collect();
    ["icanon", "isig"].iter().all(|mode| words.contains(mode))
}

#[test]
fn a_hangup_gives_the_terminal_back() {
    let seed = Seed::new();
    seed.run();
    let (mut screen, id) = in_a_shell(&seed, "code=$?; stty -a; echo LEFT $code");
    kill_process(id, Signal::HUP).unwrap();
    let left = screen.exp_string("LEFT 129").unwrap();
    assert!(left.contains("?1049l"), "the screen was not given back");
    assert!(is_usable(&left), "{left}");
}

#[test]
fn screens_whose_terminal_goes_end_with_it() {
    let seed = Seed::new();
    seed.run();
    for _time in 0..4 {
        let (mut screen, id) = in_a_shell(&seed, "true");
        // All comes at once: a key, the end of the terminal and of whoever led its session, and the signal of it.
        kill_process(id, Signal::STOP).unwrap();
        screen.send("j").unwrap();
        screen.flush().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_pid())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let leader = Pid::from_raw(fields[3].parse().unwrap()).unwrap();
        kill_process(leader, Signal::KILL).unwrap();
        drop(screen);
        kill_process(id, Signal::CONT).unwrap();
        let stat = format!("/proc/{}/stat", id.as_raw_pid());
        until("it has ended", || {
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
        });
    }
}

#[test]
fn screens_that_are_put_aside_give_the_terminal_back_and_are_drawn_anew_when_they_come_back() {
    let seed = Seed::new();
    seed.run();
    let (mut screen, id) = in_a_shell(&seed, "code=$?; stty -a; echo LEFT $code");
    kill_process(id, Signal::TSTP).unwrap();
    screen.exp_string("?1049l").unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_pid())).unwrap();
    until("it stands aside", || state().contains(") T "));
    kill_process(id, Signal::CONT).unwrap();
    screen.exp_string("?1049h").unwrap();
    screen.exp_string("orchestrator").unwrap();
    press(&mut screen, "\x04");
    let left = screen.exp_string("LEFT 0").unwrap();
    assert!(is_usable(&left), "{left}");
}

#[test]
fn after_a_kill_what_the_troubleshooting_says_gives_the_terminal_back() {
    let seed = Seed::new();
    seed.run();
    let (mut screen, id) = in_a_shell(&seed, "stty -a; echo LEFT; reset; stty -a; echo MENDED");
    kill_process(id, Signal::KILL).unwrap();
    let left = screen.exp_string("LEFT").unwrap();
    assert!(!is_usable(&left), "nothing was to be mended: {left}");
    let mended = screen.exp_string("MENDED").unwrap();
    assert!(mended.contains("\x1bc"), "the screen was not given back");
    assert!(is_usable(&mended), "{mended}");
}
