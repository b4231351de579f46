//! A model that never answers the same twice, people who decide in any way from other processes, and a program that
//! is killed, interrupted or terminated at any position of its journal, alone or as a server that puts runs aside: no
//! decision is lost, no recorded answer is asked for again, and the run goes on as it is recorded.
//! `ANSWERS=40` says how many runs, 2 where it is not set, and `ANSWERS_FROM` with which of them to begin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::RouteType;
use agents::records::InterruptRouting;
use interrupt_router::schema::Dialect;
use interrupt_router::{InterruptRoutes, Routing};
use interrupts::life::{Family, Interrupt, RunState, State, Verdict};
use interrupts::store::{Filter, Run};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::brain::Brain;
use crate::fickle::{fickle_answer, filled_in};
use crate::life::Life;
use crate::service::Service;
use crate::world::{ALL, World};

/// How many runs are under way at once.
const AT_ONCE: u64 = 2;

/// The most lives of one run. In the last ones nothing disturbs it.
const LIVES: u32 = 12;

/// How far the journal grows before the next disturbance, at most.
const FARTHEST: u32 = 24;

/// The longest that a process is waited for which has nothing to do; only what hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(90);

const LOOK: Duration = Duration::from_millis(10);

/// Codes with which a process ends that was not killed: done, waits for an answer, paused, cancelled.
const CODES: [i32; 5] = [0, 5, 6, 130, 143];

