//! What processes learn of commits, and what they do then: each reads the events, and looks at each run in them.

use std::collections::VecDeque;
use std::time::Duration;

use interrupts::life::RunState;
use interrupts::manager::ScanSchedule;

use super::orphan_scan::{Attempt, AttemptCause};
use super::{Model, ModelEvent, Read, Remedy, Source};
use crate::measured::microseconds;

/// An event of a run.
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
    has_notified: bool,
    /// How many commits it has read of, and how many events.
    read: u64,
    heard: usize,
    /// What it has read and not handled.
    news: VecDeque<FeedNews>,
    is_dealing: bool,
}

impl Model<'_> {
    /// Sends an event with the commit: to all processes, or to those that it concerns.
    pub(super) fn tell(&mut self, news: FeedNews) {
        if self.settings.remedy != Remedy::OneIsTold {
            self.news.push(news);
            return;
        }
        let (FeedNews::Reached(run) | FeedNews::Moved(run)) = news;
        if self.runs[run].is_free(self.timeline.now()) {
            for worker in self.first_in_line(run) {
                self.processes[worker].hearing.news.push_back(news);
                self.concerned.insert(worker);
            }
        }
    }

    /// Notifies all processes that listen of a commit.
    pub(super) fn notifies(&mut self) {
        let listeners: Vec<usize> = match self.settings.remedy {
            Remedy::Before | Remedy::Today => (0..self.processes.len()).collect(),
            Remedy::OneIsTold => {
                let servers = self.settings.workers..self.processes.len();
                let concerned = std::mem::take(&mut self.concerned);
                servers.chain(concerned).collect()
            }
        };
        let work = self.costs.notifier * listeners.len() as f64;
        // A connection that was not notified of the last commit yet is notified of both at once.
        if !self.store.has_other_work() {
            self.figures.asked[Source::Feeds as usize] += work / 1e6;
            self.store
                .other_work(self.timeline.now(), microseconds(work));
        }
        for process in listeners {
            let hearing = &mut self.processes[process].hearing;
            if !std::mem::replace(&mut hearing.has_notified, true) && !hearing.is_reading {
                self.hears_soon(process);
            }
        }
    }

    /// A process wakes after a varying delay, so that none is always the first.
    fn hears_soon(&mut self, process: usize) {
        let longest = microseconds(self.costs.asker) * 2;
        let wait = self.random.up_to(longest);
        self.timeline.after(wait, ModelEvent::Hears(process));
    }

    pub(super) fn polls(&mut self, process: usize) {
        let poll = self.times.poll;
        self.timeline.after(poll, ModelEvent::Polls(process));
        let hearing = &mut self.processes[process].hearing;
        if !hearing.is_reading && !hearing.has_notified {
            self.hears(process);
        }
    }

    pub(super) fn hears(&mut self, process: usize) {
        let commits = self.store.commits;
        let Some(reader) = self.processes.get_mut(process).filter(|it| !it.is_gone) else {
            return;
        };
        let hearing = &mut reader.hearing;
        (hearing.has_notified, hearing.is_reading) = (false, true);
        let rows = commits - std::mem::replace(&mut hearing.read, commits);
        let work = self.costs.read + self.costs.row * rows as f64;
        self.read(process, Source::Feeds, work, Read::Outbox(process));
    }

    pub(super) fn has_heard(&mut self, process: usize) {
        let is_worker = self.is_worker(process);
        let heard = self.news.len();
        let hearing = &mut self.processes[process].hearing;
        hearing.is_reading = false;
        let has_notified = hearing.has_notified;
        let from = std::mem::replace(&mut hearing.heard, heard);
        if has_notified {
            self.hears_soon(process);
        }
        if is_worker {
            let hearing = &mut self.processes[process].hearing;
            hearing.news.extend(&self.news[from..]);
            self.deals_with_news(process);
        }
    }

    /// Looks at the next run in the events, one after the other.
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
        let has_room = self.processes[process].here < self.settings.slots;
        let (FeedNews::Reached(run) | FeedNews::Moved(run)) = news;
        let row = &self.runs[run];
        match (news, row.state) {
            (FeedNews::Reached(_), _any) if row.is_held(now) => {
                // It checks whether the owner renews: now, and when the lease would end.
                let work = 2.0 * self.costs.read;
                self.read(process, Source::Feeds, work, Read::Nothing);
                self.next_news(process);
            }
            (FeedNews::Reached(_), RunState::Waiting) => {
                let wait = if has_room {
                    self.turn(process, run)
                } else {
                    Duration::ZERO
                };
                match wait.is_zero() {
                    true => self.sees_to(process, run, AttemptCause::News),
                    false => {
                        self.leaves_for_later(process, run, wait);
                        self.next_news(process);
                    }
                }
            }
            // For a run that was handed over, the next look checks whether another worker has taken it.
            (FeedNews::Moved(_), RunState::Running)
                if row.is_free(now) && has_room && self.turn(process, run).is_zero() =>
            {
                self.sees_to(process, run, AttemptCause::News);
            }
            _other => self.next_news(process),
        }
    }

    /// Asks whether a run has something to do, and what keeps it from continuing.
    fn sees_to(&mut self, process: usize, run: usize, cause: AttemptCause) {
        // The run, whether it has new events if it waits (4), what keeps it from continuing (2), its lease.
        let waits = self.runs[run].state == RunState::Waiting;
        let news = if waits { 5.0 } else { 1.0 };
        let hindrance = if self.runs[run].waits.is_some() {
            3.0
        } else {
            0.0
        };
        let work = (news + hindrance) * self.costs.read;
        let attempt = Attempt {
            process,
            run,
            epoch: self.runs[run].epoch,
            ends: None,
            cause,
        };
        self.read(process, Source::Taking, work, Read::MayGoOn(attempt));
    }

    /// Looks at a run after a while; an earlier such plan is dropped.
    pub(super) fn leaves_for_later(&mut self, process: usize, run: usize, wait: Duration) {
        let among = &mut self.processes[process].among;
        among.plans += 1;
        among.later.insert(run, among.plans);
        let later = ModelEvent::LooksLater(process, run, among.plans);
        self.timeline.after(wait, later);
    }

    /// The workers before it should have taken a run by now.
    pub(super) fn looks_later(&mut self, process: usize, run: usize, number: u64) {
        if self.processes[process].among.later.get(&run) == Some(&number) {
            self.processes[process].among.later.remove(&run);
            self.looks_anew(process, run);
        }
    }

    fn looks_anew(&mut self, process: usize, run: usize) {
        if !self.processes[process].is_gone {
            let read = Read::Later(process, run);
            self.read(process, Source::Taking, self.costs.read, read);
        }
    }

    pub(super) fn has_row_later(&mut self, process: usize, run: usize) {
        let is_at_work = self.runs[run].worker.is_some();
        if !is_at_work && !self.runs[run].is_held(self.timeline.now()) {
            self.sees_to(process, run, AttemptCause::Later);
        }
    }

    /// A worker knows that a run has something to do, and takes it if it has room.
    pub(super) fn may_go_on(&mut self, attempt: Attempt) {
        let Attempt { process, run, .. } = attempt;
        let is_free = self.runs[run].is_free(self.timeline.now());
        if is_free && self.processes[process].here < self.settings.slots {
            self.processes[process].here += 1;
            self.watches(attempt);
            return;
        }
        if is_free {
            let wait = ScanSchedule::USUAL.for_room;
            self.timeline.after(wait, ModelEvent::HasRoom(process, run));
        }
        if attempt.cause == AttemptCause::News {
            self.next_news(process);
        }
    }

    /// A worker that had no room for a run checks whether it has some now.
    pub(super) fn looks_for_room(&mut self, process: usize, run: usize) {
        if self.processes[process].here < self.settings.slots {
            self.looks_anew(process, run);
        } else if !self.processes[process].is_gone {
            let wait = ScanSchedule::USUAL.for_room;
            self.timeline.after(wait, ModelEvent::HasRoom(process, run));
        }
    }
}
