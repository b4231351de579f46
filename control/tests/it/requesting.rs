//! Stops and reroute events over a store in memory: what is requested twice is one, what has ended takes nothing new, and
//! the policy sets the terms.

use control::{Caller, Code, Control, NotDone, RequestStop, StopOrder, Target, Withdraw};
use interrupt_router::{EventId, InterruptType, NodeId, RunId, StopMode};
use interrupts::catalogue::{Catalogue, CatalogueBook, NamedEvent};
use interrupts::life::{Interrupt, Role, RunState, Scope};
use interrupts::manager::StopNote;
use interrupts::policy::{Policy, Vocabulary};
use interrupts::store::{Admitted, Delivery, NewRun, Run, Runs as _};
use interrupts::{ActorName, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use store::{MemoryStore, StoreSettings};

use crate::commanding::caller;

const CLERK: &str = "CLERK";

/// A store with a run of a desk, which has one clerk.
struct Desk {
    store: MemoryStore,
    policy: Policy,
    book: CatalogueBook,
    catalogue: Catalogue,
    run: Run,
    node: NodeId,
    kind: KindName,
}

impl Desk {
    async fn open(policy: &str) -> Self {
        let store = MemoryStore::new(StoreSettings::default());
        let new = NewRun {
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
            root: None,
        };
        let run = store.create_run(new).await.unwrap();
        let catalogue = json!({
            "name": "desk",
            "record": "DeskRouting",
            "kinds": [{"name": CLERK, "origin": "ORDERS", "asks": ["HUMAN_REVIEW"]}],
            "routes": [{
                "name": "ORDERS", "field": "orders", "request": "Order", "description": "An order.",
                "schema": {"type": "object", "required": ["orders"],
                    "properties": {"orders": {"type": "object", "properties": {}}}},
            }],
        });
        Self {
            store,
            policy: Policy::from_toml(policy, &Vocabulary::default()).unwrap(),
            book: CatalogueBook::new([]),
            catalogue: serde_json::from_value(catalogue).unwrap(),
            run,
            node: NodeId::new("desk/clerk").unwrap(),
            kind: KindName::new(CLERK).unwrap(),
        }
    }

    fn control(&self) -> Control<'_> {
        Control {
            store: &self.store,
            catalogues: &self.book,
            policy: &self.policy,
            now: Timestamp::now(),
        }
    }

    fn clerk(&self) -> Target<'_> {
        Target {
            run: &self.run,
            node: &self.node,
            kind: &self.kind,
            catalogue: Some(&self.catalogue),
        }
    }

    async fn stop(&self, order: &StopOrder, key: &str) -> Result<Admitted, NotDone> {
        self.stop_by(&caller(Role::Supervisor, None), order, key)
            .await
    }

    async fn stop_by(
        &self,
        by: &Caller,
        order: &StopOrder,
        key: &str,
    ) -> Result<Admitted, NotDone> {
        let key = IdempotencyKey::new(key).unwrap();
        let (of, control) = (self.clerk(), self.control());
        control.stop(&of, order, by, key).await
    }

    async fn publish(&self, id: &str, reason: &str) -> Result<Admitted, NotDone> {
        let event = NamedEvent {
            event_id: EventId::try_from(id.to_owned()).unwrap(),
            timestamp: Timestamp::UNIX_EPOCH,
            node_id: self.node.clone(),
            source_agent_type: self.kind.clone(),
            reroute_to_agent_type: Some(RouteName::new("ORDERS").unwrap()),
            interrupt_type: InterruptType::HumanReview,
            reason: reason.to_owned(),
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision: String::new(),
            answer_form: None,
        };
        let (to, control) = (self.clerk(), self.control());
        control
            .publish(&to, &event, &caller(Role::Supervisor, None))
            .await
    }

    /// The run has ended, as a process that owned it says.
    async fn end(&mut self) {
        let owner = Delivery {
            owner: OwnerName::new("owner").unwrap(),
            lease: SignedDuration::from_secs(60),
            lost: None,
        };
        let run = self.store.own_run(self.run.id, owner).await.unwrap();
        for state in [RunState::Running, RunState::Failed] {
            let change = self.store.change_run(run.id, run.epoch, state, None);
            self.run = change.await.unwrap();
        }
    }
}

fn pause() -> StopOrder {
    StopOrder::default()
}

fn new(admitted: Result<Admitted, NotDone>) -> Interrupt {
    match admitted.unwrap() {
        Admitted::New(interrupt) => interrupt,
        Admitted::Known(interrupt) => panic!("{interrupt:?}"),
    }
}

fn known(admitted: Result<Admitted, NotDone>) -> Interrupt {
    match admitted.unwrap() {
        Admitted::Known(interrupt) => interrupt,
        Admitted::New(interrupt) => panic!("{interrupt:?}"),
    }
}

