//! A store with a clock that stands still, a run in it, and short ways to say what happens.

use std::sync::{Arc, Mutex};

use interrupt_router::{
    DecisionId, EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::Clock;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, Scope,
    Verdict,
};
use interrupts::store::{Admitted, Deciders, Delivery, NewRun, Page, RaisedQuestion, Run, Store};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use store::{MemoryStore, SqliteStore, StoreSettings};
#[cfg(feature = "postgres")]
use store::{PostgresLocation, PostgresStore};
use tempfile::TempDir;

use crate::third::{Third, ThirdStore};

/// Everything of a list.
pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 100_000,
};

/// A clock that a test moves.
#[derive(Debug)]
pub(crate) struct StillClock {
    now: Mutex<Timestamp>,
    step: Mutex<SignedDuration>,
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        let mut now = self.now.lock().unwrap();
        let read = *now;
        *now += *self.step.lock().unwrap();
        read
    }
}

/// A store, its clock and its folder.
pub(crate) struct Scene<S> {
    pub(crate) store: Arc<S>,
    pub(crate) clock: Arc<StillClock>,
    pub(crate) folder: Option<TempDir>,
}

pub(crate) fn still_clock() -> Arc<StillClock> {
    Arc::new(StillClock {
        now: Mutex::new(Timestamp::from_second(1_000_000).unwrap()),
        step: Mutex::new(SignedDuration::ZERO),
    })
}

pub(crate) fn settings(clock: &Arc<StillClock>) -> StoreSettings {
    StoreSettings {
        clock: Some(clock.clone()),
        ..StoreSettings::default()
    }
}

impl Scene<MemoryStore> {
    pub(crate) fn in_memory() -> Self {
        let clock = still_clock();
        Self {
            store: Arc::new(MemoryStore::new(settings(&clock))),
            clock,
            folder: None,
        }
    }
}

impl Scene<SqliteStore> {
    pub(crate) async fn in_sqlite() -> Self {
        let clock = still_clock();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let store = SqliteStore::open(path, settings(&clock)).await.unwrap();
        Self {
            store: Arc::new(store),
            clock,
            folder: Some(folder),
        }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(self) -> Self {
        let Self {
            store,
            clock,
            folder,
        } = self;
        Arc::into_inner(store).unwrap().close().await.unwrap();
        let path = folder.as_ref().unwrap().path().join("store.sqlite");
        let store = SqliteStore::open(path, settings(&clock)).await.unwrap();
        Self {
            store: Arc::new(store),
            clock,
            folder,
        }
    }
}

impl Scene<ThirdStore> {
    pub(crate) fn in_third() -> Self {
        let clock = still_clock();
        Self {
            store: Arc::new(Third::open(settings(&clock)).unwrap()),
            clock,
            folder: None,
        }
    }
}

/// A place in the server that the tests have, which no other store has; none where they have no server.
#[cfg(feature = "postgres")]
pub(crate) fn own_place() -> Option<PostgresLocation> {
    Some(tests::postgres::own_store()?.parse().unwrap())
}

#[cfg(feature = "postgres")]
impl Scene<PostgresStore> {
    pub(crate) async fn in_postgres() -> Option<Self> {
        let clock = still_clock();
        let place = own_place()?;
        let store = PostgresStore::open(&place, settings(&clock)).await.unwrap();
        Some(Self {
            store: Arc::new(store),
            clock,
            folder: None,
        })
    }
}

impl<S> Scene<S> {
    pub(crate) fn now(&self) -> Timestamp {
        *self.clock.now.lock().unwrap()
    }

    pub(crate) fn wait(&self, seconds: i64) {
        let mut now = self.clock.now.lock().unwrap();
        *now += SignedDuration::from_secs(seconds);
    }

    /// From now on whoever reads the clock finds it later than whoever did before: only what one transaction did was
    /// done at one time.
    pub(crate) fn tells_transactions_apart(&self) {
        *self.clock.step.lock().unwrap() = SignedDuration::from_millis(1);
    }
}

impl<S: Store> Scene<S> {
    /// A run that is owned in epoch 1.
    pub(crate) async fn run(&self) -> Run {
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        let run = self.store.create_run(new).await.unwrap();
        self.store
            .own_run(run.id, delivery("owner", 1_000))
            .await
            .unwrap()
    }

