//! Two processes and one run: the second is refused while the first lives, and the first once the second has it.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::life::Life;
use crate::people::decide_all;
use crate::world::{ALL, World};

const GOAL: &str = "Describe the bakery";

fn send(life: &Life, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(life.child.id()).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

/// A run whose process waits for an answer.
async fn waiting(world: &Arc<World>) -> Life {
    let life = Life::start(world, world.begin(GOAL), "first");
    world.first_question().await;
    life
}

async fn end(mut life: Life) -> (Option<i32>, Life) {
    let ended = move || (life.end(), life);
    tokio::task::spawn_blocking(ended).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_owner_is_refused_and_the_first_goes_on() {
    let world = World::new().await;
    let first = waiting(&world).await;
    let run = world.run_of(GOAL).await.unwrap();
    let (code, second) = end(Life::start(&world, world.resume(&run), "second")).await;
    assert_eq!(code, Some(4));
    assert!(
        second
            .errors(&world)
            .contains("is running in another process")
    );
    let people = decide_all(&world);
    assert_eq!(end(first).await.0, Some(0));
    people.abort();
    world.assert_completed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_slept_through_its_lease_writes_nothing_any_more() {
    let world = World::new().await;
    let first = waiting(&world).await;
    let run = world.run_of(GOAL).await.unwrap();
    send(&first, Signal::STOP);
    let people = decide_all(&world);
    // It is alive, so its lease counts until it has run out.
    let mut refused = 0;
    let code = loop {
        let name = format!("second-{refused}");
        let (code, _life) = end(Life::start(&world, world.resume(&run), &name)).await;
        if code != Some(4) {
            break code;
        }
        refused += 1;
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert_eq!(code, Some(0));
    assert!(refused > 0, "the lease of a sleeping owner did not count");
    let left = (
        world.runs().await,
        world.store.verify_audit().await.unwrap(),
    );
    let journal = world.store.journal(run.id, ALL).await.unwrap();
    send(&first, Signal::CONT);
    let (code, first) = end(first).await;
    assert_ne!(code, Some(0), "{}", first.errors(&world));
    people.abort();
    let now = (
        world.runs().await,
        world.store.verify_audit().await.unwrap(),
    );
    assert_eq!(now, left);
    assert_eq!(world.store.journal(run.id, ALL).await.unwrap(), journal);
    world.assert_completed().await;
    let report = world.audit(&[]).await;
    assert_eq!(report.findings, []);
}
