//! Handling an interrupt again: nobody is asked twice, nothing that was given is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use interrupt_router::bus::Admission as _;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{
    DecidedBy, DecisionError, DecisionPart, Decisions, HandleError, Proposal, RecordedDecision,
    Resolution,
};
use interrupt_router::memory::InMemoryRouter;
use interrupt_router::reroute::RerouteState;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{DecisionId, InterruptId, InterruptType, NodeId, Outcome, RunId};
use interrupt_router::{StopReason, StopScope, Verdict};
use jiff::Timestamp;

use crate::domain::{Desk, Desks, Everyone, Person, ScriptedReviewer, event, from_editor, node};
use crate::scene::{Scene, chose};

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
    let pensive = Pensive(Arc::clone(&reviewer));
    let desks = Desks::reviewed(&[EDIT], Arc::clone(&reviewer), pensive, |handler| handler);
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
    desks.publish(&late).await;
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
    let state = desks.router.state(&id).unwrap();
    assert_eq!(state, RerouteState::Pending, "it waits for the next one");
}

#[tokio::test]
async fn a_reroute_is_consumed_before_its_request_is_filled() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![chose("first")]));
    let asked = event("e1", "root/editor", Some(Desk::Writer));
    let id = asked.event_id.clone();
    desks.publish(&asked).await;
    scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    let state = desks.router.state(&id).unwrap();
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
impl Decisions<Person> for Elsewhere {
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
        let nobody = Arc::new(ScriptedReviewer::default());
        let desks = Desks::reviewed(&[DRAFT], nobody, reviewer, |handler| {
            handler.with_decisions(elsewhere)
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

/// A store whose first decision is recorded and then never heard of.
struct LostReply {
    inner: Arc<InMemoryRouter<Person>>,
    lost: AtomicBool,
}

#[async_trait]
impl Decisions<Person> for LostReply {
    async fn bind(
        &self,
        run: RunId,
        node: &NodeId,
        interrupt: InterruptId,
    ) -> Result<Option<InterruptRequestEvent<Person>>, DecisionError> {
        self.inner.bind(run, node, interrupt).await
    }

    async fn recorded(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<RecordedDecision<Desk>>, DecisionError> {
        self.inner.recorded(interrupt, matter).await
    }

    async fn decide(
        &self,
        proposal: Proposal<Desk>,
    ) -> Result<RecordedDecision<Desk>, DecisionError> {
        let recorded = self.inner.decide(proposal).await;
        if !self.lost.swap(true, Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        recorded
    }
}

#[tokio::test]
async fn a_caller_that_is_dropped_while_it_consumes_can_handle_the_interrupt_again() {
    for interrupt_type in [InterruptType::HumanReview, InterruptType::Stop] {
        let inner = Arc::new(InMemoryRouter::new(Arc::new(Everyone)));
        let lossy = Arc::new(LostReply {
            inner: Arc::clone(&inner),
            lost: AtomicBool::new(false),
        });
        let desks = Desks::changed(&[EDIT, EDIT], vec![chose("first")], |handler| {
            handler.with_decisions(lossy)
        });
        let scene = Scene::new();
        let event = event("e1", "root/editor", None);
        inner.admit(&event).await.unwrap();
        tokio::select! {
            biased;
            handled = scene.handle(&desks, from_editor(interrupt_type)) => panic!("{handled:?}"),
            () = std::future::ready(()) => {}
        }
        let resolution = scene.handle(&desks, from_editor(interrupt_type)).await;
        let decided = match resolution.unwrap().completed().unwrap() {
            Resolution::Routed(routed) => routed.decision,
            Resolution::Stopped { decision, .. } => decision,
            other => panic!("{other:?}"),
        };
        let consumed = RerouteState::Consumed {
            interrupt: scene.interrupt,
            decision: decided,
        };
        assert_eq!(inner.state(&event.event_id), Some(consumed));
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
        timestamp: Timestamp::UNIX_EPOCH,
    };
    for interrupt_type in [InterruptType::HumanReview, InterruptType::Pause] {
        let nobody = Arc::new(ScriptedReviewer::default());
        let stopped = Stopped(reason.clone());
        let desks = Desks::reviewed(&[], nobody, stopped, |handler| handler);
        let scene = Scene::new();
        desks.publish(&event("e1", "root/editor", None)).await;
        let outcome = scene.handle(&desks, from_editor(interrupt_type)).await;
        let Ok(Outcome::Interrupted { reason: told, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(told, reason);
        let bound = desks
            .router
            .bind(scene.run, &node("root/editor"), scene.interrupt)
            .await;
        assert!(bound.unwrap().is_some());
    }
}