    pub(crate) async fn admitted(&self, admission: Admission) -> Interrupt {
        match self.store.admit(admission).await.unwrap() {
            Admitted::New(interrupt) => interrupt,
            Admitted::Known(interrupt) => panic!("{} was known", interrupt.id),
        }
    }

    /// A question that an agent raised by itself, in epoch 1.
    pub(crate) async fn raised(&self, admission: Admission) -> Interrupt {
        let raised = RaisedQuestion {
            admission,
            delivery: delivery("worker", 60),
            deciders: Deciders::default(),
        };
        self.store.raise(raised).await.unwrap().into_interrupt()
    }

    /// A question that waits for a person.
    pub(crate) async fn awaiting(&self, admission: Admission) -> Interrupt {
        let raised = self.raised(admission).await;
        self.store
            .require_review(raised.id, raised.epoch, shown())
            .await
            .unwrap()
    }

    pub(crate) async fn interrupt(&self, id: InterruptId) -> Interrupt {
        self.store.interrupt(id).await.unwrap().unwrap()
    }

    /// The transitions that the audit has of an interrupt, its admission included.
    pub(crate) async fn audited(&self, id: InterruptId) -> Vec<String> {
        let audited = self.audited_at(id).await.into_iter();
        audited.map(|(_at, event)| event).collect()
    }

    /// The transitions that the audit has of an interrupt, each with its time.
    pub(crate) async fn audited_at(&self, id: InterruptId) -> Vec<(Timestamp, String)> {
        let rows = self.store.audit(ALL).await.unwrap();
        rows.iter()
            .filter_map(|row| {
                let entry = row.read().unwrap();
                match entry.subject {
                    interrupts::store::AuditSubject::Interrupt {
                        interrupt, audited, ..
                    } if interrupt == id => Some((entry.at, audited.event)),
                    _ => None,
                }
            })
            .collect()
    }
}

pub(crate) fn route(name: &str) -> RouteName {
    RouteName::new(name).unwrap()
}

pub(crate) fn key(text: impl Into<String>) -> IdempotencyKey {
    IdempotencyKey::new(text).unwrap()
}

pub(crate) fn event(text: &str) -> EventId {
    EventId::try_from(text.to_owned()).unwrap()
}

pub(crate) fn actor(role: Role) -> Actor {
    Actor {
        name: ActorName::new("ada").unwrap(),
        role,
    }
}

pub(crate) fn shown() -> Digest {
    Digest::of(b"shown")
}

pub(crate) fn delivery(owner: &str, seconds: i64) -> Delivery {
    Delivery {
        owner: OwnerName::new(owner).unwrap(),
        lease: SignedDuration::from_secs(seconds),
        lost: None,
    }
}

pub(crate) fn asked() -> Evidence {
    Evidence::Request {
        content: r#"{"asked":true}"#.to_owned(),
        form: None,
    }
}

/// A question of a run's root, under a key, that waits for ever.
pub(crate) fn question(run: &Run, text: impl Into<String>) -> Admission {
    Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: NodeId::root(),
        kind: KindName::new("WORKER").unwrap(),
        origin: route("ORIGIN"),
        routes: vec![route("ORIGIN"), route("OTHER"), route("THIRD")],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: actor(Role::Requester),
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "which of the two?".to_owned(),
        content: r#"{"question":"which?"}"#.to_owned(),
        key: key(text),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 3,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

/// A supervisor's event for a run's root, with a target.
pub(crate) fn rerouting(run: &Run, text: &str, target: &str) -> Admission {
    Admission {
        reroute: Some(route(target)),
        ..question(run, text)
    }
}

pub(crate) fn choosing(target: Option<&str>) -> Choosing {
    Choosing {
        id: DecisionId::generate(),
        verdict: if target.is_some() {
            Verdict::Reroute
        } else {
            Verdict::Respond
        },
        target: target.map(route),
        content: Some(r#"{"answer":1}"#.to_owned()),
    }
}

pub(crate) fn person(interrupt: &Interrupt) -> Judge {
    Judge::Person {
        actor: actor(Role::Reviewer),
        version: interrupt.version,
        shown: shown(),
    }
}
