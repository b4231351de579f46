//! The lists of the page: what waits, for whom, and what has happened.

use interrupts::life::{Role, State, Verdict};
use reqwest::StatusCode;

use crate::house::House;
use crate::page::{Browser, hidden};
use crate::scene::{awaiting, offering, open_choice, open_question, question, running};
use crate::shown::together;

#[tokio::test]
async fn a_question_that_is_claimed_is_mine_and_nobody_elses_to_decide() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let (first, other) = (
        Browser::of(&house, "alex", Role::Reviewer).await,
        Browser::of(&house, "kim", Role::Reviewer).await,
    );
    let (_, page) = first.get(&path).await;
    let claim = [("version", &*hidden(&page, "version")), ("claim", "yes")];
    let claimed = first.post(&format!("{path}/claim"), &claim).await;
    assert_eq!(claimed.status(), StatusCode::SEE_OTHER);
    let (_, mine) = first.get("/?tab=mine").await;
    assert!(
        mine.contains(&path) && mine.contains("Mine<span id=\"count-mine\"> (1)"),
        "{mine}"
    );
    let (_, page) = first.get(&path).await;
    assert!(page.contains("Give it back"), "{page}");

    let (_, page) = other.get(&path).await;
    assert!(page.contains("alex has claimed it"), "{page}");
    assert!(!page.contains("Claim it"), "{page}");
    let (_, not_mine) = other.get("/?tab=mine").await;
    assert!(!not_mine.contains(&path), "{not_mine}");
    let answer = [
        ("version", &*hidden(&page, "version")),
        ("shown_digest", &*hidden(&page, "shown_digest")),
        ("text", "mine"),
        ("decision", "respond"),
    ];
    let refused = other.post(&path, &answer).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);

    let (_, page) = first.get(&path).await;
    let back = [("version", &*hidden(&page, "version")), ("claim", "no")];
    first.post(&format!("{path}/claim"), &back).await;
    let (_, page) = other.get(&path).await;
    assert!(page.contains("Claim it"), "{page}");
}

#[tokio::test]
async fn whoever_claims_a_question_goes_on_with_what_he_has_written() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let (first, other) = (
        Browser::of(&house, "alex", Role::Reviewer).await,
        Browser::of(&house, "kim", Role::Reviewer).await,
    );
    let (_, page) = first.get(&path).await;
    let version = hidden(&page, "version");
    let fields = [
        ("version", &*version),
        ("claim", "yes"),
        ("text", "half a thought"),
        ("choice", "narrow"),
    ];
    let claimed = first.post(&format!("{path}/claim"), &fields).await;
    assert_eq!(claimed.status(), StatusCode::OK);
    let page = claimed.text().await.unwrap();
    assert!(page.contains("Give it back"), "{page}");
    assert!(page.contains(">half a thought</textarea>"), "{page}");
    let late = other.post(&format!("{path}/claim"), &fields).await;
    assert_eq!(late.status(), StatusCode::PRECONDITION_FAILED);
    let page = late.text().await.unwrap();
    assert!(page.contains("alex has claimed it"), "{page}");
    assert!(page.contains(">half a thought</textarea>"), "{page}");
}

#[tokio::test]
async fn a_viewer_claims_nothing() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let viewer = Browser::of(&house, "kim", Role::Observer).await;
    let path = format!("/review/{}/claim", asked.id);
    let refused = viewer.post(&path, &[("claim", "yes")]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let kept = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(kept, asked);
}

#[tokio::test]
async fn the_inbox_counts_what_waits_and_a_question_names_the_others_of_its_run() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, empty) = browser.get("/").await;
    assert!(
        empty.contains("examples/scripts/tour.json"),
        "the way to an example: {empty}"
    );
    let run = running(&*house.store, None).await;
    let first = awaiting(&*house.store, question(&run, "which way?")).await;
    let second = awaiting(&*house.store, question(&run, "how far?")).await;
    let other = running(&*house.store, None).await;
    let elsewhere = awaiting(&*house.store, question(&other, "for whom?")).await;
    let (_, inbox) = browser.get("/").await;
    assert!(
        inbox.contains("Open<span id=\"count-open\"> (3)"),
        "{inbox}"
    );
    assert!(inbox.contains("data-count=\"3\""), "{inbox}");
    let (_, page) = browser.get(&format!("/review/{}", first.id)).await;
    let siblings = page.split("Also open in this run").nth(1).unwrap();
    let siblings = siblings.split("</section>").next().unwrap();
    assert!(
        siblings.contains(&format!("/review/{}", second.id)),
        "{siblings}"
    );
    assert!(
        !siblings.contains(&format!("/review/{}", elsewhere.id)),
        "{siblings}"
    );
}

