//! A client or its server dies, and no question is asked twice.

use serde_json::json;

use super::client::Bench;

#[tokio::test]
async fn a_killed_server_asks_nobody_twice_and_its_successor_gets_the_answer() {
    let bench = Bench::new();
    let question = json!({"question": "Deploy?", "wait_seconds": 60});
    let client = bench.client().await;
    let _lost = client.begins("ask_human", question.clone()).await;
    let asked = bench.questions(1).await;
    client.dies().await;
    let client = bench.client().await;
    let listed = client.calls("list_open", json!({})).await.fine();
    assert_eq!(listed["questions"][0]["question"], "Deploy?");
    let call = client.begins("ask_human", question.clone()).await;
    let waits = client
        .calls(
            "ask_human",
            json!({"question": "Deploy?", "wait_seconds": 0}),
        )
        .await
        .fine();
    assert_eq!(waits["ticket"], listed["questions"][0]["ticket"]);
    assert_eq!(bench.questions(1).await, asked);
    client.dies().await;
    drop(call);
    // No client waits while it is decided.
    bench.answers(&asked[0], "respond", "yes");
    let client = bench.client().await;
    let told = client.calls("ask_human", question.clone()).await.fine();
    assert_eq!(
        (&told["state"], &told["by"]),
        (&json!("decided"), &json!("ann"))
    );
    assert_eq!(bench.runs().len(), 1);
    // The answer was handed over: yesterday's word is none about today.
    let anew = client
        .calls(
            "ask_human",
            json!({"question": "Deploy?", "wait_seconds": 0}),
        )
        .await
        .fine();
    assert_eq!(anew["state"], "open");
    assert_ne!(anew["ticket"], told["ticket"]);
    assert_ne!(bench.questions(1).await, asked);
}

#[tokio::test]
async fn a_client_that_leaves_keeps_its_question_and_finds_it_again() {
    let bench = Bench::new();
    let client = bench.client_with(&["--name", "desk"]).await;
    let _lost = client
        .begins("ask_human", json!({"question": "Deploy?"}))
        .await;
    let asked = bench.questions(1).await;
    assert_eq!(client.leaves().await, Some(0));
    assert_eq!(bench.run_states(), ["waiting"]);
    assert_eq!(bench.questions(1).await, asked);
    let other = bench.client_with(&["--name", "other"]).await;
    assert_eq!(
        other.calls("list_open", json!({})).await.fine(),
        json!({"questions": []})
    );
    let client = bench
        .client_with(&["--name", "desk", "--wait", "1ms"])
        .await;
    let listed = client.calls("list_open", json!({})).await.fine();
    assert_eq!(listed["questions"][0]["question"], "Deploy?");
    client
        .calls("ask_human", json!({"question": "Deploy?"}))
        .await
        .fine();
    assert_eq!(bench.questions(1).await, asked);
}

#[tokio::test]
async fn of_two_clients_with_one_name_at_once_each_has_a_run() {
    let bench = Bench::new();
    let first = bench.client_with(&["--wait", "1ms"]).await;
    let second = bench.client_with(&["--wait", "1ms"]).await;
    let question = json!({"question": "Deploy?"});
    first.calls("ask_human", question.clone()).await.fine();
    second.calls("ask_human", question.clone()).await.fine();
    bench.questions(2).await;
    assert_eq!(bench.run_states(), ["running", "running"]);
    first.calls("ask_human", question).await.fine();
    bench.questions(2).await;
}

#[tokio::test]
async fn a_question_that_nobody_waited_for_is_no_question_of_the_next_session_once_it_was_read() {
    let bench = Bench::new();
    for round in 1..=3 {
        let client = bench.client().await;
        let call = client
            .begins("ask_human", json!({"question": "Deploy?"}))
            .await;
        let asked = bench.questions(1).await;
        bench.answers(&asked[0], "respond", "yes");
        assert_eq!(
            client.result_of(call).await.unwrap().fine()["decision"],
            "respond"
        );
        let again = client
            .begins("ask_human", json!({"question": "Deploy?"}))
            .await;
        let asked = bench.questions(1).await;
        bench.does(&["review", &asked[0], "--decision", "reject"]);
        assert_eq!(
            client.result_of(again).await.unwrap().fine()["decision"],
            "reject"
        );
        assert_eq!(client.leaves().await, Some(0));
        assert_eq!(bench.run_states(), vec!["completed"; round]);
    }
}
