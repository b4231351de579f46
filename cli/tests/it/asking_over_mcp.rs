//! `irq mcp`: an MCP client asks people, and gets what they decide, whatever dies between.

mod client;
mod gone;
mod restarted;
mod stopped;

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use interrupts::catalogue::misfits;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::program::spawn;
use crate::serving::Installation;
use client::Bench;

#[tokio::test]
async fn a_question_is_answered_by_a_command_and_its_client_hears_that_it_waits() {
    let bench = Bench::new();
    let client = bench.client().await;
    let question = json!({"question": "Which colour?", "context": "For the door.", "choices": ["red", "blue"]});
    let call = client.begins("ask_human", question).await;
    let asked = bench.questions(1).await;
    let shown = bench.waiting().remove(0);
    assert_eq!(shown["reason"], "Which colour?");
    assert_eq!(shown["context_for_decision"], "For the door.");
    assert_eq!(shown["choices"][1]["value"], "blue");
    let payload = r#"{"selectedChoices": ["blue"], "text": "a dark one"}"#;
    bench.does(&[
        "review",
        &asked[0],
        "--decision",
        "respond",
        "--payload",
        payload,
    ]);
    let told = client.result_of(call).await.unwrap();
    assert!(told.text().contains("ann answered"), "{told:?}");
    let told = told.fine();
    assert_eq!(told["state"], "decided");
    assert_eq!(told["decision"], "respond");
    assert_eq!(told["choices"], json!(["blue"]));
    assert_eq!(told["text"], "a dark one");
    assert_eq!(told["by"], "ann");
    assert_eq!(client.progress()[0], "waiting for a person, for 0 s");
    assert_eq!(client.leaves().await, Some(0));
    assert_eq!(bench.run_states(), ["completed"]);
}

#[tokio::test]
async fn a_question_is_decided_over_rest_and_its_client_knows_at_once() {
    let installation = Installation::new();
    let _server = installation.serve();
    let bench = Bench::over(installation.store());
    let client = bench.client().await;
    let question = json!({"question": "Which way?", "choices": ["left", "right"]});
    let call = client.begins("ask_human", question).await;
    let asked = installation.questions(1).await;
    let begun = Instant::now();
    let decided = installation.decide(&asked[0]).await.unwrap();
    assert!(decided.is_success(), "{decided}");
    let told = client.result_of(call).await.unwrap();
    // No bell rings for it: the look finds it.
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    let told = told.fine();
    assert_eq!(told["choices"], json!(["left"]));
    assert_eq!(told["by"], "script");
}

#[tokio::test]
async fn a_refusal_is_no_approval_and_says_so() {
    let bench = Bench::new();
    let client = bench.client().await;
    let call = client
        .begins("request_approval", json!({"action": "Deploy"}))
        .await;
    let asked = bench.questions(1).await;
    bench.answers(&asked[0], "reject", "not on Friday");
    let told = client.result_of(call).await.unwrap();
    let text = told.text();
    assert!(
        text.contains("ann refused: do not do it") && text.contains("not on Friday"),
        "{text}"
    );
    let told = told.fine();
    assert_eq!(
        (&told["decision"], &told["decided_as"]),
        (&json!("reject"), &json!("declined"))
    );
}

#[tokio::test]
async fn what_was_marked_beside_a_no_is_told_to_no_model_and_a_choice_that_says_no_is_no_yes() {
    let bench = Bench::new();
    let client = bench.client().await;
    let table = [
        ("reject", "Yes", "ann said no", json!([])),
        ("ignore", "Yes", "ann gives no answer", json!([])),
        ("cancel", "Yes", "ann cancelled the question", json!([])),
        ("respond", "No", "ann answered\nChosen: No", json!(["No"])),
        (
            "respond",
            "Yes",
            "ann answered\nChosen: Yes",
            json!(["Yes"]),
        ),
    ];
    for (decision, marked, said, choices) in table {
        let asked = format!("Pay 500 for a {decision}?");
        let question = json!({"question": asked, "choices": ["Yes", "No"]});
        let call = client.begins("ask_human", question).await;
        let asked = bench.questions(1).await;
        let payload = json!({"selectedChoices": [marked]}).to_string();
        let review = ["review", &asked[0], "--decision", decision];
        bench.does(&[&review[..], &["--payload", &payload]].concat());
        let told = client.result_of(call).await.unwrap();
        let text = told.text();
        assert!(text.starts_with(said), "{decision}: {text}");
        assert_eq!(text.contains("Chosen"), choices != json!([]), "{text}");
        let told = told.fine();
        assert_eq!(told["choices"], choices, "{decision}");
        let means = if decision == "respond" {
            "answered"
        } else {
            "declined"
        };
        assert_eq!(told["decided_as"], means, "{decision}");
    }
}

