//! Handling an interrupt again: nobody is asked twice, nothing that was given is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{
    DecidedBy, DecisionError, DecisionPart, Decisions, HandleError, InMemoryDecisions, Proposal,
    RecordedDecision, Resolution,
};
use interrupt_router::reroute::{
    ConsumeError, InMemoryReroutes, PendingReroutes, RerouteState, StoreError, Stored,
    StoredReroute,
};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{DecisionId, EventId, InterruptId, InterruptType, NodeId, Outcome, RunId};
use interrupt_router::{StopReason, StopScope, Verdict};
use jiff::Timestamp;

use crate::domain::{Desk, Desks, Person, ScriptedReviewer, event, from_editor, node};
use crate::scene::{Scene, chose};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;

/// Takes a moment before it answers, as people do.
struct Pensive(Arc<ScriptedReviewer>);

#[async_trait]
impl Reviewer for Pensive {
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        tokio::task::yield_now().await;
        self.0.answer(question, scope).await
    }

    async fn resume(
        &self,
        pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        self.0.resume(pause, scope).await
    }
}

#[tokio::test]
async fn callers_that_come_while_a_person_thinks_wait_for_the_same_answer() {
    let reviewer = Arc::new(ScriptedReviewer::default());
    reviewer.answers.lock().unwrap().push_back(chose("first"));
    let pensive = Arc::new(Pensive(Arc::clone(&reviewer)));
    let desks = Desks::changed(&[EDIT], Vec::new(), |config| config.reviewer = pensive);
    let scene = Scene::new();
    let (left, right) = tokio::join!(
        scene.handle(&desks, from_editor(InterruptType::HumanReview)),
        scene.handle(&desks, from_editor(InterruptType::HumanReview)),
    );
    assert_eq!(left.unwrap(), right.unwrap());
    assert_eq!(reviewer.questions.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_outlives_the_failure_of_the_model_that_was_to_carry_it_out() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![chose("second")]));
    let error = scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    assert!(matches!(error, HandleError::Model { .. }), "{error}");

    desks
        .model
        .answers
        .lock()
        .unwrap()
        .push_back(EDIT.to_owned());
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(routed.answer, chose("second"));
    assert_eq!(
        desks.reviewer.questions.lock().unwrap().len(),
        1,
        "the person was asked again"
    );
}

#[tokio::test]
async fn a_decision_fixes_the_target_before_its_request_is_filled() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![chose("second")]));
    scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    let late = event("e1", "root/editor", Some(Desk::Writer));
    let id = late.event_id.clone();
    desks.reroutes.store(scene.run, late, NOW).await.unwrap();
    desks
        .model
        .answers
        .lock()
        .unwrap()
        .push_back(EDIT.to_owned());
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert!(routed.routing.edit.is_some() && routed.reroute.is_none());
    assert_eq!(routed.answer, chose("second"));
    assert_eq!(desks.reviewer.questions.lock().unwrap().len(), 1);
    let state = desks.reroutes.fate(&id).await.unwrap().unwrap().state;
    assert_eq!(state, RerouteState::Pending, "it waits for the next one");
}

#[tokio::test]
async fn a_reroute_is_consumed_before_its_request_is_filled() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![chose("first")]));
    let asked = event("e1", "root/editor", Some(Desk::Writer));
    let id = asked.event_id.clone();
    desks.reroutes.store(scene.run, asked, NOW).await.unwrap();
    scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    let state = desks.reroutes.fate(&id).await.unwrap().unwrap().state;
    assert!(matches!(state, RerouteState::Consumed { .. }), "{state:?}");
    let draft = r#"{"draft":{"topic":"the new law"}}"#.to_owned();
    desks.model.answers.lock().unwrap().push_back(draft);
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert!(routed.routing.draft.is_some());
    assert_eq!(routed.reroute, Some(id));
}

/// Decisions of which one was made by somebody else while a person thought.
struct Elsewhere(RecordedDecision<Desk>);

#[async_trait]
impl Decisions<Desk> for Elsewhere {
    async fn recorded(
        &self,
        _: InterruptId,
        _: DecisionPart,
    ) -> Result<Option<RecordedDecision<Desk>>, DecisionError> {
        Ok(None)
    }

    async fn decided_elsewhere(
        &self,
        _: InterruptId,
        matter: DecisionPart,
    ) -> Result<RecordedDecision<Desk>, DecisionError> {
        match matter {
            DecisionPart::Interrupt => Ok(self.0.clone()),
            DecisionPart::Request => std::future::pending().await,
        }
    }

    async fn decide(&self, _: Proposal<Desk>) -> Result<RecordedDecision<Desk>, DecisionError> {
        Ok(self.0.clone())
    }
}

/// Never answers.
struct Silent;

#[async_trait]
impl Reviewer for Silent {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        std::future::pending().await
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        std::future::pending().await
    }
}

fn decided_for_the_writer() -> RecordedDecision<Desk> {
    RecordedDecision {
        id: DecisionId::generate(),
        verdict: Verdict::Respond,
        answer: chose("first"),
        decided_by: DecidedBy::Person,
        target: Desk::Writer,
        reroute: None,
    }
}

