//! The page of the agents: who is there, where one gets from it, what it refuses.

use interrupt_router::RunId;
use interrupts::life::{Role, RunState};
use interrupts::store::{CallWait, NewRun, NodeActivity, NodeRow, Run, Store};
use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use serde_json::json;

use crate::feed::{Events, stream};
use crate::house::House;
use crate::page::Browser;
use crate::scene::{DISCOVERY, awaiting, delivery, node, question, running};

/// The card of each agent on a page.
fn cards(page: &str) -> Vec<&str> {
    let parts = page.split("<li class=\"card\"").skip(1);
    parts
        .map(|part| part.split("</li>").next().unwrap())
        .collect()
}

/// The card of an agent, to the end of the page.
fn card_of<'page>(page: &'page str, run: &Run, node: &str) -> &'page str {
    let start = format!("data-agent=\"{}/{node}\"", run.id);
    let rest = page.split(&start).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{start}: {page}"));
    rest.split("data-agent=").next().unwrap()
}

/// A run with a goal of its own and no agents yet.
async fn run_for(store: &dyn Store, goal: &str) -> Run {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: json!({"goal": goal}).to_string(),
    };
    let run = store.create_run(new).await.unwrap();
    store.own_run(run.id, delivery()).await.unwrap()
}

#[tokio::test]
async fn an_agent_is_shown_with_its_run_its_parent_what_it_asks_and_where_it_may_go() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = awaiting(&*house.store, question(&run, "how far?")).await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (status, page) = browser.get("/agents").await;
    assert_eq!(status, StatusCode::OK);
    let child = card_of(&page, &run, DISCOVERY);
    let (review, its_run) = (format!("/review/{}", asked.id), format!("/runs/{}", run.id));
    for text in [
        format!("href=\"{its_run}\""),
        format!("href=\"{review}\">Discovery orchestrator asks: “how far?”</a>"),
        "Waits for a person</span>: <a".to_owned(),
        "Discovery orchestrator: find the modules".to_owned(),
        "started by orchestrator".to_owned(),
        "step 1".to_owned(),
        "changed <time datetime=".to_owned(),
        "data-state=\"waiting_review\"".to_owned(),
    ] {
        assert!(child.contains(&text), "{text}: {child}");
    }
    let first = card_of(&page, &run, "orchestrator");
    assert!(first.contains("the first of its run"), "{first}");
    assert!(!first.contains(&review), "asked by another one: {first}");
    // Where an agent may go is what the interface says of it.
    let agents = house.read("/v1/agents").await;
    let agent = &agents["agents"][1];
    assert_eq!(agent["node_id"], DISCOVERY);
    let routes = agent["can_route_to"].as_array().unwrap();
    let told = format!("may go to {} ", routes.len());
    assert!(child.contains(&told), "{told}: {child}");
    assert!(child.contains("Ticket orchestrator"), "{child}");
    // What the links lead to is there.
    for path in [review, its_run] {
        assert_eq!(browser.get(&path).await.0, StatusCode::OK, "{path}");
    }
    // The list alone is what a page puts in its place.
    let (status, list) = browser.get("/agents/list").await;
    assert_eq!(status, StatusCode::OK);
    assert!(!list.contains("<html") && cards(&list).len() == 2, "{list}");
}

#[tokio::test]
async fn only_agents_of_runs_that_are_not_over_are_shown() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (_, empty) = browser.get("/agents").await;
    assert!(
        empty.contains(
            "irq run &quot;Describe this project&quot; --script examples/scripts/tour.json"
        ),
        "the way to an example: {empty}"
    );
    let (over, live) = (
        running(&*house.store, None).await,
        running(&*house.store, None).await,
    );
    let ended = house
        .store
        .change_run(over.id, over.epoch, RunState::Completed, None)
        .await;
    assert!(ended.unwrap().state.is_final());
    let (_, page) = browser.get("/agents").await;
    assert_eq!(cards(&page).len(), 2, "{page}");
    assert!(!page.contains(&over.id.to_string()), "{page}");
    assert!(page.contains(&live.id.to_string()), "{page}");
    // Asked for by name, it is said where its agents are.
    let (status, page) = browser.get(&format!("/agents?run_id={}", over.id)).await;
    assert_eq!(status, StatusCode::OK);
    assert!(cards(&page).is_empty(), "{page}");
    assert!(
        page.contains("That run is over") && page.contains(&format!("/runs/{}", over.id)),
        "{page}"
    );
}

