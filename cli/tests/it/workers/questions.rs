//! A question is asked once, and its decision is there however often the code is executed.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use super::{Desk, question};

#[tokio::test]
async fn code_that_runs_again_asks_nobody_again_and_gets_what_was_decided() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    assert_eq!(asked["state"], "open");
    let id = run.id.clone();
    desk.delete(&run.path("lease")).await.fine();
    desk.dies_and_comes_back();
    let run = desk.takes(&id, "second").await;
    // How long it waits is no part of what is asked.
    let mut same = question("REFUNDS");
    same["deadline_ms"] = json!(3_600_000);
    let again = run.put("questions/refund", &same).await;
    assert_eq!(again.status, 200);
    assert_eq!(again.fine()["interrupt_id"], asked["interrupt_id"]);
    assert_eq!(desk.installation.questions(1).await.len(), 1);
    let answer =
        json!({"decision": "respond", "payload": {"selectedChoices": ["yes"], "text": "at once"}});
    desk.decides(&asked["interrupt_id"], &answer).await.fine();
    let decided = run.put("questions/refund", &same).await.fine();
    assert_eq!(decided["state"], "decided");
    assert_eq!(decided["decision"]["choices"], json!(["yes"]));
    assert_eq!(decided["decision"]["text"], "at once");
    assert_eq!(decided["decision"]["by"], "script");
}

/// Ann's yes is no yes for Bob.
#[tokio::test]
async fn a_key_stands_for_what_was_asked_with_it_and_nothing_else() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let mut first = question("REFUNDS");
    first["reason"] = json!("Pay Ann 5?");
    first["context"] = json!("Order 17");
    first["confirmations"] = json!([{"id": "seen", "prompt": "Seen?"}]);
    first["fields"] = json!({"cents": 500, "to": {"name": "Ann", "iban": "A"}});
    let path = "questions/pay";
    let asked = run.put(path, &first).await.fine();
    let others = [
        ("reason", json!("Pay Bob 500000?"), "reason"),
        ("context", json!("Order 18"), "context"),
        ("choices", json!([{"value": "yes"}]), "choices"),
        ("confirmations", json!([]), "confirmations"),
        (
            "fields",
            json!({"cents": 500, "to": {"name": "Bob", "iban": "B"}}),
            "fields.to",
        ),
        (
            "fields",
            json!({"to": first["fields"]["to"]}),
            "fields.cents",
        ),
        ("agent_id", json!("root/other"), "agent_id"),
        ("kind", json!("LEGAL"), "kind"),
    ];
    for is_decided in [false, true] {
        if is_decided {
            let seen = json!({"confirmations": {"seen": true}});
            let yes = json!({"decision": "approve", "message": "yes", "payload": seen});
            desk.decides(&asked["interrupt_id"], &yes).await.fine();
        }
        for (member, other, named) in &others {
            let mut again = first.clone();
            again[*member] = other.clone();
            let told = run.put(path, &again).await;
            let refused = told.refused(422, "idempotency-conflict");
            assert_eq!(refused["differs"], json!([named]), "{refused}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(named), "{refused}");
        }
        // The order of members says nothing.
        first["fields"] = json!({"to": {"iban": "A", "name": "Ann"}, "cents": 500});
        let again = run.put(path, &first).await.fine();
        assert_eq!(again["interrupt_id"], asked["interrupt_id"]);
    }
    assert_eq!(desk.installation.questions(0).await.len(), 0);
}

#[tokio::test]
async fn an_edit_is_not_offered_where_there_is_no_request_to_edit() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    for (kind, can_edit) in [("SCRIBE", false), ("REFUNDS", true)] {
        let asked = run.asks(kind, kind).await;
        let path = format!("/v1/interrupts/{}", asked["interrupt_id"].as_str().unwrap());
        let offered = desk.installation.json(&path).await["allowed_decisions"].to_string();
        assert_eq!(offered.contains("edit"), can_edit, "{offered}");
    }
    let asked = run.asks("SCRIBE", "SCRIBE").await;
    let edit = json!({"decision": "edit", "payload": {"editedRequest": {"amount": 3}}});
    desk.decides(&asked["interrupt_id"], &edit)
        .await
        .refused(422, "decision-not-allowed");
}

