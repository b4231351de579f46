//! Looks for runs that have lost their processes, and the attempts to take them.

use std::time::Duration;

use interrupts::manager::{LOOK_AT_LAPSED, ScanSchedule, time_to_outlast};
use store::READS_AT_ONCE;

use super::{Model, ModelEvent, Read, Remedy, Source, Write};
use crate::order::LAST_IN_LINE;

/// How many questions are asked for each run that waits for people when a worker starts, one after the other.
const ROUNDS: u32 = 5;

/// A worker tries to take a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) process: usize,
    pub(super) run: usize,
    /// The epoch in which it was seen.
    pub(super) epoch: u64,
    /// Until when a worker watches whether the owner renews a lease that has expired.
    pub(super) ends: Option<Duration>,
    pub(super) cause: AttemptCause,
}

/// What waits for the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptCause {
    /// The other news of the process.
    News,
    /// The look that has found it.
    Look,
    /// Nothing.
    Later,
}

impl Model<'_> {
    pub(super) fn looks_when_due(&mut self, process: usize) {
        let interval = self.look_interval(process);
        self.timeline.after(interval, ModelEvent::LooksFor(process));
        if self.processes[process].is_looking {
            self.processes[process].has_to_look = true;
        } else {
            self.looks(process);
        }
    }

    /// Reads all runs at work, page by page, or only the first page if there is no room.
    pub(super) fn looks(&mut self, process: usize) {
        let has_room =
            self.is_worker(process) && self.processes[process].here < self.settings.slots;
        let it = &mut self.processes[process];
        if it.is_gone || it.is_looking {
            return;
        }
        (it.is_looking, it.has_to_look) = (true, false);
        let (page, at_work) = (ScanSchedule::USUAL.page as usize, self.at_work);
        let is_indexed = self.settings.remedy != Remedy::Before;
        // The index has the runs that wait for people as well, between those at work.
        let passed_over = match has_room || at_work < page {
            true if is_indexed => 0,
            true => self.open,
            false if is_indexed => 0,
            false => self.open * page as u64 / at_work as u64,
        };
        let rows = match (has_room, self.settings.remedy) {
            // Only runs whose leases have expired are read.
            (_any, Remedy::OneIsTold) => self.orphaned.len().min(page),
            (true, Remedy::Before | Remedy::Today) => at_work,
            (false, Remedy::Before | Remedy::Today) => at_work.min(page),
        };
        let questions = (rows / page + 1) as f64;
        let work = questions * self.costs.read
            + rows as f64 * self.costs.row
            + passed_over as f64 * self.costs.passed_over;
        self.read(process, Source::ScanSchedule, work, Read::Looked(process));
    }

    /// A worker that starts reads all live runs, and for each that waits for people whether it has new events.
    pub(super) fn starts(&mut self, process: usize) {
        self.processes[process].is_looking = true;
        let interval = self.look_interval(process);
        self.timeline.after(interval, ModelEvent::LooksFor(process));
        let waiting = match self.settings.remedy {
            Remedy::Before | Remedy::Today => self.open as f64,
            Remedy::OneIsTold => 0.0,
        };
        let rows = (waiting + self.at_work as f64) * self.costs.row;
        match self.settings.remedy {
            Remedy::Before => {
                let work = rows + waiting * 4.0 * self.costs.read;
                self.read(process, Source::ScanSchedule, work, Read::Looked(process));
            }
            Remedy::Today | Remedy::OneIsTold => {
                self.read(process, Source::ScanSchedule, rows, Read::Started(process));
            }
        }
    }

    /// Takes the runs whose turn is its own, and looks at the rest once others should have taken them.
    pub(super) fn has_started(&mut self, process: usize) {
        if self.processes[process].is_gone {
            return;
        }
        let now = self.timeline.now();
        let free: Vec<usize> = self.orphaned.iter().copied().collect();
        for run in free {
            let wait = self.turn(process, run);
            if !self.runs[run].is_free(now) {
                continue;
            }
            match wait.is_zero() {
                true if self.processes[process].here < self.settings.slots => {
                    self.tries(process, run);
                }
                // Its looks find it.
                true => {}
                false => self.leaves_for_later(process, run, wait),
            }
        }
        if self.settings.remedy == Remedy::Today {
            let last = ScanSchedule::USUAL.of_worker * LAST_IN_LINE as u32;
            self.timeline.after(last, ModelEvent::Catches(process));
        }
        self.look_ends(process);
    }

    /// For each run that waits for people, asks whether it has new events: the run and four questions, on all
    /// connections at once.
    pub(super) fn catches_up(&mut self, process: usize) {
        (0..READS_AT_ONCE).for_each(|_connection| self.goes_on_catching(process, ROUNDS));
    }

    pub(super) fn goes_on_catching(&mut self, process: usize, rounds: u32) {
        if rounds > 0 && !self.processes[process].is_gone {
            let work = self.open as f64 * self.costs.read / READS_AT_ONCE as f64;
            let then = Read::Caught(process, rounds - 1);
            self.read(process, Source::ScanSchedule, work, then);
        }
    }

    /// Tries to take the first runs without a process whose turn it is, as many as there is room for, all at once.
    pub(super) fn has_looked(&mut self, process: usize) {
        if self.processes[process].is_gone {
            return;
        }
        let room = match self.is_worker(process) {
            true => self
                .settings
                .slots
                .saturating_sub(self.processes[process].here),
            false => 0,
        };
        let (now, mut left) = (self.timeline.now(), room);
        let orphaned: Vec<usize> = match room {
            0 => Vec::new(),
            _some => self.orphaned.iter().copied().collect(),
        };
        for run in orphaned {
            let row = &self.runs[run];
            let tried = &mut self.processes[process].tried;
            if row.is_held(now) {
                tried.remove(&run);
            } else if tried.get(&run) != Some(&row.epoch) && self.comes_to_turn(process, run) {
                self.tries(process, run);
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        // It once waited for them, and now continues at once.
        match self.settings.remedy {
            Remedy::Before if left < room => self.processes[process].attempts = room - left,
            Remedy::Before | Remedy::Today | Remedy::OneIsTold => self.look_ends(process),
        }
    }

    fn tries(&mut self, process: usize, run: usize) {
        let epoch = self.runs[run].epoch;
        // All workers have watched its lease from look to look.
        let is_watched = self.settings.remedy != Remedy::Before;
        let ends = is_watched.then(|| self.timeline.now());
        let it = &mut self.processes[process];
        it.here += 1;
        it.tried.insert(run, epoch);
        let attempt = Attempt {
            process,
            run,
            epoch,
            ends,
            cause: AttemptCause::Look,
        };
        // What keeps it from continuing (2), and its lease.
        let work = 3.0 * self.costs.read;
        self.read(process, Source::Taking, work, Read::Lapsed(attempt));
    }

    /// Checks whether a lease that has expired by the clock was renewed all the same, and takes the run once the lease
    /// should have been renewed.
    pub(super) fn watches(&mut self, mut attempt: Attempt) {
        let now = self.timeline.now();
        let row = &self.runs[attempt.run];
        let is_as_seen = row.epoch == attempt.epoch && row.lease.is_some();
        let ends = *attempt
            .ends
            .get_or_insert(now + time_to_outlast(self.times.heartbeat));
        if is_as_seen && now < ends {
            let next = ends.min(now + LOOK_AT_LAPSED);
            self.timeline.at(next, ModelEvent::LooksAgain(attempt));
        } else {
            self.write(attempt.process, Write::Own(attempt));
        }
    }

    pub(super) fn looks_again(&mut self, attempt: Attempt) {
        if !self.processes[attempt.process].is_gone {
            let work = self.costs.read;
            let then = Read::Lapsed(attempt);
            self.read(attempt.process, Source::Taking, work, then);
        }
    }

    /// Another worker was faster.
    pub(super) fn gives_up(&mut self, attempt: Attempt) {
        let process = attempt.process;
        if self.processes[process].is_gone {
            return;
        }
        self.processes[process].here -= 1;
        if attempt.cause != AttemptCause::Look || self.settings.remedy != Remedy::Before {
            self.moves(process);
        }
        self.attempt_ends(attempt);
    }

    /// A run has come or gone: a slot may have become free, so it looks at once.
    pub(super) fn moves(&mut self, process: usize) {
        self.looks(process);
        self.has_moved(process);
    }

    pub(super) fn attempt_ends(&mut self, attempt: Attempt) {
        let process = attempt.process;
        match attempt.cause {
            AttemptCause::News => self.next_news(process),
            AttemptCause::Look if self.settings.remedy == Remedy::Before => {
                self.processes[process].attempts -= 1;
                if self.processes[process].attempts == 0 {
                    self.look_ends(process);
                }
            }
            AttemptCause::Look | AttemptCause::Later => {}
        }
    }

    fn look_ends(&mut self, process: usize) {
        self.processes[process].is_looking = false;
        if self.processes[process].has_to_look {
            self.looks(process);
        }
    }
}
