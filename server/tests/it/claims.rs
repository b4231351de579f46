//! Claims: what the live feed tells of them, and what the page says to those who have not claimed.

use interrupts::ActorName;
use interrupts::life::{Actor, ReviewChange, Role};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::House;
use crate::rules_told::{names, told_over_events, told_over_socket};
use crate::scene::{awaiting, open_question, question, running};

#[tokio::test]
async fn who_claims_a_question_and_who_gives_it_back_is_told() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = house.url(&format!("/v1/interrupts/{}/claim", asked.id));
    let claimed = house.client.put(&path).json(&json!({"ttl_s": 60}));
    let claimed = claimed.bearer_auth(&house.tokens["reviewer"]).send().await;
    let claimed: Value = claimed.unwrap().json().await.unwrap();
    let released = house.client.delete(&path);
    let released = released.bearer_auth(&house.tokens["reviewer"]).send().await;
    assert_eq!(released.unwrap().status(), StatusCode::OK);

    let topics = "topics=interrupt.claimed,interrupt.released";
    let told = told_over_events(&house, topics, 2).await;
    assert_eq!(
        names(&told),
        [
            "dev.irq.interrupt.claimed.v1",
            "dev.irq.interrupt.released.v1"
        ]
    );
    for event in &told {
        assert_eq!(event["data"]["interrupt_id"], json!(asked.id), "{event}");
        assert_eq!(event["data"]["state"], "awaiting_review", "{event}");
    }
    assert_eq!(told[0]["data"]["claimed_by"], claimed["claimed_by"]);
    assert_eq!(told[0]["data"]["claimed_by"]["by"], "reviewer");
    assert_eq!(told[1]["data"].get("claimed_by"), None);
    let topics = ["interrupt.claimed", "interrupt.released"];
    assert_eq!(told_over_socket(&house, &topics, 2).await, told);
}

#[tokio::test]
async fn what_holds_a_question_is_told_and_that_nothing_does_any_more() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let first = awaiting(&*house.store, question(&run, "this one first")).await;
    let system = Actor {
        name: ActorName::new("system").unwrap(),
        role: Role::System,
    };
    let mut version = asked.version;
    for change in [
        ReviewChange::Hold { by: first.id },
        ReviewChange::Unhold { by: first.id },
    ] {
        let changed = house
            .store
            .review(asked.id, system.clone(), version, change);
        version = changed.await.unwrap().version;
    }
    let topics = "topics=interrupt.held,interrupt.updated";
    let told = told_over_events(&house, topics, 2).await;
    assert_eq!(
        names(&told),
        ["dev.irq.interrupt.held.v1", "dev.irq.interrupt.updated.v1"]
    );
    assert_eq!(told[0]["data"]["held_by"], json!(first.id));
    assert_eq!(told[1]["data"]["interrupt_id"], json!(asked.id));
}
