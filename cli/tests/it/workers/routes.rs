//! The decision fixes the one route; whatever a model says, nothing goes along another.

use serde_json::{Value, json};

use super::{Desk, Run, WORKFLOW};

/// The kinds with routes of their own, and the field and the property of each.
const ROUTES: [(&str, &str, &str); 3] = [
    ("ORCHESTRATOR", "next", "step"),
    ("REFUNDS", "refund", "amount"),
    ("LEGAL", "legal", "matter"),
];

/// The dialects that a model may be shown a schema in.
const DIALECTS: [&str; 5] = ["json-schema", "openai", "anthropic", "gemini", "grammar"];

fn answer(field: &str, property: &str) -> Value {
    json!({ field: { property: "as it says" } })
}

/// A question of a kind whose answer a person has sent to a target.
async fn decided(run: &Run<'_>, kind: &str, target: &str) -> String {
    let key = format!("{kind}-{target}");
    let asked = run.asks(&key, kind).await;
    let decision = match kind == target {
        true => json!({"decision": "approve", "message": "yes"}),
        false => json!({"decision": "reroute", "reroute_to": target}),
    };
    run.desk
        .decides(&asked["interrupt_id"], &decision)
        .await
        .fine();
    key
}

#[tokio::test]
async fn for_every_kind_and_target_the_one_legal_route_is_shown_and_every_other_is_refused() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let before = run.asks("open", "LEGAL").await;
    let schema = format!("/v1/work/{}/questions/open/schema", run.id);
    desk.get(&schema).await.refused(409, "not-decided");
    run.post("questions/open/request", &json!({"answer": {}}))
        .await
        .refused(409, "not-decided");
    assert_eq!(before["route"], json!(null));
    for (kind, _, _) in ROUTES {
        for (target, field, property) in ROUTES {
            let key = decided(&run, kind, target).await;
            for dialect in DIALECTS {
                let path = format!(
                    "/v1/work/{}/questions/{key}/schema?dialect={dialect}",
                    run.id
                );
                let shown = desk.get(&path).await.fine();
                let properties = shown["schema"]["properties"].as_object().unwrap();
                let names: Vec<&String> = properties.keys().collect();
                assert_eq!(names, [field], "{dialect}: {shown}");
            }
            let path = format!("questions/{key}/request");
            let mut left = 4;
            for (_, other, of_other) in ROUTES.into_iter().filter(|it| it.0 != target) {
                left -= 1;
                let wrong = json!({"answer": answer(other, of_other)});
                let refused = run
                    .post(&path, &wrong)
                    .await
                    .refused(422, "answer-rejected");
                assert_eq!(refused["corrections_left"], left, "{refused}");
            }
            let right = json!({"answer": answer(field, property).to_string()});
            let taken = run.post(&path, &right).await.fine();
            assert_eq!(taken["request"], json!({property: "as it says"}), "{taken}");
            assert_eq!(taken["route"]["rerouted"], kind != target);
            // It stands: whatever is submitted later is not taken in its place.
            let later = json!({"answer": {field: {property: "otherwise"}}});
            assert_eq!(
                run.post(&path, &later).await.fine()["request"],
                taken["request"]
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_at_its_place_and_after_three_corrections_a_person_is_asked()
 {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let (key, id) = (decided(&run, "REFUNDS", "REFUNDS").await, run.id.clone());
    let path = format!("questions/{key}/request");
    let told = run
        .post(&path, &json!({"answer": {"refund": {"amount": 3}}}))
        .await;
    let refused = told.refused(422, "answer-rejected");
    assert_eq!(refused["errors"][0]["pointer"], "/refund/amount");
    let twice = json!({"answer": "{\"refund\": {\"amount\": \"1\", \"amount\": \"2\"}}"});
    // Sent again, as where its reply was lost, it counts once.
    for _again in 0..2 {
        let told = desk.keyed("second", &run.path(&path), &twice).await;
        let refused = told.refused(422, "answer-rejected");
        assert_eq!(refused["corrections_left"], 2);
    }
    // The count outlives the server and the worker.
    desk.delete(&run.path("lease")).await.fine();
    desk.dies_and_comes_back();
    let run = desk.takes(&id, "second").await;
    let told = run
        .post(&path, &json!({"answer": "nothing of the kind"}))
        .await;
    assert_eq!(told.refused(422, "answer-rejected")["corrections_left"], 1);
    let asked = run.post(&path, &json!({"answer": {}})).await.fine();
    assert_eq!(asked["request"], json!(null));
    let for_request = asked["asked"].as_str().unwrap().to_owned();
    let question = run.get(&format!("questions/{for_request}")).await.fine();
    assert_eq!(question["state"], "open");
    let interrupt = &question["interrupt_id"];
    let bad = json!({"decision": "edit", "payload": {"editedRequest": {"amount": 3}}});
    desk.decides(interrupt, &bad)
        .await
        .refused(422, "response-schema");
    let edit = json!({"decision": "edit", "payload": {"editedRequest": {"amount": "5 euro"}}});
    desk.decides(interrupt, &edit).await.fine();
    let filled = run
        .get(&format!("questions/{key}?wait_ms=20000"))
        .await
        .fine();
    assert_eq!(filled["request"], json!({"amount": "5 euro"}));
    assert_eq!(
        run.asks(&key, "REFUNDS").await["request"],
        json!({"amount": "5 euro"})
    );
}

#[tokio::test]
async fn a_question_is_over_once_the_person_who_is_asked_for_its_request_has_answered_or_will_not()
{
    let desk = Desk::open().await;
    let taking = json!({"worker": "second"});
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    for became in ["approved", "declined", "withdrawn"] {
        let gives_it = became == "approved";
        let run = desk.run().await;
        let key = decided(&run, "REFUNDS", "REFUNDS").await;
        let mut asked = json!(null);
        for _ in 0..4 {
            let submit = format!("questions/{key}/request");
            let told = run.post(&submit, &json!({"answer": {}})).await;
            asked = told.body["asked"].clone();
        }
        let for_request = format!("questions/{}", asked.as_str().unwrap());
        let interrupt = run.get(&for_request).await.fine()["interrupt_id"].clone();
        assert_eq!(run.get("signals").await.fine()["decided"], json!([]));
        desk.delete(&run.path("lease?waiting=true")).await.fine();
        let taken = desk.post(&path, &taking).await;
        assert_eq!(taken.status, 204, "a person is still asked: {taken:?}");
        if gives_it {
            let edit = json!({"decision": "edit", "payload": {"editedRequest": {"amount": "5"}}});
            desk.decides(&interrupt, &edit).await.fine();
        } else if became == "declined" {
            let no = json!({"decision": "reject", "message": "let it be"});
            desk.decides(&interrupt, &no).await.fine();
        } else {
            desk.withdraws(&interrupt).await;
        }
        let taken = desk.post(&path, &taking).await.fine();
        assert_eq!(taken["run_id"], run.id);
        let epoch = &taken["epoch"];
        let question = format!("/v1/work/{}/questions/{key}?epoch={epoch}", run.id);
        let told = desk.get(&question).await.fine();
        assert_eq!(told["request"].is_null(), !gives_it, "{told}");
        // Without a request it was not approved after all, and takes no route.
        assert_eq!(told["decided_as"], became, "{told}");
        assert_eq!(told["route"].is_null(), !gives_it, "{told}");
        if became == "declined" {
            assert_eq!(told["decision"]["text"], "let it be", "{told}");
        }
        let signals = format!("/v1/work/{}/signals?epoch={epoch}", run.id);
        let left = desk.get(&signals).await.fine()["decided"].to_string();
        assert!(!left.contains(&format!("\"{key}\"")), "{left}");
    }
}

#[tokio::test]
async fn a_request_that_a_person_edits_with_the_decision_needs_no_model() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    let edit = json!({"decision": "reroute", "reroute_to": "LEGAL",
        "payload": {"editedRequest": {"matter": "a broken vase"}}});
    desk.decides(&asked["interrupt_id"], &edit).await.fine();
    let decided = run.get("questions/refund?wait_ms=20000").await.fine();
    assert_eq!(decided["route"]["name"], "LEGAL");
    assert_eq!(decided["request"], json!({"matter": "a broken vase"}));
}

#[tokio::test]
async fn what_a_provider_makes_a_model_say_null_for_is_left_out() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let key = decided(&run, "REFUNDS", "REFUNDS").await;
    let path = format!("/v1/work/{}/questions/{key}/schema?dialect=openai", run.id);
    let shown = desk.get(&path).await.fine();
    let required = &shown["schema"]["properties"]["refund"]["required"];
    assert_eq!(required, &json!(["amount", "note"]), "{shown}");
    let told = json!({"answer": {"refund": {"amount": "1", "note": null}}});
    let taken = run
        .post(&format!("questions/{key}/request"), &told)
        .await
        .fine();
    assert_eq!(taken["request"], json!({"amount": "1"}));
}

#[tokio::test]
async fn where_a_kind_has_no_route_the_decision_is_the_answer() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("note", "SCRIBE").await;
    let decision = json!({"decision": "respond", "message": "write it down"});
    desk.decides(&asked["interrupt_id"], &decision).await.fine();
    let decided = run.get("questions/note?wait_ms=20000").await.fine();
    assert_eq!(decided["route"], json!(null));
    assert_eq!(decided["decision"]["text"], "write it down");
    let path = "questions/note/request";
    run.post(path, &json!({"answer": {}}))
        .await
        .refused(409, "not-in-state");
    assert_eq!(run.get("signals").await.fine()["decided"], json!([]));
}
