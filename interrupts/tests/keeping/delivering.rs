//! Questions and messages for nodes, and what becomes of those that cannot be delivered.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Evidence, ExpiryOutcome, Interrupt, Recurrence, ReviewChange, Role, Scope,
    State,
};
use interrupts::manager::{Deliveries, RunEnd, Target, Undeliverable};
use interrupts::store::{
    Deciders, Delivery, Interrupts as _, Messages as _, NewMessage, NodeActivity, NodeRow,
    Nodes as _, RaisedQuestion, StoredMessage,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};

use crate::scene::{Boxes, Scene, node, pause, person, taken, taking, taking_with};

fn question(run: RunId, node: &NodeId) -> Admission {
    let route = RouteName::new("ORCHESTRATOR").unwrap();
    Admission {
        id: InterruptId::generate(),
        run,
        node: node.clone(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: route.clone(),
        routes: vec![route.clone()],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("supervisor").unwrap(),
            role: Role::Supervisor,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "is this the right way?".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new(EventId::generate().as_str()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: 3,
        recurrence: Recurrence::Verbatim,
        reroute: Some(route),
    }
}

#[tokio::test(start_paused = true)]
async fn a_supervisors_question_reaches_the_box_of_its_node_once() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let boxes = Arc::new(Boxes::default());
    let kept = one.take(taking_with(run, boxes.clone())).await.unwrap();
    let worker = node("root/worker");
    let asked = scene.store.admit(question(run, &worker)).await.unwrap();
    // Several polls and heartbeats go by.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let id = asked.into_interrupt().id;
    let given: Vec<_> = boxes
        .questions
        .lock()
        .unwrap()
        .iter()
        .map(|q| q.id)
        .collect();
    assert_eq!(given, [id]);
    let held = scene.interrupts(run).await.remove(0);
    assert_eq!(held.state, State::Delivered);
    assert!(held.lease.is_some(), "its lease is renewed");
    drop(kept);

    // Whoever takes the run over is given it again, for the box died with its process.
    let boxes = Arc::new(Boxes::default());
    let mut takeover = taking_with(run, boxes.clone());
    takeover.lost = Some(OwnerName::new("one").unwrap());
    let two = scene.process("two");
    let _kept = two.take(takeover).await.unwrap();
    assert_eq!(boxes.questions.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_fails_is_tried_again_and_in_the_end_dead_lettered() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let boxes = Arc::new(Boxes::default());
    let not_now = Undeliverable::NotNow {
        reason: "the box is full".to_owned(),
    };
    boxes.refusals.lock().unwrap().push(not_now.clone());
    let _kept = one.take(taking_with(run, boxes.clone())).await.unwrap();
    let worker = node("root/worker");
    let first = scene.store.admit(question(run, &worker)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let first = first.into_interrupt().id;
    let delivered = scene.store.interrupt(first).await.unwrap().unwrap();
    assert_eq!(delivered.state, State::Delivered);
    assert_eq!(delivered.attempts, 2);
    assert_eq!(delivered.last_error.as_deref(), Some("the box is full"));
    assert_eq!(boxes.questions.lock().unwrap().len(), 1);

    boxes.refusals.lock().unwrap().extend(vec![not_now; 3]);
    let second = scene.store.admit(question(run, &worker)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let second = second.into_interrupt().id;
    let spent = scene.store.interrupt(second).await.unwrap().unwrap();
    assert_eq!(spent.state, State::DeadLettered);
    assert_eq!(boxes.questions.lock().unwrap().len(), 1);

    // An operator lets it be tried again, and now there is room.
    scene.store.redrive(second, person()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let again = scene.store.interrupt(second).await.unwrap().unwrap();
    assert_eq!(again.state, State::Delivered);
    assert_eq!(boxes.questions.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_for_a_node_that_has_ended_is_withdrawn() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let boxes = Arc::new(Boxes::default());
    boxes
        .refusals
        .lock()
        .unwrap()
        .push(Undeliverable::NodeEnded);
    let kept = one.take(taking_with(run, boxes)).await.unwrap();
    scene
        .store
        .admit(question(run, &node("root/worker")))
        .await
        .unwrap();
    kept.look().await.unwrap();
    assert_eq!(scene.states(run).await, [State::Cancelled]);
}

/// Deliveries that break on their first question, and take the others.
struct Breaking {
    boxes: Boxes,
    how: fn() -> Breaks,
    first: std::sync::atomic::AtomicBool,
}

enum Breaks {
    Panic,
    Hang,
}

#[async_trait]
impl Deliveries for Breaking {
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable> {
        if self.first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            match (self.how)() {
                Breaks::Panic => panic!("the box is broken"),
                Breaks::Hang => std::future::pending::<()>().await,
            }
        }
        self.boxes.question(interrupt).await
    }

    async fn message(&self, message: &StoredMessage) {
        self.boxes.message(message).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_panics_or_hangs_counts_as_failed_and_stops_neither_the_next_nor_a_stop() {
    for (how, error) in [
        (
            (|| Breaks::Panic) as fn() -> Breaks,
            "panicked: the box is broken",
        ),
        (|| Breaks::Hang, "took longer than 500ms"),
    ] {
        let scene = Scene::new();
        let one = scene.process("one");
        let run = scene.run().await;
        let deliveries = Arc::new(Breaking {
            boxes: Boxes::default(),
            how,
            first: true.into(),
        });
        let kept = one
            .take(taking_with(run, deliveries.clone()))
            .await
            .unwrap();
        let asked = question(run, &node("root/worker"));
        scene.store.admit(asked).await.unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        one.request(pause(Target::Run(run), StopMode::Graceful));
        assert!(kept.scope().is_stopping());
        tokio::time::sleep(Duration::from_secs(5)).await;
        let interrupts = scene.interrupts(run).await;
        let last_error = interrupts[0].last_error.clone().unwrap();
        assert!(last_error.contains(error), "{last_error}");
        assert_eq!(interrupts[0].state, State::Delivered);
        assert_eq!(deliveries.boxes.questions.lock().unwrap().len(), 1);
        assert_eq!(interrupts[1].state, State::Delivered);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_reach_their_node_in_order_from_where_the_workflow_had_read() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let worker = node("root/worker");
    let kept = taken(&one, run).await;
    let row = NodeRow {
        run,
        node: worker.clone(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        activity: NodeActivity::Running,
        takes_messages: true,
        turn: 1,
        step: 1,
        tokens: 0,
        since: Timestamp::UNIX_EPOCH,
        waits: None,
    };
    scene
        .store
        .put_nodes(run, kept.epoch(), vec![row])
        .await
        .unwrap();
    kept.begin().await.unwrap();
    drop(kept);
    let mut positions = Vec::new();
    for text in ["first", "second", "third"] {
        let message = NewMessage {
            run,
            node: worker.clone(),
            text: text.to_owned(),
            from: person(),
            key: IdempotencyKey::new(text).unwrap(),
        };
        positions.push(scene.store.send_message(message).await.unwrap().position);
    }
    let boxes = Arc::new(Boxes::default());
    let mut takeover = taking_with(run, boxes.clone());
    takeover.lost = Some(OwnerName::new("one").unwrap());
    takeover.messages_after = positions[0];
    let kept = one.take(takeover).await.unwrap();
    kept.look().await.unwrap();
    assert_eq!(*boxes.messages.lock().unwrap(), ["second", "third"]);
}

async fn opened(scene: &Scene, run: RunId, owner: &str) -> Interrupt {
    let raised = RaisedQuestion {
        admission: Admission {
            reroute: None,
            ..question(run, &node("root/worker"))
        },
        delivery: Delivery {
            owner: OwnerName::new(owner).unwrap(),
            lease: SignedDuration::from_secs(100),
            lost: None,
        },
        deciders: Deciders::default(),
    };
    let raised = scene.store.raise(raised).await.unwrap().into_interrupt();
    let shown = Digest::of(b"shown");
    scene
        .store
        .require_review(raised.id, raised.epoch, shown)
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_users_stop_holds_the_open_question_which_is_shown_again_after_the_resume() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    let open = opened(&scene, run, "one").await;
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    let pause = handle.recorded().await.unwrap()[0];
    kept.acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap();
    kept.settle(RunEnd::Stopped).await.unwrap();
    let held = scene.store.interrupt(open.id).await.unwrap().unwrap();
    assert_eq!(held.held_by, Some(pause));
    assert_eq!(held.state, State::AwaitingReview, "live and listed");

    let two = scene.process("two");
    let kept = taken(&two, run).await;
    kept.resume(&person(), None).await.unwrap();
    let shown = scene.store.interrupt(open.id).await.unwrap().unwrap();
    assert_eq!((shown.held_by, shown.state), (None, State::AwaitingReview));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_opens_while_the_user_stops_is_held_too_and_no_question_by_a_limit() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let mut by_limit = pause(Target::Node(run, node("root/other")), StopMode::Graceful);
    by_limit.source = StopSource::System;
    one.request(by_limit).recorded().await.unwrap();
    let open = opened(&scene, run, "one").await;
    kept.look().await.unwrap();
    let free = scene.store.interrupt(open.id).await.unwrap().unwrap();
    assert_eq!(free.held_by, None);
    let handle = one.request(pause(
        Target::Node(run, node("root/worker")),
        StopMode::Graceful,
    ));
    let pause = handle.recorded().await.unwrap()[0];
    let later = opened(&scene, run, "one").await;
    kept.look().await.unwrap();
    for id in [open.id, later.id] {
        let held = scene.store.interrupt(id).await.unwrap().unwrap();
        assert_eq!(held.held_by, Some(pause));
    }
    // The stop is withdrawn: it takes hold first, and nothing stays held by what has ended.
    let cause = interrupts::life::WithdrawCause::Withdrawn;
    scene.store.withdraw(pause, person(), cause).await.unwrap();
    let worker = node("root/worker");
    kept.acknowledge_stops_of(&worker, Evidence::Boundary, None)
        .await
        .unwrap();
    kept.look().await.unwrap();
    let shown = scene.store.interrupt(open.id).await.unwrap().unwrap();
    assert_eq!(shown.held_by, None);
    let claim = ReviewChange::Claim {
        until: Timestamp::MAX,
    };
    let claimed = scene
        .store
        .review(open.id, person(), shown.version, claim)
        .await;
    assert!(claimed.is_ok(), "people can deal with it again");
}

#[tokio::test]
async fn what_is_not_recorded_keeps_its_scope_stopped_and_says_why() {
    let scene = Scene::new();
    let one = scene.process("one");
    let unknown = RunId::generate();
    let handle = one.request(pause(Target::Run(unknown), StopMode::Graceful));
    let refused = handle.recorded().await.unwrap_err();
    assert!(
        refused.to_string().contains("there is no run_"),
        "{refused}"
    );
    assert!(one.take(taking(unknown)).await.is_err());
    assert_eq!(one.status().runs, []);
}
