//! Workflows are registered as the compiler would have them.

use serde_json::{Value, json};

use super::{Desk, WORKFLOW, workflow};

/// A workflow with one route, whose request has this schema.
fn with_schema(schema: &Value) -> Value {
    json!({"kinds": [{"name": "A", "origin": "A"}], "routes": [{"name": "A", "field": "a", "schema": schema}]})
}

/// A request with one property.
fn with_property(property: &Value) -> Value {
    with_schema(
        &json!({"type": "object", "additionalProperties": false, "required": ["p"],
        "properties": {"p": property}}),
    )
}

#[tokio::test]
async fn the_same_content_is_the_same_version_and_other_content_is_a_new_one() {
    let desk = Desk::open().await;
    let path = format!("/v1/workflows/{WORKFLOW}");
    let again = desk.put(&path, &workflow()).await;
    assert_eq!(again.status, 200);
    assert_eq!(again.fine()["version"], 1);
    let mut other = workflow();
    other["routes"][0]["description"] = json!("What the orchestrator does next.");
    let second = desk.put(&path, &other).await;
    assert_eq!(second.status, 201);
    assert_eq!(second.fine()["version"], 2);
    let read = desk.get(&path).await.fine();
    assert_eq!(read["version"], 2);
    assert_eq!(read["routes"][1]["schema"], other["routes"][1]["schema"]);
}

/// What is refused of a workflow's own form: where, and with which words in its reason.
fn of_form() -> Vec<(Value, &'static str, &'static str)> {
    vec![
        (json!({"kinds": []}), "/kinds", "no kind"),
        (
            json!({"kinds": [{"name": "A", "origin": "B"}], "routes": []}),
            "/kinds/0/origin",
            "no route",
        ),
        (
            json!({"kinds": [{"name": "A"}, {"name": "A"}]}),
            "/kinds/1/name",
            "two kinds",
        ),
        (
            json!({"kinds": [{"name": "A"}], "routes": [{"name": "B", "field": "a b", "schema": {}}]}),
            "/routes/0/field",
            "no name",
        ),
        (
            json!({"kinds": [{"name": "A", "fields": {"type": "object", "properties": {}}}]}),
            "/kinds/0/fields",
            "open",
        ),
    ]
}

/// What is refused of a request's schema.
fn of_schema() -> Vec<(Value, &'static str, &'static str)> {
    let deep = (0..12).fold(json!({"type": "string", "maxLength": 9}), |inner, _level| {
        json!({"type": "object", "additionalProperties": false, "required": ["q"], "properties": {"q": inner}})
    });
    let property = "/routes/0/schema/properties/p";
    vec![
        (
            with_schema(&json!({"type": "string", "maxLength": 3})),
            "/routes/0/schema",
            "no object",
        ),
        (
            with_schema(&json!({"type": "object", "properties": {}})),
            "/routes/0/schema",
            "open",
        ),
        (
            with_property(&json!({"type": "string"})),
            property,
            "any length",
        ),
        (
            with_property(&json!({"type": "array", "items": {"type": "integer"}})),
            property,
            "any length",
        ),
        (
            with_property(&json!({"type": "array", "maxItems": 3})),
            property,
            "anything",
        ),
        (with_property(&json!({})), property, "anything fits"),
        (
            with_property(&json!({"type": "object", "patternProperties": {}})),
            property,
            "patternProperties",
        ),
        (
            with_property(&json!({"$ref": "#/$defs/Nowhere"})),
            "/routes/0/schema",
            "cannot be used",
        ),
        (
            with_property(&json!({"type": "number of lines"})),
            "/routes/0/schema",
            "cannot be used",
        ),
        (with_property(&deep), "/routes/0/schema", "levels"),
    ]
}

#[tokio::test]
async fn what_is_not_closed_bounded_or_taken_by_every_provider_is_refused_at_its_place() {
    let desk = Desk::open().await;
    let path = format!("/v1/workflows/{WORKFLOW}");
    for (body, pointer, reason) in of_form().into_iter().chain(of_schema()) {
        let refused = desk
            .put(&path, &body)
            .await
            .refused(422, "workflow-refused");
        let errors = refused["errors"].as_array().unwrap();
        let found = errors.iter().any(|error| {
            let told = error["message"].as_str().unwrap();
            error["pointer"] == pointer && told.contains(reason)
        });
        assert!(found, "{body} is refused with {refused:#}");
        let remedies = errors.iter().map(|error| error["remedy"].as_str().unwrap());
        assert!(remedies.into_iter().all(|it| !it.is_empty()), "{refused:#}");
    }
    assert_eq!(desk.get(&path).await.fine()["version"], 1);
}

#[tokio::test]
async fn a_run_ends_under_its_own_version_where_the_newest_would_change_what_has_begun() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    desk.delete(&run.path("lease")).await.fine();
    let path = format!("/v1/workflows/{WORKFLOW}");
    let mut changed = workflow();
    changed["routes"][1]["schema"]["required"] = json!(["amount", "note"]);
    desk.put(&path, &changed).await.fine();
    let own = desk.takes(&run.id, "second").await;
    let digest = |stands: &Value| stands["digest"].as_str().unwrap().to_owned();
    let (newest, under) = (desk.get(&path).await.fine(), own.stands().await);
    assert_ne!(digest(&newest), digest(&under));
    // Its answers are checked by the version that it began under, those of a new run by the newest.
    let new = desk.run().await;
    assert_eq!(digest(&new.stands().await), digest(&newest));
    for (run, is_taken) in [(&own, true), (&new, false)] {
        let asked = run.asks("refund", "REFUNDS").await;
        desk.decides(
            &asked["interrupt_id"],
            &json!({"decision": "approve", "message": "yes"}),
        )
        .await
        .fine();
        let answer = json!({"answer": {"refund": {"amount": "5 euro"}}});
        let told = run.post("questions/refund/request", &answer).await;
        assert_eq!(told.status.is_success(), is_taken, "{told:?}");
    }
    // A version that agrees with what has begun is taken over.
    let mut added = workflow();
    let kinds = added["kinds"].as_array_mut().unwrap();
    kinds.push(json!({"name": "NEW"}));
    desk.put(&path, &added).await.fine();
    desk.delete(&own.path("lease")).await.fine();
    let own = desk.takes(&run.id, "third").await;
    assert_eq!(
        digest(&own.stands().await),
        digest(&desk.get(&path).await.fine())
    );
}
