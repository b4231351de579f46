//! Long lists of the page: all of it can be reached, and what goes first is on the first page.

use interrupt_router::RunId;
use interrupts::life::Role;
use interrupts::store::NewRun;
use reqwest::StatusCode;
use serde_json::json;

use crate::house::House;
use crate::page::Browser;
use crate::scene::{awaiting, held_plan, question, running};

/// Where the runs and questions of a list lead, in their order.
fn cards(page: &str, start: &str) -> Vec<String> {
    let cards = page.split("<li class=\"card\"").skip(1);
    let links = cards.map(|card| card.split(start).nth(1).unwrap().split('"').next().unwrap());
    links.map(str::to_owned).collect()
}

/// Where a link leads, by its text.
fn link(page: &str, text: &str) -> Option<String> {
    let end = format!("\">{text}</a>");
    let before = page.split_once(&end)?.0;
    Some(
        before
            .rsplit("href=\"")
            .next()
            .unwrap()
            .replace("&amp;", "&"),
    )
}

/// All cards of a list, page by page.
async fn all_cards(browser: &Browser<'_>, first: &str, start: &str, further: &str) -> Vec<String> {
    let (mut path, mut found) = (first.to_owned(), Vec::new());
    loop {
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        let cards = cards(&page, start);
        assert!(cards.len() <= 100, "{path}: {}", cards.len());
        found.extend(cards);
        match link(&page, further) {
            Some(next) => path = next,
            None => return found,
        }
    }
}

#[tokio::test]
async fn each_of_many_open_questions_is_on_one_page_and_what_goes_first_is_on_the_first() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut asked = Vec::new();
    for number in 1..=107 {
        let admission = question(&run, &format!("question {number:03}"));
        asked.push(awaiting(&*house.store, admission).await.id.to_string());
    }
    // It comes last, and goes first.
    let (_run, pause) = held_plan(&*house.store).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let start = "href=\"/review/";
    let found = all_cards(&browser, "/", start, "More").await;
    assert_eq!(found[0], pause.id.to_string());
    assert_eq!(found[1..], asked[..]);
    // The list that follows the feed is the one of the page that is shown.
    let (_, first) = browser.get("/").await;
    let (_, second) = browser.get(&link(&first, "More").unwrap()).await;
    assert!(second.contains("8 of 108 shown"), "{second}");
    assert_eq!(cards(&second, start), asked[99..]);
    let (_head, main) = second.split_once("<main").unwrap();
    let live = main
        .split("hx-get=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let (_, list) = browser.get(&live.replace("&amp;", "&")).await;
    assert_eq!(cards(&list, start), asked[99..]);
    assert_eq!(link(&list, "From the beginning").unwrap(), "/?tab=open");

    let (_, page) = browser.get("/?find=question+105").await;
    assert_eq!(cards(&page, start), asked[104..105]);
    let found = all_cards(&browser, "/?find=question", start, "More").await;
    assert_eq!(found, asked);
    let (status, page) = browser.get("/?cursor=101").await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{page}");
}

#[tokio::test]
async fn what_is_over_is_found_however_much_else_is_over() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut asked = Vec::new();
    for number in 1..=120 {
        let admission = question(&run, &format!("question {number:03}"));
        let one = awaiting(&*house.store, admission).await;
        let path = format!("/v1/interrupts/{}/decisions", one.id);
        let decision = house.post("reviewer", &path, &json!({"decision": "approve"}));
        let decision = decision.header("If-Match", format!("\"{}\"", one.version));
        assert_eq!(decision.send().await.unwrap().status(), StatusCode::CREATED);
        asked.push(one.id.to_string());
    }
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let start = "href=\"/review/";
    let found = all_cards(&browser, "/?tab=resolved", start, "More").await;
    assert_eq!(found, asked);
    let (_, page) = browser.get("/?tab=resolved&find=question+119").await;
    assert_eq!(cards(&page, start), asked[118..119]);
}

#[tokio::test]
async fn the_newest_run_is_on_the_first_page_of_the_runs() {
    let house = House::open().await;
    let mut created = Vec::new();
    for number in 0..203 {
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: json!({"goal": format!("goal {number}")}).to_string(),
        };
        created.push(house.store.create_run(new).await.unwrap().id.to_string());
    }
    created.reverse();
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let found = all_cards(&browser, "/runs", "href=\"/runs/", "Older").await;
    assert_eq!(found, created);
    // Programs read them in the order of their creation.
    let first = house.read("/v1/runs?limit=1").await;
    assert_eq!(first["runs"][0]["run_id"], json!(created[202]));
}