#[tokio::test]
async fn a_long_wait_hands_back_a_ticket_with_which_the_answer_is_fetched_later() {
    let bench = Bench::new();
    let client = bench.client_with(&["--wait", "200ms"]).await;
    let told = client
        .calls("ask_human", json!({"question": "Ready?"}))
        .await;
    assert!(told.text().contains("await_answer"), "{told:?}");
    let told = told.fine();
    assert_eq!(
        (&told["state"], &told["decision"]),
        (&json!("open"), &Value::Null)
    );
    let ticket = told["ticket"].as_str().unwrap().to_owned();
    let again = json!({"ticket": ticket, "wait_seconds": 0});
    assert_eq!(
        client.calls("await_answer", again.clone()).await.fine()["state"],
        "open"
    );
    let waits = client
        .begins(
            "await_answer",
            json!({"ticket": ticket, "wait_seconds": 60}),
        )
        .await;
    let asked = bench.questions(1).await;
    bench.answers(&asked[0], "respond", "yes");
    let told = client.result_of(waits).await.unwrap().fine();
    assert_eq!(
        (&told["state"], &told["decision"]),
        (&json!("decided"), &json!("respond"))
    );
    let read_again = client.calls("await_answer", again).await.fine();
    assert_eq!(read_again["decision"], "respond");
}

#[tokio::test]
async fn a_cancelled_request_withdraws_the_question_that_it_raised() {
    let bench = Bench::new();
    let client = bench.client().await;
    let call = client
        .begins("ask_human", json!({"question": "Still needed?"}))
        .await;
    let asked = bench.questions(1).await;
    call.cancel(Some("not needed".to_owned())).await.unwrap();
    bench.questions(0).await;
    let shown: Value = serde_json::from_str(&bench.does(&["review", &asked[0], "--json"])).unwrap();
    assert_eq!(shown["state"], "cancelled", "{shown:#}");
    // Asked anew, it is another question; a cancelled await_answer leaves it open.
    let open = client
        .calls(
            "ask_human",
            json!({"question": "Still needed?", "wait_seconds": 0}),
        )
        .await
        .fine();
    let again = bench.questions(1).await;
    assert_ne!(again, asked);
    let waits = client
        .begins(
            "await_answer",
            json!({"ticket": open["ticket"], "wait_seconds": 60}),
        )
        .await;
    waits.cancel(None).await.unwrap();
    let still = client.calls("list_open", json!({})).await.fine();
    assert_eq!(still["questions"][0]["ticket"], open["ticket"]);
    assert_eq!(bench.questions(1).await, again);
}

#[tokio::test]
async fn questions_are_listed_until_they_are_answered_or_withdrawn() {
    let bench = Bench::new();
    let client = bench.client_with(&["--wait", "1ms"]).await;
    assert_eq!(
        client.calls("list_open", json!({})).await.fine(),
        json!({"questions": []})
    );
    client
        .calls("ask_human", json!({"question": "One?"}))
        .await
        .fine();
    client
        .calls("request_approval", json!({"action": "Two"}))
        .await
        .fine();
    let listed = client.calls("list_open", json!({})).await.fine();
    let listed = listed["questions"].as_array().unwrap();
    let questions: Vec<&Value> = listed.iter().map(|it| &it["question"]).collect();
    assert_eq!(questions, ["One?", "Two"]);
    let withdrawn = client
        .calls("withdraw", json!({"ticket": listed[0]["ticket"]}))
        .await
        .fine();
    assert_eq!(withdrawn["state"], "withdrawn");
    let left = client.calls("list_open", json!({})).await.fine();
    assert_eq!(left["questions"].as_array().unwrap().len(), 1);
    assert_eq!(left["questions"][0]["question"], "Two");
    assert_eq!(bench.questions(1).await.len(), 1);
}

