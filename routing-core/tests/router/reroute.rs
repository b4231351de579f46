//! Reroutes: stored, superseded, bound, consumed once, expired.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::bus::{Admission as _, BusEvent, NodeStatus, PublishRefusal};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{
    DecidedBy, DecisionError, DecisionPart, Decisions as _, Proposal, RecordedDecision,
};
use interrupt_router::memory::{InMemoryRouter, RunningAgents};
use interrupt_router::model::Message;
use interrupt_router::reroute::{CancelCause, RerouteChange, RerouteLimits, RerouteState};
use interrupt_router::review::Answer;
use interrupt_router::{DecisionId, EventId, InterruptId, NodeId, RunId, Verdict};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::domain::{Desk, Person, event, node};

/// Editors at work in the run that is set.
struct Office(Mutex<RunId>);

#[async_trait]
impl RunningAgents<Person> for Office {
    fn find(&self, _node: &NodeId) -> Option<NodeStatus<Person>> {
        Some(NodeStatus {
            run: *self.0.lock().unwrap(),
            kind: Person::Editor,
            running: true,
            status: "running",
        })
    }

    async fn send(&self, _run: RunId, _node: &NodeId, _message: Message) -> bool {
        true
    }
}

/// A store whose reroutes wait for a minute and two turns, with a clock that stands where it is set.
struct Fixture {
    router: InMemoryRouter<Person>,
    office: Arc<Office>,
    seconds: Arc<AtomicI64>,
    run: RunId,
}

fn fixture() -> Fixture {
    let run = RunId::generate();
    let office = Arc::new(Office(Mutex::new(run)));
    let seconds = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&seconds);
    let limits = RerouteLimits {
        lifetime: SignedDuration::from_secs(60),
        ignored_turns: 2,
    };
    let router = InMemoryRouter::new(Arc::clone(&office) as _)
        .with_limits(limits)
        .with_time(move || Timestamp::from_second(clock.load(Ordering::Relaxed)).unwrap());
    Fixture {
        router,
        office,
        seconds,
        run,
    }
}

fn id(text: &str) -> EventId {
    text.to_owned().try_into().unwrap()
}

fn proposal(interrupt: InterruptId, decision: DecisionId, bound: &str) -> Proposal<Desk> {
    Proposal {
        interrupt,
        matter: DecisionPart::Interrupt,
        decision,
        verdict: Verdict::Approve,
        answer: Answer::default(),
        decided_by: DecidedBy::Person,
        answerer: None,
        target: Desk::Editor,
        is_chosen: false,
        bound: Some(id(bound)),
    }
}

impl Fixture {
    /// Publishes an event; the older one that it replaced.
    async fn publish(&self, event: InterruptRequestEvent<Person>) -> Option<EventId> {
        let changes = self.router.admit(&event).await.unwrap();
        let replaced = changes.into_iter().map(|change| match change {
            BusEvent::RerouteChanged { event, .. } => event,
            other @ BusEvent::InterruptRequested(_) => panic!("{other:?}"),
        });
        replaced.last()
    }

    async fn bind(&self, run: RunId, at: &str, interrupt: InterruptId) -> Option<String> {
        let bound = self.router.bind(run, &node(at), interrupt).await.unwrap();
        bound.map(|event| event.event_id.to_string())
    }

    fn state(&self, event: &str) -> RerouteState {
        self.router.state(&id(event)).unwrap()
    }

    async fn decide(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
        bound: &str,
    ) -> Result<RecordedDecision<Desk>, DecisionError> {
        let proposal = proposal(interrupt, decision, bound);
        self.router.decide(proposal).await
    }
}

#[tokio::test]
async fn an_id_with_other_content_is_refused() {
    let it = fixture();
    it.publish(event("e1", "root/editor", Some(Desk::Writer)))
        .await;
    let other = event("e1", "root/editor", Some(Desk::Publisher));
    assert!(matches!(
        it.router.admit(&other).await,
        Err(PublishRefusal::OtherContent { .. })
    ));
}