#[tokio::test]
async fn the_filters_leave_what_they_name() {
    let house = House::open().await;
    let (first, other) = (
        running(&*house.store, None).await,
        running(&*house.store, Some("nightly")).await,
    );
    let mut waits = node(first.id, DISCOVERY, "DISCOVERY_ORCHESTRATOR");
    waits.activity = NodeActivity::WaitingReview;
    let put = house.store.put_nodes(first.id, first.epoch, vec![waits]);
    put.await.unwrap();
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    for (query, shown, present) in [
        ("", 4, &first),
        ("status=&type=&run_id=", 4, &first),
        ("status=waiting_review", 1, &first),
        ("status=running", 3, &other),
        ("type=DISCOVERY_ORCHESTRATOR", 2, &other),
        ("type=DISCOVERY_ORCHESTRATOR&status=running", 1, &other),
        ("run_id=nightly", 2, &other),
        (&format!("run_id={}", first.id), 2, &first),
        ("run_id=nightly&status=waiting_review", 0, &other),
    ] {
        let (status, page) = browser.get(&format!("/agents?{query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}");
        assert_eq!(cards(&page).len(), shown, "{query}: {page}");
        let has = page.contains(&format!("href=\"/runs/{}\"", present.id));
        assert_eq!(has, shown > 0, "{query}: {page}");
    }
    let (_, page) = browser
        .get("/agents?status=running&type=TICKET_ORCHESTRATOR")
        .await;
    assert!(page.contains("No agent here is like that"), "{page}");
    // The form keeps what was chosen.
    for chosen in [
        "<option value=\"running\" selected>",
        "<option value=\"TICKET_ORCHESTRATOR\" selected>",
    ] {
        assert!(page.contains(chosen), "{chosen}: {page}");
    }
}

#[tokio::test]
async fn an_agent_waits_while_its_question_does_and_stands_still_with_its_run() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let found = async |status: &str| {
        let list = house.read(&format!("/v1/agents?status={status}")).await;
        let agents = list["agents"].as_array().unwrap().clone();
        let nodes = agents.iter().map(|agent| agent["node_id"].clone());
        nodes.collect::<Vec<_>>()
    };
    assert_eq!(found("running").await, ["orchestrator", DISCOVERY]);
    let asked = awaiting(&*house.store, question(&run, "how far?")).await;
    assert_eq!(found("waiting_review").await, [DISCOVERY]);
    assert_eq!(found("running").await, ["orchestrator"]);
    let agent = format!("/v1/agents/{}%2F{}", run.id, DISCOVERY.replace('/', "%2F"));
    let agent = house.read(&agent).await;
    assert_eq!(agent["status"], "waiting_review");
    assert_eq!(agent["open_interrupts"], json!([asked.id]));
    // Its owner has ended it without a word about its agents, as a limit does.
    let paused = house
        .store
        .change_run(run.id, run.epoch, RunState::Paused, None);
    paused.await.unwrap();
    assert_eq!(found("paused").await, ["orchestrator"]);
    assert_eq!(found("waiting_review").await, [DISCOVERY]);
    // The pause has ended, and nobody executes the run: it waits.
    for state in [RunState::Running, RunState::Waiting] {
        let changed = house.store.change_run(run.id, run.epoch, state, None);
        changed.await.unwrap();
    }
    assert_eq!(found("ready").await, ["orchestrator"]);
    let mut paused = node(run.id, "orchestrator", "ORCHESTRATOR");
    paused.activity = NodeActivity::Paused;
    let put = house.store.put_nodes(run.id, run.epoch, vec![paused]);
    put.await.unwrap();
    assert_eq!(found("ready").await, ["orchestrator"]);
    assert_eq!(found("waiting_review").await, [DISCOVERY]);
}

