//! Logging in to a server: what a person sees of it, and what it comes to.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tools::{LoginGuide, LoginPage, McpConfig};

use super::guarded::{Guarded, no_person, visitor};
use super::stage::finished;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_logs_in_once_and_later_programs_need_none() {
    let guarded = Guarded::with(&[]);
    let stage = guarded.connected(visitor()).await;
    assert_eq!(finished(&stage.call("look", json!({})).await), "look: done");
    let later = guarded.connected(no_person()).await;
    assert_eq!(finished(&later.call("look", json!({})).await), "look: done");
    let log = guarded.log();
    assert_eq!(
        log,
        [
            "registered",
            "page scope=read resource=True",
            "token authorization_code",
            "look done",
            "look done"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_person_the_error_is_the_command_and_nothing_is_registered() {
    let guarded = Guarded::with(&[]);
    let error = guarded.refused(no_person(), "").await;
    assert!(error.contains("wants a person to log in"), "{error}");
    assert!(error.contains("irq mcp-login s --mcp FILE"), "{error}");
    assert_eq!(guarded.log(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_says_no_more_than_its_status_is_a_demand_too() {
    let guarded = Guarded::with(&[("SILENT", "yes")]);
    let stage = guarded.connected(visitor()).await;
    let message = stage.call("look", json!({})).await;
    // Without a scope that is named none is asked for, and the call asks for the one that it needs.
    assert_eq!(finished(&message), "look: done");
    let log = guarded.log();
    let pages: Vec<&String> = log
        .iter()
        .filter(|line| line.starts_with("page "))
        .collect();
    assert_eq!(
        pages,
        ["page scope= resource=True", "page scope=read resource=True"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_needs_more_asks_for_more_and_keeps_what_was_granted() {
    let guarded = Guarded::with(&[]);
    let stage = guarded.connected(visitor()).await;
    let message = stage.call("change", json!({})).await;
    assert_eq!(finished(&message), "change: done");
    assert_eq!(finished(&stage.call("look", json!({})).await), "look: done");
    let log = guarded.log();
    let pages: Vec<&str> = log
        .iter()
        .filter_map(|line| line.strip_prefix("page "))
        .collect();
    let [first, second] = pages[..] else {
        panic!("{log:?}");
    };
    assert_eq!(first, "scope=read resource=True");
    assert!(
        second.contains("read") && second.contains("write"),
        "{second}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_call_lacked_without_a_person_is_said_for_the_next_login() {
    let guarded = Guarded::with(&[]);
    guarded.connected(visitor()).await;
    let alone = guarded.connected(no_person()).await;
    let text = alone.call("change", json!({})).await.text();
    let scopes = "scopes = [\"read\", \"write\"]";
    let remedy = format!("set `login.{scopes}`, then run `irq mcp-login s --mcp FILE --again`");
    assert!(text.contains(&remedy), "{text}");
    let again = guarded.program(visitor(), &format!("login = {{ {scopes} }}"));
    let name = tools::ServerName::new("s").unwrap();
    again.servers.forget_login(&name).unwrap();
    assert!(again.servers.connect().await.is_empty());
    // The same process goes on with what another one was granted meanwhile.
    let message = alone.call("change", json!({})).await;
    assert_eq!(finished(&message), "change: done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_lead_to_one_login() {
    let guarded = Guarded::with(&[]);
    let stage = guarded.connected(visitor()).await;
    let calls = (0..8).map(|_| stage.call("change", json!({})));
    for message in futures_util::future::join_all(calls).await {
        assert_eq!(finished(&message), "change: done");
    }
    let log = guarded.log();
    let pages = log.iter().filter(|line| line.starts_with("page ")).count();
    assert_eq!(pages, 2, "{log:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_is_refused_is_told_why() {
    let guarded = Guarded::with(&[("REFUSES", "yes")]);
    let error = guarded.refused(visitor(), "").await;
    assert!(error.contains("access_denied: not you"), "{error}");
}

/// Comes back with the answers of a stranger before its own.
struct Misled;

#[async_trait]
impl LoginGuide for Misled {
    fn has_person(&self) -> bool {
        true
    }

    async fn show(&self, page: LoginPage) {
        let page = reqwest::Url::parse(&page.url).unwrap();
        let (_, back) = page
            .query_pairs()
            .find(|(name, _)| name == "redirect_uri")
            .unwrap();
        for strange in [
            "code=stolen&state=wrong",
            "code=stolen",
            "error=access_denied",
        ] {
            let answer = tls::get(format!("{back}?{strange}")).await.unwrap();
            assert_eq!(answer.status(), 404, "{strange}");
        }
        assert!(tls::get(page).await.unwrap().status().is_success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_with_the_mark_of_another_login_is_none() {
    let guarded = Guarded::with(&[]);
    let stage = guarded.connected(Arc::new(Misled)).await;
    assert_eq!(finished(&stage.call("look", json!({})).await), "look: done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_of_the_configuration_that_is_refused_leads_to_no_login() {
    let guarded = Guarded::with(&[]);
    let header = "headers = { Authorization = \"Bearer swordfish\" }";
    let error = guarded.refused(visitor(), header).await;
    assert!(error.contains("refuses the `Authorization`"), "{error}");
    assert!(!error.contains("swordfish"), "{error}");
    assert_eq!(guarded.log(), [""; 0]);
}

#[test]
fn a_table_of_a_login_that_cannot_be_used_is_refused_with_the_remedy() {
    let read = |login: &str| {
        let text = format!("[servers.s]\nurl = \"https://host/mcp\"\n{login}\n");
        McpConfig::from_toml(&text, &|name| (name == "SET").then(|| "swordfish".into()))
    };
    for (login, words) in [
        (
            "login = { grant = \"client_credentials\" }",
            "login.grant: only a person can log in; for a client with a secret of its own",
        ),
        ("login = { client_secret = \"x\" }", "login.client_id"),
        (
            "login = { client_id = \"x\", client_secret = { from = \"UNSET\" } }",
            "`UNSET` is not set",
        ),
        (
            "login = { client_metadata = \"http://host/client.json\" }",
            "reached by https",
        ),
        (
            "login = { client_metadata = \"https://host\" }",
            "reached by https",
        ),
        (
            "login = { port = 1 }\nheaders = { Authorization = \"x\" }",
            "there is an `Authorization`",
        ),
    ] {
        let error = read(login).unwrap_err().to_string();
        assert!(error.contains(words), "{login}: {error}");
    }
    let config = read("login = { client_id = \"x\", client_secret = { from = \"SET\" } }").unwrap();
    assert!(!format!("{config:?}").contains("swordfish"), "{config:?}");
}