fn runs() -> u64 {
    let asked = std::env::var("ANSWERS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// The first of them: each is another one.
fn first_run() -> u64 {
    let asked = std::env::var("ANSWERS_FROM").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// One run and those who disturb it.
struct Examined {
    world: Arc<World>,
    goal: String,
    random: ChaCha8Rng,
    reviews: u32,
    disturbed: u32,
}

impl Examined {
    fn below(&mut self, bound: u32) -> u32 {
        self.random.next_u32() % bound
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        Handle::current().block_on(future)
    }

    fn run(&self) -> Option<Run> {
        Self::now(self.world.run_of(&self.goal))
    }

    fn has_ended(&self) -> bool {
        self.run().is_some_and(|run| run.state.is_final())
    }

    fn recorded(&self) -> usize {
        self.run().map_or(0, |run| {
            Self::now(self.world.store.journal(run.id, ALL))
                .unwrap()
                .len()
        })
    }

    fn open(&self) -> Vec<Interrupt> {
        let Some(run) = self.run() else {
            return Vec::new();
        };
        let filter = Filter {
            run: Some(run.id),
            states: vec![State::AwaitingReview],
            ..Filter::default()
        };
        let open = Self::now(self.world.store.interrupts(&filter, ALL)).unwrap();
        open.into_iter().map(|(_position, row)| row).collect()
    }

    /// Somebody decides one open interrupt in another process, in one way or another.
    fn decide(&mut self, row: &Interrupt, may_end: bool) {
        let mut verdicts: Vec<Verdict> = row.verdicts().collect();
        verdicts.retain(|verdict| {
            *verdict != Verdict::ModifyPlan && (may_end || *verdict != Verdict::Cancel)
        });
        let verdict = verdicts[self.below(u32::try_from(verdicts.len()).unwrap()) as usize];
        let number = self.below(1_000_000);
        let id = row.id.to_string();
        let name = verdict.name();
        let mut given = vec!["review", &id, "--decision", name]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        if verdict == Verdict::Reroute {
            let to = &row.routes[self.below(u32::try_from(row.routes.len()).unwrap()) as usize];
            given.extend(["--to".to_owned(), to.as_str().to_owned()]);
        } else if matches!(verdict, Verdict::Respond | Verdict::Approve) {
            given.extend(["--message".to_owned(), format!("said {number}")]);
            if verdict == Verdict::Approve {
                let items = row.details().confirmation_items;
                let yes = items.iter().map(|item| format!("{}=yes", item.id));
                given.extend(yes.flat_map(|yes| ["--confirm".to_owned(), yes]));
            }
        } else if verdict == Verdict::Edit && row.family() == Family::Question {
            let payload = json!({"editedRequest": request_of(row, number.into())}).to_string();
            given.extend(["--payload".to_owned(), payload]);
        }
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let name = format!("{}-review-{}", self.goal, self.reviews);
        self.reviews += 1;
        let mut review = Life::start(&self.world, self.world.irq(&given), &name);
        let code = review.end();
        // 4: it was decided, withdrawn or changed in between.
        if !matches!(code, Some(0 | 4 | 5)) {
            let errors = review.errors(&self.world);
            self.world
                .failed(format!("{}: {given:?}: {code:?}, {errors}", self.goal));
        }
    }

    fn decide_some(&mut self, percent: u32, may_end: bool) {
        for row in self.open() {
            if self.below(100) < percent {
                self.decide(&row, may_end);
            }
        }
    }

    /// Leaves a process alone until the journal has grown so far, and decides meanwhile. Returns whether it lives.
    fn watch(&mut self, life: &mut Life, position: usize, may_end: bool) -> bool {
        let began = Instant::now();
        while self.recorded() < position && !self.has_ended() {
            if life.wait_for(LOOK).is_some() {
                return false;
            }
            assert!(began.elapsed() < PATIENCE, "{} hangs", self.goal);
            // Questions are decided at once or later, so that runs wait, and are put aside, and are not.
            self.decide_some(5, may_end);
        }
        true
    }

    /// A life of `irq run` or `irq resume`.
    fn live_alone(&mut self, number: u32, signal: Option<Signal>) {
        let command = match self.run() {
            Some(run) => self.world.resume(&run),
            None => self.world.begin(&self.goal),
        };
        let world = Arc::clone(&self.world);
        let mut life = Life::start(&world, command, &format!("{}-{number}", self.goal));
        let position = match signal {
            Some(_) => self.recorded() + 1 + self.below(FARTHEST) as usize,
            None => usize::MAX,
        };
        if self.watch(&mut life, position, number % 3 == 2)
            && let Some(signal) = signal
        {
            self.disturbed += 1;
            send(&life, signal);
        }
        let code = life.end();
        if code.is_some_and(|code| !CODES.contains(&code)) {
            let errors = life.errors(&world);
            world.failed(format!("{}: {code:?}, {errors}", self.goal));
        }
    }

    /// A run, disturbed until it ends.
    fn alone(&mut self) {
        for number in 0..LIVES {
            if self.has_ended() || !self.world.failures().is_empty() {
                return;
            }
            let signal = match self.below(3) {
                0 => Signal::KILL,
                1 => Signal::INT,
                _ => Signal::TERM,
            };
            let is_last = number + 3 > LIVES;
            self.live_alone(number, (!is_last).then_some(signal));
            self.decide_some(if is_last { 100 } else { 60 }, number % 3 == 2);
        }
    }

    /// A run of a server, which is killed or terminated and started anew until the run ends.
    fn served(&mut self) {
        let world = Arc::clone(&self.world);
        let service = Self::now(Service::of(&world));
        let mut life = Self::now(service.serve(&format!("{}-served-0", self.goal)));
        Self::now(service.start(&self.goal));
        for number in 1..LIVES {
            let is_last = number + 3 > LIVES;
            let position = if is_last {
                usize::MAX
            } else {
                self.recorded() + 1 + self.below(FARTHEST) as usize
            };
            let lives = self.watch(&mut life, position, number % 3 == 2);
            let signal = if self.below(2) == 0 {
                Signal::KILL
            } else {
                Signal::TERM
            };
            if lives {
                send(&life, signal);
            }
            self.disturbed += 1;
            let code = life.end();
            if code.is_some_and(|code| !CODES.contains(&code)) || !lives {
                let errors = life.errors(&world);
                world.failed(format!("{}: {code:?}, {errors}", self.goal));
            }
            if self.has_ended() || !world.failures().is_empty() {
                return;
            }
            self.decide_some(40, number % 3 == 2);
            life = Self::now(service.serve(&format!("{}-served-{number}", self.goal)));
        }
    }
}

/// A request of the route that an interrupt came from, as a person would write it.
fn request_of(row: &Interrupt, number: u64) -> Value {
    let route: RouteType = row.origin.as_str().parse().unwrap();
    let route = InterruptRouting::route_to(route);
    let schema = InterruptRouting::schemas().narrowed(route, Dialect::JsonSchema);
    filled_in(schema.value(), route.field(), number)
}

fn send(life: &Life, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(life.child.id()).unwrap()).unwrap();
    // An error says that it has just ended.
    let _ = kill_process(id, signal);
}

async fn examine(world: &Arc<World>, number: u64) -> u32 {
    let mut examined = Examined {
        world: Arc::clone(world),
        goal: format!("Describe-the-bakery-{number}"),
        random: ChaCha8Rng::seed_from_u64(number),
        reviews: 0,
        disturbed: 0,
    };
    let driven = tokio::task::spawn_blocking(move || {
        if number % 2 == 1 {
            examined.served();
        } else {
            examined.alone();
        }
        examined.disturbed
    });
    driven.await.unwrap()
}

/// What was decided.
async fn verdicts(world: &World) -> Vec<Verdict> {
    let all = world.store.interrupts(&Filter::default(), ALL).await;
    let decided = |(_position, row): (u64, Interrupt)| Some(row.decision?.verdict);
    all.unwrap().into_iter().filter_map(decided).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_model_says_later_what_was_decided_is_what_happens() {
    let (mut disturbed, mut completed, mut calls) = (0, 0, 0);
    let mut decisions: BTreeMap<&str, usize> = BTreeMap::new();
    // A server takes every run of its store, so runs of servers have a store of their own.
    for first in (first_run()..runs()).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let mut examined = tokio::task::JoinSet::new();
        for number in first..runs().min(first + AT_ONCE) {
            examined.spawn(async move {
                let world = World::with(Brain::answering(fickle_answer).await).await;
                let disturbed = examine(&world, number).await;
                assert_eq!(world.failures(), Vec::<String>::new(), "run {number}");
                (world, disturbed, number)
            });
        }
        while let Some(examined) = examined.join_next().await {
            let (world, times, number) = examined.unwrap();
            let report = world.audit(&world.own_attempts().await).await;
            let folder = world.folder.path().display();
            assert_eq!(report.findings, [], "run {number}, in {folder}");
            let runs = world.runs().await;
            assert!(
                runs.iter().all(|run| run.state.is_final()),
                "run {number}: {runs:#?}"
            );
            disturbed += times;
            for verdict in verdicts(&world).await {
                *decisions.entry(verdict.name()).or_default() += 1;
            }
            completed += runs
                .iter()
                .filter(|run| run.state == RunState::Completed)
                .count();
            calls += world.brain.calls().len();
        }
    }
    println!(
        "{} runs, {completed} completed, {disturbed} ends of a process, {calls} calls, decisions: {decisions:?}",
        runs()
    );
    assert!(!decisions.is_empty() && disturbed > 0 && completed > 0);
}
