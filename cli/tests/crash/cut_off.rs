//! Agents that are cut off: their run goes on without them, and nothing that they had begun is left open.

use std::time::Duration;

use crate::life::Life;
use crate::people::decide_all;
use crate::world::World;

const GOAL: &str = "Describe the bakery";

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_cut_off_while_it_asks_leaves_nothing_unfinished() {
    for dies in [false, true] {
        let world = World::new().await;
        let mut first = Life::start(&world, world.begin(GOAL), "first");
        let question = world.first_question().await;
        let agent = format!("{}/{}", question.run, question.node);
        if dies {
            first.die_after(Duration::ZERO);
        }
        let prune = world.irq(&["interrupt", &agent, "--type", "prune"]);
        let mut prune = Life::start(&world, prune, "prune");
        let run = world.run_of(GOAL).await.unwrap();
        let its = world.clone();
        let pruned = tokio::task::spawn_blocking(move || (prune.end(), prune.errors(&its)));
        let (code, errors) = pruned.await.unwrap();
        assert_eq!(code, Some(0), "{errors}");
        // The agent that comes in its place asks the same.
        let people = decide_all(&world);
        let its = world.clone();
        let ended = move || {
            let mut last = if dies {
                Life::start(&its, its.resume(&run), "second")
            } else {
                first
            };
            (last.end(), last.errors(&its))
        };
        let (code, errors) = tokio::task::spawn_blocking(ended).await.unwrap();
        people.abort();
        assert_eq!(code, Some(0), "{errors}");
        world.assert_completed().await;
        let report = world.audit(&world.own_attempts().await).await;
        assert_eq!(report.findings, [], "dies: {dies}");
    }
}
