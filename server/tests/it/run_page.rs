//! The page of a run: what one can do with it as it stands, and what becomes of a form that is refused.

use interrupts::life::{Role, RunState};
use interrupts::store::{NodeActivity, NodeRow, Page, Run, Store};
use reqwest::StatusCode;

use crate::house::House;
use crate::page::Browser;
use crate::scene::{DISCOVERY, checkpoint, node, open_question, running};

/// Puts agents anew: who of them takes messages, and whether it still works.
async fn put(store: &dyn Store, run: &Run, agents: &[(&str, bool, NodeActivity)]) {
    let rows = agents.iter().map(|(id, takes_messages, activity)| NodeRow {
        takes_messages: *takes_messages,
        activity: *activity,
        ..node(run.id, id, "DISCOVERY_ORCHESTRATOR")
    });
    let rows = rows.collect();
    store.put_nodes(run.id, run.epoch, rows).await.unwrap();
}

/// A part of a page, from where it starts to where another one does.
fn part<'page>(page: &'page str, start: &str, end: &str) -> &'page str {
    let rest = page.split(start).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{start}: {page}"));
    rest.split(end).next().unwrap()
}

#[tokio::test]
async fn a_message_is_offered_to_those_alone_who_will_read_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let busy = NodeActivity::Running;
    put(
        &*house.store,
        &run,
        &[("orchestrator", false, busy), (DISCOVERY, true, busy)],
    )
    .await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    let (_, page) = browser.get(&path).await;
    let whom = part(&page, "<select id=\"to\"", "</select>");
    assert_eq!(whom.matches("<option").count(), 1, "{whom}");
    assert!(whom.contains(&format!("value=\"{DISCOVERY}\"")), "{whom}");
    let fields = [("node", DISCOVERY), ("text", "look at the tests")];
    let sent = browser.post(&format!("{path}/message"), &fields).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let all = Page { after: 0, limit: 9 };
    let kept = house.store.messages(run.id, all).await.unwrap();
    assert_eq!(kept[0].message.node.as_str(), DISCOVERY);

    put(&*house.store, &run, &[(DISCOVERY, false, busy)]).await;
    let (_, page) = browser.get(&path).await;
    assert!(page.contains("No agent reads messages now") && !page.contains("<select id=\"to\""));
}

