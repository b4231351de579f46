//! Workers, servers and people around a store, and their requests to it, as in the program.

mod deaths;
mod feeds;
mod figures;
mod orphan_scan;
mod ownership;
mod run;
mod settings;
mod turns;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use interrupts::OwnerName;
use interrupts::life::{RunState, State};
use interrupts::manager::{ScanSchedule, Times};

pub use figures::{Figures, Samples, Source};
pub use settings::{Fault, ModelSettings, Remedy};

use crate::measured::{Costs, microseconds};
use crate::random::Random;
use crate::store::{FinishedOperation, Store, StoreEvent, StoreOperation};
use crate::timeline::Timeline;
use feeds::{FeedNews, Hearing};
use orphan_scan::Attempt;
use ownership::Sweep;
use run::{ModelRun, Waits};
use turns::Among;

/// How often the queue for the lock is sampled.
const LOOKS_AT_LINE: Duration = Duration::from_millis(100);

/// A run that has waited for a process for no longer than this may not have had its turn yet.
const IN_TURN: Duration = Duration::from_secs(5);

/// How often a process asks for orphans of interrupts: `store/src/adapter.rs`.
const ASKS_FOR_ORPHANS: Duration = Duration::from_secs(60);

/// Events that happen by themselves.
#[derive(Debug)]
enum ModelEvent {
    Store(StoreEvent),
    Decide,
    Counts,
    LooksAtLine,
    Fault,
    IsBack,
    Sweeps(usize),
    Polls(usize),
    Hears(usize),
    LooksFor(usize),
    LooksAgain(Attempt),
    LooksLater(usize, usize, u64),
    HasRoom(usize, usize),
    Catches(usize),
    Tells(usize, u64),
    MayTell(usize),
    Renews(usize, u64),
    SweptFor(usize, u64, u64),
    LeaseEnds(usize, u64, u64),
    Steps(usize, u64),
}

/// What continues when a question is answered.
#[derive(Debug)]
enum Read {
    Nothing,
    Outbox(usize),
    Row(usize, FeedNews),
    Later(usize, usize),
    MayGoOn(Attempt),
    Looked(usize),
    Started(usize),
    Caught(usize, u32),
    Others(usize),
    Lapsed(Attempt),
    Renewed(usize, u64, Duration),
    Swept(Sweep),
}

/// What continues when an operation is committed.
#[derive(Debug)]
enum Write {
    Decide(usize),
    Own(Attempt),
    Begin(usize, u64),
    Renew(usize, u64, Duration),
    Step(usize, u64, u32),
    Ask(usize, u64),
    Rest(usize, u64),
    Leave(usize, u64),
    Tell(usize, u32),
}

/// A process that executes runs, or serves people.
#[derive(Debug, Default)]
struct ModelProcess {
    is_gone: bool,
    /// The runs that it has or tries to take.
    here: usize,
    hearing: Hearing,
    is_looking: bool,
    /// A look is due that waits for the one under way.
    has_to_look: bool,
    /// Attempts of the look under way.
    attempts: usize,
    /// What it has tried, and in which epoch.
    tried: HashMap<usize, u64>,
    among: Among,
    /// When it swept last, and when it asks for orphans of interrupts next.
    swept: Duration,
    asks_for_orphans: Duration,
}

/// The whole model.
pub struct Model<'costs> {
    settings: ModelSettings,
    costs: &'costs Costs,
    times: Times,
    timeline: Timeline<ModelEvent>,
    random: Random,
    store: Store<Read, Write>,
    /// The workers, and behind them the servers.
    processes: Vec<ModelProcess>,
    runs: Vec<ModelRun>,
    /// Runs that wait for people, among those that are modelled one by one.
    waiting: Vec<usize>,
    /// Runs that work, by their states in the store.
    at_work: usize,
    /// Runs that no live process has, and that looks find.
    orphaned: BTreeSet<usize>,
    open: u64,
    /// How many of the interrupts that were only counted at the start have become a run of their own.
    came_up: u64,
    news: Vec<FeedNews>,
    /// The processes that a commit concerns, if it notifies no others.
    concerned: BTreeSet<usize>,
    /// The names of the workers, how many runs each has reported, and until when that is valid.
    names: Vec<OwnerName>,
    told: Vec<(u32, Duration)>,
    figures: Figures,
    line: (u64, u64),
    attempts: (u64, u64),
}

