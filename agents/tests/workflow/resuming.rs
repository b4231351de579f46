//! Runs that are cut off and go on: whatever was recorded is not done again, and the end is the same.

use std::sync::Arc;

use engine::run::{RunEvent, RunStatus};
use interrupt_router::model::TurnForm;
use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, RunId};
use interrupts::life::{RunState, State};
use interrupts::store::{CheckpointId, NewRun};

use crate::lives::{ALL, Lives, NoReviewer, Steady, eventful, left, supervisor};
use crate::stage::{Stage, assert_completed};
use engine::testing::Death;

/// The deaths that one in so many operations gets, at this remainder.
async fn sweep(kind: fn(usize) -> Death, every: usize, from: usize) {
    let run = RunId::generate();
    let undisturbed = Lives::of(eventful, run);
    let (report, operations) = undisturbed.die(Death::Never).await;
    let expected = report.unwrap();
    assert_completed(&expected);
    assert!(expected.interrupts.len() >= 6, "{:#?}", expected.interrupts);
    let expected = left(&expected);
    undisturbed.check(&"undisturbed").await;
    for at in (from..operations).step_by(every) {
        let death = kind(at);
        let lives = Lives::of(eventful, run);
        let (report, _) = lives.die(death).await;
        let report = match report {
            None => lives.go_on().await,
            ended => ended,
        };
        if let Some(report) = report {
            let found = left(&report);
            assert_eq!(
                (found.steps, found.usage),
                (expected.steps, expected.usage),
                "{death:?}"
            );
            assert_eq!(found, expected, "{death:?}");
        }
        assert_eq!(lives.tokens().await, expected.usage.total(), "{death:?}");
        lives.check(&death).await;
    }
}

/// How many of the deaths this build tries: all of them where that is asked for.
fn every() -> usize {
    match std::env::var("SWEEP") {
        Ok(every) => every.parse().unwrap(),
        Err(_) => 8,
    }
}

#[tokio::test]
async fn a_death_before_any_operation_of_the_store_changes_nothing() {
    sweep(Death::Before, every(), 0).await;
}

#[tokio::test]
async fn a_death_after_any_operation_of_the_store_changes_nothing() {
    sweep(Death::After, every(), 3).await;
}

/// A turn that is asked in two steps has two places: neither is asked again, wherever the process dies.
#[tokio::test]
async fn a_death_between_choosing_a_route_and_filling_it_in_changes_nothing() {
    let run = RunId::generate();
    let two_steps = || Lives::of(eventful, run).in_form(TurnForm::RouteFirst);
    let undisturbed = two_steps();
    let (report, operations) = undisturbed.die(Death::Never).await;
    let expected = left(&report.unwrap());
    let calls = undisturbed.calls.lock().unwrap().clone();
    assert!(
        calls.contains(&"orchestrator#1/route/0".to_owned()),
        "{calls:?}"
    );
    assert!(
        calls.contains(&"orchestrator#1/step/0".to_owned()),
        "{calls:?}"
    );
    undisturbed.check(&"undisturbed").await;
    for at in (1..operations).step_by(every()) {
        let lives = two_steps();
        let death = Death::After(at);
        let report = match lives.die(death).await {
            (None, _) => lives.go_on().await,
            (ended, _) => ended,
        };
        if let Some(report) = report {
            assert_eq!(left(&report), expected, "{death:?}");
        }
        lives.check(&death).await;
    }
}

/// A journal of an earlier version has turns in one step, and a profile may have been changed meanwhile.
#[tokio::test]
async fn a_turn_goes_on_in_the_form_in_which_it_was_begun() {
    let run = RunId::generate();
    for (first, then) in [
        (TurnForm::OneStep, TurnForm::RouteFirst),
        (TurnForm::RouteFirst, TurnForm::OneStep),
    ] {
        let undisturbed = Lives::of(eventful, run).in_form(first);
        let (report, operations) = undisturbed.die(Death::Never).await;
        let expected = left(&report.unwrap());
        for at in (2..operations).step_by(3 * every()) {
            let lives = Lives::of(eventful, run).in_form(first);
            let death = Death::Before(at);
            let (report, _) = lives.die(death).await;
            let lives = lives.in_form(then);
            let report = match report {
                None => lives.go_on().await,
                ended => ended,
            };
            let Some(report) = report else { continue };
            let found = left(&report);
            // What is asked in another form has another cost, and may be said in other words.
            assert_completed(&report);
            assert_eq!(
                found.interrupts.len(),
                expected.interrupts.len(),
                "{death:?}"
            );
            assert_eq!(found.steps, expected.steps, "{death:?}");
            lives.check(&death).await;
        }
    }
}

#[tokio::test]
async fn a_run_that_dies_again_and_again_comes_to_the_same_end() {
    let run = RunId::generate();
    let expected = left(&Lives::of(eventful, run).live().await);
    for stride in [11, 17, 40] {
        let lives = Lives::of(eventful, run);
        let mut deaths = 0;
        let report = loop {
            let death = if deaths % 2 == 0 {
                Death::Before(stride + deaths)
            } else {
                Death::After(stride + deaths)
            };
            if let (Some(report), _) = lives.die(death).await {
                break Some(report);
            }
            deaths += 1;
            if lives.has_ended().await {
                break None;
            }
        };
        assert!(deaths >= 3, "it died {deaths} times only");
        if let Some(report) = report {
            assert_eq!(left(&report), expected, "after {deaths} deaths");
        }
        lives.check(&deaths).await;
    }
}

