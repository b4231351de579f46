//! Whatever people do to a plan, and whenever its process dies: a step that was applied is done, is dropped by a
//! person, or stands open in the outcome. `PLANS=10000` says how many generated sequences; 150 where it is not set.

use std::collections::BTreeSet;
use std::sync::Arc;

use agents::plan_execute::{PlanChange, PlanEditing, change_plan};
use engine::run::{RunReport, RunStatus};
use interrupt_router::{
    DecisionId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::SystemClock;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, ExpiryOutcome, Interrupt, Judge, Recurrence, Role,
    RunState, Scope, State, USUAL_ATTEMPTS, Verdict,
};
use interrupts::store::{Delivery, ForkStart, NewRun, RunError};
use interrupts::{ActorName, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::SignedDuration;
use planning::{PlanEditError, PlanPreview, StoredPlan};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::durable::interrupts;
use crate::improvised::Improvised;
use crate::kept::{Kept, send};
use engine::testing::{Death, Mortal};

/// What somebody does, or what befalls the run.
#[derive(Debug, Clone)]
enum Step {
    /// A process executes it until it rests; a person stops it at a call, or the process dies at an operation.
    Run {
        seed: u64,
        stop: Option<(u32, bool)>,
        death: Option<usize>,
        words: bool,
    },
    /// A person pauses it while nobody executes it.
    Pause,
    /// A change is previewed and applied: which of the steps that are left stay, and how many are added.
    Apply {
        keep: u8,
        add: u8,
    },
    Undo,
    Redo,
    Message,
    /// The open question is answered.
    Answer {
        words: bool,
    },
    /// What the model wants instead is applied.
    Accept,
    Cancel,
    Fork,
}

fn step() -> impl Strategy<Value = Step> {
    let stop = prop::option::weighted(0.6, (1..6_u32, any::<bool>()));
    let death = prop::option::weighted(0.25, 0..60_usize);
    let run = (any::<u64>(), stop, death, prop::bool::weighted(0.15)).prop_map(
        |(seed, stop, death, words)| Step::Run {
            seed,
            stop,
            death,
            words,
        },
    );
    prop_oneof![
        8 => run,
        4 => Just(Step::Pause),
        6 => (any::<u8>(), 0..3_u8).prop_map(|(keep, add)| Step::Apply { keep, add }),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => Just(Step::Message),
        3 => any::<bool>().prop_map(|words| Step::Answer { words }),
        1 => Just(Step::Accept),
        1 => prop::bool::weighted(0.3).prop_map(|cancels| if cancels { Step::Cancel } else { Step::Pause }),
        1 => Just(Step::Fork),
    ]
}

fn person() -> Actor {
    Actor {
        name: ActorName::new("someone").unwrap(),
        role: Role::Operator,
    }
}

/// What somebody may decide now that changes the plan: a pause goes first.
async fn open(kept: &Kept) -> Option<Interrupt> {
    let mut open: Vec<_> = interrupts(kept).await;
    open.retain(|it| it.state == State::AwaitingReview);
    open.sort_by_key(|it| it.interrupt_type != InterruptType::Pause);
    open.into_iter().next()
}

/// A person pauses a run that nobody executes, where nothing is open that lets the plan be changed.
pub(crate) async fn pause(kept: &Kept) {
    let run = kept.store.run(kept.run).await.unwrap();
    if run.is_none_or(|run| run.state.is_final()) || open(kept).await.is_some() {
        return;
    }
    let store = &kept.store;
    let route = RouteName::new("PLAN_EXECUTE").unwrap();
    let id = InterruptId::generate();
    let admission = Admission {
        id,
        run: kept.run,
        node: NodeId::root(),
        kind: KindName::new("PLAN_EXECUTE").unwrap(),
        origin: route.clone(),
        routes: vec![route],
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        requested_by: person(),
        mode: StopMode::Graceful,
        scope: Scope::Run,
        reason: "let me look".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new(id.to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    };
    store.admit(admission).await.unwrap();
    let delivery = Delivery {
        owner: OwnerName::new("whoever stops it").unwrap(),
        lease: SignedDuration::from_secs(30),
        lost: None,
    };
    let taken = store.deliver(id, delivery).await.unwrap();
    let acknowledged = store.acknowledge(id, taken.epoch, Evidence::Cancelled);
    let acknowledged = acknowledged.await.unwrap();
    let shown = interrupts::Digest::of(b"the plan");
    store
        .require_review(id, acknowledged.epoch, shown)
        .await
        .unwrap();
}

async fn decide(kept: &Kept, row: &Interrupt, verdict: Verdict, content: Option<Value>) {
    let judge = Judge::Person {
        actor: person(),
        version: row.version,
        shown: row.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: None,
        content: content.map(|content| content.to_string()),
    };
    kept.store.decide(row.id, judge, choosing).await.unwrap();
}

async fn change(kept: &Kept, change: PlanChange) -> Option<Result<StoredPlan, PlanEditError>> {
    stored(kept).await?;
    let bench = PlanEditing {
        store: Arc::clone(&kept.store),
        run: kept.run,
        by: person(),
        owner: OwnerName::new("editor").unwrap(),
        lost: Some(OwnerName::new("test").unwrap()),
        if_version: None,
        clock: Arc::new(SystemClock),
    };
    Some(change_plan(bench, change).await)
}

/// Decides what is open with the change that is shown.
async fn apply_shown(kept: &Kept, open: &Interrupt, preview: &PlanPreview) {
    let content = json!({ "plan": preview.plan, "previewed": preview.digest });
    decide(kept, open, Verdict::ModifyPlan, Some(content)).await;
}

/// Previews a change and applies it.
pub(crate) async fn apply(kept: &Kept, tasks: Vec<String>) {
    let shown = change(kept, PlanChange::Propose { tasks }).await;
    let preview = shown.unwrap().unwrap().proposal().unwrap().unwrap();
    apply_shown(kept, &open(kept).await.unwrap(), &preview).await;
}

async fn stored(kept: &Kept) -> Option<StoredPlan> {
    let run = kept.store.run(kept.run).await.unwrap()?;
    StoredPlan::read(&*kept.store, &run).await.unwrap()
}

/// A run, and what a person has applied and not dropped since.
struct World {
    kept: Kept,
    wanted: BTreeSet<String>,
    /// What was wanted before a change that was decided and that no process has carried out yet.
    before: Option<BTreeSet<String>>,
    names: u32,
    applied: usize,
}

impl World {
    fn new() -> Self {
        Self {
            kept: Kept::new(),
            wanted: BTreeSet::new(),
            before: None,
            names: 0,
            applied: 0,
        }
    }

    async fn state(&self) -> Option<RunState> {
        let run = self.kept.store.run(self.kept.run).await.unwrap();
        run.map(|run| run.state)
    }

    async fn plan(&self) -> Option<StoredPlan> {
        stored(&self.kept).await
    }

    async fn left(&self) -> Vec<String> {
        let Some(plan) = self.plan().await else {
            return Vec::new();
        };
        let left = plan.state().plan().left().iter();
        left.map(|step| step.task.clone()).collect()
    }

    async fn done(&self) -> BTreeSet<String> {
        let Some(plan) = self.plan().await else {
            return BTreeSet::new();
        };
        let done = plan.state().plan().finished().iter();
        done.map(|done| done.step.task.clone()).collect()
    }

    async fn happens(&mut self, step: &Step) {
        let is_over = self.state().await.is_some_and(RunState::is_final);
        if is_over && !matches!(step, Step::Fork) {
            return;
        }
        match step {
            Step::Run {
                seed,
                stop,
                death,
                words,
            } => {
                let mode = |is_immediate| match is_immediate {
                    true => StopMode::Immediate,
                    false => StopMode::Graceful,
                };
                let stop = stop.map(|(call, is_immediate)| (call, mode(is_immediate)));
                let words = words.then_some("something else");
                self.run(Improvised::wild(*seed, stop), *death, words).await;
            }
            Step::Pause => pause(&self.kept).await,
            Step::Apply { keep, add } => self.apply(*keep, *add).await,
            Step::Undo => self.turn(PlanChange::Undo).await,
            Step::Redo => self.turn(PlanChange::Redo).await,
            Step::Message => {
                self.names += 1;
                let text = format!("message {}", self.names);
                // A run that has not begun, or is about to end, takes none.
                let _refused = send(&*self.kept.store, self.kept.run, "root", &text).await;
            }
            Step::Answer { words } => {
                let said = json!({ "text": "in other words" });
                let (verdict, content) = match words {
                    true => (Verdict::Respond, Some(said)),
                    false => (Verdict::Approve, None),
                };
                self.decide_question(verdict, content).await;
            }
            Step::Accept => self.accept().await,
            Step::Cancel => self.decide_question(Verdict::Cancel, None).await,
            Step::Fork => self.fork().await,
        }
    }

    /// A process executes the run. Whoever lets it go on ends the pause that stands.
    async fn run(&mut self, model: Improvised, death: Option<usize>, words: Option<&str>) {
        self.resume().await;
        *self.kept.player.improvised.lock().unwrap() = Some(model);
        let death = death.map_or(Death::Never, Death::After);
        let mortal = Mortal::new(Arc::clone(&self.kept.store), death);
        let report = tokio::select! {
            biased;
            report = self.kept.execute_over(mortal.clone(), words) => report,
            () = mortal.died() => return,
        };
        self.reported(&report).await;
    }

    /// A change that did not fit is refused by name, and nothing of it is wanted any more.
    async fn reported(&mut self, report: &RunReport) {
        let before = self.before.take();
        if let RunStatus::Failed { error, .. } = &report.status {
            let before = before.unwrap_or_else(|| panic!("it failed: {error}"));
            assert!(error.contains("not carried out"), "{error}");
            self.wanted = before;
        }
    }

    async fn resume(&self) {
        while let Some(pause) = open(&self.kept).await {
            if pause.interrupt_type != InterruptType::Pause {
                return;
            }
            decide(&self.kept, &pause, Verdict::Resume, None).await;
        }
    }

    async fn decide_question(&self, verdict: Verdict, content: Option<Value>) {
        let open = open(&self.kept).await;
        let question = open.filter(|open| open.interrupt_type != InterruptType::Pause);
        if let Some(question) = question.filter(|it| it.held_by.is_none()) {
            decide(&self.kept, &question, verdict, content).await;
        }
    }

    /// Shows what the tasks would do, and applies just that.
    async fn apply(&mut self, keep: u8, add: u8) {
        pause(&self.kept).await;
        let left = self.left().await.into_iter().enumerate();
        let stays = left.filter(|(index, _)| keep & (1 << (index % 8)) != 0);
        let mut tasks: Vec<String> = stays.map(|(_, task)| task).collect();
        for _ in 0..add {
            self.names += 1;
            tasks.push(format!("applied {}", self.names));
        }
        let shown = match change(&self.kept, PlanChange::Propose { tasks }).await {
            Some(Ok(plan)) => plan,
            Some(Err(_)) | None => return,
        };
        self.apply_what_is_shown(&shown).await;
    }

    /// Applies what a model wants instead of the steps that were applied.
    async fn accept(&mut self) {
        let question = open(&self.kept).await;
        let is_question = question.is_some_and(|it| it.interrupt_type != InterruptType::Pause);
        if let Some(plan) = self.plan().await.filter(|_| is_question) {
            self.apply_what_is_shown(&plan).await;
        }
    }

    async fn apply_what_is_shown(&mut self, plan: &StoredPlan) {
        let Ok(Some(preview)) = plan.proposal() else {
            return;
        };
        let Some(open) = open(&self.kept).await else {
            return;
        };
        if open.held_by.is_some() || !open.allowed.contains(&Verdict::ModifyPlan) {
            return;
        }
        let tasks = &preview.plan;
        let snapshot: BTreeSet<String> = self.left().await.into_iter().collect();
        apply_shown(&self.kept, &open, &preview).await;
        self.applied += 1;
        self.before.get_or_insert_with(|| self.wanted.clone());
        let is_dropped = |task: &String| snapshot.contains(task) && !tasks.contains(task);
        self.wanted.retain(|task| !is_dropped(task));
        let is_new = |task: &&String| !snapshot.contains(*task);
        self.wanted.extend(tasks.iter().filter(is_new).cloned());
    }

    /// A person takes a change back or makes it again: what goes by that is dropped, what comes is wanted.
    async fn turn(&mut self, wanted: PlanChange) {
        let mut before: BTreeSet<String> = self.left().await.into_iter().collect();
        // A change that was decided and not carried out is, first.
        before.extend(self.wanted.iter().cloned());
        let done = self.done().await;
        let Some(Ok(plan)) = change(&self.kept, wanted).await else {
            return;
        };
        self.before = None;
        let left = plan.state().plan().left().iter();
        let after: BTreeSet<String> = left.map(|step| step.task.clone()).collect();
        self.wanted
            .retain(|task| after.contains(task) || done.contains(task));
        self.wanted.extend(after.difference(&before).cloned());
    }

    /// From now on a fork of the run is looked at, where that stands now.
    async fn fork(&mut self) {
        let Some(run) = self.kept.store.run(self.kept.run).await.unwrap() else {
            return;
        };
        let Some(at) = run.goes_on_from() else {
            return;
        };
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        let start = ForkStart {
            leaves: Some(run.id),
            ..ForkStart::default()
        };
        match self.kept.store.fork_run_with(at, new, start).await {
            Ok(forked) => self.kept.run = forked.id,
            // What was said to it and not carried out belongs to it.
            Err(RunError::Pending { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Nobody disturbs it any more, and whoever is asked approves.
    async fn ends(&mut self) {
        for round in 0..60 {
            if self.state().await.is_some_and(RunState::is_final) {
                return;
            }
            *self.kept.person.answer.lock().unwrap() = Some(Default::default());
            self.run(Improvised::ending(round), None, None).await;
            *self.kept.person.answer.lock().unwrap() = None;
        }
        panic!("it does not end: {:?}", self.plan().await);
    }

    /// What was applied and not dropped is done, or stands open.
    async fn check(&self) {
        let done = self.done().await;
        let left: BTreeSet<String> = self.left().await.into_iter().collect();
        let is_cancelled = self.state().await == Some(RunState::Cancelled);
        for task in &self.wanted {
            let stands_open = is_cancelled && left.contains(task);
            assert!(
                done.contains(task) || stands_open,
                "{task:?} was passed over; done: {done:?}, left: {left:?}"
            );
        }
    }
}

fn sequences() -> u32 {
    let asked = std::env::var("PLANS").ok();
    asked.map_or(150, |text| text.parse().unwrap())
}

#[test]
fn every_step_that_was_applied_is_done_or_dropped_by_a_person_or_stands_open() {
    let config = ProptestConfig {
        cases: sequences(),
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let applied = std::cell::Cell::new((0, 0));
    let examined = TestRunner::new(config).run(&prop::collection::vec(step(), 1..16), |steps| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            for step in &steps {
                world.happens(step).await;
            }
            let wanted = world.wanted.len();
            world.ends().await;
            world.check().await;
            let (changes, steps) = applied.get();
            applied.set((changes + world.applied, steps + wanted));
        });
        Ok(())
    });
    let (changes, steps) = applied.get();
    println!(
        "{} sequences, {changes} changes applied, {steps} steps of them wanted",
        sequences()
    );
    if let Err(found) = examined {
        panic!("{found}");
    }
    assert!(changes > 0 && steps > 0, "nothing was applied");
}
