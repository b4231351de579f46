//! Questions that were answered, and whose runs are forked before anybody has carried the answers out.

use std::sync::Arc;

use agents::run::inherited;
use engine::run::{RunReport, RunStatus};
use interrupts::life::{Actor, Choosing, Decider, Interrupt, Judge, Role, State, Verdict};
use interrupts::store::{AuditSubject, Checkpoint, CheckpointId, Filter, KnownEffect, NewRun};
use interrupts::{ActorName, RouteName};
use routing_core::{DecisionId, RunId};
use serde_json::json;

use crate::lives::{ALL, Lives, NoReviewer};
use crate::stage::{Stage, assert_completed, target};
use engine::testing::Death;

const ANSWER: &str = "the left one";

fn asking(stage: Stage) -> Stage {
    stage.interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
}

fn asking_twice(stage: Stage) -> Stage {
    asking(stage).interrupts("PLANNING_ORCHESTRATOR", 1, "HUMAN_REVIEW")
}

fn pausing(stage: Stage) -> Stage {
    stage.interrupts("DISCOVERY_ORCHESTRATOR", 1, "PAUSE")
}

async fn asked(lives: &Lives) -> Vec<Interrupt> {
    let filter = Filter {
        run: Some(lives.run),
        ..Filter::default()
    };
    let rows = lives.store.interrupts(&filter, ALL).await.unwrap();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Decides the question that is open.
async fn decide(lives: &Lives, verdict: Verdict, target: Option<&str>) -> Interrupt {
    let rows = asked(lives).await;
    let open = rows.iter().find(|row| row.state == State::AwaitingReview);
    let open = open.unwrap();
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("someone").unwrap(),
            role: Role::Reviewer,
        },
        version: open.version,
        shown: open.review.as_ref().unwrap().shown,
    };
    let content = match verdict {
        Verdict::Resume => json!({ "input": ANSWER }),
        _ => json!({ "text": ANSWER }),
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: target.map(|target| RouteName::new(target).unwrap()),
        content: Some(content.to_string()),
    };
    lives.store.decide(open.id, judge, choosing).await.unwrap()
}

/// A run that has asked, and whose question somebody has answered while nobody executes it.
async fn answered(
    script: fn(Stage) -> Stage,
    verdict: Verdict,
    target: Option<&str>,
) -> (Lives, Interrupt) {
    let mut lives = Lives::of(script, RunId::generate());
    lives.reviewer = Arc::new(NoReviewer);
    let waiting = lives.live().await;
    assert!(
        matches!(
            waiting.status,
            RunStatus::Waiting { .. } | RunStatus::Paused { .. }
        ),
        "{:?}",
        waiting.status
    );
    let decided = decide(&lives, verdict, target).await;
    (lives, decided)
}

async fn last(lives: &Lives) -> CheckpointId {
    let run = lives.store.run(lives.run).await.unwrap().unwrap();
    run.goes_on_from().unwrap()
}

async fn known_at(lives: &Lives, at: CheckpointId) -> Vec<KnownEffect> {
    let run = lives.store.run(lives.run).await.unwrap().unwrap();
    inherited(&*lives.store, &run, at).await.unwrap()
}

/// From now on what is looked at is a fork of the run at this checkpoint.
async fn fork_at(lives: &mut Lives, at: CheckpointId) {
    let known = known_at(lives, at).await;
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let forked = lives.store.fork_run_with(at, new, known).await;
    lives.run = forked.unwrap().id;
    lives.calls.lock().unwrap().clear();
}

async fn fork(lives: &mut Lives) {
    let at = last(lives).await;
    fork_at(lives, at).await;
}

#[track_caller]
fn assert_waits(report: &RunReport) {
    assert!(
        matches!(report.status, RunStatus::Waiting { .. }),
        "{:?}",
        report.status
    );
}

/// The only question of a run that has carried the answer out.
async fn assert_carried_out(lives: &Lives) -> Interrupt {
    let rows = asked(lives).await;
    assert_eq!(rows.len(), 1, "{rows:#?}");
    let row = rows.into_iter().next().unwrap();
    let decision = row.decision.as_ref().unwrap();
    let name = ActorName::new("someone").unwrap();
    assert_eq!(decision.by, Decider::Person { name });
    assert!(decision.content.as_deref().unwrap().contains(ANSWER));
    lives.check(&"carried out").await;
    row
}

