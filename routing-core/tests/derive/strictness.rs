//! What a record refuses to be read from.

use interrupt_router::Route;

use super::workflow::{InterruptRouting, OrchestratorRoute, goal};

#[track_caller]
fn check(json: &str, expected: &str) {
    let read = serde_json::from_str::<InterruptRouting>(json).map_err(|error| error.to_string());
    let reason = read.as_ref().map_err(|text| text.split(" at line ").next());
    assert_eq!(reason, Err(Some(expected)));
}

#[test]
fn null_is_not_set() {
    let read: InterruptRouting =
        serde_json::from_str(r#"{"review":null,"orchestratorRequest":{"goal":"ship"}}"#).unwrap();
    assert_eq!(read, OrchestratorRoute::wrap(goal("ship")));
}

#[test]
fn exactly_one_field_is_set() {
    let none =
        "$: no field is set; set exactly one of: orchestratorRequest, review, ticketAgentRequests";
    check("{}", none);
    check(r#"{"review":null}"#, none);
    check(
        r#"{"review":{"goal":"a"},"orchestratorRequest":{"goal":"b"}}"#,
        "$: 2 fields are set: orchestratorRequest, review; set exactly one",
    );
}

#[test]
fn keys_are_known_and_stand_once() {
    check(
        r#"{"reviewRequest":{"goal":"a"}}"#,
        "$.reviewRequest: unknown field `reviewRequest`; the fields here are: orchestratorRequest, review, ticketAgentRequests",
    );
    check(
        r#"{"review":null,"review":{"goal":"a"}}"#,
        "$.review: the key `review` stands twice",
    );
}

#[test]
fn an_object_is_an_object() {
    check(
        r#"[{"goal":"a"}]"#,
        "$: an array stands where an object belongs; the fields here are: orchestratorRequest, review, ticketAgentRequests",
    );
    check(
        r#""review""#,
        "$: invalid type: string \"review\", expected an object with exactly one of: orchestratorRequest, review, ticketAgentRequests",
    );
}

#[test]
fn what_a_request_lacks_is_told() {
    check(r#"{"review":{}}"#, "$.review.goal: missing field `goal`");
}
