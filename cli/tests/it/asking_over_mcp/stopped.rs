//! A person pauses or stops the run of a session, and its tools say so.

use serde_json::{Value, json};

use super::client::Bench;

/// The id of the only run, and what a person asks of it.
fn interrupts(bench: &Bench, kind: &str) -> String {
    let runs = bench.runs();
    let run = runs.last().unwrap()["id"].as_str().unwrap().to_owned();
    bench.does(&[
        "interrupt",
        &run,
        "--type",
        kind,
        "--reason",
        "lunch",
        "--yes",
    ]);
    run
}

#[tokio::test]
async fn a_paused_run_is_said_to_be_paused_and_its_question_goes_on_with_it() {
    let bench = Bench::new();
    let client = bench.client().await;
    let question = json!({"question": "Deploy?"});
    let call = client.begins("ask_human", question.clone()).await;
    bench.questions(1).await;
    let run = interrupts(&bench, "pause");
    let refused = client.result_of(call).await.unwrap().refused();
    assert!(
        refused.contains("has paused") && refused.contains(&format!("irq resume {run}")),
        "{refused}"
    );
    assert_eq!(bench.run_states(), ["paused"]);
    for tool in ["ask_human", "request_approval"] {
        let arguments = match tool {
            "ask_human" => question.clone(),
            _ => json!({"action": "Deploy"}),
        };
        assert!(
            client
                .calls(tool, arguments)
                .await
                .refused()
                .contains("has paused")
        );
    }
    bench.does(&["resume", &run]);
    let call = client.begins("ask_human", question).await;
    let asked = bench.questions(1).await;
    bench.answers(&asked[0], "respond", "yes");
    assert_eq!(
        client.result_of(call).await.unwrap().fine()["decision"],
        "respond"
    );
    assert_eq!(bench.run_states(), ["running"]);
}

#[tokio::test]
async fn a_pause_that_is_decided_lets_the_session_go_on_or_ends_it() {
    for (decision, is_over) in [("resume", false), ("cancel", true)] {
        let bench = Bench::new();
        let client = bench.client_with(&["--wait", "1ms"]).await;
        let question = json!({"question": "Deploy?"});
        client.calls("ask_human", question.clone()).await.fine();
        interrupts(&bench, "pause");
        let refused = client.calls("ask_human", question.clone()).await.refused();
        assert!(refused.contains("has paused"), "{refused}");
        let waiting = bench.waiting();
        let pause = waiting.iter().find(|it| it["type"] == "PAUSE").unwrap();
        let pause = pause["id"].as_str().unwrap().to_owned();
        bench.does(&["review", &pause, "--decision", decision]);
        let told = client.calls("ask_human", question).await;
        if is_over {
            assert!(told.refused().contains("has stopped"));
            assert_eq!(bench.run_states(), ["cancelled"]);
        } else {
            assert_eq!(told.fine()["state"], "open");
        }
    }
}

#[tokio::test]
async fn a_stopped_session_asks_nothing_more_and_a_client_that_is_started_anew_does() {
    let bench = Bench::new();
    let client = bench.client().await;
    let call = client
        .begins("request_approval", json!({"action": "Deploy"}))
        .await;
    bench.questions(1).await;
    interrupts(&bench, "stop");
    let refused = client.result_of(call).await.unwrap().refused();
    assert!(refused.contains("has stopped"), "{refused}");
    let again = client
        .calls("request_approval", json!({"action": "Deploy"}))
        .await;
    assert!(again.refused().contains("has stopped"));
    assert_eq!(bench.waiting(), Vec::<Value>::new());
    assert_eq!(client.leaves().await, Some(0));
    let client = bench.client_with(&["--wait", "1ms"]).await;
    client
        .calls("request_approval", json!({"action": "Deploy"}))
        .await
        .fine();
    assert_eq!(bench.run_states(), ["cancelled", "running"]);
}

#[tokio::test]
async fn a_run_that_was_paused_while_its_client_was_away_is_found_paused() {
    let bench = Bench::new();
    let client = bench.client().await;
    let _lost = client
        .begins("ask_human", json!({"question": "Deploy?"}))
        .await;
    bench.questions(1).await;
    client.dies().await;
    interrupts(&bench, "pause");
    let client = bench.client().await;
    let refused = client.calls("list_open", json!({})).await.refused();
    assert!(refused.contains("has paused"), "{refused}");
    assert_eq!(bench.runs().len(), 1);
}