fn refused(admitted: Result<Admitted, NotDone>) -> Code {
    match admitted {
        Err(NotDone::Refused(refusal)) => {
            assert!(!refusal.hint().is_empty(), "{refusal:?}");
            refusal.code()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stop_joins_the_one_that_is_under_way_and_makes_it_harder() {
    let desk = Desk::open("").await;
    let first = new(desk.stop(&pause(), "first").await);
    let harder = StopOrder {
        mode: StopMode::Immediate,
        ..pause()
    };
    let raised = known(desk.stop(&harder, "second").await);
    assert_eq!((raised.id, raised.mode), (first.id, StopMode::Immediate));
    // The same request again raises nothing.
    let again = known(desk.stop(&harder, "second").await);
    assert_eq!(again.version, raised.version);
}

#[tokio::test]
async fn what_was_requested_before_is_answered_after_the_end_and_nothing_new_is() {
    let mut desk = Desk::open("").await;
    let stop = new(desk.stop(&pause(), "first").await);
    let event = new(desk.publish("evt-1", "look there").await);
    desk.end().await;
    assert_eq!(known(desk.stop(&pause(), "first").await).id, stop.id);
    assert_eq!(
        known(desk.publish("evt-1", "look there").await).id,
        event.id
    );
    assert_eq!(
        refused(desk.stop(&pause(), "later").await),
        Code::RunFinished
    );
    assert_eq!(
        refused(desk.publish("evt-2", "look there").await),
        Code::RunFinished
    );
}

#[tokio::test]
async fn what_cannot_be_requested_is_refused_with_its_code() {
    let mut desk = Desk::open("").await;
    let whole = StopOrder {
        interrupt_type: InterruptType::Prune,
        scope: Scope::Run,
        ..pause()
    };
    let question = StopOrder {
        interrupt_type: InterruptType::HumanReview,
        ..pause()
    };
    assert_eq!(refused(desk.stop(&whole, "whole").await), Code::Shape);
    assert_eq!(refused(desk.stop(&question, "question").await), Code::Shape);
    new(desk.publish("evt-1", "look there").await);
    let other = desk.publish("evt-1", "another reason").await;
    assert_eq!(refused(other), Code::IdempotencyConflict);
    desk.kind = KindName::new("STRANGER").unwrap();
    assert_eq!(
        refused(desk.publish("evt-3", "look there").await),
        Code::Shape
    );
}

#[tokio::test]
async fn an_agent_stops_agents_within_its_reach_withdraws_its_own_stop_and_ends_no_whole_run() {
    let mut desk = Desk::open("").await;
    let stop = |scope| StopOrder {
        interrupt_type: InterruptType::Stop,
        scope,
        ..pause()
    };
    let (agent, run) = (stop(Scope::Agent), stop(Scope::Run));
    let bound = |run| caller(Role::Requester, Some(run));
    let stranger = bound(RunId::generate());
    let beyond = desk.stop_by(&stranger, &agent, "beyond").await;
    assert_eq!(refused(beyond), Code::AgentNotFound);
    let own = bound(desk.run.id);
    let whole = desk.stop_by(&own, &run, "whole").await;
    assert_eq!(refused(whole), Code::Forbidden);
    let interrupt = new(desk.stop_by(&own, &agent, "own").await).id;
    let (control, asking) = (desk.control(), None);
    let mut other = own.clone();
    other.actor.name = ActorName::new("another agent").unwrap();
    let withdraw = Withdraw { interrupt, asking };
    let of_another = control.carry_out(&other, withdraw.clone()).await;
    assert!(matches!(of_another, Err(NotDone::Refused(it)) if it.code() == Code::Forbidden));
    control.carry_out(&own, withdraw).await.unwrap();
    desk.node = NodeId::root();
    for order in [agent, run] {
        let ending = desk.stop_by(&own, &order, "ending").await;
        assert_eq!(refused(ending), Code::Forbidden);
    }
}

#[tokio::test]
async fn the_policy_sets_how_long_a_graceful_stop_may_take() {
    let grace = "[default]\ngrace = \"30s\"\n";
    let desk = Desk::open(grace).await;
    let order = StopOrder {
        limit_ms: Some(500),
        ..pause()
    };
    let stop = new(desk.stop(&order, "first").await);
    let note: StopNote = serde_json::from_str(&stop.content).unwrap();
    assert_eq!(note.limit_ms, Some(30_000));
    let desk = Desk::open("").await;
    let stop = new(desk.stop(&order, "first").await);
    let note: StopNote = serde_json::from_str(&stop.content).unwrap();
    assert_eq!(note.limit_ms, Some(500));
}

#[tokio::test]
async fn who_is_not_there_or_out_of_reach_cannot_be_stopped() {
    let desk = Desk::open("").await;
    let stop = RequestStop {
        run: desk.run.id,
        node: desk.node.clone(),
        order: StopOrder::default(),
        key: None,
    };
    for (role, bound, code) in [
        (Role::Supervisor, None, Code::AgentNotFound),
        (Role::Requester, Some(RunId::generate()), Code::RunNotFound),
        (Role::Reviewer, None, Code::Forbidden),
    ] {
        let by = caller(role, bound);
        assert_eq!(
            refused(desk.control().carry_out(&by, stop.clone()).await),
            code
        );
    }
}