#[tokio::test]
async fn a_form_of_a_run_that_is_refused_is_shown_again_as_it_was_filled_in() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    // Between the look and the word the agent has stopped reading.
    put(
        &*house.store,
        &run,
        &[("orchestrator", false, NodeActivity::Running)],
    )
    .await;
    let said = "a long thought\nof <two> lines";
    for agent in ["orchestrator", DISCOVERY] {
        let readers = agent == DISCOVERY;
        if readers {
            // Of those who read, the one that was chosen stays chosen.
            put(
                &*house.store,
                &run,
                &[("orchestrator/other", true, NodeActivity::Running)],
            )
            .await;
            put(
                &*house.store,
                &run,
                &[(DISCOVERY, false, NodeActivity::Running)],
            )
            .await;
        }
        let fields = [("node", agent), ("text", said)];
        let refused = browser.post(&format!("{path}/message"), &fields).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT);
        let page = refused.text().await.unwrap();
        assert!(page.contains("data-testid=\"problem\""), "{page}");
        let form = part(&page, "id=\"sending\"", "</details>");
        assert!(form.contains(" open"), "{form}");
        assert!(
            form.contains("a long thought\nof &lt;two&gt; lines</textarea>"),
            "{form}"
        );
        assert!(
            !part(&page, "id=\"stopping\"", ">").contains("open"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn a_stop_and_a_word_to_go_on_with_are_kept_where_they_are_refused() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    let fields = [
        ("node", "nobody"),
        ("reason", "enough of \"it\""),
        ("mode", "immediate"),
        ("type", "STOP"),
    ];
    let refused = browser.post(&format!("{path}/stop"), &fields).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let page = refused.text().await.unwrap();
    let form = part(&page, "id=\"stopping\"", "</details>");
    assert!(
        form.contains("value=\"enough of &quot;it&quot;\""),
        "{form}"
    );
    assert!(
        form.contains("value=\"immediate\" checked")
            && !form.contains("value=\"graceful\" checked"),
        "{form}"
    );

    open_question(&*house.store, &run).await;
    let refused = browser
        .post(&format!("{path}/resume"), &[("input", "go on")])
        .await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let waiting = house
        .store
        .change_run(run.id, run.epoch, RunState::Waiting, None)
        .await;
    house
        .store
        .release_run(run.id, waiting.unwrap().epoch)
        .await
        .unwrap();
    let refused = browser
        .post(&format!("{path}/resume"), &[("input", "go on")])
        .await;
    let page = refused.text().await.unwrap();
    let form = part(&page, "<input id=\"input\"", ">");
    assert!(form.contains("value=\"go on\""), "{form}");
}

#[tokio::test]
async fn whoever_opens_the_address_of_a_form_is_where_the_form_is() {
    let house = House::open().await;
    let run = running(&*house.store, Some("my run")).await;
    let asked = open_question(&*house.store, &run).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let its_run = format!("/runs/{}", run.id);
    let review = format!("/review/{}", asked.id);
    for (path, leads) in [
        (format!("{its_run}/message"), &*its_run),
        ("/runs/my%20run/stop".to_owned(), &*its_run),
        (format!("{its_run}/resume"), &*its_run),
        (format!("{its_run}/messages/1/withdraw"), &*its_run),
        (format!("{review}/claim"), &*review),
        ("/inbox/decide".to_owned(), "/"),
        ("/rules/rul_1/revoke".to_owned(), "/settings"),
        ("/session".to_owned(), "/"),
        ("/session/end".to_owned(), "/"),
    ] {
        let response = browser.look(&path).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{path}");
        assert_eq!(response.headers()["location"], leads, "{path}");
    }
    let response = browser.look("/runs/no%0Arun/stop").await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_one_can_do_with_a_run_follows_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    let (_, page) = browser.get(&path).await;
    let place = part(&page, "<div id=\"controls\"", ">");
    let live = format!("hx-get=\"{path}/controls\"");
    for text in [
        &*live,
        "sse:agent.status_changed",
        "sse:checkpoint.saved",
        "sse:run.paused",
    ] {
        assert!(place.contains(text), "{text}: {place}");
    }
    let inside = part(&page, "<div id=\"controls\"", "id=\"timeline\"");
    assert!(
        inside.contains("The whole run: 2 agents") && inside.contains("None yet."),
        "{inside}"
    );
    assert!(
        !inside.contains("id=\"resume\"") && !page.contains("load delay"),
        "{inside}"
    );

    put(
        &*house.store,
        &run,
        &[("orchestrator/third", true, NodeActivity::Running)],
    )
    .await;
    checkpoint(&*house.store, &run).await;
    for state in [RunState::Stopping, RunState::Paused] {
        let changed = house.store.change_run(run.id, run.epoch, state, None).await;
        changed.unwrap();
    }
    let controls = format!("{path}/controls");
    let (status, part_of) = browser.get(&controls).await;
    assert_eq!(status, StatusCode::OK);
    assert!(!part_of.contains("<html"), "{part_of}");
    assert!(part_of.contains("The whole run: 3 agents"), "{part_of}");
    assert!(part_of.contains("data-testid=\"checkpoint\""), "{part_of}");
    // Its process has it still, and no event tells when it lets it go: it is looked at again.
    assert!(!part_of.contains("id=\"resume\""), "{part_of}");
    let again = part(&part_of, "hx-target=\"#controls\"", ">");
    assert!(again.contains("load delay:2s"), "{again}");
    let (_, live) = browser.get(&format!("{path}/live")).await;
    assert!(
        live.contains("a process works on it") && live.contains("hx-target=\"#live\""),
        "{live}"
    );
    let_go(&house, &run).await;
}

/// The process of a paused run lets it go.
async fn let_go(house: &House, run: &Run) {
    let path = format!("/runs/{}", run.id);
    let browser = Browser::of(house, "ada", Role::Supervisor).await;
    house.store.release_run(run.id, run.epoch).await.unwrap();
    let controls = format!("{path}/controls");
    let (_, part_of) = browser.get(&controls).await;
    assert!(
        part_of.contains("id=\"resume\"") && !part_of.contains("load delay"),
        "{part_of}"
    );
    let (_, live) = browser.get(&format!("{path}/live")).await;
    assert!(
        live.contains("no process works on it") && !live.contains("load delay"),
        "{live}"
    );
    // Whoever only looks is offered nothing.
    let viewer = Browser::of(house, "kim", Role::Observer).await;
    let (_, part_of) = viewer.get(&controls).await;
    assert!(!part_of.contains("<form"), "{part_of}");
}

#[tokio::test]
async fn a_form_for_an_agent_that_has_ended_does_nothing_to_anybody_else_and_still_names_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let ended = [(DISCOVERY, false, NodeActivity::Completed)];
    put(&*house.store, &run, &ended).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    let fields = [
        ("node", DISCOVERY),
        ("reason", "only this one"),
        ("text", "for this one"),
        ("type", "STOP"),
    ];
    for (form, id, chosen) in [("stop", "node", "stopping"), ("message", "to", "sending")] {
        let refused = browser.post(&format!("{path}/{form}"), &fields).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT, "{form}");
        let page = refused.text().await.unwrap();
        assert!(page.contains("data-testid=\"problem\""), "{page}");
        let form = part(&page, &format!("id=\"{chosen}\""), "</details>");
        let options = part(form, &format!("<select id=\"{id}\""), "</select>");
        let selected = options.split("<option").find(|it| it.contains(" selected"));
        let selected = selected.unwrap_or_else(|| panic!("{options}"));
        assert!(
            selected.contains(&format!("value=\"{DISCOVERY}\"")) && selected.contains("data-gone"),
            "{options}"
        );
        let note = part(form, &format!("id=\"{id}-gone\""), "</p>");
        assert!(
            !note.split('>').next().unwrap().contains("hidden"),
            "{note}"
        );
        assert!(note.contains("Choose another one"), "{note}");
    }
    let stops = house
        .read(&format!("/v1/interrupts?run_id={}", run.id))
        .await;
    assert_eq!(stops["interrupts"].as_array().unwrap().len(), 0, "{stops}");
    let all = Page { after: 0, limit: 9 };
    assert!(house.store.messages(run.id, all).await.unwrap().is_empty());
    // Where nobody was chosen that is gone, nothing is said of it.
    let (_, page) = browser.get(&path).await;
    for id in ["node-gone", "to-gone"] {
        assert!(part(&page, &format!("id=\"{id}\""), ">").contains("hidden"));
    }
}