#[tokio::test]
async fn whatever_waits_for_a_decision_is_told_as_soon_as_it_is_made() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    // Without the epoch it is read, and not taken.
    let reading = format!("/v1/work/{}/questions/refund?wait_ms=20000", run.id);
    let waits = async {
        let told = desk.asks(&desk.worker, Method::GET, &reading, None).await;
        (told.fine(), Instant::now())
    };
    let watches = async { run.get("signals?wait_ms=20000").await.fine() };
    let decides = async {
        let deciding = json!({"decision": "approve", "message": "yes"});
        desk.decides(&asked["interrupt_id"], &deciding).await.fine();
        Instant::now()
    };
    let ((told, at), signals, made) = tokio::join!(waits, watches, decides);
    assert_eq!(told["decision"]["decision"], "approve");
    assert_eq!(signals["decided"], json!(["refund"]));
    // Far below the twenty seconds that it would have waited.
    assert!(at.saturating_duration_since(made) < Duration::from_secs(5));
    let now = run.get("signals").await.fine();
    let path = format!("signals?wait_ms=100&after={}", now["cursor"]);
    let begun = Instant::now();
    let later = run.get(&path).await.fine();
    assert!(
        begun.elapsed() >= Duration::from_millis(100),
        "nothing was new"
    );
    assert_eq!(later["decided"], json!(["refund"]));
}

#[tokio::test]
async fn the_request_that_asks_waits_for_the_decision_and_is_told_of_it_alone() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let now = run.get("signals").await.fine();
    let asks = async {
        let told = run
            .put("questions/refund?wait_ms=20000", &question("REFUNDS"))
            .await;
        (told.status, told.fine())
    };
    let watches = async {
        let path = format!("signals?wait_ms=2000&after={}", now["cursor"]);
        let begun = Instant::now();
        run.get(&path).await.fine();
        begun.elapsed()
    };
    let decides = async {
        let open = desk.installation.questions(1).await;
        let deciding = json!({"decision": "approve", "message": "yes"});
        desk.decides(&json!(open[0]), &deciding).await.fine();
    };
    let ((status, told), watched, ()) = tokio::join!(asks, watches, decides);
    assert_eq!((status.as_u16(), &told["state"]), (201, &json!("decided")));
    assert_eq!(told["decision"]["decision"], "approve");
    let whole = Duration::from_millis(2000);
    assert!(
        watched >= whole,
        "what was told already is no news: {watched:?}"
    );
    run.put("questions/refund?wait_ms=31000", &question("REFUNDS"))
        .await
        .refused(400, "invalid-parameter");
}

#[tokio::test]
async fn a_question_has_the_fields_of_its_kind_and_a_kind_of_the_workflow() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let unknown = run.put("questions/x", &question("NOBODY")).await;
    let refused = unknown.refused(422, "invalid-body");
    assert!(
        refused["detail"].as_str().unwrap().contains("REFUNDS"),
        "{refused}"
    );
    run.asks("x", "REFUNDS").await;
    let mut other_kind = question("LEGAL");
    other_kind["agent_id"] = json!("root/refunds");
    run.put("questions/y", &other_kind)
        .await
        .refused(422, "invalid-body");
    for field in ["reason", "toolCall", "fills", "request"] {
        let mut clash = question("REFUNDS");
        clash["fields"] = json!({field: "twice"});
        run.put("questions/y", &clash)
            .await
            .refused(422, "invalid-body");
    }
    run.put("questions/y:request", &question("REFUNDS"))
        .await
        .refused(422, "invalid-body");
    let mut outside = question("LEGAL");
    outside["agent_id"] = json!("legal");
    run.put("questions/y", &outside)
        .await
        .refused(422, "invalid-body");
    run.get("questions/y")
        .await
        .refused(404, "question-not-found");
    run.put("questions/a%20b", &question("REFUNDS"))
        .await
        .refused(400, "invalid-parameter");
}

#[tokio::test]
async fn a_question_can_be_withdrawn_and_one_with_a_deadline_expires() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    let withdrawn = desk.delete(&run.path("questions/refund")).await.fine();
    assert_eq!(withdrawn["state"], "withdrawn");
    assert_eq!(run.asks("refund", "REFUNDS").await["state"], "withdrawn");
    let mut brief = question("LEGAL");
    brief["deadline_ms"] = json!(50);
    run.put("questions/legal", &brief).await.fine();
    let expired = run.get("questions/legal?wait_ms=20000").await.fine();
    assert_eq!(expired["state"], "expired", "{expired}");
    assert_eq!(expired["decision"]["by"], "deadline");
}

