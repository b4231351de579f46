//! What processes hear of commits, and what they do then: each of them reads what was told, and looks at each run that it
//! tells of.

use std::collections::VecDeque;
use std::time::Duration;

use interrupts::life::RunState;
use interrupts::manager::Looks;

use super::looks::Attempt;
use super::run::Waits;
use super::{Model, ModelEvent, Read, Remedy, Source, Write};
use crate::measured::microseconds;

/// What is told of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum FeedNews {
    /// Something has come for it.
    Reached(usize),
    /// Its state has changed.
    Moved(usize),
}

/// How far a process has read.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    is_reading: bool,
    has_rung: bool,
    /// How many commits it has read of, and how many news.
    read: u64,
    heard: usize,
    /// What it has heard and not dealt with.
    news: VecDeque<FeedNews>,
    is_dealing: bool,
}

impl Model<'_> {
    /// A commit tells all processes that listen.
    pub(super) fn rings(&mut self) {
        let listeners: Vec<usize> = match self.settings.remedy {
            Remedy::None | Remedy::Indexes => (0..self.processes.len()).collect(),
            Remedy::OneIsTold => {
                let servers = self.settings.workers..self.processes.len();
                servers.chain(self.one_with_room()).collect()
            }
        };
        let work = self.costs.bell * listeners.len() as f64;
        // Connections that were not told of the last commit yet are told of both at once.
        if !self.store.has_other_work() {
            self.figures.asked[Source::Feeds as usize] += work / 1e6;
            self.store
                .other_work(self.timeline.now(), microseconds(work));
        }
        for process in listeners {
            let hearing = &mut self.processes[process].hearing;
            if !std::mem::replace(&mut hearing.has_rung, true) && !hearing.is_reading {
                self.hears_soon(process);
            }
        }
    }

    /// A process wakes after a while that differs, so that none is always the first.
    fn hears_soon(&mut self, process: usize) {
        let longest = microseconds(self.costs.asker) * 2;
        let wait = self.random.up_to(longest);
        self.timeline.after(wait, ModelEvent::Hears(process));
    }

    /// The one worker that is told, where not all are.
    fn one_with_room(&mut self) -> Option<usize> {
        let first = self.random.below(self.settings.workers);
        let mut workers = (first..self.settings.workers).chain(0..first);
        let found = workers.find(|&worker| {
            let process = &self.processes[worker];
            !process.is_gone && process.here < self.settings.slots
        })?;
        Some(found)
    }

    pub(super) fn polls(&mut self, process: usize) {
        let poll = self.times.poll;
        self.timeline.after(poll, ModelEvent::Polls(process));
        let hearing = &mut self.processes[process].hearing;
        if !hearing.is_reading && !hearing.has_rung {
            self.hears(process);
        }
    }

    pub(super) fn hears(&mut self, process: usize) {
        let commits = self.store.commits;
        let Some(reader) = self.processes.get_mut(process).filter(|it| !it.is_gone) else {
            return;
        };
        let hearing = &mut reader.hearing;
        (hearing.has_rung, hearing.is_reading) = (false, true);
        let rows = commits - std::mem::replace(&mut hearing.read, commits);
        let work = self.costs.read + self.costs.row * rows as f64;
        self.read(process, Source::Feeds, work, Read::Outbox(process));
    }

    pub(super) fn has_heard(&mut self, process: usize) {
        let is_worker = self.is_worker(process);
        let heard = self.news.len();
        let hearing = &mut self.processes[process].hearing;
        hearing.is_reading = false;
        let has_rung = hearing.has_rung;
        let from = std::mem::replace(&mut hearing.heard, heard);
        if has_rung {
            self.hears_soon(process);
        }
        if is_worker {
            let from = match self.settings.remedy {
                Remedy::None | Remedy::Indexes => from,
                // What is told to one is told to no other.
                Remedy::OneIsTold => std::mem::replace(&mut self.told, heard),
            };
            let hearing = &mut self.processes[process].hearing;
            hearing.news.extend(&self.news[from..]);
            self.deals_with_news(process);
        }
    }

    /// Looks at the next run that was told of, one after the other.
    pub(super) fn deals_with_news(&mut self, process: usize) {
        let (slots, worker) = (self.settings.slots, &mut self.processes[process]);
        if worker.hearing.is_dealing || worker.is_gone {
            return;
        }
        while let Some(news) = worker.hearing.news.pop_front() {
            let is_seen_to = match news {
                FeedNews::Reached(run) => self.runs[run].worker == Some(process),
                FeedNews::Moved(_run) => worker.here >= slots,
            };
            if !is_seen_to {
                worker.hearing.is_dealing = true;
                let work = self.costs.read;
                self.read(process, Source::Feeds, work, Read::Row(process, news));
                return;
            }
        }
    }

    pub(super) fn next_news(&mut self, process: usize) {
        self.processes[process].hearing.is_dealing = false;
        self.deals_with_news(process);
    }

    pub(super) fn has_row(&mut self, process: usize, news: FeedNews) {
        let now = self.timeline.now();
        match news {
            FeedNews::Reached(run) if self.runs[run].is_held(now) => {
                // It looks whether its owner renews: now, and when the lease would end.
                let work = 2.0 * self.costs.read;
                self.read(process, Source::Feeds, work, Read::Nothing);
                self.next_news(process);
            }
            FeedNews::Reached(run) if self.runs[run].state == RunState::Waiting => {
                // The run, whether there is news for it (4), what keeps it from going on (2), its lease.
                let reads = match self.runs[run].waits {
                    Some(_) => 8.0,
                    None => 5.0,
                };
                let work = reads * self.costs.read;
                let read = Read::MayGoOn(process, run);
                self.read(process, Source::Taking, work, read);
            }
            FeedNews::Reached(_) | FeedNews::Moved(_) => self.next_news(process),
        }
    }

    /// A worker knows that a run has something to do, and takes it where it has room.
    pub(super) fn may_go_on(&mut self, process: usize, run: usize) {
        let is_decided = matches!(self.runs[run].waits, Some((_since, Waits::Decided)));
        if !is_decided || self.runs[run].is_held(self.timeline.now()) {
            self.next_news(process);
            return;
        }
        if self.processes[process].here >= self.settings.slots {
            self.has_no_room(process, run);
            self.next_news(process);
            return;
        }
        self.processes[process].here += 1;
        let attempt = Attempt {
            process,
            run,
            epoch: self.runs[run].epoch,
            ends: None::<Duration>,
            is_of_look: false,
        };
        self.write(process, Write::Own(attempt));
    }

    fn has_no_room(&mut self, process: usize, run: usize) {
        match self.settings.remedy {
            Remedy::None | Remedy::Indexes => {
                self.processes[process].put_off.push_back(run);
                let wait = Looks::USUAL.for_room;
                self.timeline.after(wait, ModelEvent::HasRoom(process));
            }
            // Another one is told.
            Remedy::OneIsTold => {
                self.news.push(FeedNews::Reached(run));
                self.rings();
            }
        }
    }

    /// A worker that had no room for a run looks whether it has some.
    pub(super) fn looks_for_room(&mut self, process: usize) {
        let worker = &mut self.processes[process];
        let Some(run) = worker.put_off.pop_front().filter(|_run| !worker.is_gone) else {
            return;
        };
        if worker.here >= self.settings.slots {
            worker.put_off.push_back(run);
            let wait = Looks::USUAL.for_room;
            self.timeline.after(wait, ModelEvent::HasRoom(process));
        } else {
            worker.hearing.news.push_front(FeedNews::Reached(run));
            self.deals_with_news(process);
        }
    }
}