#[tokio::test]
async fn a_decision_that_was_made_elsewhere_is_followed_whoever_is_asked_here() {
    const DRAFT: &str = r#"{"draft":{"topic":"the new law"}}"#;
    let standing = decided_for_the_writer();
    let loser = Arc::new(ScriptedReviewer::default());
    loser.answers.lock().unwrap().push_back(chose("second"));
    for reviewer in [Arc::new(Silent) as Arc<dyn Reviewer>, loser] {
        let elsewhere = Arc::new(Elsewhere(standing.clone()));
        let desks = Desks::changed(&[DRAFT], Vec::new(), |config| {
            config.reviewer = reviewer;
            config.decisions = elsewhere;
        });
        let routed = Scene::new()
            .routed(&desks, from_editor(InterruptType::HumanReview))
            .await;
        assert!(routed.routing.draft.is_some());
        assert_eq!(
            (routed.decision, routed.answer),
            (standing.id, chose("first"))
        );
    }
}

#[tokio::test]
async fn a_forgotten_interrupt_is_asked_about_again() {
    let answers = vec![chose("first"), chose("second")];
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT, EDIT], answers));
    scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    desks.handler.forget(scene.interrupt);
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(routed.answer, chose("second"));
}

/// A store whose first consumption is recorded and then never heard of.
#[derive(Default)]
struct LostReply {
    inner: InMemoryReroutes<Person>,
    lost: AtomicBool,
}

#[async_trait]
impl PendingReroutes<Person> for LostReply {
    async fn store(
        &self,
        run: RunId,
        event: InterruptRequestEvent<Person>,
        now: Timestamp,
    ) -> Result<Stored, StoreError> {
        self.inner.store(run, event, now).await
    }

    async fn bind(
        &self,
        run: RunId,
        node: &NodeId,
        interrupt: InterruptId,
        now: Timestamp,
    ) -> Result<Option<InterruptRequestEvent<Person>>, StoreError> {
        self.inner.bind(run, node, interrupt, now).await
    }

    async fn consume(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
    ) -> Result<EventId, ConsumeError> {
        let consumed = self.inner.consume(interrupt, decision).await;
        if !self.lost.swap(true, Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        consumed
    }

    async fn release(&self, interrupt: InterruptId) -> Result<(), StoreError> {
        self.inner.release(interrupt).await
    }

    async fn turn_ignored(&self, run: RunId, node: &NodeId) -> Result<Option<EventId>, StoreError> {
        self.inner.turn_ignored(run, node).await
    }

    async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, StoreError> {
        self.inner.node_ended(run, node).await
    }

    async fn expire(&self, now: Timestamp) -> Result<Vec<EventId>, StoreError> {
        self.inner.expire(now).await
    }

    async fn fate(&self, event: &EventId) -> Result<Option<StoredReroute<Person>>, StoreError> {
        self.inner.fate(event).await
    }
}

#[tokio::test]
async fn a_caller_that_is_dropped_while_it_consumes_can_handle_the_interrupt_again() {
    for interrupt_type in [InterruptType::HumanReview, InterruptType::Stop] {
        let reroutes = Arc::new(LostReply::default());
        let ports = Arc::clone(&reroutes);
        let desks = Desks::changed(&[EDIT, EDIT], vec![chose("first")], |config| {
            config.decisions = Arc::new(InMemoryDecisions::new(Arc::clone(&ports) as _));
            config.reroutes = ports;
        });
        let scene = Scene::new();
        reroutes
            .store(scene.run, event("e1", "root/editor", None), NOW)
            .await
            .unwrap();
        tokio::select! {
            biased;
            handled = scene.handle(&desks, from_editor(interrupt_type)) => panic!("{handled:?}"),
            () = std::future::ready(()) => {}
        }
        let resolution = scene
            .handle(&desks, from_editor(interrupt_type))
            .await
            .unwrap()
            .completed()
            .unwrap();
        let consumed = match resolution {
            Resolution::Routed(routed) => routed.decision,
            Resolution::Stopped { decision, .. } => decision,
            other => panic!("{other:?}"),
        };
        assert!(
            reroutes
                .inner
                .consume(scene.interrupt, consumed)
                .await
                .is_ok(),
            "the reroute was consumed by another decision"
        );
    }
}

/// Is told to stop while it waits.
struct Stopped(StopReason);

#[async_trait]
impl Reviewer for Stopped {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        let reason = self.0.clone();
        Ok(Outcome::Interrupted {
            reason,
            partial: (),
        })
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        let reason = self.0.clone();
        Ok(Outcome::Interrupted {
            reason,
            partial: (),
        })
    }
}

#[tokio::test]
async fn a_stop_while_somebody_is_waited_for_is_an_outcome_and_leaves_the_reroute_bound() {
    let reason = StopReason {
        source: interrupt_router::StopSource::User,
        mode: interrupt_router::StopMode::Graceful,
        message: "home time".to_owned(),
        timestamp: NOW,
    };
    for interrupt_type in [InterruptType::HumanReview, InterruptType::Pause] {
        let stopped = Arc::new(Stopped(reason.clone()));
        let desks = Desks::changed(&[], Vec::new(), |config| config.reviewer = stopped);
        let scene = Scene::new();
        desks
            .reroutes
            .store(scene.run, event("e1", "root/editor", None), NOW)
            .await
            .unwrap();
        let outcome = scene.handle(&desks, from_editor(interrupt_type)).await;
        let Ok(Outcome::Interrupted { reason: told, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(told, reason);
        let bound = desks
            .reroutes
            .bind(scene.run, &node("root/editor"), scene.interrupt, NOW)
            .await;
        assert!(bound.unwrap().is_some());
    }
}
