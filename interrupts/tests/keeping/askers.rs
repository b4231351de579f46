//! Several ask for the stop of one run: in every order of asking, taking back, resuming and restarting, by an agent, a
//! limit, two people and a policy. Whatever happens, a run goes on exactly when nobody asks for its pause any more.
//!
//! The oracle is a list of who asks, which knows nothing of states, deliveries and leases. `ASKERS` is the length of the
//! sequences; without it they are short.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{DecisionId, RunId, StopMode, StopSource};
use interrupts::life::{
    Actor, Choosing, Evidence, Family, Interrupt, Judge, NewAsking, Refusal, Role, RunState, State,
    Verdict, WithdrawCause,
};
use interrupts::manager::{
    InterruptManager, ManagerSettings, OwnedRun, RunEnd, StopCause, StopRequest, Target, Times,
};
use interrupts::policy::{Automatic, Policy, Vocabulary};
use interrupts::store::{AuditSubject, ChangeError, Filter, NewRun, Store};
use interrupts::{ActorName, Digest, OwnerName};
use store::{MemoryStore, SqliteStore, StoreSettings};
use tokio::runtime::Handle;

use crate::scene::{ALL, agent_routes, node, pause, person, taken, taking, work_until_stopped};

/// Who asks: an agent, a limit, and two people. The mode of the last is the harder one.
const ASKERS: [(&str, Role, StopSource, StopMode); 4] = [
    (
        "agent",
        Role::Requester,
        StopSource::Programmatic,
        StopMode::Graceful,
    ),
    (
        "limit",
        Role::System,
        StopSource::System,
        StopMode::Graceful,
    ),
    (
        "ada",
        Role::Supervisor,
        StopSource::User,
        StopMode::Graceful,
    ),
    ("bob", Role::Operator, StopSource::User, StopMode::Immediate),
];

/// What happens, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Happening {
    Asks(usize),
    TakesBack(usize),
    /// A person resumes the run.
    Resumes,
    /// The policy would let it go on.
    Policy,
    /// The process dies, and another one follows.
    Restarts,
    /// The run comes to its boundary.
    Boundary,
}

const ALL_HAPPENINGS: [Happening; 12] = [
    Happening::Asks(0),
    Happening::Asks(1),
    Happening::Asks(2),
    Happening::Asks(3),
    Happening::TakesBack(0),
    Happening::TakesBack(1),
    Happening::TakesBack(2),
    Happening::TakesBack(3),
    Happening::Resumes,
    Happening::Policy,
    Happening::Restarts,
    Happening::Boundary,
];

fn actor(who: usize) -> Actor {
    Actor {
        name: ActorName::new(ASKERS[who].0).unwrap(),
        role: ASKERS[who].1,
    }
}

fn reason(who: usize) -> String {
    format!("because {} says so", ASKERS[who].0)
}

const fn is_person(who: usize) -> bool {
    who >= 2
}

fn request(run: RunId, who: usize) -> StopRequest {
    let (_name, _role, source, mode) = ASKERS[who];
    StopRequest {
        mode,
        source,
        cause: StopCause::Code,
        ..StopRequest::pause(Target::Run(run), actor(who), reason(who))
    }
}

/// An installation, and the run that all of this happens to.
struct World {
    store: Arc<dyn Store>,
    /// Opened again with each restart.
    sqlite: Option<(tempfile::TempDir, Arc<SqliteStore>)>,
    run: RunId,
    /// The process that executes runs, and another one, from which others ask.
    process: InterruptManager,
    other: InterruptManager,
    begun: u32,
    /// The run, while it works.
    kept: Option<OwnedRun>,
    /// The oracle: who asks, and who has ever asked.
    asking: Vec<usize>,
    asked: Vec<usize>,
    policy: Policy,
}

fn manager(store: &Arc<dyn Store>, owner: &str) -> InterruptManager {
    let settings = ManagerSettings {
        times: Times {
            poll: Duration::from_millis(50),
            ..Times::default()
        },
        ..ManagerSettings::new(
            Arc::clone(store),
            OwnerName::new(owner).unwrap(),
            Arc::new(agent_routes()),
        )
    };
    InterruptManager::new(settings, Handle::current())
}

/// A policy that resumes at once whatever it may.
fn resuming() -> Policy {
    let names = || ["ORCHESTRATOR".to_owned()].into_iter().collect();
    let vocabulary = Vocabulary {
        agents: names(),
        routes: names(),
    };
    Policy::from_toml("[[rule]]\nresume = \"at once\"\n", &vocabulary).unwrap()
}

async fn opened(path: &Path) -> Arc<SqliteStore> {
    let settings = StoreSettings::default();
    Arc::new(SqliteStore::open(path.to_owned(), settings).await.unwrap())
}