#[tokio::test]
async fn what_tools_answer_is_of_their_schemas_and_what_does_not_fit_is_an_error_with_a_hint() {
    let bench = Bench::new();
    let client = bench.client_with(&["--wait", "1ms"]).await;
    let tools = client.tools().await;
    let schema = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["outputSchema"].clone()
    };
    let open = client
        .calls("ask_human", json!({"question": "One?"}))
        .await
        .fine();
    assert_eq!(misfits(&schema("ask_human"), &open), []);
    let listed = client.calls("list_open", json!({})).await.fine();
    assert_eq!(misfits(&schema("list_open"), &listed), []);
    assert_ne!(misfits(&schema("list_open"), &open), []);
    for (tool, arguments, says) in [
        ("ask_human", json!({}), "question"),
        ("ask_human", json!({"question": " "}), "says nothing"),
        (
            "ask_human",
            json!({"question": "x", "choices": ["a", "a"]}),
            "twice",
        ),
        ("ask_human", json!({"question": "x", "until": 3}), "until"),
        (
            "request_approval",
            json!({"action": "x", "wait_seconds": 86_401}),
            "86400",
        ),
        (
            "await_answer",
            json!({"ticket": "ask_human:none:1"}),
            "no ticket",
        ),
        ("withdraw", json!({"ticket": "ä"}), "no ticket"),
    ] {
        let refused = client.calls(tool, arguments).await.refused();
        assert!(refused.contains(says), "{tool}: {refused}");
    }
    let unknown = client.begins("ask_nobody", json!({})).await;
    assert!(client.result_of(unknown).await.is_err());
}

#[tokio::test]
async fn a_client_of_the_protocol_without_sessions_asks_too_and_logs_are_no_part_of_it() {
    let bench = Bench::new();
    let mut command = bench.irq(&["mcp", "--name", "modern"]);
    let discovered = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    command
        .env("IRQ_LOG", "trace")
        .stderr(std::process::Stdio::null());
    let client = bench.client_of(&mut command, discovered).await;
    let call = client
        .begins("request_approval", json!({"action": "Go"}))
        .await;
    let asked = bench.questions(1).await;
    bench.does(&["review", &asked[0], "--decision", "approve"]);
    assert_eq!(
        client.result_of(call).await.unwrap().fine()["decided_as"],
        "approved"
    );
    assert!(bench.does(&["ps", "--all"]).contains("questions of modern"));
}

#[tokio::test]
async fn clients_over_http_share_a_server_and_each_session_has_a_run() {
    let bench = Bench::new();
    let mut server = spawn(&mut bench.irq(&["mcp", "--listen", "127.0.0.1:0", "--wait", "1ms"]));
    let mut errors = BufReader::new(server.stderr.take().unwrap()).lines();
    let told = errors.next().unwrap().unwrap();
    let address = told.rsplit(' ').next().unwrap().to_owned();
    let ann = bench.client_at(&format!("{address}?session=ann")).await;
    let bob = bench.client_at(&format!("{address}?session=bob")).await;
    let question = json!({"question": "Same words?"});
    ann.calls("ask_human", question.clone()).await.fine();
    bob.calls("ask_human", question.clone()).await.fine();
    let asked = bench.questions(2).await;
    assert_ne!(asked[0], asked[1]);
    let runs = bench.does(&["ps", "--all"]);
    assert!(
        runs.contains("questions of ann") && runs.contains("questions of bob"),
        "{runs}"
    );
    bench.answers(&asked[1], "respond", "yes");
    let listed = bob.calls("list_open", json!({})).await.fine();
    assert_eq!(listed["questions"][0]["state"], "decided");
    let own = address.trim_end_matches("/mcp");
    for (origin, status) in [("https://evil.example", 403), ("null", 403), (own, 200)] {
        let began = tls::client()
            .build()
            .unwrap()
            .post(&address)
            .header("origin", origin);
        let began = began.header("accept", "application/json, text/event-stream");
        let began = began.json(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "page", "version": "1"},
            },
        }));
        assert_eq!(began.send().await.unwrap().status(), status, "{origin}");
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert_eq!(bench.run_states(), ["waiting", "waiting"]);
    assert!(bench.path().exists());
}

#[test]
fn it_listens_for_this_machine_alone_and_needs_a_store_of_this_machine() {
    let bench = Bench::new();
    let listens = crate::program::end(&mut bench.irq(&["mcp", "--listen", "0.0.0.0:0"]));
    listens.exits_with(2).says("other machines could reach it");
    let memory = crate::program::end(crate::program::irq().arg("mcp"));
    memory.exits_with(2).says("no people who could answer");
    let there = crate::program::end(&mut bench.irq(&["mcp", "--server", "http://127.0.0.1:1"]));
    there.exits_with(2);
    let help = bench.does(&["mcp", "--help"]);
    assert!(
        help.contains("claude mcp add irq -- irq mcp") && help.contains("\"mcpServers\""),
        "{help}"
    );
}
