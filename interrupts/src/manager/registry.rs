//! Which stops are in force in this process, and on what: one small table behind one lock.
//!
//! Everything in it is level-triggered. A stop that is requested before its run is taken, before its node has a
//! scope, or while a run changes its owner, stays in the table, where later code finds it.

use std::collections::{HashMap, VecDeque};

use interrupt_router::{InterruptId, RunId, StopReason};

pub(crate) use super::active_stops::{ActiveStop, Job, Recorder, RequestedStop, StopPlacement};
use super::sync::{Mutex, MutexGuard, PoisonError};
use super::tree::{Reach, Stoppable, Tree};

struct RunEntry<S, J> {
    tree: Tree<S>,
    active: Vec<ActiveStop>,
    jobs: VecDeque<J>,
    kept: bool,
    /// Whether a stop of any node stops all of the run.
    is_one: bool,
    /// Jobs that are under way.
    begun: usize,
}

impl<S: Stoppable, J> RunEntry<S, J> {
    fn below(above: &S) -> Self {
        Self {
            tree: Tree::below(above),
            active: Vec::new(),
            jobs: VecDeque::new(),
            kept: false,
            is_one: false,
            begun: 0,
        }
    }

    /// The scope of a reach. If it is new, the stops that are in force on its node are applied to it.
    fn scope(&mut self, reach: &Reach) -> S {
        let Self { tree, active, .. } = self;
        match reach {
            Reach::Run => tree.root().clone(),
            Reach::Node(node) => tree.node(node, &|made, scope: &S| {
                let reach = Reach::Node(made.clone());
                for stop in active.iter().filter(|stop| stop.reach == reach) {
                    if !stop.settled {
                        scope.stop(&stop.reason);
                    }
                }
            }),
        }
    }

    fn stop(&mut self, reach: &Reach, reason: &StopReason) {
        let reach = if self.is_one { &Reach::Run } else { reach };
        self.scope(reach).stop(reason);
    }

    fn stop_again(&mut self) {
        let open = self.active.iter().filter(|stop| !stop.settled);
        for stop in open.cloned().collect::<Vec<_>>() {
            self.stop(&stop.reach, &stop.reason);
        }
    }

    /// The stop in force that a request joins.
    fn joined(&mut self, asked: &RequestedStop) -> Option<&mut ActiveStop> {
        if asked.alone {
            return None;
        }
        self.active
            .iter_mut()
            .find(|stop| stop.reach == asked.reach && stop.interrupt_type == asked.interrupt_type)
    }

    fn place(&mut self, asked: &RequestedStop) -> StopPlacement {
        match self.joined(asked) {
            Some(active) => {
                active.reason = hardened(&active.reason, &asked.reason);
                let ActiveStop { id, reason, .. } = active.clone();
                self.stop(&asked.reach, &reason);
                StopPlacement::Joined(id)
            }
            None => {
                self.stop(&asked.reach, &asked.reason);
                self.active.push(ActiveStop {
                    id: asked.id,
                    reach: asked.reach.clone(),
                    interrupt_type: asked.interrupt_type,
                    reason: asked.reason.clone(),
                    settled: false,
                    found: false,
                });
                StopPlacement::New(asked.id)
            }
        }
    }

    fn is_idle(&self) -> bool {
        !self.kept && self.jobs.is_empty() && self.begun == 0
    }
}

impl<S: Stoppable, J: Job> RunEntry<S, J> {
    /// Queues a job, unless a waiting one covers it. Returns the job that will be done.
    fn queue(&mut self, job: J) -> J {
        if let Some(waiting) = self.jobs.iter().find(|waiting| waiting.covers(&job)) {
            return waiting.clone();
        }
        self.jobs.push_back(job.clone());
        job
    }
}

struct RegistryState<S, J> {
    /// The scope with which all runs taken in this turn stop.
    process: S,
    /// The stops of everything, for the runs that are still to be taken in this turn.
    everything: Vec<(RequestedStop, J)>,
    runs: HashMap<RunId, RunEntry<S, J>>,
}

