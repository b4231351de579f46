//! What a decision means to the code that asked: after a no there is no route to go on along.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, Run, question};

/// A question that offers a yes, and wants it confirmed.
fn offered() -> Value {
    let mut asked = question("REFUNDS");
    asked["confirmations"] = json!([{"id": "seen", "prompt": "Did you see the photo?"}]);
    asked
}

/// A question with this key that was decided so.
async fn decided(run: &Run<'_>, key: &str, decision: &Value) -> Value {
    let path = format!("questions/{key}");
    let asked = run.put(&path, &offered()).await.fine();
    assert_eq!(asked["decided_as"], json!(null), "{asked}");
    run.desk
        .decides(&asked["interrupt_id"], decision)
        .await
        .fine();
    run.get(&format!("{path}?wait_ms=20000")).await.fine()
}

/// Nothing may be carried out after it, and its worker is told so at each place where it could go on.
async fn takes_no_route(run: &Run<'_>, key: &str, told: &Value, meaning: &str) {
    assert_eq!(told["decided_as"], meaning, "{key}: {told}");
    assert_eq!(told["route"], json!(null), "{key}: {told}");
    assert_eq!(told["request"], json!(null), "{key}: {told}");
    let schema = format!("/v1/work/{}/questions/{key}/schema", run.id);
    let shown = run.desk.asks(&run.desk.worker, Method::GET, &schema, None);
    let filled = json!({"answer": {"refund": {"amount": "1"}}});
    let submit = format!("questions/{key}/request");
    for refused in [shown.await, run.post(&submit, &filled).await] {
        let refused = refused.refused(409, "declined");
        assert!(
            refused["detail"].as_str().unwrap().contains(meaning),
            "{refused}"
        );
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("`decided_as`"), "{refused}");
    }
    let again = run.put(&format!("questions/{key}"), &offered()).await;
    assert_eq!(again.fine()["request"], json!(null), "{key}");
}

#[tokio::test]
async fn after_a_no_there_is_no_route_no_request_and_no_choice_even_if_a_yes_was_marked() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let marked = json!({"selectedChoices": ["yes"], "confirmations": {"seen": true},
        "text": "He is a fraud."});
    for verdict in ["reject", "ignore", "cancel"] {
        let decision = json!({"decision": verdict, "payload": marked});
        let told = decided(&run, verdict, &decision).await;
        assert_eq!(told["decision"]["decision"], verdict);
        assert_eq!(told["decision"]["text"], "He is a fraud.");
        assert_eq!(told["decision"]["choices"], json!([]), "{told}");
        assert_eq!(told["decision"]["confirmations"], json!({}), "{told}");
        takes_no_route(&run, verdict, &told, "declined").await;
        // People read nowhere that a yes came with the no.
        let path = format!("/v1/interrupts/{}", told["interrupt_id"].as_str().unwrap());
        let kept = desk.installation.json(&path).await["decision"].to_string();
        assert!(!kept.contains("yes") && !kept.contains("seen"), "{kept}");
    }
    assert_eq!(run.get("signals").await.fine()["decided"], json!([]));
}

#[tokio::test]
async fn a_question_whose_time_is_over_or_that_is_withdrawn_is_settled_without_a_route() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let mut brief = offered();
    brief["deadline_ms"] = json!(50);
    run.put("questions/late", &brief).await.fine();
    // Read without the epoch, so that nothing has taken it yet.
    let reading = format!("/v1/work/{}/questions/late?wait_ms=20000", run.id);
    desk.get(&reading).await.fine();
    assert_eq!(
        run.get("signals").await.fine()["decided"],
        json!(["late"]),
        "its worker has not read it"
    );
    let late = run.get("questions/late").await.fine();
    takes_no_route(&run, "late", &late, "expired").await;
    run.put("questions/gone", &offered()).await.fine();
    let gone = desk.delete(&run.path("questions/gone")).await.fine();
    takes_no_route(&run, "gone", &gone, "withdrawn").await;
    assert_eq!(gone["decision"], json!(null));
    // The worker has read both: nothing more comes of them.
    assert_eq!(run.get("signals").await.fine()["decided"], json!([]));
}

#[tokio::test]
async fn a_yes_an_answer_and_a_reroute_are_told_apart_and_have_a_route() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let edited = json!({"editedRequest": {"amount": "5 euro"}});
    let table = [
        (
            "plain",
            json!({"decision": "approve", "message": "yes", "payload": {"confirmations": {"seen": true}}}),
            "approved",
        ),
        (
            "edited",
            json!({"decision": "edit", "payload": edited}),
            "approved",
        ),
        (
            "words",
            json!({"decision": "respond", "message": "No! He is a fraud."}),
            "answered",
        ),
        (
            "chosen",
            json!({"decision": "approve", "payload": {"selectedChoices": ["no"], "confirmations": {"seen": true}}}),
            "answered",
        ),
        (
            "refused",
            json!({"decision": "approve", "message": "yes", "payload": {"confirmations": {"seen": false}}}),
            "answered",
        ),
        (
            "elsewhere",
            json!({"decision": "reroute", "reroute_to": "LEGAL"}),
            "rerouted",
        ),
    ];
    for (key, decision, meaning) in table {
        let told = decided(&run, key, &decision).await;
        assert_eq!(told["decided_as"], meaning, "{told}");
        let route = if meaning == "rerouted" {
            "LEGAL"
        } else {
            "REFUNDS"
        };
        assert_eq!(told["route"]["name"], route, "{told}");
    }
    let chosen = run.get("questions/chosen").await.fine();
    assert_eq!(chosen["decision"]["choices"], json!(["no"]));
}

#[tokio::test]
async fn a_question_that_wants_a_yes_or_a_no_takes_nothing_else_and_its_program_is_told_of_a_wrong_form()
 {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let mut asked = question("REFUNDS");
    asked["answer_form"] = json!("yes_or_no");
    let refused = run.put("questions/pay", &asked).await;
    let refused = refused.refused(422, "invalid-body");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("/answer_form") && detail.contains("`one_of`"),
        "{refused}"
    );
    asked["choices"] = json!([]);
    let open = run.put("questions/pay", &asked).await.fine();
    let words = json!({"decision": "respond", "message": "perhaps"});
    let refused = desk.decides(&open["interrupt_id"], &words).await;
    let refused = refused.refused(422, "decision-not-allowed");
    let allowed = json!(["approve", "edit", "reject", "ignore", "reroute", "cancel"]);
    assert_eq!(refused["allowed_decisions"], allowed);
    let other = run.put("questions/pay", &question("REFUNDS")).await;
    let other = other.refused(422, "idempotency-conflict");
    assert!(
        other["differs"].to_string().contains("answer_form"),
        "{other}"
    );
    desk.decides(&open["interrupt_id"], &json!({"decision": "approve"}))
        .await
        .fine();
    let told = run.get("questions/pay?wait_ms=20000").await.fine();
    assert_eq!(told["decided_as"], "approved");
}