#[tokio::test]
async fn a_newer_event_supersedes_a_pending_one_and_waits_beside_a_bound_one() {
    let (it, interrupt) = (fixture(), InterruptId::generate());
    it.publish(event("e1", "root/editor", None)).await;
    let second = event("e2", "root/editor", Some(Desk::Writer));
    assert_eq!(it.publish(second).await, Some(id("e1")));
    let bound = it.bind(it.run, "root/editor", interrupt).await;
    assert_eq!(bound.as_deref(), Some("e2"));
    assert_eq!(it.publish(event("e3", "root/editor", None)).await, None);
    assert_eq!(it.state("e2"), RerouteState::Bound { interrupt });
    // Another interrupt of the node while one is bound leaves the third where it is.
    let another = InterruptId::generate();
    assert_eq!(it.bind(it.run, "root/editor", another).await, None);
    assert_eq!(it.state("e3"), RerouteState::Pending);
}

#[tokio::test]
async fn a_released_reroute_is_pending_again_unless_a_newer_one_waits() {
    let (it, interrupt) = (fixture(), InterruptId::generate());
    it.publish(event("e1", "root/editor", None)).await;
    it.bind(it.run, "root/editor", interrupt).await;
    it.router.release(interrupt);
    assert_eq!(it.state("e1"), RerouteState::Pending);

    it.bind(it.run, "root/editor", interrupt).await;
    it.publish(event("e2", "root/editor", None)).await;
    it.router.release(interrupt);
    assert_eq!(it.state("e1"), RerouteState::Superseded { by: id("e2") });
}

