//! What is said to a run that goes on, and what of it reaches a fork.

use std::sync::Arc;

use engine::run::RunStatus;
use interrupt_router::review::Answer;
use interrupt_router::{NodeId, RunId};
use interrupts::store::{CheckpointId, ForkStart, NewRun, Store};
use journal::said_to_fork;

use crate::lives::{ALL, Lives, NoReviewer, Steady, left};
use crate::stage::{Person, Stage, assert_completed};
use engine::testing::Death;

const WORDS: &str = "keep it short";

fn asking(stage: Stage) -> Stage {
    stage.interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
}

fn asking_twice(stage: Stage) -> Stage {
    asking(stage).interrupts("PLANNING_ORCHESTRATOR", 1, "HUMAN_REVIEW")
}

fn times_told(stage: &Stage) -> usize {
    let told = stage.log.messages();
    told.iter().filter(|(_, text)| text.contains(WORDS)).count()
}

async fn forked(store: &Arc<dyn Store>, from: CheckpointId) -> RunId {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    store.fork_run(from, new).await.unwrap().id
}

/// The run, or a fork of it, goes on and is answered.
async fn goes_on(lives: &Lives, run: RunId) -> Stage {
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.run = run;
    assert_completed(&stage.execute().await);
    stage
}

#[tokio::test]
async fn what_was_said_and_not_read_reaches_a_fork_and_the_run_itself_once() {
    let mut lives = Lives::of(asking, RunId::generate());
    lives.reviewer = Arc::new(NoReviewer);
    let before = lives.live().await.checkpoint.unwrap();
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.input = Some(WORDS.to_owned());
    let waiting = stage.execute().await;
    assert!(matches!(waiting.status, RunStatus::Waiting { .. }));
    assert_eq!(times_told(&stage), 0, "nobody has read it yet");
    let at = waiting.checkpoint.unwrap();
    lives.reviewer = Arc::new(Steady);

    let fork = forked(&lives.store, at).await;
    assert_eq!(times_told(&goes_on(&lives, fork).await), 1);
    assert_eq!(times_told(&goes_on(&lives, lives.run).await), 1);
    // It was said after this one.
    let early = forked(&lives.store, before).await;
    assert_eq!(times_told(&goes_on(&lives, early).await), 0);
}

#[tokio::test]
async fn what_was_read_is_not_read_again_by_a_fork() {
    let mut lives = Lives::of(asking_twice, RunId::generate());
    lives.reviewer = Arc::new(NoReviewer);
    let _waiting = lives.live().await;
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.input = Some(WORDS.to_owned());
    let at = stage.execute().await.checkpoint.unwrap();

    // The fork reads it, and asks once more.
    let fork = forked(&lives.store, at).await;
    let once = Person::default();
    once.answers.lock().unwrap().push_back(Answer::default());
    lives.reviewer = Arc::new(once);
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.run = fork;
    let waiting = stage.execute().await;
    assert!(matches!(waiting.status, RunStatus::Waiting { .. }));
    assert_eq!(times_told(&stage), 1);
    lives.reviewer = Arc::new(Steady);
    let told = goes_on(&lives, fork).await;
    assert_eq!(times_told(&told), 1);
    let checkpoints = lives.store.checkpoints(fork, ALL).await.unwrap();
    assert!(
        checkpoints
            .iter()
            .any(|it| Some(it.id) == waiting.checkpoint)
    );
    for checkpoint in checkpoints {
        // Wherever it stood in between, the words are told once: as they were, or for the first time.
        let of_fork = forked(&lives.store, checkpoint.id).await;
        assert_eq!(
            times_told(&goes_on(&lives, of_fork).await),
            1,
            "{}",
            checkpoint.id
        );
    }
}

/// A fork of a run that was over, and that was told something.
async fn told_after_its_end() -> Lives {
    let mut lives = Lives::of(|stage| stage, RunId::generate());
    let over = lives.live().await;
    assert_completed(&over);
    let id = RunId::generate();
    let node = NodeId::new("orchestrator").unwrap();
    let words = said_to_fork(id, &node, WORDS).unwrap();
    let new = NewRun {
        root: None,
        id,
        alias: None,
        content: "{}".to_owned(),
    };
    let at = over.checkpoint.unwrap();
    let start = ForkStart {
        said: Some(words),
        ..ForkStart::default()
    };
    let forked = lives.store.fork_run_with(at, new, start).await;
    lives.run = forked.unwrap().id;
    lives.calls.lock().unwrap().clear();
    lives
}

#[tokio::test]
async fn the_last_agent_of_a_run_that_was_over_reads_what_was_said_to_its_fork() {
    let lives = told_after_its_end().await;
    let told = goes_on(&lives, lives.run).await;
    assert_eq!(times_told(&told), 1);
    let calls = lives.calls.lock().unwrap().clone();
    assert_eq!(calls, ["orchestrator/collector#2/step/0"]);
    // What it read belongs to what it did.
    let last = lives.store.last_checkpoint(lives.run).await.unwrap();
    let of_fork = forked(&lives.store, last.unwrap().id).await;
    assert_eq!(times_told(&goes_on(&lives, of_fork).await), 1);
    assert_eq!(lives.calls.lock().unwrap().len(), 1, "nothing is new to it");
}

#[tokio::test]
async fn what_was_said_to_the_fork_of_a_run_that_was_over_is_read_once_wherever_the_fork_dies() {
    let reference = told_after_its_end().await;
    let expected = left(&reference.live().await);
    assert_eq!(reference.calls.lock().unwrap().len(), 1, "somebody read it");
    for operation in 0.. {
        let lives = told_after_its_end().await;
        let (ended, operations) = lives.die(Death::After(operation)).await;
        if ended.is_some() {
            assert!(operations <= operation, "it did not die");
            break;
        }
        if let Some(report) = lives.go_on().await {
            assert_eq!(left(&report), expected, "died after {operation}");
        }
        lives.check(&operation).await;
    }
}