#[tokio::test]
async fn an_event_of_a_supervisor_is_taken_by_the_next_question_of_its_agent() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let agent = json!({"agent_id": "root/refunds", "kind": "REFUNDS", "status": "running"});
    run.put("agents", &json!({"agents": [agent]})).await.fine();
    desk.event(&run.id, "evt-1").await;
    let told = run.get("signals?wait_ms=20000").await.fine();
    assert_eq!(told["asked"][0]["agent_id"], "root/refunds");
    assert_eq!(told["asked"][0]["reroute_to"], "LEGAL");
    let asked = run.asks("refund", "REFUNDS").await;
    // The question has what the event wanted, which asks for nothing any more.
    let of_event = told["asked"][0]["interrupt_id"].as_str().unwrap();
    let of_event = desk
        .installation
        .json(&format!("/v1/interrupts/{of_event}"))
        .await;
    assert_eq!(of_event["state"], "cancelled", "{of_event}");
    assert_eq!(run.get("signals").await.fine()["asked"], json!([]));
    desk.decides(
        &asked["interrupt_id"],
        &json!({"decision": "approve", "message": "yes"}),
    )
    .await
    .fine();
    let decided = run.get("questions/refund?wait_ms=20000").await.fine();
    assert_eq!(decided["route"]["name"], "LEGAL");
    assert_eq!(decided["route"]["rerouted"], true);
    // It was consumed with that decision: the next answer goes where its kind says.
    let next = run.asks("again", "REFUNDS").await;
    desk.decides(
        &next["interrupt_id"],
        &json!({"decision": "approve", "message": "yes"}),
    )
    .await
    .fine();
    let decided = run.get("questions/again?wait_ms=20000").await.fine();
    assert_eq!(decided["route"]["name"], "REFUNDS");
    let fate = desk.installation.json("/v1/interrupt-requests/evt-1").await;
    assert_eq!(fate["reroute"]["state"], "consumed", "{fate}");
    assert_eq!(fate["interrupt"]["id"], asked["interrupt_id"], "{fate}");
    assert_eq!(fate["decision"]["decision"], "approve", "{fate}");
}

#[tokio::test]
async fn an_event_waits_for_a_question_of_its_agent_and_one_that_was_asked_before_is_not_rerouted()
{
    let desk = Desk::open().await;
    let run = desk.run().await;
    let before = run.asks("before", "REFUNDS").await;
    desk.event(&run.id, "evt-1").await;
    run.get("signals?wait_ms=20000").await.fine();
    // Code that runs again asks what it asked before; that is no new question.
    run.asks("before", "REFUNDS").await;
    let after = run.asks("after", "REFUNDS").await;
    for (asked, key, route) in [(before, "before", "REFUNDS"), (after, "after", "LEGAL")] {
        desk.decides(
            &asked["interrupt_id"],
            &json!({"decision": "approve", "message": "yes"}),
        )
        .await
        .fine();
        let path = format!("questions/{key}?wait_ms=20000");
        assert_eq!(run.get(&path).await.fine()["route"]["name"], route, "{key}");
    }
    let approve = json!({"answer": {"legal": {"matter": "contract"}}});
    run.post("questions/after/request", &approve).await.fine();
    let path = format!(
        "/v1/records/journal?of=[%22{}%22,{{%22after%22:0,%22limit%22:500}}]",
        run.id
    );
    let journal = desk.installation.json(&path).await.to_string();
    let said = r#""content":"{\"requested\":true,\"outcome\":\"routed\","#;
    assert_eq!(journal.matches(said).count(), 1, "{journal}");
}

#[tokio::test]
async fn the_policy_of_the_server_holds_for_the_questions_of_workers_too() {
    let mut desk = Desk::open().await;
    desk.server.take().unwrap().kill();
    let policy = desk.installation.folder.path().join("policy.toml");
    let rules = "[[rule]]\nname = \"answers by itself\"\ntype = \"HUMAN_REVIEW\"\nsource = \"programmatic\"\n\
         answer = \"respond\"\nanswer_text = \"Do it.\"\n";
    std::fs::write(&policy, rules).unwrap();
    let policy = policy.to_str().unwrap().to_owned();
    desk.server = Some(desk.installation.serve_with(&["--policy", &policy]));
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    assert_eq!(asked["state"], "decided", "{asked}");
    assert_eq!(asked["decision"]["by"], "policy");
    assert_eq!(asked["decision"]["text"], "Do it.");
}

#[tokio::test]
async fn what_a_standing_rule_decides_is_told_in_the_name_of_the_rule() {
    let desk = Desk::open().await;
    let asked = desk.run().await.asks("refund", "REFUNDS").await;
    let decision = json!({"decision": "respond", "payload": {"selectedChoices": ["yes"]}, "remember": {"scope": "everywhere"}});
    desk.decides(&asked["interrupt_id"], &decision).await.fine();
    let again = desk.run().await.asks("refund", "REFUNDS").await;
    assert_eq!(
        again["decision"]["by"], "a standing rule of script",
        "{again}"
    );
}

#[tokio::test]
async fn a_question_that_a_person_withdraws_is_told_to_its_worker() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    let path = format!("/v1/interrupts/{}", asked["interrupt_id"].as_str().unwrap());
    let waits = async { run.get("signals?wait_ms=20000").await.fine() };
    let (told, withdrawn) = tokio::join!(waits, desk.installation.delete(&path).send());
    assert!(withdrawn.unwrap().status().is_success());
    assert_eq!(told["decided"], json!(["refund"]));
    let question = run.get("questions/refund").await.fine();
    assert_eq!(question["state"], "withdrawn");
    assert_eq!(run.get("signals").await.fine()["decided"], json!([]));
}