#[tokio::test]
async fn no_agent_of_a_run_that_was_left_at_its_work_is_told_as_running() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    // As where the lease of a process that has died has run out.
    let left = house.store.release_run(run.id, run.epoch).await.unwrap();
    assert_eq!(left.state, RunState::Running);
    let list = house.read("/v1/agents?status=running").await;
    assert_eq!(list["agents"], json!([]));
    let tree = house.read(&format!("/v1/runs/{}/tree", run.id)).await;
    assert_eq!(tree[0]["status"], "ready", "{tree:#}");
    assert_eq!(tree[0]["children"][0]["status"], "ready", "{tree:#}");
    let agent = house
        .read(&format!("/v1/agents/{}%2Forchestrator", run.id))
        .await;
    assert_eq!(agent["status"], "ready");
}

#[tokio::test]
async fn a_filter_that_means_nothing_is_refused_with_what_would_do() {
    let house = House::open().await;
    running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    for (query, status, field, remedy) in [
        (
            "status=busy",
            StatusCode::BAD_REQUEST,
            "status: there is no `busy`",
            "waiting_review",
        ),
        (
            "cursor=next",
            StatusCode::BAD_REQUEST,
            "cursor: ",
            "no cursor that was given out",
        ),
        (
            "run_id=nowhere",
            StatusCode::NOT_FOUND,
            "there is no run `nowhere`",
            "irq ps --all",
        ),
        (
            "status=%3Cimg%3E",
            StatusCode::BAD_REQUEST,
            "status: there is no `&lt;img&gt;`",
            "paused",
        ),
    ] {
        for path in ["/agents", "/agents/list"] {
            let (answered, page) = browser.get(&format!("{path}?{query}")).await;
            assert_eq!(answered, status, "{query}");
            assert!(page.contains("data-testid=\"problem\""), "{query}: {page}");
            for text in [field, remedy] {
                assert!(page.contains(text), "{query}, {text}: {page}");
            }
        }
    }
}