impl World {
    async fn new(in_sqlite: bool) -> Self {
        let (store, sqlite): (Arc<dyn Store>, _) = if in_sqlite {
            let folder = tempfile::tempdir().unwrap();
            let store = opened(&folder.path().join("store.sqlite")).await;
            (store.clone(), Some((folder, store)))
        } else {
            let store = Arc::new(MemoryStore::new(StoreSettings::default()));
            (store, None)
        };
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        let run = store.create_run(new).await.unwrap().id;
        let mut world = Self {
            process: manager(&store, "process-0"),
            other: manager(&store, "other"),
            store,
            sqlite,
            run,
            begun: 0,
            kept: None,
            asking: Vec::new(),
            asked: Vec::new(),
            policy: resuming(),
        };
        world.begin(false).await;
        world
    }

    fn owner(&self) -> OwnerName {
        OwnerName::new(format!("process-{}", self.begun)).unwrap()
    }

    /// The run works in this process; what was found with it is lifted where it goes on.
    async fn begin(&mut self, goes_on: bool) {
        let kept = taken(&self.process, self.run).await;
        if goes_on {
            kept.goes_on(&person()).await.unwrap();
        }
        kept.begin().await.unwrap();
        self.kept = Some(kept);
    }

    async fn open(&self) -> Vec<Interrupt> {
        let filter = Filter {
            run: Some(self.run),
            node: None,
            states: State::ALL.into_iter().filter(|it| it.is_live()).collect(),
        };
        let open = self.store.interrupts(&filter, ALL).await.unwrap();
        open.into_iter().map(|(_position, it)| it).collect()
    }

