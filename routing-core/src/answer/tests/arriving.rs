//! Answers that are still arriving: where one is given up, and that none is which would have been taken.

use crate::RouteSet;
use crate::answer::{AnswerFault, ArrivingAnswer, fault_so_far};
use crate::schema::tests::sample::{ReviewRoute, SampleRouting, TicketsRoute};

const REVIEW: RouteSet<SampleRouting> = RouteSet::of::<ReviewRoute>();
const TICKETS: RouteSet<SampleRouting> = RouteSet::of::<TicketsRoute>();

/// How much of the answer it takes to see its fault, and which one that is.
#[track_caller]
fn given_up(answer: &str, allowed: RouteSet<SampleRouting>) -> (&str, AnswerFault) {
    let mut beginnings = answer.char_indices().map(|(end, _)| &answer[..end]);
    let found = beginnings
        .find_map(|beginning| Some((beginning, fault_so_far(beginning, allowed)?.fault())));
    found.unwrap_or_else(|| panic!("never: {answer}"))
}

#[test]
fn each_fault_is_seen_where_it_stands() {
    use AnswerFault as Fault;
    for (answer, seen_by, fault) in [
        ("Sure! Here is the answer", "S", Fault::Syntax),
        ("```yaml\na: b", "```yaml\n", Fault::Syntax),
        (
            r#"{"backToReview":{}}"#,
            r#"{"backToReview""#,
            Fault::RouteNotAllowed,
        ),
        (r#"{"nothing":1}"#, r#"{"nothing""#, Fault::UnknownField),
        (
            r#"{"reviewRequest":[1,2,3]}"#,
            r#"{"reviewRequest":["#,
            Fault::ArrayForObject,
        ),
        (
            r#"{"reviewRequest":{"content":7,"criteria":null}}"#,
            r#"{"reviewRequest":{"content":7,"#,
            Fault::WrongShape,
        ),
        (
            r#"{"reviewRequest":{"content":"x","urgency":"Lowest"}}"#,
            r#"{"reviewRequest":{"content":"x","urgency":"Lowest""#,
            Fault::WrongShape,
        ),
        (
            r#"{"reviewRequest":{"content":"x"}}    "#,
            r#"{"reviewRequest":{"content":"x"}"#,
            Fault::WrongShape,
        ),
    ] {
        assert_eq!(given_up(answer, REVIEW), (seen_by, fault), "{answer}");
    }
}

#[test]
fn a_second_field_is_seen_when_its_value_begins() {
    let one = r#"{"backToReview":null,"reviewRequest":{"content":"x","urgency":"Low"},"#;
    let answer = format!(r#"{one}"ticketRequests":{{"requests":[]}}}}"#);
    let seen_by = format!(r#"{one}"ticketRequests":{{"#);
    assert_eq!(
        fault_so_far(
            &seen_by[..seen_by.len() - 1],
            RouteSet::<SampleRouting>::ALL
        ),
        None
    );
    assert_eq!(
        given_up(&answer, RouteSet::ALL),
        (seen_by.as_str(), AnswerFault::ManyRoutes)
    );
}

#[test]
fn a_number_is_judged_when_it_is_whole() {
    let priority = |number: &str| {
        format!(r#"{{"ticketRequests":{{"requests":[{{"goal":"g","priority":{number}"#)
    };
    assert_eq!(fault_so_far(&priority("25"), TICKETS), None);
    assert_eq!(fault_so_far(&priority("256"), TICKETS), None);
    assert!(fault_so_far(&priority("256,"), TICKETS).is_some());
}

#[test]
fn what_has_arrived_before_a_restart_does_not_count() {
    let mut arriving = ArrivingAnswer::new(REVIEW);
    assert!(arriving.push("[1, 2]").is_some());
    arriving.restart();
    assert_eq!(arriving.push("{\"review"), None);
    assert_eq!(arriving.push("Request\":{\"content\":\"x\""), None);
    assert!(arriving.push(", and so on, and so forth").is_some());
}

#[test]
fn a_model_that_says_why_it_cannot_is_heard_and_one_that_talks_on_is_not() {
    let mut arriving = ArrivingAnswer::new(REVIEW);
    let words =
        "I cannot fill this in: the order that you approved is not among those that I was shown.";
    assert_eq!(arriving.push(words), None);
    assert!(arriving.push(&words.repeat(12)).is_some());
}

#[test]
fn a_long_answer_is_given_up_within_an_eighth_more() {
    let mut arriving = ArrivingAnswer::new(REVIEW);
    let long = "x".repeat(100_000);
    assert_eq!(
        arriving.push(&format!(r#"{{"reviewRequest":{{"content":"{long}"#)),
        None
    );
    assert_eq!(arriving.push(r#"","urgency":1,"#), None);
    assert!(arriving.push(&"x".repeat(100_000 / 8 + 16)).is_some());
}
