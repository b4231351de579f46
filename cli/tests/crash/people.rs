//! People in another process, who decide what agents ask.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::DecisionId;
use interrupts::ActorName;
use interrupts::life::{Actor, Choosing, Family, Interrupt, Judge, Role, State, Verdict};
use interrupts::store::{ChangeError, Filter};

use crate::world::{ALL, World};

/// Decides whatever waits for a person, always in the same way for the same question; until it is dropped.
pub(crate) fn decide_all(world: &Arc<World>) -> tokio::task::JoinHandle<()> {
    let world = Arc::clone(world);
    tokio::spawn(async move {
        loop {
            let filter = Filter {
                states: vec![State::AwaitingReview],
                ..Filter::default()
            };
            let open = world.store.interrupts(&filter, ALL).await.unwrap();
            for (_position, interrupt) in open {
                if interrupt.family() == Family::Question {
                    decide(&world, &interrupt).await;
                }
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    })
}

async fn decide(world: &World, interrupt: &Interrupt) {
    let Some(review) = &interrupt.review else {
        return;
    };
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("ada").unwrap(),
            role: Role::Reviewer,
        },
        version: interrupt.version,
        shown: review.shown,
    };
    let answer = format!("Decided for {}.", interrupt.node);
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Respond,
        target: None,
        content: Some(serde_json::json!({ "text": answer }).to_string()),
    };
    match world.store.decide(interrupt.id, judge, choosing).await {
        Ok(_decided) => {}
        // It changed in between, or has ended.
        Err(ChangeError::Refused(_)) => return,
        Err(error) => panic!("{error}"),
    }
    if let Some(run) = world.store.run(interrupt.run).await.unwrap() {
        world.notify(&run).await;
    }
}
