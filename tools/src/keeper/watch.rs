//! Decides when what is killed: one loop over what happens, with a deadline for each phase.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid};

use super::cgroup::Cgroup;
use super::order::{KeeperEnd, Order, ProcessExit};
use super::process::Process;
use super::tool_processes::ToolProcesses;

/// Between two looks for what is still alive, once it is being killed: the first, and the longest.
const FIRST_LOOK: Duration = Duration::from_micros(50);
const LONGEST_LOOK: Duration = Duration::from_millis(5);

/// Input of the keeper's loop.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeeperEvent {
    /// The tool is to end.
    Stop,
    /// A child was collected.
    Ended(Pid, ProcessExit),
    /// There is no child left.
    Empty,
}

#[derive(Debug, Clone, Copy)]
enum ShutdownPhase {
    Running,
    /// Everything was asked to end; at this moment it is killed.
    Asked(Instant),
    /// Everything is being killed, again and again: next at this moment, with a longer wait after each time.
    Killing {
        next_at: Instant,
        look: Duration,
        give_up_at: Instant,
    },
}

/// The keeper's state.
pub(super) struct Watch {
    main: Pid,
    processes: ToolProcesses,
    inbox: Receiver<KeeperEvent>,
    grace: Duration,
    verify_within: Duration,
    phase: ShutdownPhase,
    exit: Option<ProcessExit>,
    stopped: bool,
    forced: bool,
    leftovers: usize,
    /// Whether the last child was collected.
    childless: bool,
}

impl Watch {
    pub(super) fn new(
        main: Pid,
        group: Option<Cgroup>,
        order: &Order,
        inbox: Receiver<KeeperEvent>,
    ) -> Self {
        Self {
            main,
            processes: ToolProcesses::of(getpid().as_raw_nonzero().get(), group),
            inbox,
            grace: order.grace,
            verify_within: order.verify_within,
            phase: ShutdownPhase::Running,
            exit: None,
            stopped: false,
            forced: false,
            leftovers: 0,
            childless: false,
        }
    }

    /// Returns when nothing of the tool is alive, or when it cannot be killed in time.
    pub(super) fn until_the_end(&mut self) -> KeeperEnd {
        loop {
            // Looked at first: a tool whose processes die and are born all the time must not delay its own end.
            if self.is_due() {
                if self.must_give_up() {
                    break;
                }
                self.press_on();
            }
            match self.next() {
                Some(KeeperEvent::Empty) => {
                    self.childless = true;
                    break;
                }
                Some(event) => self.handle(event),
                None => {}
            }
        }
        let survivors = self.survivors();
        let verified = self.childless && survivors.is_empty() && !self.processes.is_populated();
        if verified {
            self.processes.forget_group();
        }
        KeeperEnd {
            exit: self.exit,
            stopped: self.stopped,
            forced: self.forced,
            leftovers: self.leftovers,
            verified,
            survivors: survivors.iter().map(|process| process.key).collect(),
        }
    }

    /// Continues to kill for as long as it takes.
    pub(super) fn until_empty(&mut self) {
        loop {
            self.processes.kill();
            match self.inbox.recv_timeout(Duration::from_secs(1)) {
                Ok(KeeperEvent::Empty) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(KeeperEvent::Stop | KeeperEvent::Ended(..)) | Err(RecvTimeoutError::Timeout) => {
                }
            }
        }
    }

    /// When something is to be done even if nothing happens.
    fn due_at(&self) -> Option<Instant> {
        match self.phase {
            ShutdownPhase::Running => None,
            ShutdownPhase::Asked(kill_at) => Some(kill_at),
            ShutdownPhase::Killing { next_at, .. } => Some(next_at),
        }
    }

    fn is_due(&self) -> bool {
        self.due_at().is_some_and(|due_at| due_at <= Instant::now())
    }

    /// The next event, or `None` when something is to be done.
    fn next(&self) -> Option<KeeperEvent> {
        let Some(due_at) = self.due_at() else {
            // The collector's thread lives until the end, so the channel does not close before.
            return Some(self.inbox.recv().unwrap_or(KeeperEvent::Empty));
        };
        match self
            .inbox
            .recv_timeout(due_at.saturating_duration_since(Instant::now()))
        {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(KeeperEvent::Empty),
        }
    }

    fn handle(&mut self, event: KeeperEvent) {
        match (event, self.phase) {
            (KeeperEvent::Stop, ShutdownPhase::Running) => {
                self.stopped = true;
                self.ask_all();
            }
            (KeeperEvent::Ended(pid, exit), phase) if pid == self.main => {
                self.exit = Some(exit);
                if matches!(phase, ShutdownPhase::Running) {
                    // What the tool left running ends with it.
                    self.leftovers = self.ask_all();
                }
            }
            (KeeperEvent::Ended(..), ShutdownPhase::Killing { give_up_at, .. }) => {
                // Something died, so more may have become children of ours.
                self.look_again(FIRST_LOOK, give_up_at);
            }
            (KeeperEvent::Stop, ShutdownPhase::Asked(_) | ShutdownPhase::Killing { .. })
            | (KeeperEvent::Ended(..), ShutdownPhase::Running | ShutdownPhase::Asked(_))
            | (KeeperEvent::Empty, _) => {}
        }
    }

    /// Asks everything to end, and says how many that are.
    fn ask_all(&mut self) -> usize {
        let living = self.processes.living();
        for process in &living {
            process.signal(Signal::TERM);
            // A stopped process does not see the request before it is continued.
            process.signal(Signal::CONT);
        }
        self.phase = ShutdownPhase::Asked(Instant::now() + self.grace);
        living.len()
    }

    fn press_on(&mut self) {
        let (give_up_at, look) = match self.phase {
            ShutdownPhase::Running | ShutdownPhase::Asked(_) => {
                self.forced = true;
                (Instant::now() + self.verify_within, FIRST_LOOK)
            }
            ShutdownPhase::Killing {
                give_up_at, look, ..
            } => (give_up_at, (look * 2).min(LONGEST_LOOK)),
        };
        self.processes.kill();
        self.look_again(look, give_up_at);
    }

    fn look_again(&mut self, look: Duration, give_up_at: Instant) {
        self.phase = ShutdownPhase::Killing {
            next_at: Instant::now() + look,
            look,
            give_up_at,
        };
    }

    fn must_give_up(&self) -> bool {
        match self.phase {
            ShutdownPhase::Running | ShutdownPhase::Asked(_) => false,
            ShutdownPhase::Killing { give_up_at, .. } => Instant::now() >= give_up_at,
        }
    }

    /// What is alive at the end. A group says by itself that it is empty, a moment after its last process died.
    fn survivors(&self) -> Vec<Process> {
        let give_up_at = Instant::now() + self.verify_within;
        loop {
            let living = self.processes.living();
            let gone = living.is_empty() && !self.processes.is_populated();
            if gone || self.must_give_up() || Instant::now() >= give_up_at {
                return living;
            }
            self.processes.kill();
            std::thread::sleep(FIRST_LOOK);
        }
    }
}
