//! Questions that were given up because their deliveries failed: nothing waits for them for ever.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::run::RunStatus;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{EventId, InterruptId, Outcome, RunId, StopScope};
use interrupts::OwnerName;
use interrupts::life::{Actor, Interrupt, Role, RunState, State};
use interrupts::store::{Delivery, Filter, Page, Store};
use jiff::SignedDuration;
use store::{MemoryStore, StoreSettings};

use crate::events::{Deaf, supervisor};
use crate::models::Playing;
use crate::stage::{Stage, assert_completed};
use engine::testing::{Death, Mortal};

/// A run in which a supervisor's event is ignored until it is given up.
fn deaf(run: RunId, store: &Arc<dyn Store>) -> Stage {
    let mut stage = Stage::new().scripted(supervisor("PLANNING_ORCHESTRATOR", None, "stop"));
    stage.run = run;
    stage.store = Arc::clone(store);
    let model = Playing::new(Deaf, stage.rehearsal());
    stage.played_by(model)
}

#[tokio::test]
async fn a_turn_that_is_ignored_counts_once_wherever_the_process_dies() {
    let run = RunId::generate();
    let event = EventId::try_from(format!("script/{run}/0")).unwrap();
    let fresh = || -> Arc<dyn Store> { Arc::new(MemoryStore::new(StoreSettings::default())) };
    let store = fresh();
    let mortal = Mortal::new(Arc::clone(&store), Death::Never);
    let report = deaf(run, &(Arc::clone(&mortal) as Arc<dyn Store>))
        .execute()
        .await;
    assert_completed(&report);
    let expected = store.reroute(&event).await.unwrap().unwrap();
    let mut seen = 0;
    for operation in 0..mortal.operations() {
        let store = fresh();
        let mortal = Mortal::new(Arc::clone(&store), Death::After(operation));
        let stage = deaf(run, &(Arc::clone(&mortal) as Arc<dyn Store>));
        let (prepared, scope) = (stage.run(), StopScope::new());
        tokio::select! {
            biased;
            () = mortal.died() => {}
            _report = prepared.execute(&scope) => {}
        }
        if !is_counting(&store, run).await {
            let row = store.reroute(&event).await.unwrap();
            if row.is_some_and(|row| row.state == expected.state) {
                break;
            }
            continue;
        }
        seen += 1;
        let after = deaf(run, &store).execute().await;
        assert_completed(&after);
        assert_eq!(after.steps, report.steps, "{operation}");
        let found = store.reroute(&event).await.unwrap().unwrap();
        assert_eq!(found.state, expected.state, "{operation}");
        assert_eq!(found.ignored_turns, expected.ignored_turns, "{operation}");
        let left = questions(&store, run).await;
        assert!(left.iter().all(|it| !it.state.is_live()), "{operation}");
    }
    assert!(
        seen >= 6,
        "only {seen} deaths fell while a turn was counted"
    );
}

/// Whether the process died while it counted an ignored turn.
async fn is_counting(store: &Arc<dyn Store>, run: RunId) -> bool {
    let page = Page {
        after: 0,
        limit: 100,
    };
    let unended = store.unknown_effects(run, page).await.unwrap();
    unended
        .iter()
        .any(|entry| entry.intent.kind.as_str() == "turn_ignored")
}

/// Somebody who thinks for ever: only what happens in the store ends the waiting.
struct Undecided;

#[async_trait]
impl Reviewer for Undecided {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        std::future::pending().await
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        std::future::pending().await
    }
}

fn stage(run: RunId, store: &Arc<dyn Store>) -> Stage {
    let mut stage = Stage::new().interrupts("ORCHESTRATOR", 1, "HUMAN_REVIEW");
    stage.run = run;
    stage.store = Arc::clone(store);
    stage
}

async fn questions(store: &Arc<dyn Store>, run: RunId) -> Vec<Interrupt> {
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let page = Page {
        after: 0,
        limit: 100,
    };
    let found = store.interrupts(&filter, page).await.unwrap();
    found.into_iter().map(|(_, question)| question).collect()
}

/// A run whose process died when its agent had said what it asks, and before a person was told.
async fn left_with_a_question() -> (Arc<dyn Store>, RunId, Interrupt) {
    for operation in 0..1_000 {
        let run = RunId::generate();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(StoreSettings::default()));
        let mortal = Mortal::new(Arc::clone(&store), Death::After(operation));
        let stage = stage(run, &(Arc::clone(&mortal) as Arc<dyn Store>));
        let (prepared, scope) = (stage.run(), StopScope::new());
        tokio::select! {
            biased;
            () = mortal.died() => {}
            _report = prepared.execute(&scope) => {}
        }
        let found = questions(&store, run).await;
        if let Some(question) = found.into_iter().find(|it| it.state == State::Acknowledged) {
            return (store, run, question);
        }
    }
    panic!("no death fell between the agent's question and its review");
}

/// Its deliveries fail until nobody tries any more.
async fn give_up(store: &Arc<dyn Store>, question: InterruptId) {
    let mut row = store.interrupt(question).await.unwrap().unwrap();
    while row.state != State::DeadLettered {
        let failed = store.fail_delivery(question, Some(row.epoch), "no way".to_owned());
        row = failed.await.unwrap();
        if row.state != State::DeadLettered {
            let delivery = Delivery {
                owner: OwnerName::new("another").unwrap(),
                lease: SignedDuration::from_secs(1),
                lost: None,
            };
            row = store.deliver(question, delivery).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_run_whose_question_was_given_up_pauses_and_asks_again_once_it_is_redriven() {
    let (store, run, question) = left_with_a_question().await;
    give_up(&store, question.id).await;
    let mut waiting = stage(run, &store);
    waiting.reviewer = Some(Arc::new(Undecided));
    // A safety net alone: the run ends as soon as it looks.
    let ended = tokio::time::timeout(Duration::from_secs(20), waiting.execute()).await;
    let report = ended.expect("it waits for an answer that nobody can give");
    let RunStatus::Failed {
        error,
        hint,
        resumable,
        ..
    } = &report.status
    else {
        panic!("{:#?}", report.status)
    };
    assert!(resumable, "{report:#?}");
    assert!(error.contains(&question.id.to_string()), "{error}");
    let remedy = format!("irq redrive {}", question.id);
    assert!(hint.as_ref().unwrap().contains(&remedy), "{hint:?}");
    let row = store.run(run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Paused);

    let operator = Actor {
        name: interrupts::ActorName::new("operator").unwrap(),
        role: Role::Operator,
    };
    store.redrive(question.id, operator).await.unwrap();
    let answered = stage(run, &store).said("go on");
    assert_completed(&answered.execute().await);
    let asked: Vec<_> = {
        let asked = answered.person.asked.lock().unwrap();
        asked.iter().map(|question| question.interrupt).collect()
    };
    assert_eq!(asked, [question.id], "it is the same question");
    let row = store.interrupt(question.id).await.unwrap().unwrap();
    assert_eq!(row.state, State::Resolved);
}
