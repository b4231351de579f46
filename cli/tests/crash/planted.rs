//! The control: a program with a planted fault, which the auditor must find. Without it the proof proves nothing.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tests::auditor::{Attempt, Finding, Outcome};

use crate::life::Life;
use crate::people::decide_all;
use crate::world::World;

const GOAL: &str = "Describe the bakery";

/// A world whose first process waits for an answer to its first question, and has this fault.
async fn waiting(plant: &str) -> (Arc<World>, Life) {
    let world = World::new().await;
    let life = Life::start(&world, planted(world.begin(GOAL), plant), "first");
    world.first_question().await;
    (world, life)
}

fn planted(mut command: Command, plant: &str) -> Command {
    command.env("IRQ_PLANT", plant);
    command
}

async fn end(mut life: Life) -> (Option<i32>, Life) {
    let ended = move || (life.end(), life);
    tokio::task::spawn_blocking(ended).await.unwrap()
}

async fn findings(world: &World, attempts: &[Attempt]) -> Vec<Finding> {
    world.audit(attempts).await.findings
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_were_acknowledged_and_forgotten_are_found() {
    let (world, first) = waiting("forget-results").await;
    let people = decide_all(&world);
    assert_eq!(end(first).await.0, Some(0));
    people.abort();
    let found = findings(&world, &[]).await;
    let unfinished = |finding: &Finding| matches!(finding, Finding::Unfinished { .. });
    assert!(found.iter().any(unfinished), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_asked_again_is_found() {
    let (world, mut first) = waiting("hide-results").await;
    first.die_after(Duration::ZERO);
    let run = world.run_of(GOAL).await.unwrap();
    let resume = planted(world.resume(&run), "hide-results");
    let mut second = Life::start(&world, resume, "second");
    let found = loop {
        let has_ended = second.child.try_wait().unwrap().is_some();
        let found = findings(&world, &[]).await;
        if !found.is_empty() {
            break found;
        }
        assert!(!has_ended, "unnoticed: {}", second.errors(&world));
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    second.die_after(Duration::ZERO);
    let again = |finding: &Finding| matches!(finding, Finding::AskingOutcome { .. });
    assert!(found.iter().any(again), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_was_acknowledged_and_forgotten_is_found() {
    let (world, _first) = waiting("").await;
    let run = world.run_of(GOAL).await.unwrap();
    let agent = format!("{}/orchestrator/discovery", run.id);
    let arguments = [
        "reroute",
        &agent,
        "--to",
        "TICKET_ORCHESTRATOR",
        "--event-id",
        "event-1",
    ];
    let command = planted(
        world.irq(&[&arguments[..], &["--json"]].concat()),
        "forget-admissions",
    );
    let (code, life) = end(Life::start(&world, command, "publisher")).await;
    assert_eq!(code, Some(0), "{}", life.errors(&world));
    let told: serde_json::Value = serde_json::from_str(&life.output(&world)).unwrap();
    let attempt = Attempt {
        key: "event-1".to_owned(),
        outcome: Outcome::Acknowledged {
            interrupt: told["id"].as_str().unwrap().parse().unwrap(),
        },
    };
    let found = findings(&world, &[attempt]).await;
    let lost = |finding: &Finding| matches!(finding, Finding::Lost { .. });
    assert!(found.iter().any(lost), "{found:?}");
}