#[tokio::test]
async fn the_history_begins_with_the_newest_goes_back_to_the_first_and_can_be_saved() {
    let house = House::open().await;
    let mut runs = Vec::new();
    for _run in 0..90 {
        runs.push(running(&*house.store, None).await);
    }
    let (first, last) = (runs[0].id.to_string(), runs[89].id.to_string());
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (_, newest) = browser.get("/history?kind=run").await;
    assert!(newest.contains(&last) && !newest.contains(&first));
    // All of it, page by page, each row once.
    let (mut path, mut rows) = ("/history?kind=run".to_owned(), Vec::new());
    loop {
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        let cells = page.split("<tr><td>").skip(1);
        rows.extend(cells.map(|cell| cell.split('<').next().unwrap().parse::<u64>().unwrap()));
        let Some(older) = page.split("href=\"").find(|part| part.contains(">Older<")) else {
            break;
        };
        path = older.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert!(rows.len() >= 180, "{}", rows.len());
    assert!(rows.is_sorted_by(|newer, older| newer > older), "{rows:?}");
    let (_, saved) = browser.get("/history/export?kind=run").await;
    let saved: Vec<serde_json::Value> = saved
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(saved.len(), rows.len());
    assert!(saved.iter().all(|row| row["entry"]["about"] == "run"));
    let (_, one) = browser.get(&format!("/history?run_id={first}")).await;
    assert!(one.contains(&first) && !one.contains(&last));
}

#[tokio::test]
async fn whom_a_stop_reaches_is_said_before_it_is_asked_for() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let (_, page) = browser.get(&format!("/runs/{}", run.id)).await;
    let whom = page.split("<select id=\"node\"").nth(1).unwrap();
    let whom = whom.split("</select>").next().unwrap();
    assert!(whom.contains("The whole run: 2 agents"), "{whom}");
    assert!(
        whom.contains("value=\"orchestrator\">Orchestrator (orchestrator): 2 agents"),
        "{whom}"
    );
    assert!(
        whom.contains(">Discovery orchestrator (orchestrator/discovery): 1 agent<"),
        "{whom}"
    );
}

/// The values of the boxes of an inbox.
fn boxes(page: &str) -> Vec<String> {
    let boxes = page.split("name=\"chosen\" value=\"").skip(1);
    boxes
        .map(|part| part.split('"').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn what_is_chosen_in_the_inbox_is_decided_together_or_not_at_all() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut asked = Vec::new();
    for reason in ["may I go?", "may I stay?", "may I rest?"] {
        // What has to be chosen or confirmed is not decided in passing.
        let mut plain = question(&run, reason);
        let mut content: serde_json::Value = serde_json::from_str(&plain.content).unwrap();
        content["choices"] = serde_json::json!([]);
        content["confirmationItems"] = serde_json::json!([]);
        plain.content = content.to_string();
        asked.push(awaiting(&*house.store, plain).await);
    }
    let with_choices = awaiting(&*house.store, offering(&run, "sure?")).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, inbox) = browser.get("/").await;
    let ids: Vec<String> = asked.iter().map(|one| one.id.to_string()).collect();
    let mut chosen = boxes(&inbox);
    chosen.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(chosen, expected, "{inbox}");
    let (_, page) = browser
        .get(&together([&asked[0], &with_choices].into_iter()))
        .await;
    assert!(page.contains("Look at it alone"), "{page}");
    let (_, page) = browser.get(&together(asked.iter())).await;
    let seen = hidden(&page, "seen");
    // One was decided meanwhile: then none of the others is.
    let (_, alone) = browser.get(&together(asked[..1].iter())).await;
    let alone = hidden(&alone, "seen");
    let fields = [
        ("seen", &*alone),
        ("chosen", &*ids[0]),
        ("decision", "reject"),
    ];
    let decided = browser.post("/inbox/decide", &fields).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER);
    let mut fields: Vec<(&str, &str)> = vec![("decision", "approve"), ("seen", &seen)];
    fields.extend(ids.iter().map(|id| ("chosen", &**id)));
    let refused = browser.post("/inbox/decide", &fields).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let told = refused.text().await.unwrap();
    assert!(
        told.contains("Nothing was decided") && told.contains("alex"),
        "{told}"
    );
    for one in &asked[1..] {
        let kept = house.store.interrupt(one.id).await.unwrap().unwrap();
        assert_eq!(kept.state, State::AwaitingReview);
    }
    let (_, rest) = browser.get(&together(asked[1..].iter())).await;
    let seen = hidden(&rest, "seen");
    let mut fields: Vec<(&str, &str)> = vec![("decision", "approve"), ("seen", &seen)];
    fields.extend(ids[1..].iter().map(|id| ("chosen", &**id)));
    let decided = browser.post("/inbox/decide", &fields).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER);
    for one in &asked[1..] {
        let made = house.store.interrupt(one.id).await.unwrap().unwrap();
        assert_eq!(made.decision.unwrap().verdict, Verdict::Approve);
    }
}

#[tokio::test]
async fn every_page_counts_what_waits_whatever_it_shows() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let count = async || browser.get("/inbox/count").await.1;
    assert_eq!(count().await, "<span data-count=\"0\"></span>");
    let first = awaiting(&*house.store, question(&run, "which way?")).await;
    let _second = awaiting(&*house.store, question(&run, "how far?")).await;
    assert_eq!(count().await, "<span data-count=\"2\"></span>");
    for path in [
        "/".to_owned(),
        "/?tab=resolved".to_owned(),
        format!("/review/{}", first.id),
        "/runs".to_owned(),
        format!("/runs/{}", run.id),
        "/agents".to_owned(),
        "/history".to_owned(),
        "/settings".to_owned(),
    ] {
        let (_, page) = browser.get(&path).await;
        let counter = page.matches("hx-get=\"/inbox/count\"").count();
        assert_eq!(counter, 1, "{path}: {page}");
    }
}
