//! What must not happen twice, and what a worker remembers.

use serde_json::{Value, json};

use super::Desk;

#[tokio::test]
async fn an_effect_is_done_once_and_what_came_of_it_is_there_for_the_next_worker() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    let begin = json!({"agent_id": "root", "attempt": "one"});
    assert_eq!(
        run.put("effects/pay", &begin).await.fine()["state"],
        "begun"
    );
    // The answer was lost, and the same try is sent again.
    assert_eq!(
        run.put("effects/pay", &begin).await.fine()["state"],
        "begun"
    );
    let other = json!({"agent_id": "root", "attempt": "two"});
    assert_eq!(
        run.put("effects/pay", &other).await.fine()["state"],
        "unknown"
    );
    run.put("effects/pay/result", &json!({"result": {"paid": 12}}))
        .await
        .fine();
    run.put("effects/pay/result", &json!({"result": {"paid": 12}}))
        .await
        .fine();
    let twice = json!({"result": {"paid": 13}});
    run.put("effects/pay/result", &twice)
        .await
        .refused(422, "idempotency-conflict");
    let open = json!({"agent_id": "root", "repeatable": true});
    assert_eq!(
        run.put("effects/look", &open).await.fine()["state"],
        "begun"
    );
    run.put("effects/none/result", &json!({"result": 1}))
        .await
        .refused(404, "effect-not-found");
    desk.delete(&run.path("lease")).await.fine();
    desk.dies_and_comes_back();
    let run = desk.takes(&id, "second").await;
    let done = run.put("effects/pay", &other).await.fine();
    assert_eq!(
        (&done["state"], &done["result"]),
        (&json!("finished"), &json!({"paid": 12}))
    );
    assert_eq!(
        run.put("effects/look", &open).await.fine()["state"],
        "begun"
    );
    let changed = json!({"agent_id": "root", "repeatable": false});
    run.put("effects/look", &changed)
        .await
        .refused(422, "idempotency-conflict");
    let nobody = json!({"agent_id": "root/nobody"});
    run.put("effects/new", &nobody)
        .await
        .refused(404, "agent-not-found");
}

#[tokio::test]
async fn an_effect_is_bound_to_what_it_was_begun_with() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    let begin = |arguments: Value| json!({"agent_id": "root", "arguments": arguments});
    let to_ann = begin(json!({"cents": 100, "to": "Ann"}));
    let path = "effects/pay";
    assert_eq!(run.put(path, &to_ann).await.fine()["state"], "begun");
    let done = json!({"result": "paid"});
    run.put("effects/pay/result", &done).await.fine();
    desk.delete(&run.path("lease")).await.fine();
    desk.dies_and_comes_back();
    let run = desk.takes(&id, "second").await;
    // The order of members says nothing, and code that does not bind it reads what came of it.
    let same = [
        begin(json!({"to": "Ann", "cents": 100})),
        json!({"agent_id": "root"}),
    ];
    for same in same {
        assert_eq!(run.put(path, &same).await.fine()["result"], "paid");
    }
    for other in [
        json!({"cents": 99_999, "to": "Ann"}),
        json!([]),
        json!({"cents": 100}),
    ] {
        let told = run.put(path, &begin(other)).await;
        let refused = told.refused(422, "idempotency-conflict");
        assert_eq!(refused["differs"], json!(["arguments"]), "{refused}");
    }
    // One that was begun without arguments, as by a worker of before, is bound to none.
    let unbound = json!({"agent_id": "root", "repeatable": true});
    run.put("effects/look", &unbound).await.fine();
    let bound = json!({"agent_id": "root", "repeatable": true, "arguments": 1});
    assert_eq!(
        run.put("effects/look", &bound).await.fine()["state"],
        "begun"
    );
}

#[tokio::test]
async fn a_state_is_kept_whatever_it_is_and_the_next_worker_reads_it() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    let last = format!("/v1/work/{id}/checkpoints/last");
    desk.get(&last).await.refused(404, "not-found");
    let state = json!({"graph": [1, null, "zwei"], "deep": {"a": {"b": true}}});
    run.post("checkpoints", &json!({"state": 1})).await.fine();
    let saved = json!({"state": state, "reason": "after the refund"});
    let saved = run.post("checkpoints", &saved).await.fine();
    assert_eq!(saved["number"], 2);
    desk.dies_and_comes_back();
    let read = desk.get(&last).await.fine();
    assert_eq!(
        (&read["state"], &read["reason"]),
        (&state, &json!("after the refund"))
    );
    let listed = desk
        .installation
        .json(&format!("/v1/runs/{id}/checkpoints"))
        .await;
    assert_eq!(listed["checkpoints"].as_array().unwrap().len(), 2);
}
