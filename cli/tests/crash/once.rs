//! Deaths of a server at each step of a request that has a key: sent again, it is done wholly, and once.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{InterruptType, RunId};
use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::Filter;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::life::Life;
use crate::people::decide_all;
use crate::service::Service;
use crate::world::{ALL, World};

const GOAL: &str = "Describe the bakery";

const WORDS: &str = "Mind the oven";

/// How often it is looked whether something has come.
const LOOK: Duration = Duration::from_millis(10);

async fn killed(mut life: Life) {
    tokio::task::spawn_blocking(move || life.die_after(Duration::ZERO))
        .await
        .unwrap();
}

async fn died(mut life: Life, moment: &str) {
    let ended = tokio::task::spawn_blocking(move || life.end());
    assert_eq!(ended.await.unwrap(), None, "{moment} was not reached");
}

/// How often agents of a run were told the words.
async fn times_told(world: &World, run: RunId) -> usize {
    let journal = world.store.journal(run, ALL).await.unwrap();
    let contents = journal
        .iter()
        .filter(|entry| entry.intent.kind.as_str() == "model_call")
        .map(|entry| serde_json::from_str::<Value>(&entry.intent.content).unwrap());
    contents
        .map(|call| call["start"]["letters"].to_string().matches(WORDS).count())
        .sum()
}

async fn pauses(world: &World, state: State) -> Vec<Interrupt> {
    let filter = Filter {
        states: vec![state],
        ..Filter::default()
    };
    let found = world.store.interrupts(&filter, ALL).await.unwrap();
    let found = found.into_iter().map(|(_position, interrupt)| interrupt);
    found
        .filter(|it| it.interrupt_type == InterruptType::Pause)
        .collect()
}

