//! What a worker reports of itself and learns of the others, whose turn it is to take a run, and who hands one over: as
//! `cli/src/commands/serve/launcher/turn.rs`.

use std::collections::HashMap;
use std::time::Duration;

use interrupts::life::RunState;
use interrupts::manager::{ScanSchedule, time_to_outlast};
use routing_core::RunId;
use uuid::Uuid;

use super::feeds::FeedNews;
use super::run::Waits;
use super::{Model, ModelEvent, Read, Remedy, Source, Write};
use crate::order::{Lots, hands_over};

/// The least time between two reports of a worker about itself.
const PACE: Duration = Duration::from_millis(500);

/// For how long a worker leaves a run that it has handed over to others.
const LEFT_TO_OTHERS: Duration = Duration::from_secs(10);

/// A worker among the others.
#[derive(Debug, Default)]
pub(super) struct Among {
    /// How many runs each has, by its last report; nothing for those whose report is too old.
    fleet: Vec<Option<u32>>,
    /// The runs that it has handed over, and until when it leaves them to others.
    handed_over: HashMap<usize, Duration>,
    /// The runs that were others' turn to take: in which epoch, and when that was first seen.
    left: HashMap<usize, (u64, Duration)>,
    /// The runs that it leaves to others and looks at later, and the number of the plan to do so.
    pub(super) later: HashMap<usize, u64>,
    pub(super) plans: u64,
    /// Counts its reports.
    words: u64,
    has_moved: bool,
    /// It reports again when a run comes or goes.
    is_waiting: bool,
    pub(super) has_started: bool,
}

