//! Deaths right before and right after each operation of the store, from publishing to the checkpoint.

use std::sync::Arc;

use interrupts::IdempotencyKey;
use tests::auditor::{Attempt, Outcome};

use crate::deaths::{NextCommand, around, die_at_each};
use crate::life::Life;
use crate::people::decide_all;
use crate::world::World;

/// The operations of a run's owner, each with the times that are tried. What is named here must be reached.
const POINTS: [(&str, &[u32]); 15] = [
    ("create_run", &[1]),
    ("own_run", &[1]),
    ("change_run", &[1, 2]),
    ("put_nodes", &[1, 4]),
    ("begin", &[1, 2, 5, 11]),
    ("finish", &[1, 2, 5, 11]),
    ("admit", &[1]),
    ("deliver", &[1]),
    ("put_question", &[1, 2]),
    ("acknowledge", &[1]),
    ("consult", &[1, 2]),
    ("decide", &[1, 2]),
    ("save", &[1]),
    ("node_ended", &[1]),
    ("release_run", &[1]),
];

/// In each run a supervisor of its own reroutes an agent, so that events go their whole way in one process.
const SCRIPT: &str = r#"{"version": 1, "steps": [
  {"supervisor": {"when": {"agent": "PLANNING_ORCHESTRATOR", "turn": 1}, "event": {
    "interruptType": "HUMAN_REVIEW", "rerouteToAgentType": "TICKET_ORCHESTRATOR",
    "reason": "The plan is known."}}}
]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_step_of_an_interrupt_loses_and_doubles_nothing() {
    let world = World::new().await;
    std::fs::write(world.file("script.json"), SCRIPT).unwrap();
    let people = decide_all(&world);
    let moments = around(&POINTS);
    let count = moments.len();
    let command: NextCommand = |world, run, _dies| match run {
        Ok(run) => world.resume(run),
        Err(goal) => {
            let mut command = world.begin(goal);
            command.arg("--script").arg(world.file("script.json"));
            command
        }
    };
    die_at_each(&world, moments, command).await;
    people.abort();
    assert_eq!(world.failures(), Vec::<String>::new());
    world.assert_completed().await;
    // Whatever the runs published themselves was published by nobody outside.
    let report = world.audit(&world.own_attempts().await).await;
    println!(
        "{count} failpoints in {} runs, {} interrupts, {} decisions, {} reroutes consumed",
        world.runs().await.len(),
        report.interrupts,
        report.decisions,
        report.consumed
    );
    assert_eq!(report.findings, []);
    assert!(report.consumed > 0);
}

/// Gives a command that dies at a moment, and gives it again. Returns how the second one ended.
async fn twice(world: &Arc<World>, arguments: &[&str], moment: &str) -> Option<i32> {
    let mut dying = world.irq(arguments);
    dying.env("IRQ_DIE_AT", moment);
    let again = world.irq(arguments);
    let world = Arc::clone(world);
    let moment = moment.to_owned();
    let ended = tokio::task::spawn_blocking(move || {
        let died = Life::start(&world, dying, "dying").end();
        assert_eq!(died, None, "{moment} was not reached");
        Life::start(&world, again, "again").end()
    });
    ended.await.unwrap()
}

/// Whoever publishes or decides may die as well: given again, the command finds what stands.
#[tokio::test(flavor = "multi_thread")]
async fn supervisors_and_people_whose_processes_die_say_it_again() {
    for side in ["before", "after"] {
        let world = World::new().await;
        let mut life = Life::start(&world, world.begin("Describe"), "owner");
        let question = world.first_question().await;
        let agent = format!("{}/{}", question.run, question.node);
        let publish = [
            "reroute",
            &agent,
            "--to",
            "PLANNING_ORCHESTRATOR",
            "--event-id",
            "event-1",
        ];
        let code = twice(&world, &publish, &format!("admit:{side}:1")).await;
        assert_eq!(code, Some(0));
        let key = IdempotencyKey::new("event-1").unwrap();
        let event = world.store.interrupt_of(&key).await.unwrap().unwrap();
        let id = question.id.to_string();
        let decide = [
            "review",
            &id,
            "--decision",
            "respond",
            "--message",
            "all of it",
        ];
        let code = twice(&world, &decide, &format!("decide_together:{side}:1")).await;
        // What was decided before the death stands, and whoever comes again is told so.
        assert_eq!(code, Some(if side == "before" { 0 } else { 4 }));
        let people = decide_all(&world);
        let ended = tokio::task::spawn_blocking(move || life.end())
            .await
            .unwrap();
        people.abort();
        assert_eq!(ended, Some(0));
        let attempt = Attempt {
            key: "event-1".to_owned(),
            outcome: Outcome::Acknowledged {
                interrupt: event.id,
            },
        };
        assert_eq!(world.audit(&[attempt]).await.findings, []);
    }
}