impl<'costs> Model<'costs> {
    /// The state at the start: leases are spread evenly, unless all workers have yet to start.
    pub fn new(settings: &ModelSettings, costs: &'costs Costs) -> Self {
        let all = settings.workers + settings.servers();
        let name = |worker| OwnerName::new(format!("worker-{worker:06}")).ok();
        let mut model = Self {
            times: Times::default(),
            timeline: Timeline::default(),
            random: Random::new(settings.seed),
            store: Store::usual(costs, all),
            processes: (0..all).map(|_number| ModelProcess::default()).collect(),
            runs: Vec::new(),
            waiting: Vec::new(),
            at_work: 0,
            orphaned: BTreeSet::new(),
            open: settings.open,
            came_up: 0,
            news: Vec::new(),
            concerned: BTreeSet::new(),
            names: (0..settings.workers).filter_map(name).collect(),
            told: vec![(0, Duration::ZERO); settings.workers],
            figures: Figures::default(),
            line: (0, 0),
            attempts: (0, 0),
            settings: settings.clone(),
            costs,
        };
        model.figures.interrupts[0] = settings.open;
        model.fill();
        model
    }

    fn fill(&mut self) {
        for run in 0..self.settings.working() {
            let mut created = ModelRun::new(RunState::Running);
            self.at_work += 1;
            if self.settings.fault == Fault::AllStart {
                created.waits = Some((Duration::ZERO, Waits::Orphaned));
                self.orphaned.insert(run);
                self.runs.push(created);
                continue;
            }
            let worker = run % self.settings.workers;
            // As if it had been renewed some time ago.
            let age = self.random.up_to(self.times.heartbeat);
            created.lease = Some((worker, self.times.lease - age));
            created.worker = Some(worker);
            created.epoch = 1;
            self.runs.push(created);
            self.processes[worker].here += 1;
            self.timeline
                .at(self.times.heartbeat - age, ModelEvent::Renews(run, 1));
            self.timeline
                .at(self.times.lease - age, ModelEvent::LeaseEnds(run, 1, 0));
            self.steps_on(run);
        }
        if self.settings.fault != Fault::AllStart && self.settings.remedy != Remedy::Before {
            self.knows_of_all();
        }
        for process in 0..self.processes.len() {
            let every = self.look_interval(process);
            let polls = self.random.up_to(self.times.poll);
            self.timeline.at(polls, ModelEvent::Polls(process));
            if self.settings.fault == Fault::AllStart && self.is_worker(process) {
                match self.settings.remedy {
                    Remedy::Before => self.starts(process),
                    Remedy::Today | Remedy::OneIsTold => self.tells(process, 0),
                }
            } else {
                self.processes[process].asks_for_orphans = self.random.up_to(ASKS_FOR_ORPHANS);
                let first = self.random.up_to(every);
                self.timeline.at(first, ModelEvent::LooksFor(process));
            }
            if !self.is_worker(process) {
                let first = self.random.up_to(self.settings.server_sweep);
                self.timeline.at(first, ModelEvent::Sweeps(process));
            }
        }
        self.timeline.at(Duration::ZERO, ModelEvent::Decide);
        self.timeline.at(self.settings.warm_up, ModelEvent::Counts);
        self.timeline.at(self.settings.warm_up, ModelEvent::Fault);
        self.timeline
            .at(self.settings.warm_up, ModelEvent::LooksAtLine);
    }

    /// Runs the simulation.
    pub fn run(mut self) -> Figures {
        let end = self.settings.warm_up + self.settings.counted;
        self.plan_store();
        while let Some(event) = self.timeline.next_until(end) {
            self.on(event);
            self.plan_store();
        }
        self.counted()
    }

    fn plan_store(&mut self) {
        if let Some((at, event)) = self.store.plan() {
            self.timeline.at(at, ModelEvent::Store(event));
        }
    }