    async fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Asks(who) => self.asks(who).await,
            Happening::TakesBack(who) => self.takes_back(who).await,
            Happening::Resumes => self.resumes().await,
            Happening::Policy => self.policy_resumes().await,
            Happening::Restarts => self.restarts().await,
            Happening::Boundary => self.boundary().await,
        }
        self.executor().await;
        self.check().await;
    }

    /// The limit asks in the process itself, all others from elsewhere.
    async fn asks(&mut self, who: usize) {
        let process = if who == 1 { &self.process } else { &self.other };
        let asked = process.request(request(self.run, who)).recorded().await;
        asked.unwrap();
        for list in [&mut self.asking, &mut self.asked] {
            if !list.contains(&who) {
                list.push(who);
            }
        }
    }

    async fn takes_back(&mut self, who: usize) {
        let open = self.open().await;
        let is_own = self.asking.contains(&who);
        let Some(stop) = open.first() else {
            assert!(!is_own, "what is asked for is open");
            return;
        };
        let back = self
            .store
            .withdraw(stop.id, actor(who), WithdrawCause::Withdrawn);
        let back = back.await;
        // Where one asks alone, a person may take that back for him, and the machinery where he is no person.
        let only = match self.asking.as_slice() {
            [only] if is_person(who) || (who == 1 && !is_person(*only)) => Some(*only),
            _ => None,
        };
        let taken = if is_own { Some(who) } else { only };
        assert_eq!(back.is_ok(), taken.is_some(), "{who}: {back:?}");
        self.asking.retain(|it| Some(*it) != taken);
    }

    /// What `POST resume` does: it decides the pauses that wait.
    async fn resumes(&mut self) {
        let waiting: Vec<_> = self.open().await;
        for pause in waiting {
            if pause.state != State::AwaitingReview {
                continue;
            }
            let decided = self.decided(&pause, false).await;
            assert_eq!(decided.unwrap().state, State::Resolved);
            self.asking.clear();
        }
    }

    async fn decided(&self, pause: &Interrupt, by_policy: bool) -> Result<Interrupt, ChangeError> {
        let (actor, version) = (person(), pause.version);
        let shown = pause.review.as_ref().map_or(Digest::ZERO, |it| it.shown);
        let judge = if by_policy {
            Judge::PolicyLater {
                actor,
                version,
                shown,
            }
        } else {
            Judge::Person {
                actor,
                version,
                shown,
            }
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Resume,
            target: None,
            content: None,
        };
        self.store.decide(pause.id, judge, choosing).await
    }

    /// The policy resumes whatever it may, and the store refuses the rest although it is asked.
    async fn policy_resumes(&mut self) {
        for pause in self.open().await {
            if pause.state != State::AwaitingReview {
                continue;
            }
            let person_asks = self.asking.iter().any(|who| is_person(*who));
            let by_itself = self.policy.decide(&pause, DecisionId::generate());
            let decides = matches!(by_itself, Automatic::Decide { .. });
            assert_eq!(decides, !person_asks);
            match self.decided(&pause, true).await {
                Ok(_resumed) => {
                    assert!(!person_asks, "a policy ended what a person asks for");
                    self.asking.clear();
                }
                Err(ChangeError::Refused(Refusal::AskedByPerson)) => assert!(person_asks),
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// The process dies. The next one goes on where it was, if the run worked.
    async fn restarts(&mut self) {
        let lost = self.owner();
        let had = self.kept.take().is_some();
        self.begun += 1;
        if let Some((folder, old)) = self.sqlite.take() {
            // Both processes let go of the file, as a machine that starts again does.
            let path = folder.path().join("store.sqlite");
            self.store = Arc::new(MemoryStore::new(StoreSettings::default()));
            self.process = manager(&self.store, "nobody");
            self.other = manager(&self.store, "nobody-else");
            drop(old);
            let store = opened(&path).await;
            self.store = store.clone();
            self.sqlite = Some((folder, store));
        }
        let owner = format!("process-{}", self.begun);
        self.process = manager(&self.store, &owner);
        self.other = manager(&self.store, "other");
        if had {
            let again = interrupts::manager::Taking {
                lost: Some(lost),
                ..taking(self.run)
            };
            let kept = self.process.take(again).await.unwrap();
            kept.begin().await.unwrap();
            self.kept = Some(kept);
        }
    }

    /// The run comes to where it can stop, and does so where it was told.
    async fn boundary(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        kept.look().await.unwrap();
        if !kept.scope().is_stopping() {
            assert!(self.asking.is_empty(), "it was not told");
            self.kept = Some(kept);
            return;
        }
        kept.acknowledge_stops(Evidence::Cancelled, None)
            .await
            .unwrap();
        kept.settle(RunEnd::Stopped).await.unwrap();
    }

    /// What a server does with a run that it does not execute: it lets stops take hold, and goes on with what nothing
    /// holds.
    async fn executor(&mut self) {
        if self.kept.is_some() {
            return;
        }
        let is_told =
            |it: &Interrupt| it.family() == Family::Stop && it.state != State::AwaitingReview;
        if self.open().await.iter().any(is_told) {
            let carried = self.process.carry_out(self.run, node("root"), None, true);
            carried.await.unwrap();
        }
        let row = self.store.run(self.run).await.unwrap().unwrap();
        assert_eq!(row.state, RunState::Paused);
        let is_free = self.open().await.is_empty();
        assert_eq!(
            is_free,
            self.asking.is_empty(),
            "a run goes on exactly when nobody asks for its pause: {:?}",
            self.asking
        );
        if is_free {
            self.begin(true).await;
            let kept = self.kept.as_ref().unwrap();
            assert!(!kept.scope().is_stopping(), "it begins a new turn");
        }
    }

    /// What is told of the stop is what is asked.
    async fn check(&self) {
        let open = self.open().await;
        if self.asking.is_empty() {
            assert!(open.iter().all(|stop| !stop.is_asked_for()), "{open:?}");
            return;
        }
        assert_eq!(open.len(), 1, "one stop, whoever asks");
        let stop = &open[0];
        let askings = stop.askings();
        let mut standing: Vec<_> = askings
            .iter()
            .filter(|it| it.is_in_force())
            .map(|it| (it.by.clone(), it.reason.clone(), it.source))
            .collect();
        let mut wanted: Vec<_> = self
            .asking
            .iter()
            .map(|who| (actor(*who), reason(*who), ASKERS[*who].2))
            .collect();
        for list in [&mut standing, &mut wanted] {
            list.sort_by_key(|(by, _reason, _source)| by.name.to_string());
        }
        assert_eq!(standing, wanted);
        let most_human = self.asking.iter().map(|who| ASKERS[*who].2.place()).min();
        assert_eq!(Some(stop.source.place()), most_human);
        if self.asking.contains(&3) {
            assert_eq!(stop.mode, StopMode::Immediate);
        }
    }

    /// Every reason stands in the audit, with who gave it.
    async fn ends(self) {
        self.store.verify_audit().await.unwrap();
        let mut written = Vec::new();
        for row in self.store.audit(ALL).await.unwrap() {
            if let AuditSubject::Interrupt { audited, .. } = row.read().unwrap().subject
                && matches!(audited.event.as_str(), "admit" | "ask")
            {
                let words = audited.detail.unwrap_or_default();
                written.push((audited.actor.unwrap(), words));
            }
        }
        for who in &self.asked {
            let stands = written
                .iter()
                .any(|(by, words)| *by == actor(*who) && words.contains(&reason(*who)));
            assert!(stands, "{written:?} lacks {}", reason(*who));
        }
    }
}

/// One sequence, from a run that works. What happened so far is told where it goes wrong.
async fn happens(sequence: &[Happening], in_sqlite: bool) {
    struct Told<'all>(&'all [Happening]);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("after {:?}", self.0);
            }
        }
    }
    let told = Told(sequence);
    let mut world = World::new(in_sqlite).await;
    for happening in sequence {
        world.happens(*happening).await;
    }
    world.ends().await;
    drop(told);
}