#[tokio::test]
async fn a_recorded_answer_goes_with_a_fork_which_carries_it_out_once_and_asks_nobody() {
    for (script, verdict) in [
        (asking as fn(Stage) -> Stage, Verdict::Respond),
        (asking, Verdict::Reject),
        (pausing, Verdict::Resume),
    ] {
        let (mut lives, decided) = answered(script, verdict, None).await;
        let original = lives.run;
        fork(&mut lives).await;
        assert_completed(&lives.live().await);
        let own = assert_carried_out(&lives).await;
        assert_ne!(own.id, decided.id, "it is the fork's own");
        assert_eq!(own.decision.as_ref().unwrap().verdict, verdict);
        assert!(own.review.is_none(), "nobody was asked");
        let audit = lives.store.audit(ALL).await.unwrap();
        let details = audit
            .iter()
            .filter_map(|row| match row.read().unwrap().subject {
                AuditSubject::Interrupt {
                    interrupt, audited, ..
                } if interrupt == own.id && audited.event == "decide" => audited.detail,
                _ => None,
            });
        let details: Vec<String> = details.collect();
        assert_eq!(details.len(), 1, "{details:?}");
        let origin = format!("as someone decided about {}", decided.id);
        assert!(details[0].contains(&origin), "{details:?}");

        // The decision over there is that run's.
        let row = lives.store.interrupt(decided.id).await.unwrap().unwrap();
        assert_eq!(row, decided);
        lives.run = original;
        assert_completed(&lives.live().await);
        assert_carried_out(&lives).await;
    }
}

#[tokio::test]
async fn where_a_person_sent_the_answer_elsewhere_the_fork_goes_there_too() {
    let elsewhere = Some("TICKET_ORCHESTRATOR");
    let (mut lives, _decided) = answered(asking, Verdict::Reroute, elsewhere).await;
    fork(&mut lives).await;
    let report = lives.live().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    assert_carried_out(&lives).await;
}

#[tokio::test]
async fn wherever_the_process_of_the_fork_dies_nobody_is_asked() {
    // Whatever follows once the answer is its own follows as in any run.
    let mut since = 0;
    for operation in 0.. {
        if since > 8 {
            break;
        }
        let (mut lives, _decided) = answered(asking, Verdict::Respond, None).await;
        fork(&mut lives).await;
        let (ended, _operations) = lives.die(Death::After(operation)).await;
        assert!(ended.is_none(), "it did not die");
        let rows = asked(&lives).await;
        since += usize::from(rows.iter().any(|row| row.decision.is_some()));
        assert_completed(&lives.go_on().await);
        assert_carried_out(&lives).await;
    }
}

#[tokio::test]
async fn a_fork_of_a_fork_that_has_not_begun_has_the_answer_and_one_from_before_it_was_carried_out_asks()
 {
    let (mut lives, decided) = answered(asking_twice, Verdict::Respond, None).await;
    fork(&mut lives).await;
    let unbegun = lives.run;
    // A fork of it, which carries it out and asks what nobody has answered.
    fork(&mut lives).await;
    assert_ne!(lives.run, unbegun);
    assert_waits(&lives.live().await);
    let rows = asked(&lives).await;
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert_eq!(rows[0].content, decided.content);
    assert!(rows[0].review.is_none(), "nobody was asked");
    assert_eq!(rows[1].state, State::AwaitingReview);
    // Where it was not carried out yet, another answer can be given.
    let of_fork = lives.run;
    let checkpoints: Vec<Checkpoint> = lives.store.checkpoints(of_fork, ALL).await.unwrap();
    let (stands, earlier) = checkpoints.split_last().unwrap();
    assert!(!earlier.is_empty());
    for checkpoint in earlier {
        lives.run = of_fork;
        assert_eq!(known_at(&lives, checkpoint.id).await, []);
        fork_at(&mut lives, checkpoint.id).await;
        assert_waits(&lives.live().await);
        let first = asked(&lives).await.remove(0);
        assert_eq!(first.content, decided.content, "{}", checkpoint.id);
        assert_eq!(first.state, State::AwaitingReview, "{}", checkpoint.id);
    }
    lives.run = of_fork;
    fork_at(&mut lives, stands.id).await;
    assert_waits(&lives.live().await);
    assert_eq!(asked(&lives).await.len(), 1, "the first one is over");
}

#[tokio::test]
async fn an_answer_that_was_carried_out_or_that_gives_the_run_up_goes_with_no_fork() {
    let (mut lives, _decided) = answered(asking_twice, Verdict::Respond, None).await;
    assert_waits(&lives.live().await);
    let at = last(&lives).await;
    assert_eq!(known_at(&lives, at).await, []);
    fork(&mut lives).await;
    assert_waits(&lives.live().await);

    let (lives, _decided) = answered(pausing, Verdict::Cancel, None).await;
    let at = last(&lives).await;
    assert_eq!(known_at(&lives, at).await, []);
}