    fn on(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Store(event) => {
                let (done, next) = self.store.on(self.timeline.now(), event);
                if let Some((at, next)) = next {
                    self.timeline.at(at, ModelEvent::Store(next));
                }
                match done {
                    Some(FinishedOperation::Read(read)) => self.on_read(read),
                    Some(FinishedOperation::Committed(batch)) => self.on_committed(batch),
                    None => {}
                }
            }
            ModelEvent::Decide => self.decides(),
            ModelEvent::Counts => self.counts(),
            ModelEvent::LooksAtLine => self.looks_at_line(),
            ModelEvent::Fault => self.goes_wrong(),
            ModelEvent::IsBack => self.is_back(),
            ModelEvent::Sweeps(server) => self.server_sweeps(server),
            ModelEvent::Polls(process) => self.polls(process),
            ModelEvent::Hears(process) => self.hears(process),
            ModelEvent::LooksFor(process) => self.looks_when_due(process),
            ModelEvent::LooksAgain(attempt) => self.looks_again(attempt),
            ModelEvent::LooksLater(process, run, number) => self.looks_later(process, run, number),
            ModelEvent::HasRoom(process, run) => self.looks_for_room(process, run),
            ModelEvent::Catches(process) => self.catches_up(process),
            ModelEvent::Tells(process, word) => self.tells(process, word),
            ModelEvent::MayTell(process) => self.may_tell(process),
            ModelEvent::Renews(run, epoch) => self.renews(run, epoch),
            ModelEvent::SweptFor(run, epoch, renewals) => {
                self.goes_on_renewing(run, epoch, renewals)
            }
            ModelEvent::LeaseEnds(run, epoch, renewals) => self.lease_ends(run, epoch, renewals),
            ModelEvent::Steps(run, epoch) => self.ends_step(run, epoch),
        }
    }

    fn on_read(&mut self, read: Read) {
        match read {
            Read::Nothing => {}
            Read::Outbox(process) => self.has_heard(process),
            Read::Row(process, news) => self.has_row(process, news),
            Read::Later(process, run) => self.has_row_later(process, run),
            Read::MayGoOn(attempt) => self.may_go_on(attempt),
            Read::Started(process) => self.has_started(process),
            Read::Caught(process, rounds) => self.goes_on_catching(process, rounds),
            Read::Others(process) => self.has_heard_others(process),
            Read::Looked(process) => self.has_looked(process),
            Read::Lapsed(attempt) => self.watches(attempt),
            Read::Renewed(run, epoch, began) => self.has_renewed(run, epoch, began),
            Read::Swept(sweep) => self.has_swept(sweep),
        }
    }

    fn on_committed(&mut self, batch: Vec<StoreOperation<Write>>) {
        let mut tells = false;
        for StoreOperation { then, .. } in batch {
            let source = match then {
                Write::Own(_) | Write::Begin(..) => Source::Taking,
                Write::Renew(..) => Source::Renewals,
                Write::Tell(..) => Source::Tellings,
                Write::Decide(_)
                | Write::Step(..)
                | Write::Ask(..)
                | Write::Rest(..)
                | Write::Leave(..) => Source::Work,
            };
            self.figures.operations[source as usize] += 1;
            tells |= match then {
                Write::Decide(run) => self.is_decided(run),
                Write::Own(attempt) => self.owns(attempt),
                Write::Begin(run, epoch) => self.begins(run, epoch),
                Write::Renew(run, epoch, began) => self.renewal_is_committed(run, epoch, began),
                Write::Step(run, epoch, left) => self.goes_on_writing(run, epoch, left),
                Write::Ask(run, epoch) => self.has_asked(run, epoch),
                Write::Rest(run, epoch) => self.rests(run, epoch),
                Write::Leave(run, epoch) => self.leaves(run, epoch),
                Write::Tell(process, here) => self.has_told(process, here),
            };
        }
        if tells {
            self.notifies();
        }
    }

    /// Asks a question that takes so much work, in microseconds.
    fn read(&mut self, process: usize, source: Source, work: f64, then: Read) {
        self.figures.asked[source as usize] += work / 1e6;
        let now = self.timeline.now();
        self.store.read(now, process, microseconds(work), then);
    }

    fn write(&mut self, process: usize, then: Write) {
        let (source, work) = match then {
            Write::Renew(..) => (Source::Renewals, self.costs.renewal),
            // Until it is granted it tells nothing; what it then writes is the beginning.
            Write::Own(_) => (Source::Taking, self.costs.renewal),
            Write::Begin(..) => (Source::Taking, self.costs.telling),
            Write::Tell(..) => {
                let others = self.told.len() as f64 * self.costs.other;
                (Source::Tellings, self.costs.renewal + others)
            }
            Write::Decide(_)
            | Write::Step(..)
            | Write::Ask(..)
            | Write::Rest(..)
            | Write::Leave(..) => (Source::Work, self.costs.telling),
        };
        self.figures.asked[source as usize] += work / 1e6;
        let work = microseconds(work);
        let now = self.timeline.now();
        self.store
            .write(now, process, StoreOperation { work, then });
    }

    const fn is_worker(&self, process: usize) -> bool {
        process < self.settings.workers
    }

    /// A person decides on some server, and the next one some time later.
    fn decides(&mut self) {
        let next = self.random.until_next(self.settings.between_decisions());
        self.timeline.after(next, ModelEvent::Decide);
        if self.open == 0 {
            return;
        }
        self.figures.decisions.0 += 1;
        // Any of the open ones; most of them were only counted until now.
        let numbers = self.settings.open - self.came_up;
        let chosen = self.random.below(numbers as usize + self.waiting.len());
        let run = match chosen.checked_sub(self.waiting.len()) {
            Some(_number) => {
                let mut run = ModelRun::new(RunState::Waiting);
                run.question = Some(State::AwaitingReview);
                self.runs.push(run);
                self.came_up += 1;
                self.runs.len() - 1
            }
            None => self.waiting.swap_remove(chosen),
        };
        let server = self.settings.workers + self.random.below(self.settings.servers());
        self.write(server, Write::Decide(run));
    }

    fn is_decided(&mut self, run: usize) -> bool {
        self.open -= 1;
        self.figures.decisions.1 += 1;
        self.figures.interrupts[2] += 1;
        let waits = (self.timeline.now(), Waits::Decided);
        let run_row = &mut self.runs[run];
        run_row.question_becomes(&[State::Resolved]);
        run_row.question = None;
        run_row.waits = Some(waits);
        if self.settings.remedy == Remedy::OneIsTold {
            // Looks find it, if the workers that were notified of it have died.
            self.orphaned.insert(run);
        }
        self.tell(FeedNews::Reached(run));
        true
    }

    /// Starts counting.
    fn counts(&mut self) {
        let interrupts = self.figures.interrupts;
        let two_owners = self.figures.two_owners;
        self.figures = Figures::default();
        self.figures.interrupts = interrupts;
        self.figures.two_owners = two_owners;
        self.figures.worked = self.store.worked();
        self.figures.locked = self.store.locked.as_secs_f64();
        self.figures.commits = self.store.commits;
        self.attempts = (0, 0);
    }

    fn looks_at_line(&mut self) {
        let waiting = self.store.waiting();
        self.line = (self.line.0 + waiting as u64, self.line.1 + 1);
        self.figures.line.1 = self.figures.line.1.max(waiting);
        self.timeline.after(LOOKS_AT_LINE, ModelEvent::LooksAtLine);
    }

    fn counted(mut self) -> Figures {
        let figures = &mut self.figures;
        figures.seconds = self.settings.counted.as_secs_f64();
        figures.worked = self.store.worked() - figures.worked;
        figures.locked = self.store.locked.as_secs_f64() - figures.locked;
        figures.commits = self.store.commits - figures.commits;
        figures.line.0 = self.line.0 as f64 / self.line.1.max(1) as f64;
        figures.refused = self.attempts.1 as f64 / self.attempts.0.max(1) as f64;
        let end = self.timeline.now();
        let is_left = |run: &&ModelRun| run.waits.is_some_and(|it| end - it.0 > IN_TURN);
        figures.left = self.runs.iter().filter(is_left).count();
        // Counted anew, so that a mistake in the counters is found.
        let asked = self.runs.iter().filter(|run| run.question.is_some());
        figures.interrupts[3] = self.settings.open - self.came_up + asked.count() as u64;
        self.figures
    }

    /// How often a process looks for runs that lost their processes.
    const fn look_interval(&self, process: usize) -> Duration {
        match self.is_worker(process) {
            true => ScanSchedule::USUAL.of_worker,
            false => ScanSchedule::USUAL.of_server,
        }
    }
}