#[tokio::test]
async fn a_fork_of_any_checkpoint_repeats_nothing_before_it_and_ends_alike() {
    fn script(stage: Stage) -> Stage {
        // A supervisor's event is another run's own.
        let mut stage = eventful(stage);
        stage.script.retain(|step| step.get("supervisor").is_none());
        stage
    }
    let lives = Lives::of(script, RunId::generate());
    let report = lives.live().await;
    let all = lives.calls.lock().unwrap().len();
    let checkpoints = lives.store.checkpoints(lives.run, ALL).await.unwrap();
    assert!(checkpoints.len() > 3, "{checkpoints:#?}");
    let mut before = usize::MAX;
    for checkpoint in checkpoints {
        let fork = RunId::generate();
        let new = NewRun {
            root: None,
            id: fork,
            alias: None,
            content: "{}".to_owned(),
        };
        lives.store.fork_run(checkpoint.id, new).await.unwrap();
        lives.calls.lock().unwrap().clear();
        let mut stage = lives.stage(Arc::clone(&lives.store));
        stage.run = fork;
        let forked = stage.execute().await;
        assert_eq!(forked.status, report.status, "{}", checkpoint.id);
        // Steps that were not done by then leave their numbers free.
        assert!(forked.steps >= report.steps, "{}", checkpoint.id);
        let calls = lives.calls.lock().unwrap().len();
        assert!(
            calls < all && calls <= before,
            "{calls} of {all}, {before} before"
        );
        before = calls;
        let parent = forked.checkpoint.map(|CheckpointId { run, .. }| run);
        assert_eq!(parent, Some(fork));
    }
    assert!(lives.repeated.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_answered_when_the_run_is_resumed() {
    let mut lives = Lives::of(eventful, RunId::generate());
    lives.reviewer = Arc::new(NoReviewer);
    let waiting = lives.live().await;
    let RunStatus::Waiting { interrupts, .. } = &waiting.status else {
        panic!("{:#?}", waiting.status)
    };
    let row = lives.store.run(lives.run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Waiting);
    let open = lives.store.interrupt(interrupts[0]).await.unwrap().unwrap();
    assert_eq!(open.state, State::AwaitingReview);
    lives.reviewer = Arc::new(Steady);
    let report = lives.live().await;
    assert_completed(&report);
    assert_eq!(report.interrupts[0].interrupt, interrupts[0]);
    lives.check(&"waiting").await;
}

#[tokio::test]
async fn new_input_of_a_resumed_run_reaches_the_node_that_has_the_turn_once() {
    let mut lives = Lives::of(eventful, RunId::generate());
    lives.reviewer = Arc::new(NoReviewer);
    let _waiting = lives.live().await;
    lives.reviewer = Arc::new(Steady);
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.input = Some("keep it short".to_owned());
    assert_completed(&stage.execute().await);
    let told = stage.log.messages();
    let inputs: Vec<_> = told
        .iter()
        .filter(|(_, text)| text.contains("keep it short"))
        .collect();
    assert_eq!(inputs.len(), 1, "{inputs:?}");
    lives.check(&"input").await;
}

#[tokio::test]
async fn a_worker_that_had_ended_when_its_parent_went_on_does_not_end_once_more() {
    let whole = Lives::of(eventful, RunId::generate());
    let (_, operations) = whole.die(Death::Never).await;
    let lives = Lives::of(eventful, RunId::generate());
    let (died, _) = lives.die(Death::Before(operations - 4)).await;
    assert!(died.is_none());
    let stage = lives.stage(Arc::clone(&lives.store));
    assert_completed(&stage.execute().await);
    let told = stage.log.told.lock().unwrap();
    let of_workers = |replayed| {
        told.iter()
            .filter(|told| told.replayed == replayed)
            .filter(|told| matches!(&told.event, RunEvent::AgentFinished { node, .. } if node.as_str().contains("worker")))
            .count()
    };
    assert!(of_workers(true) > 2);
    assert_eq!(of_workers(false), 0);
}

#[tokio::test]
async fn what_was_told_before_is_told_again_as_replayed() {
    let lives = Lives::of(eventful, RunId::generate());
    let (report, operations) = lives.die(Death::Never).await;
    assert!(report.is_some());
    let lives = Lives::of(eventful, lives.run);
    let (died, _) = lives.die(Death::Before(operations / 2)).await;
    assert!(died.is_none());
    let stage = lives.stage(Arc::clone(&lives.store));
    assert_completed(&stage.execute().await);
    let told = stage.log.told.lock().unwrap();
    let finished = |replayed| {
        told.iter()
            .filter(|told| told.replayed == replayed)
            .filter(|told| matches!(told.event, RunEvent::StepFinished { .. }))
            .count()
    };
    assert!(finished(true) > 0 && finished(false) > 0);
    let times: Vec<_> = told
        .iter()
        .filter(|told| told.replayed)
        .map(|told| told.at)
        .collect();
    assert!(!times.is_empty());
}

#[tokio::test]
async fn an_event_that_was_published_and_not_read_is_read_when_the_run_is_resumed() {
    fn script(stage: Stage) -> Stage {
        stage.scripted(supervisor("PLANNING_ORCHESTRATOR", "TICKET_ORCHESTRATOR"))
    }
    let run = RunId::generate();
    let expected = left(&Lives::of(script, run).live().await);
    let event = EventId::try_from(format!("script/{run}/0")).unwrap();
    let probe = Lives::of(script, run);
    let (_, operations) = probe.die(Death::Never).await;
    let mut seen = 0;
    for at in 0..operations {
        let lives = Lives::of(script, run);
        lives.die(Death::After(at)).await;
        let pending = lives.store.reroute(&event).await.unwrap();
        if pending.is_none_or(|row| row.state != RerouteState::Pending) {
            continue;
        }
        seen += 1;
        assert_eq!(left(&lives.live().await), expected, "{at}");
        lives.check(&at).await;
    }
    assert!(
        seen > 1,
        "no death fell between the event and its interrupt"
    );
}