impl Model<'_> {
    /// All workers have reported and know of one another.
    pub(super) fn knows_of_all(&mut self) {
        let (lease, heartbeat) = (self.times.lease, self.times.heartbeat);
        let told = (0..self.settings.workers).map(|it| (self.processes[it].here as u32, lease));
        self.told = told.collect();
        let fleet: Vec<_> = self.told.iter().map(|it| Some(it.0)).collect();
        for worker in 0..self.settings.workers {
            self.processes[worker].among.fleet.clone_from(&fleet);
            self.processes[worker].among.has_started = true;
            let first = self.random.up_to(heartbeat);
            self.timeline.at(first, ModelEvent::Tells(worker, 0));
        }
    }

    pub(super) fn tells(&mut self, process: usize, word: u64) {
        let (here, it) = (self.processes[process].here, &mut self.processes[process]);
        if it.is_gone || it.among.words != word || self.settings.remedy == Remedy::Before {
            return;
        }
        it.among.words += 1;
        (it.among.has_moved, it.among.is_waiting) = (false, false);
        self.write(process, Write::Tell(process, here as u32));
    }

    pub(super) fn has_told(&mut self, process: usize, here: u32) -> bool {
        self.told[process] = (here, self.timeline.now() + self.times.lease);
        // The others, and then its own runs, one after the other: whether to hand one over.
        let own = f64::from(here) * self.costs.read;
        let work = self.costs.read + self.told.len() as f64 * self.costs.row + own;
        self.read(process, Source::Tellings, work, Read::Others(process));
        false
    }

    pub(super) fn has_heard_others(&mut self, process: usize) {
        let now = self.timeline.now();
        let told = self.told.iter();
        let fleet = told.map(|&(taken, until)| (until > now).then_some(taken));
        let among = &mut self.processes[process].among;
        among.fleet = fleet.collect();
        self.timeline.after(PACE, ModelEvent::MayTell(process));
        match std::mem::replace(&mut among.has_started, true) {
            true => self.hands_over_where_crowded(process),
            false => self.starts(process),
        }
    }

    /// Reports again at once if a run has come or gone meanwhile, else when one does, or with the next heartbeat.
    pub(super) fn may_tell(&mut self, process: usize) {
        let among = &mut self.processes[process].among;
        let word = among.words;
        among.is_waiting = true;
        match among.has_moved {
            true => self.tells(process, word),
            false => {
                let rest = self.times.heartbeat.saturating_sub(PACE);
                self.timeline.after(rest, ModelEvent::Tells(process, word));
            }
        }
    }

    /// A run has come or gone.
    pub(super) fn has_moved(&mut self, process: usize) {
        let among = &mut self.processes[process].among;
        among.has_moved = true;
        if among.is_waiting {
            let word = among.words;
            self.tells(process, word);
        }
    }

    fn hands_over_where_crowded(&mut self, process: usize) {
        let now = self.timeline.now();
        let among = &mut self.processes[process].among;
        among.handed_over.retain(|_run, until| *until > now);
        if !hands_over(&among.fleet, self.settings.slots as u32, process) {
            return;
        }
        // The youngest one.
        let youngest = self.runs.iter().enumerate().rev().find(|&(run, row)| {
            row.worker == Some(process)
                && row.state == RunState::Running
                && !among.handed_over.contains_key(&run)
        });
        if let Some((run, _row)) = youngest {
            among.handed_over.insert(run, now + LEFT_TO_OTHERS);
            self.runs[run].is_leaving = true;
        }
    }

    /// A run that was handed over is released at its boundary.
    pub(super) fn leaves(&mut self, run: usize, epoch: u64) -> bool {
        let Some(process) = self.owner(run, epoch) else {
            return false;
        };
        let row = &mut self.runs[run];
        (row.lease, row.worker) = (None, None);
        row.waits = Some((self.timeline.now(), Waits::HandedOver));
        self.orphaned.insert(run);
        self.processes[process].here -= 1;
        self.tell(FeedNews::Moved(run));
        self.moves(process);
        true
    }

    /// How long a worker leaves a run to others.
    pub(super) fn turn(&mut self, process: usize, run: usize) -> Duration {
        if self.settings.remedy == Remedy::Before {
            return Duration::ZERO;
        }
        let now = self.timeline.now();
        let left = self.processes[process].among.handed_over.get(&run);
        if left.is_some_and(|&until| until > now) {
            return LEFT_TO_OTHERS;
        }
        let slots = self.settings.slots as u32;
        self.draws(run);
        let (it, row) = (&self.processes[process], &self.runs[run]);
        let free = |worker: usize| {
            let taken = it.among.fleet.get(worker).copied().flatten();
            slots - taken.unwrap_or(slots).min(slots)
        };
        let own = (process, slots.saturating_sub(it.here as u32));
        let rank = row.lots.as_ref().map(|lots| lots.rank(free, own));
        // All watch a lease that has expired meanwhile: its owner may only have slept.
        let to_outlast = match row.lease {
            Some(_) => time_to_outlast(self.times.heartbeat),
            None => Duration::ZERO,
        };
        to_outlast + ScanSchedule::USUAL.of_worker * rank.unwrap_or_default() as u32
    }

    fn draws(&mut self, run: usize) {
        if self.runs[run].lots.is_none() {
            let id = RunId::from_uuid(Uuid::from_u128(run as u128));
            self.runs[run].lots = Some(Lots::new(id, &self.names));
        }
    }

    /// The workers that are notified of a free run, if not all are: the first ones in line, or all if none has room.
    pub(super) fn first_in_line(&mut self, run: usize) -> Vec<usize> {
        let (now, slots) = (self.timeline.now(), self.settings.slots as u32);
        self.draws(run);
        let free = |worker: usize| {
            let (taken, until) = self.told[worker];
            if until > now {
                slots.saturating_sub(taken)
            } else {
                0
            }
        };
        let lots = self.runs[run].lots.as_ref();
        let first = lots.map(|lots| lots.first(free)).unwrap_or_default();
        match first.is_empty() {
            true => (0..self.settings.workers).collect(),
            false => first,
        }
    }

    /// Whether it is a worker's turn to take a run, or has become so since the run was first seen.
    pub(super) fn comes_to_turn(&mut self, process: usize, run: usize) -> bool {
        let wait = self.turn(process, run);
        if wait.is_zero() {
            return true;
        }
        let (now, epoch) = (self.timeline.now(), self.runs[run].epoch);
        let left = &mut self.processes[process].among.left;
        let seen = left.entry(run).or_insert((epoch, now));
        if seen.0 != epoch {
            *seen = (epoch, now);
        }
        now - seen.1 >= wait
    }
}