impl<S: Stoppable, J> RegistryState<S, J> {
    fn entry(&mut self, run: RunId) -> &mut RunEntry<S, J> {
        let Self { process, runs, .. } = self;
        runs.entry(run).or_insert_with(|| RunEntry::below(process))
    }
}

/// The table, for every thread.
pub(crate) struct Registry<S, J> {
    table: Mutex<RegistryState<S, J>>,
}

impl<S: Stoppable, J: Job> Registry<S, J> {
    /// An empty table, whose runs stop with `process`.
    pub(crate) fn new(process: S) -> Self {
        Self {
            table: Mutex::new(RegistryState {
                process,
                everything: Vec::new(),
                runs: HashMap::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RegistryState<S, J>> {
        // No method leaves the table half changed: each reads first, then changes.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a stop in force and queues its recording.
    pub(crate) fn ask(
        &self,
        run: RunId,
        asked: &RequestedStop,
        job: impl FnOnce(StopPlacement) -> J,
    ) -> (J, Recorder) {
        let mut table = self.lock();
        let entry = table.entry(run);
        let placed = entry.place(asked);
        let job = entry.queue(job(placed));
        (job, recorder(entry.kept))
    }

    /// Puts a stop in force on every run that this process owns, now or later in this turn.
    pub(crate) fn ask_all(
        &self,
        asked: &RequestedStop,
        later: J,
        job: impl Fn(RunId, StopPlacement) -> J,
        id: impl Fn() -> InterruptId,
    ) -> Vec<(RunId, J)> {
        let mut table = self.lock();
        match table
            .everything
            .iter_mut()
            .find(|(known, _job)| known.interrupt_type == asked.interrupt_type)
        {
            Some((known, job)) => {
                let reason = hardened(&known.reason, &asked.reason);
                let (mode, source) = (asked.reason.mode, asked.reason.source.place());
                let is_harder = mode > known.reason.mode;
                let is_more_human = source < known.reason.source.place();
                if is_harder || (is_more_human && mode == known.reason.mode) {
                    // For a run that is taken later this is the first request.
                    known.reason = asked.reason.clone();
                    *job = later;
                }
                table.process.stop(&reason);
            }
            None => {
                table.process.stop(&asked.reason);
                table.everything.push((asked.clone(), later));
            }
        }
        let mut jobs = Vec::new();
        for (run, entry) in table.runs.iter_mut().filter(|(_run, entry)| entry.kept) {
            let asked = RequestedStop {
                id: id(),
                ..asked.clone()
            };
            let placed = entry.place(&asked);
            jobs.push((*run, entry.queue(job(*run, placed))));
        }
        jobs
    }

    /// Marks a run as owned by this process. Requests to stop everything in this turn apply to it too. Returns whether
    /// the run was not marked before.
    pub(crate) fn take(
        &self,
        run: RunId,
        job: impl Fn(RunId, &J, InterruptId) -> J,
        id: impl Fn() -> InterruptId,
    ) -> bool {
        let mut table = self.lock();
        let everything = table.everything.clone();
        let entry = table.entry(run);
        if entry.kept {
            return false;
        }
        entry.kept = true;
        for (asked, later) in everything {
            let asked = RequestedStop { id: id(), ..asked };
            if let StopPlacement::New(id) = entry.place(&asked) {
                entry.jobs.push_back(job(run, &later, id));
            }
        }
        true
    }

    /// From now on a stop of any node of a run that this process owns stops all of it: none of its nodes can be left out.
    pub(crate) fn stops_as_one(&self, run: RunId) {
        let mut table = self.lock();
        if let Some(entry) = table.runs.get_mut(&run) {
            entry.is_one = true;
            entry.stop_again();
        }
    }

    /// Lets a run go. Jobs that are left go to the outside recorder; returns whether there are any.
    pub(crate) fn leave(&self, run: RunId) -> bool {
        let mut table = self.lock();
        let process = table.process.clone();
        let Some(entry) = table.runs.get_mut(&run) else {
            return false;
        };
        entry.kept = false;
        entry.is_one = false;
        // The run's next owner finds everything that happens from now on in the store.
        entry.active.clear();
        entry.tree = Tree::below(&process);
        let left = !entry.jobs.is_empty();
        table.forget_idle(run);
        left
    }

    /// The next job of a run that this process owns, to be finished with [`Registry::job_done`] or given back. There is
    /// none while an earlier one is under way, here or with the outside recorder.
    pub(crate) fn next_job(&self, run: RunId) -> Option<J> {
        let mut table = self.lock();
        let entry = table.runs.get_mut(&run)?;
        if entry.begun > 0 {
            return None;
        }
        let job = entry.jobs.pop_front()?;
        entry.begun += 1;
        Some(job)
    }

    /// Gives back a job that was begun and not finished; it goes to the head of the queue.
    pub(crate) fn give_back(&self, run: RunId, job: J) {
        let mut table = self.lock();
        let entry = table.entry(run);
        entry.begun = entry.begun.saturating_sub(1);
        entry.jobs.push_front(job);
    }

    /// Whether all requests for a run are recorded.
    pub(crate) fn is_recorded(&self, run: RunId) -> bool {
        let table = self.lock();
        let entry = table.runs.get(&run);
        entry.is_none_or(|entry| entry.jobs.is_empty() && entry.begun == 0)
    }

    /// The next job of a run that this process does not own.
    pub(crate) fn next_outside(&self) -> Option<(RunId, J)> {
        let mut table = self.lock();
        table.runs.iter_mut().find_map(|(run, entry)| {
            if entry.kept {
                return None;
            }
            let job = entry.jobs.pop_front()?;
            entry.begun += 1;
            Some((*run, job))
        })
    }

    /// Marks a job as done. Returns whether this process owns the run.
    pub(crate) fn job_done(&self, run: RunId) -> bool {
        let mut table = self.lock();
        let Some(entry) = table.runs.get_mut(&run) else {
            return false;
        };
        entry.begun = entry.begun.saturating_sub(1);
        let kept = entry.kept;
        table.forget_idle(run);
        kept
    }

    /// The scope of a reach of a run.
    pub(crate) fn scope(&self, run: RunId, reach: &Reach) -> S {
        self.lock().entry(run).scope(reach)
    }

    /// The scope of a reach of a run, if this process knows the run.
    pub(crate) fn known_scope(&self, run: RunId, reach: &Reach) -> Option<S> {
        self.lock()
            .runs
            .get_mut(&run)
            .map(|entry| entry.scope(reach))
    }

    /// The scope with which all runs of this turn stop.
    pub(crate) fn process(&self) -> S {
        self.lock().process.clone()
    }

    /// Puts a stop in force that was found in the store. Returns whether it was not in force before. On a run
    /// that this process no longer owns it has no effect: the next owner finds it.
    pub(crate) fn stand(&self, run: RunId, active: ActiveStop) -> bool {
        let mut table = self.lock();
        let Some(entry) = table.runs.get_mut(&run).filter(|entry| entry.kept) else {
            return false;
        };
        entry.stop(&active.reach, &active.reason);
        match entry.active.iter_mut().find(|stop| stop.id == active.id) {
            Some(known) => {
                known.reason = as_stored(&known.reason, &active.reason);
                false
            }
            None => {
                entry.active.push(active);
                true
            }
        }
    }

    /// Gives a stop in force the id under which the store knows it.
    pub(crate) fn rename(&self, run: RunId, from: InterruptId, to: InterruptId) {
        let mut table = self.lock();
        if let Some(entry) = table.runs.get_mut(&run) {
            if entry.active.iter().any(|stop| stop.id == to) {
                entry.active.retain(|stop| stop.id != from);
            }
            for stop in entry.active.iter_mut().filter(|stop| stop.id == from) {
                stop.id = to;
            }
            for job in &mut entry.jobs {
                job.rename(from, to);
            }
        }
    }

    /// Records that a stop which has ended is requested anew: it is to be carried out once more. If it was taken out of
    /// force, the owner of the run finds the new one in the store.
    pub(crate) fn stands_anew(&self, run: RunId, id: InterruptId) {
        let mut table = self.lock();
        if let Some(entry) = table.runs.get_mut(&run) {
            for stop in entry.active.iter_mut().filter(|stop| stop.id == id) {
                stop.settled = false;
                stop.found = false;
            }
        }
    }

    /// The stops in force on a run.
    pub(crate) fn active_stops(&self, run: RunId) -> Vec<ActiveStop> {
        let table = self.lock();
        table
            .runs
            .get(&run)
            .map_or_else(Vec::new, |entry| entry.active.clone())
    }

    /// Marks a stop as carried out and recorded.
    pub(crate) fn settle(&self, run: RunId, id: InterruptId) {
        let mut table = self.lock();
        if let Some(entry) = table.runs.get_mut(&run) {
            for stop in entry.active.iter_mut().filter(|stop| stop.id == id) {
                stop.settled = true;
            }
        }
    }

    /// Takes stops out of force; their scopes stay stopped until a new turn.
    pub(crate) fn lift(&self, run: RunId, ids: &[InterruptId]) {
        let mut table = self.lock();
        if let Some(entry) = table.runs.get_mut(&run) {
            entry.active.retain(|stop| !ids.contains(&stop.id));
        }
    }

    /// Makes new scopes for a reach, and all below it. Stops that are not settled are in force on them too.
    pub(crate) fn new_turn(&self, run: RunId, reach: &Reach) -> S {
        let mut table = self.lock();
        let process = table.process.clone();
        let entry = table.entry(run);
        entry
            .active
            .retain(|stop| !stop.settled || !covers(reach, &stop.reach));
        match reach {
            Reach::Run => {
                entry.tree = Tree::below(&process);
                entry.stop_again();
            }
            Reach::Node(node) => entry.tree.forget(node),
        }
        entry.scope(reach)
    }

    /// Begins a new turn of the process: earlier requests to stop everything do not concern runs taken later.
    pub(crate) fn new_process_turn(&self, process: S) {
        let mut table = self.lock();
        table.process = process;
        table.everything.clear();
    }

    /// The runs that this process owns.
    pub(crate) fn owned(&self) -> Vec<RunId> {
        let table = self.lock();
        let kept = table.runs.iter().filter(|(_run, entry)| entry.kept);
        kept.map(|(run, _entry)| *run).collect()
    }

    /// How many requests wait to be recorded.
    pub(crate) fn unrecorded(&self) -> usize {
        let table = self.lock();
        table
            .runs
            .values()
            .map(|entry| entry.jobs.len() + entry.begun)
            .sum()
    }

    /// How many runs the table knows.
    pub(crate) fn known(&self) -> usize {
        self.lock().runs.len()
    }
}

impl<S: Stoppable, J> RegistryState<S, J> {
    fn forget_idle(&mut self, run: RunId) {
        if self.runs.get(&run).is_some_and(RunEntry::is_idle) {
            self.runs.remove(&run);
        }
    }
}

/// The reason of a stop that is requested again: the most human source says why (of several, the first), the hardest
/// mode says how.
fn hardened(first: &StopReason, again: &StopReason) -> StopReason {
    // A stop that was hardened adds to the same message that it did not stop in time.
    let says_more = again.mode > first.mode && again.message.starts_with(&first.message);
    let is_more_human = again.source.place() < first.source.place();
    let says = if says_more || is_more_human {
        again
    } else {
        first
    };
    StopReason {
        mode: first.mode.max(again.mode),
        message: says.message.clone(),
        source: says.source,
        ..first.clone()
    }
}

/// The reason of a stop in force, as the store has it now: its source may have changed either way.
fn as_stored(known: &StopReason, stored: &StopReason) -> StopReason {
    // Only the message here says that it did not stop in time, not the stored one.
    let says_more = known.message.starts_with(&stored.message);
    let says = if says_more { known } else { stored };
    StopReason {
        mode: known.mode.max(stored.mode),
        message: says.message.clone(),
        source: stored.source,
        timestamp: known.timestamp,
    }
}

const fn recorder(kept: bool) -> Recorder {
    if kept {
        Recorder::OwnedRunState
    } else {
        Recorder::Outside
    }
}

fn covers(outer: &Reach, inner: &Reach) -> bool {
    match (outer, inner) {
        (Reach::Run, _) => true,
        (Reach::Node(_), Reach::Run) => false,
        (Reach::Node(outer), Reach::Node(inner)) => inner.is_within(outer),
    }
}