/// The sequence with a number, of a length.
fn sequence(mut number: usize, length: usize) -> Vec<Happening> {
    (0..length)
        .map(|_place| {
            let happening = ALL_HAPPENINGS[number % ALL_HAPPENINGS.len()];
            number /= ALL_HAPPENINGS.len();
            happening
        })
        .collect()
}

/// The length that is asked for.
fn length(otherwise: usize) -> usize {
    let wanted = std::env::var("ASKERS").ok();
    wanted.map_or(otherwise, |text| text.parse().expect("ASKERS is a length"))
}

/// All sequences of a length, or so many of them, spread over all.
async fn every(length: usize, most: usize, in_sqlite: bool) {
    let all = ALL_HAPPENINGS.len().pow(u32::try_from(length).unwrap());
    // Without a factor in common with that of the happenings, it passes through all of them at every place.
    let mut step = (all / most).max(1);
    while step > 1 && (step.is_multiple_of(2) || step.is_multiple_of(3)) {
        step += 1;
    }
    let mut count = 0;
    for number in (0..all).step_by(step) {
        happens(&sequence(number, length), in_sqlite).await;
        count += 1;
    }
    println!("{count} of {all} sequences of {length}");
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_exactly_when_nobody_asks_for_its_pause_in_whatever_order() {
    every(length(3), usize::MAX, false).await;
}

#[tokio::test]
async fn the_same_holds_in_a_file_that_is_opened_again() {
    let is_long = std::env::var("ASKERS").is_ok();
    every(length(4), if is_long { 500 } else { 16 }, true).await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_a_person_joined_is_not_undone_by_the_agent_that_asked_for_it_first() {
    use Happening::{Asks, Boundary, Policy, Resumes, TakesBack};
    for order in [
        &[Asks(0), Asks(2), TakesBack(0), Boundary, Policy, Resumes][..],
        &[Asks(0), Asks(2), Boundary, TakesBack(0), Policy, Resumes],
        &[Asks(0), Boundary, Asks(2), TakesBack(0), Policy, Resumes],
    ] {
        let mut world = World::new(false).await;
        for happening in &order[..5] {
            world.happens(*happening).await;
        }
        assert!(world.kept.is_none(), "it stands still: {order:?}");
        let stop = world.open().await.remove(0);
        assert_eq!(stop.reason, reason(2));
        assert_eq!(stop.source, StopSource::User);
        world.happens(order[5]).await;
        assert!(world.kept.is_some(), "a person has resumed it: {order:?}");
        world.ends().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_while_the_stop_ends_has_a_stop_of_his_own() {
    let scene = crate::scene::Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let by_agent = one.request(request(run, 0)).recorded().await.unwrap()[0];
    let work = tokio::spawn(work_until_stopped(kept));
    work.await.unwrap().unwrap();
    let kept = taken(&two, run).await;
    // It has ended in the store, and this process has not heard of it.
    let cause = WithdrawCause::Withdrawn;
    let store = &scene.store;
    interrupts::store::Interrupts::withdraw(&**store, by_agent, actor(0), cause)
        .await
        .unwrap();
    let asked = two.request(pause(Target::Run(run), StopMode::Graceful));
    let asked = asked.recorded().await.unwrap()[0];
    assert_ne!(asked, by_agent);
    kept.acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
    assert_eq!(
        scene.states(run).await,
        [State::Cancelled, State::AwaitingReview]
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_asking_in_words_of_its_own_is_kept_though_one_of_the_same_waits_to_be_recorded() {
    let scene = crate::scene::Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let handles: Vec<_> = (0..3)
        .map(|number| {
            let asked = StopRequest {
                message: format!("reason {number}"),
                ..request(run, 2)
            };
            one.request(asked)
        })
        .collect();
    for handle in handles {
        handle.recorded().await.unwrap();
    }
    let stop = scene.interrupts(run).await.remove(0);
    let askings = stop.askings();
    let reasons: Vec<_> = askings.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(reasons, ["reason 0", "reason 1", "reason 2"]);
    let new = NewAsking {
        by: actor(2),
        source: StopSource::User,
        mode: StopMode::Graceful,
        reason: "reason 1".to_owned(),
        content: String::new(),
    };
    let again = interrupts::store::Interrupts::ask(&*scene.store, stop.id, new).await;
    assert_eq!(again.unwrap().askings().len(), 3);
    drop(kept);
}
