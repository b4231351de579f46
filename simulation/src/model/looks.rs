//! Looks for runs that have lost their process, and the attempts to take them.

use std::time::Duration;

use interrupts::manager::{LOOK_AT_LAPSED, Looks, time_to_outlast};

use super::{Model, ModelEvent, Read, Remedy, Source, Write};

/// A worker tries to take a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) process: usize,
    pub(super) run: usize,
    /// The epoch in which it was seen.
    pub(super) epoch: u64,
    /// Until when it is watched whether its owner renews a lease that has run out.
    pub(super) ends: Option<Duration>,
    /// Whether a look waits for its end.
    pub(super) is_of_look: bool,
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

    /// Reads all runs at work, page by page, or the first page of them where there is no room.
    pub(super) fn looks(&mut self, process: usize) {
        let has_room =
            self.is_worker(process) && self.processes[process].here < self.settings.slots;
        let it = &mut self.processes[process];
        if it.is_gone || it.is_looking {
            return;
        }
        (it.is_looking, it.has_to_look) = (true, false);
        let (page, at_work) = (Looks::USUAL.page as usize, self.at_work);
        let is_indexed = self.settings.remedy != Remedy::None;
        // The index has the runs that wait for people as well, between those at work.
        let passed_over = match has_room || at_work < page {
            true if is_indexed => 0,
            true => self.open,
            false if is_indexed => 0,
            false => self.open * page as u64 / at_work as u64,
        };
        let rows = match (has_room, self.settings.remedy) {
            // Only those whose lease has run out are read.
            (_any, Remedy::OneIsTold) => self.orphaned.len().min(page),
            (true, Remedy::None | Remedy::Indexes) => at_work,
            (false, Remedy::None | Remedy::Indexes) => at_work.min(page),
        };
        let questions = (rows / page + 1) as f64;
        let work = questions * self.costs.read
            + rows as f64 * self.costs.row
            + passed_over as f64 * self.costs.passed_over;
        self.read(process, Source::Looks, work, Read::Looked(process));
    }

    /// A worker that starts reads all live runs, and of each that waits for people whether there is news for it.
    pub(super) fn starts(&mut self, process: usize) {
        self.processes[process].is_looking = true;
        let interval = self.look_interval(process);
        self.timeline.after(interval, ModelEvent::LooksFor(process));
        let waiting = match self.settings.remedy {
            Remedy::None => self.open as f64,
            Remedy::Indexes | Remedy::OneIsTold => 0.0,
        };
        let work =
            (waiting + self.at_work as f64) * self.costs.row + waiting * 4.0 * self.costs.read;
        self.read(process, Source::Looks, work, Read::Looked(process));
    }

    /// Tries to take the first runs without a process, as many as there is room for, all at once.
    pub(super) fn has_looked(&mut self, process: usize) {
        let now = self.timeline.now();
        let worker = &mut self.processes[process];
        if worker.is_gone {
            return;
        }
        let room = match process < self.settings.workers {
            true => self.settings.slots.saturating_sub(worker.here),
            false => 0,
        };
        let runs = &self.runs;
        let seen = self.orphaned.iter().filter(|&&run| {
            let has_tried = worker.tried.get(&run) == Some(&runs[run].epoch);
            !runs[run].is_held(now) && !has_tried
        });
        let found: Vec<usize> = seen.take(room).copied().collect();
        worker.here += found.len();
        worker.attempts = found.len();
        for run in found {
            let epoch = self.runs[run].epoch;
            self.processes[process].tried.insert(run, epoch);
            let attempt = Attempt {
                process,
                run,
                epoch,
                ends: None,
                is_of_look: true,
            };
            // What keeps it from going on (2), and its lease.
            let work = 3.0 * self.costs.read;
            self.read(process, Source::Taking, work, Read::Lapsed(attempt));
        }
        if self.processes[process].attempts == 0 {
            self.look_ends(process);
        }
    }

    /// Sees whether a lease that has run out by the clock was renewed all the same, and takes the run once it should have
    /// been.
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
        if attempt.is_of_look {
            self.attempt_ends(process);
        } else {
            // A slot has become free: it looks at once.
            self.looks(process);
            self.next_news(process);
        }
    }

    pub(super) fn attempt_ends(&mut self, process: usize) {
        let it = &mut self.processes[process];
        it.attempts -= 1;
        if it.attempts == 0 {
            self.look_ends(process);
        }
    }

    fn look_ends(&mut self, process: usize) {
        self.processes[process].is_looking = false;
        if self.processes[process].has_to_look {
            self.looks(process);
        }
    }
}
