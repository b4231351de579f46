//! Whoever comes too late has what he wrote, and whoever comes in first sees what he wanted to see.

use interrupts::life::Role;
use reqwest::StatusCode;
use reqwest::redirect::Policy;

use crate::house::{House, token};
use crate::page::{Browser, PAGES, hidden};
use crate::scene::{open_choice, open_question, running};

#[tokio::test]
async fn what_somebody_filled_in_stands_beside_the_decision_that_was_faster() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let (first, late) = (
        Browser::of(&house, "alex", Role::Reviewer).await,
        Browser::of(&house, "kim", Role::Reviewer).await,
    );
    let (_, page) = late.get(&path).await;
    let version = hidden(&page, "version");
    let digest = hidden(&page, "shown_digest");
    let key = hidden(&page, "key");
    let decision = [
        ("version", &*version),
        ("text", "either"),
        ("decision", "respond"),
    ];
    let decided = first.post(&path, &decision).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER);
    let (_, page) = first.get(&path).await;
    assert!(!page.contains("data-testid=\"kept\""), "{page}");
    let fields = [
        ("version", &*version),
        ("shown_digest", &digest),
        ("key", &key),
        ("choice", "narrow"),
        ("confirm.cost", "yes"),
        ("text", "a long <thought>\nof two lines"),
        ("remember", "run"),
        ("remember_hours", "1"),
        ("remember_uses", "10"),
        ("reroute_to", "ORCHESTRATOR"),
        ("edit.goal", "find them all"),
        ("decision", "respond"),
    ];
    let refused = late.post(&path, &fields).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let page = refused.text().await.unwrap();
    assert!(page.contains("alex decided `respond`"), "{page}");
    assert!(!page.contains("<textarea"), "nothing can be sent: {page}");
    let kept = page.split("data-testid=\"kept\"").nth(1).unwrap();
    let kept = kept.split("</section>").next().unwrap();
    for text in [
        "<dt>Your decision</dt><dd><div class=\"text\">Respond</div>",
        "<dt>Chosen</dt><dd><div class=\"text\">Keep narrow</div>",
        "<dt>It may cost more</dt><dd><div class=\"text\">yes</div>",
        "<dt>In your own words</dt><dd><div class=\"text\">a long &lt;thought&gt;\nof two lines</div>",
        "<dt>Remembered for</dt><dd><div class=\"text\">Run</div>",
        "<dt>Goal</dt><dd><div class=\"text\">find them all</div>",
    ] {
        assert!(kept.contains(text), "{text}: {kept}");
    }
    for machinery in [&*version, &digest, &key, "ORCHESTRATOR", "Orchestrator"] {
        let shown = format!("<div class=\"text\">{machinery}</div>");
        assert!(!kept.contains(&shown), "{machinery}: {kept}");
    }
}

#[tokio::test]
async fn a_link_to_a_question_leads_there_through_the_sign_in() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let secret = token(&*house.store, "alex", Role::Reviewer).await;
    let client = tls::client().redirect(Policy::none()).build().unwrap();
    let look = async |path: &str| {
        let request = client.get(house.url(path)).header("Accept", PAGES);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        hidden(&response.text().await.unwrap(), "to").replace("&amp;", "&")
    };
    let come_in = async |secret: &str, to: &str| {
        let request = client
            .post(house.url("/session"))
            .header("Origin", house.url(""));
        let form = [("token", secret), ("to", to)];
        request.form(&form).send().await.unwrap()
    };
    for path in [
        format!("/review/{}", asked.id),
        "/?tab=mine&find=two+words".to_owned(),
        "/runs".to_owned(),
    ] {
        let to = look(&path).await;
        assert_eq!(to, path);
        // A token that is mistyped does not lose the way.
        let again = come_in("irq_nothing", &to).await;
        assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
        let again = again.text().await.unwrap();
        assert_eq!(hidden(&again, "to").replace("&amp;", "&"), path);
        let response = come_in(&secret, &to).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert_eq!(response.headers()["location"], &*path);
    }
    for elsewhere in [
        "//evil.example/x",
        "/\\evil.example",
        "https://evil.example",
        "x",
        "/a\r\nb",
    ] {
        let response = come_in(&secret, elsewhere).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{elsewhere:?}");
        assert_eq!(response.headers()["location"], "/", "{elsewhere:?}");
    }
    let launch = format!("/review/{}?launch=irq_{}", asked.id, "0".repeat(64));
    assert_eq!(look(&launch).await, format!("/review/{}", asked.id));
}

#[tokio::test]
async fn whoever_has_a_question_open_is_told_what_others_do_with_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let (first, other) = (
        Browser::of(&house, "alex", Role::Reviewer).await,
        Browser::of(&house, "kim", Role::Reviewer).await,
    );
    let (_, page) = other.get(&path).await;
    let follows = format!("hx-get=\"{path}/standing?open=true\"");
    assert!(page.contains(&follows), "{page}");
    let standing = format!("{path}/standing?open=true");
    let (_, calm) = other.get(&standing).await;
    assert!(
        calm.contains("Claim it") && !calm.contains("role=\"alert\""),
        "{calm}"
    );

    let claim = [("version", &*hidden(&page, "version")), ("claim", "yes")];
    first.post(&format!("{path}/claim"), &claim).await;
    let (_, claimed) = other.get(&standing).await;
    assert!(claimed.contains("alex has claimed it"), "{claimed}");
    assert!(!claimed.contains("Claim it"), "{claimed}");
    let again = "hx-trigger=\"load delay:";
    assert!(claimed.contains(again), "no event ends a claim: {claimed}");
    let (_, inbox) = other.get("/").await;
    assert!(inbox.contains(again), "{inbox}");

    let (_, page) = first.get(&path).await;
    let decision = [
        ("version", &*hidden(&page, "version")),
        ("decision", "approve"),
    ];
    first.post(&path, &decision).await;
    let (_, decided) = other.get(&standing).await;
    assert!(decided.contains("alex decided `approve`"), "{decided}");
    assert!(
        decided.contains("role=\"alert\"") && decided.contains(&format!("href=\"{path}\"")),
        "{decided}"
    );
    let (_, ended) = other.get(&path).await;
    assert!(
        !ended.contains("id=\"standing\"") && !ended.contains("/standing?open="),
        "what has ended is not followed: {ended}"
    );
}