/// Waits until a run is in this state, and nobody goes on with it.
async fn stands(world: &World, run: RunId, state: RunState) {
    loop {
        let row = world.store.run(run).await.unwrap();
        if row.is_some_and(|row| row.state == state && (state.is_final() || row.lease.is_none())) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Gives a command, which does what it says.
async fn given(world: &Arc<World>, arguments: &[&str], name: &str) {
    let mut life = Life::start(world, world.irq(arguments), name);
    let ended = tokio::task::spawn_blocking(move || (life.end(), life));
    let (code, life) = ended.await.unwrap();
    assert_eq!(code, Some(0), "{}", life.errors(world));
}

/// A run of a server that waits for an answer, and is paused twice.
async fn paused_twice(world: &Arc<World>, service: &Service) -> RunId {
    let run = service.start(GOAL).await;
    let question = world.first_question().await;
    let asker = format!("{run}/{}", question.node);
    for (place, paused) in [&run, &asker].into_iter().enumerate() {
        given(world, &["interrupt", paused], &format!("pause-{place}")).await;
        while pauses(world, State::AwaitingReview).await.len() <= place {
            tokio::time::sleep(LOOK).await;
        }
    }
    run.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_lifts_all_pauses_wherever_the_server_dies() {
    for moment in ["decide_together:before:1", "decide_together:after:1"] {
        let world = World::new().await;
        let service = Service::of(&world).await;
        let first = service.serve("first").await;
        let run = paused_twice(&world, &service).await;
        killed(first).await;
        let path = format!("/v1/runs/{run}/resume");
        let body = json!({"input": WORDS});
        let dying = service.serve_until(moment, "dying").await;
        assert_eq!(service.send(&path, &body, "r").await, None, "{moment}");
        died(dying, moment).await;

        let last = service.serve("last").await;
        let (status, answer) = service.send(&path, &body, "r").await.unwrap();
        assert_eq!(status, StatusCode::ACCEPTED, "{moment}: {answer}");
        assert_eq!(pauses(&world, State::AwaitingReview).await, [], "{moment}");
        let people = decide_all(&world);
        stands(&world, run, RunState::Completed).await;
        people.abort();
        assert_eq!(pauses(&world, State::Resolved).await.len(), 2, "{moment}");
        assert_eq!(times_told(&world, run).await, 1, "{moment}");
        killed(last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_never_goes_on_without_what_was_said_with_it() {
    for moment in ["own_run:before:1", "own_run:after:1", "change_run:after:1"] {
        let world = World::new().await;
        let service = Service::of(&world).await;
        let people = decide_all(&world);
        let first = service.serve("first").await;
        let run = service.start(GOAL).await;
        stands(&world, run.parse().unwrap(), RunState::Completed).await;
        killed(first).await;
        let path = format!("/v1/runs/{run}/resume");
        let body = json!({"checkpoint": 1, "input": WORDS});
        let dying = service.serve_until(moment, "dying").await;
        assert_eq!(service.send(&path, &body, "f").await, None, "{moment}");
        died(dying, moment).await;

        // By itself, and once, though it is asked for again.
        let last = service.serve("last").await;
        let fork = world.runs().await.pop().unwrap();
        assert!(fork.forked_from.is_some(), "{moment}");
        stands(&world, fork.id, RunState::Completed).await;
        assert_eq!(times_told(&world, fork.id).await, 1, "{moment}");
        let (status, answer) = service.send(&path, &body, "f").await.unwrap();
        assert_eq!(status, StatusCode::ACCEPTED, "{moment}: {answer}");
        assert_eq!(answer["run_id"], fork.id.to_string(), "{moment}");
        assert_eq!(world.runs().await.len(), 2, "{moment}");
        killed(last).await;
        people.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_command_that_dies_has_what_was_said_with_it() {
    for moment in ["own_run:before:1", "own_run:after:1"] {
        let world = World::new().await;
        let people = decide_all(&world);
        let run = Life::start(&world, world.begin(GOAL), "run");
        ended(run, &world).await;
        let run = world.runs().await.remove(0).id.to_string();
        let mut fork = world.irq(&["fork", &run, "--at", "1", "--message", WORDS]);
        fork.env("IRQ_DIE_AT", moment);
        died(Life::start(&world, fork, "fork"), moment).await;

        let fork = world.runs().await.pop().unwrap();
        assert!(fork.forked_from.is_some(), "{moment}");
        ended(Life::start(&world, world.resume(&fork), "resumed"), &world).await;
        world.assert_completed().await;
        assert_eq!(times_told(&world, fork.id).await, 1, "{moment}");
        people.abort();
    }
}

async fn ended(mut life: Life, world: &World) {
    let ended = tokio::task::spawn_blocking(move || (life.end(), life));
    let (code, life) = ended.await.unwrap();
    assert_eq!(code, Some(0), "{}", life.errors(world));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_nothing_holds_goes_on_once_with_what_was_said() {
    for moment in ["begin:before:1", "begin:after:1"] {
        let world = World::new().await;
        let service = Service::of(&world).await;
        let first = service.serve("first").await;
        let run = service.start(GOAL).await;
        world.first_question().await;
        let branch = ["interrupt", &run, "--type", "BRANCH", "--wait"];
        given(&world, &branch, "branch").await;
        stands(&world, run.parse().unwrap(), RunState::Paused).await;
        let branch = world.runs().await.pop().unwrap().id;
        killed(first).await;
        let path = format!("/v1/runs/{branch}/resume");
        let body = json!({"input": WORDS});
        let dying = service.serve_until(moment, "dying").await;
        assert_eq!(service.send(&path, &body, "b").await, None, "{moment}");
        died(dying, moment).await;

        let last = service.serve("last").await;
        let people = decide_all(&world);
        for _again in 0..2 {
            let (status, answer) = service.send(&path, &body, "b").await.unwrap();
            assert_eq!(status, StatusCode::ACCEPTED, "{moment}: {answer}");
        }
        stands(&world, branch, RunState::Completed).await;
        people.abort();
        assert_eq!(times_told(&world, branch).await, 1, "{moment}");
        let (status, answer) = service.send(&path, &body, "b").await.unwrap();
        assert_eq!(status, StatusCode::ACCEPTED, "{moment}: {answer}");
        killed(last).await;
    }
}
