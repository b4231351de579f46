//! Claims: what the live feed tells of them, and what the page says to those who have not claimed.

use interrupt_router::InterruptId;
use interrupts::ActorName;
use interrupts::life::{Actor, Interrupt, ReviewChange, Role};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::House;
use crate::page::{Browser, hidden};
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

/// Another interrupt holds a question and lets it go. Returns its version then.
async fn held_for_a_moment(house: &House, asked: &Interrupt, by: InterruptId) -> u64 {
    let system = Actor {
        name: ActorName::new("system").unwrap(),
        role: Role::System,
    };
    let mut version = asked.version;
    for change in [ReviewChange::Hold { by }, ReviewChange::Unhold { by }] {
        let changed = house
            .store
            .review(asked.id, system.clone(), version, change);
        version = changed.await.unwrap().version;
    }
    version
}

#[tokio::test]
async fn what_holds_a_question_is_told_and_that_nothing_does_any_more() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let first = awaiting(&*house.store, question(&run, "this one first")).await;
    held_for_a_moment(&house, &asked, first.id).await;
    let topics = "topics=interrupt.held,interrupt.updated";
    let told = told_over_events(&house, topics, 2).await;
    assert_eq!(
        names(&told),
        ["dev.irq.interrupt.held.v1", "dev.irq.interrupt.updated.v1"]
    );
    assert_eq!(told[0]["data"]["held_by"], json!(first.id));
    assert_eq!(told[1]["data"]["interrupt_id"], json!(asked.id));
}

/// The buttons of a page that decide, and those of them that cannot be pressed.
fn buttons(page: &str) -> (usize, usize) {
    let buttons = page.split("<button").skip(1);
    let buttons = buttons.filter_map(|button| button.split('>').next());
    let decides = |button: &&str| {
        button.contains("name=\"decision\"") && !button.contains("value=\"preview_plan\"")
    };
    let decides: Vec<&str> = buttons.filter(decides).collect();
    let disabled = decides.iter().filter(|button| button.contains("disabled"));
    (decides.len(), disabled.count())
}

#[tokio::test]
async fn a_claimed_question_says_whose_it_is_and_until_when_and_others_cannot_press_its_buttons() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let (first, other) = (
        Browser::of(&house, "alex", Role::Reviewer).await,
        Browser::of(&house, "kim", Role::Reviewer).await,
    );
    let (_, free) = other.get(&path).await;
    let (all, disabled) = buttons(&free);
    assert!(all > 4 && disabled == 0, "{free}");
    let claim = [("version", &*hidden(&free, "version")), ("claim", "yes")];
    first.post(&format!("{path}/claim"), &claim).await;
    let claimed = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    let until = claimed["claimed_by"]["until"].as_str().unwrap();
    let until = format!("<time datetime=\"{until}\"");

    let (_, page) = other.get(&path).await;
    let (_, said) = page.split_once("data-testid=\"claimed\"").unwrap();
    let said = said.split("</p>").next().unwrap();
    assert!(
        said.contains("<strong>alex has claimed it</strong>"),
        "{said}"
    );
    assert!(said.contains(&until) && said.contains(" UTC"), "{said}");
    assert_eq!(buttons(&page), (all, all), "{page}");
    assert!(page.contains("<textarea id=\"text\""), "it can be written");
    let (_, inbox) = other.get("/").await;
    assert!(
        inbox.contains("alex has claimed it") && inbox.contains(&until),
        "{inbox}"
    );
    // His own page says so too, and he decides.
    let (_, own) = first.get(&path).await;
    assert!(own.contains("You have claimed it until"), "{own}");
    assert_eq!(buttons(&own), (all, 0), "{own}");
}

#[tokio::test]
async fn what_somebody_else_has_claimed_cannot_be_chosen_in_the_inbox() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut ids = Vec::new();
    for reason in ["one", "two", "three"] {
        let mut plain = question(&run, reason);
        plain.content = json!({"type": "HUMAN_REVIEW", "reason": reason}).to_string();
        ids.push(awaiting(&*house.store, plain).await.id);
    }
    let path = house.url(&format!("/v1/interrupts/{}/claim", ids[0]));
    let claimed = house.client.put(&path).json(&json!({"ttl_s": 60}));
    let claimed = claimed.bearer_auth(&house.tokens["reviewer"]).send().await;
    assert_eq!(claimed.unwrap().status(), StatusCode::OK);
    let browser = Browser::of(&house, "kim", Role::Reviewer).await;
    let (_, inbox) = browser.get("/").await;
    let boxes = ids
        .iter()
        .map(|id| inbox.contains(&format!("name=\"chosen\" value=\"{id}\"")));
    assert_eq!(boxes.collect::<Vec<_>>(), [false, true, true], "{inbox}");
}

#[tokio::test]
async fn a_page_decides_what_it_shows_also_when_it_was_held_and_claimed_meanwhile() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let first = awaiting(&*house.store, question(&run, "this one first")).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    for is_told in [true, false] {
        let asked = open_question(&*house.store, &run).await;
        let path = format!("/review/{}", asked.id);
        let (_, page) = browser.get(&path).await;
        let version = held_for_a_moment(&house, &asked, first.id).await;
        assert_ne!(hidden(&page, "version"), version.to_string());
        let (version, digest) = (hidden(&page, "version"), hidden(&page, "shown_digest"));
        let (key, target) = (hidden(&page, "key"), hidden(&page, "shown_target"));
        // Whoever was shown another target looks again.
        let target = if is_told { &*target } else { "CONTEXT_MANAGER" };
        let fields = [
            ("version", &*version),
            ("shown_digest", &*digest),
            ("shown_target", target),
            ("key", &*key),
            ("text", "the left one"),
            ("decision", "respond"),
        ];
        let decided = browser.post(&path, &fields).await;
        let expected = if is_told {
            StatusCode::SEE_OTHER
        } else {
            StatusCode::PRECONDITION_FAILED
        };
        assert_eq!(decided.status(), expected);
    }
}