#[tokio::test]
async fn a_reroute_expires_is_ignored_and_ends_with_its_node() {
    let it = fixture();
    it.publish(event("late", "root/a", None)).await;
    it.seconds.store(60, Ordering::Relaxed);
    let interrupt = InterruptId::generate();
    assert_eq!(it.bind(it.run, "root/a", interrupt).await, None);
    assert_eq!(it.state("late"), RerouteState::Expired);

    it.publish(event("ignored", "root/b", None)).await;
    assert_eq!(it.router.turn_ignored(it.run, &node("root/b")), None);
    assert!(it.router.turn_ignored(it.run, &node("root/b")).is_some());
    let cause = CancelCause::Ignored;
    assert_eq!(it.state("ignored"), RerouteState::Cancelled { cause });

    it.publish(event("ended", "root/c", None)).await;
    let ended = it.router.node_ended(it.run, &node("root/c"));
    assert_eq!(ended, [id("ended")]);
    let cause = CancelCause::NodeEnded;
    assert_eq!(it.state("ended"), RerouteState::Cancelled { cause });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_decisions_that_race_one_consumes_the_reroute() {
    for _ in 0..200 {
        let (it, interrupt) = (Arc::new(fixture()), InterruptId::generate());
        it.publish(event("e1", "root/editor", None)).await;
        it.bind(it.run, "root/editor", interrupt).await;
        let racers = std::iter::repeat_with(|| {
            let it = Arc::clone(&it);
            tokio::spawn(async move { it.decide(interrupt, DecisionId::generate(), "e1").await })
        });
        let mut decided = Vec::new();
        for racer in racers.take(8).collect::<Vec<_>>() {
            decided.push(racer.await.unwrap().unwrap().id);
        }
        decided.dedup();
        let [decision] = decided[..] else {
            panic!("{decided:?}")
        };
        let consumed = RerouteState::Consumed {
            interrupt,
            decision,
        };
        assert_eq!(it.state("e1"), consumed);
    }
}

#[tokio::test]
async fn only_its_own_node_in_its_own_run_takes_a_reroute() {
    let (it, interrupt) = (fixture(), InterruptId::generate());
    it.publish(event("e1", "root/editor", None)).await;
    let strangers = [(RunId::generate(), "root/editor"), (it.run, "root/writer")];
    for (run, at) in strangers {
        let (stranger, at_node) = (InterruptId::generate(), node(at));
        assert_eq!(it.bind(run, at, stranger).await, None);
        assert_eq!(it.router.turn_ignored(run, &at_node), None);
        assert_eq!(it.router.turn_ignored(run, &at_node), None);
        assert_eq!(it.router.node_ended(run, &at_node), []);
    }
    assert_eq!(it.state("e1"), RerouteState::Pending);

    // What is bound in one place keeps nobody elsewhere from binding.
    assert!(it.bind(it.run, "root/editor", interrupt).await.is_some());
    for (number, (run, at)) in strangers.into_iter().enumerate() {
        *it.office.0.lock().unwrap() = run;
        it.publish(event(&format!("theirs{number}"), at, None))
            .await;
        let bound = it.bind(run, at, InterruptId::generate()).await;
        assert!(bound.is_some(), "{at}");
    }
}

#[tokio::test]
async fn binding_and_consuming_again_change_nothing() {
    let (it, interrupt) = (fixture(), InterruptId::generate());
    let decision = DecisionId::generate();
    it.publish(event("e1", "root/editor", None)).await;
    for _ in 0..2 {
        let bound = it.bind(it.run, "root/editor", interrupt).await;
        assert_eq!(bound.as_deref(), Some("e1"));
    }
    for _ in 0..2 {
        let decided = it.decide(interrupt, decision, "e1").await.unwrap();
        assert_eq!(decided.reroute, Some(id("e1")));
    }
    let bound = it.bind(it.run, "root/editor", interrupt).await;
    assert_eq!(bound.as_deref(), Some("e1"), "a retry sees another target");
    let consumed = RerouteState::Consumed {
        interrupt,
        decision,
    };
    assert_eq!(it.state("e1"), consumed);

    // Once it is forgotten, another decision does not get it.
    it.router.forget(interrupt);
    let again = it.decide(interrupt, DecisionId::generate(), "e1").await;
    assert!(matches!(again, Err(DecisionError::RerouteGone { .. })));
}

#[tokio::test]
async fn what_has_waited_too_long_expires_once_and_is_not_superseded() {
    let it = fixture();
    it.publish(event("replaced", "root/b", None)).await;
    it.seconds.store(59, Ordering::Relaxed);
    assert_eq!(it.router.expire(), []);
    it.seconds.store(60, Ordering::Relaxed);
    assert_eq!(it.publish(event("newer", "root/b", None)).await, None);
    assert_eq!(it.state("replaced"), RerouteState::Expired);

    let interrupt = InterruptId::generate();
    it.publish(event("bound", "root/c", None)).await;
    it.bind(it.run, "root/c", interrupt).await;
    it.seconds.store(1_000, Ordering::Relaxed);
    assert_eq!(it.router.expire(), [id("newer")]);
    assert_eq!(it.router.expire(), []);
    assert_eq!(
        it.state("bound"),
        RerouteState::Bound { interrupt },
        "what an interrupt has taken does not expire"
    );
}

#[test]
fn only_a_pending_reroute_is_given_up_and_only_a_bound_one_used_or_released() {
    let (interrupt, decision) = (InterruptId::generate(), DecisionId::generate());
    let (by, cause) = (EventId::generate(), CancelCause::NodeEnded);
    let bound = RerouteState::Bound { interrupt };
    let table = [
        (RerouteChange::Bind(interrupt), Some(bound.clone()), None),
        (RerouteChange::Expire, Some(RerouteState::Expired), None),
        (
            RerouteChange::Supersede(by.clone()),
            Some(RerouteState::Superseded { by }),
            None,
        ),
        (
            RerouteChange::Cancel(cause),
            Some(RerouteState::Cancelled { cause }),
            None,
        ),
        (
            RerouteChange::Consume(decision),
            None,
            Some(RerouteState::Consumed {
                interrupt,
                decision,
            }),
        ),
        (RerouteChange::Release, None, Some(RerouteState::Pending)),
    ];
    for (change, of_pending, of_bound) in table {
        assert_eq!(
            RerouteState::Pending.after(change.clone()),
            of_pending,
            "{change:?}"
        );
        assert_eq!(bound.after(change.clone()), of_bound, "{change:?}");
    }
}

fn changes() -> impl Strategy<Value = RerouteChange> {
    prop_oneof![
        Just(RerouteChange::Bind(InterruptId::generate())),
        Just(RerouteChange::Consume(DecisionId::generate())),
        Just(RerouteChange::Release),
        Just(RerouteChange::Expire),
        Just(RerouteChange::Supersede(EventId::generate())),
        Just(RerouteChange::Cancel(CancelCause::Ignored)),
    ]
}

proptest! {
    #[test]
    fn a_final_state_takes_no_change_and_consuming_needs_a_binding(
        steps in proptest::collection::vec(changes(), 1..24),
    ) {
        let mut state = RerouteState::Pending;
        for change in steps {
            let before = state.clone();
            let consumes = matches!(change, RerouteChange::Consume(_));
            if let Some(after) = before.after(change) {
                prop_assert!(!before.is_final());
                let bound = matches!(before, RerouteState::Bound { .. });
                prop_assert!(!consumes || bound);
                state = after;
            }
        }
    }
}