#[tokio::test]
async fn all_agents_are_found_page_by_page_each_once() {
    let house = House::open().await;
    let (first, second) = (
        run_for(&*house.store, "many").await,
        run_for(&*house.store, "more").await,
    );
    // Agents of both runs come to be in turns, and some of a run that is over between them.
    let over = run_for(&*house.store, "over").await;
    for number in 0..130 {
        for run in [&first, &over, &second] {
            let rows = vec![
                node(run.id, &format!("node-{number}"), "TICKET_ORCHESTRATOR"),
                node(run.id, &format!("other-{number}"), "DISCOVERY_ORCHESTRATOR"),
            ];
            let put = house.store.put_nodes(run.id, run.epoch, rows);
            put.await.unwrap();
        }
    }
    let ended = house
        .store
        .change_run(over.id, over.epoch, RunState::Cancelled, None)
        .await;
    ended.unwrap();
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (mut path, mut seen, mut pages) =
        ("/agents?type=TICKET_ORCHESTRATOR".to_owned(), Vec::new(), 0);
    loop {
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        pages += 1;
        let found = page.split("data-agent=\"").skip(1);
        seen.extend(found.map(|part| part.split('"').next().unwrap().to_owned()));
        assert_eq!(page.contains("From the beginning"), pages > 1, "{page}");
        let Some(more) = page.split("href=\"").find(|part| part.contains(">More<")) else {
            break;
        };
        path = more.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(pages, 3);
    assert_eq!(seen.len(), 260);
    let expected: Vec<String> = (0..130)
        .flat_map(|number| [&first, &second].map(|run| format!("{}/node-{number}", run.id)))
        .collect();
    assert_eq!(seen, expected, "in the order in which they came to be");
}

#[tokio::test]
async fn nobody_unknown_sees_an_agent_and_a_viewer_finds_the_page_in_the_navigation() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    for path in ["/agents", "/agents/list"] {
        let response = house.client.get(house.url(path)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        let page = response.text().await.unwrap();
        assert!(page.contains("Sign in"), "{path}: {page}");
        assert!(!page.contains(&run.id.to_string()), "{path}: {page}");
    }
    let browser = Browser::of(&house, "eve", Role::Observer).await;
    let (_, page) = browser.get("/agents").await;
    assert!(
        page.contains("<a href=\"/agents\" aria-current=\"page\">"),
        "{page}"
    );
    assert!(!page.contains("method=\"post\""), "{page}");
    for outside in ["src=\"http", "href=\"http", "src=\"//", "<style", " style="] {
        assert!(!page.contains(outside), "{outside}");
    }
    let (_, settings) = browser.get("/settings").await;
    let (_, script) = browser.get("/assets/page.js").await;
    let listed = "<kbd>g</kbd></dt><dd>agents</dd>";
    assert!(settings.contains(listed), "{listed}: {settings}");
    let bound = "g: () => go(\"/agents\")";
    assert!(script.contains(bound), "{bound}: {script}");
}

#[tokio::test]
async fn text_of_models_is_shown_as_text() {
    let house = House::open().await;
    let nasty = "<img src=x onerror=alert(1)>\"'>\u{202e}evil\u{200b}";
    let run = run_for(&*house.store, nasty).await;
    let agent = node(run.id, DISCOVERY, "DISCOVERY_ORCHESTRATOR");
    let put = house.store.put_nodes(run.id, run.epoch, vec![agent]);
    put.await.unwrap();
    awaiting(&*house.store, question(&run, nasty)).await;
    let browser = Browser::of(&house, "alex", Role::Operator).await;
    for path in ["/agents", "/agents/list"] {
        let (status, page) = browser.get(path).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!page.contains("<img"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{200b}']), "{page}");
        let shown = "&lt;img src=x onerror=alert(1)&gt;";
        let times = page.matches(shown).count();
        assert_eq!(times, 2, "as the goal and as the question: {page}");
        assert_eq!(page.matches("\\u{202e}evil\\u{200b}").count(), 2, "{page}");
    }
}

#[tokio::test]
async fn an_agent_whose_model_asks_it_to_wait_says_so_until_it_goes_on() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let agent = node(run.id, "orchestrator", "ORCHESTRATOR");
    let until = Timestamp::now() + SignedDuration::from_secs(90);
    let wait = CallWait {
        why: "rate limited".to_owned(),
        until,
    };
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let mut events = Events::of(stream(&house, "", None).await);
    for waits in [Some(wait), None] {
        let row = NodeRow {
            waits: waits.clone(),
            ..agent.clone()
        };
        let put = house.store.put_nodes(run.id, run.epoch, vec![row]);
        put.await.unwrap();
        let told = waits
            .as_ref()
            .map(|it| json!({"why": it.why, "until": it.until}));
        let agents = house.read("/v1/agents").await;
        assert_eq!(agents["agents"][0].get("waits"), told.as_ref());
        for path in ["/agents".to_owned(), format!("/runs/{}", run.id)] {
            let (_, page) = browser.get(&path).await;
            let says = page.contains("rate limited, goes on <time");
            assert_eq!(says, waits.is_some(), "{path}: {page}");
        }
        // What is told of the agent before it waits is passed over.
        loop {
            let event = events.next().await.unwrap().data;
            let is_its = event["type"] == "dev.irq.agent.status_changed.v1"
                && event["data"]["agent_id"] == format!("{}/orchestrator", run.id);
            if is_its && event["data"].get("waits") == told.as_ref() {
                break;
            }
        }
    }
}
