//! Each mistake that models make, with its fault, its path and its reason.

use std::collections::{BTreeMap, HashMap};

use expect_test::{Expect, expect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Routing;
use crate::answer::{AnswerError, LONGEST_ANSWER, read_narrowed, read_strictly, read_within};
use crate::route_set::RouteSet;
use crate::schema::tests::sample::{
    BoundRoute, ReviewRoute, SampleRouting, TicketRequests, TicketsRoute,
};

#[track_caller]
fn expect_fault<T: std::fmt::Debug>(read: Result<T, AnswerError>, expected: &Expect) {
    let error = read.unwrap_err();
    expected.assert_eq(&format!("{:?} {error}", error.fault()));
}

/// Reads as an answer that may hold the review route alone.
#[track_caller]
fn check(answer: &str, expected: Expect) {
    expect_fault(read_narrowed::<ReviewRoute>(answer.as_bytes()), &expected);
}

/// Reads as the tickets' request.
#[track_caller]
fn check_tickets(request: &str, expected: Expect) {
    let answer = format!(r#"{{"ticketRequests":{request}}}"#);
    expect_fault(read_narrowed::<TicketsRoute>(answer.as_bytes()), &expected);
}

/// Reads as an answer that may hold any route but the bound one.
#[track_caller]
fn check_within(answer: &str, expected: Expect) {
    let allowed = RouteSet::of::<BoundRoute>().complement();
    let read = read_within::<SampleRouting>(answer.as_bytes(), allowed);
    expect_fault(read, &expected);
}

#[track_caller]
fn check_type<T: DeserializeOwned + std::fmt::Debug>(answer: &str, expected: Expect) {
    expect_fault(read_strictly::<T>(answer.as_bytes()), &expected);
}

const REVIEW: &str = r#"{"content":"x","urgency":"Low"}"#;

#[test]
fn another_route_is_not_allowed() {
    check(
        r#"{"ticketRequests":{"requests":[]}}"#,
        expect![
            "RouteNotAllowed $.ticketRequests: the route `ticketRequests` is not allowed here; allowed: reviewRequest"
        ],
    );
    check(
        &format!(r#"{{"reviewRequest":{REVIEW},"ticketRequests":null}}"#),
        expect![
            "RouteNotAllowed $.ticketRequests: the route `ticketRequests` is not allowed here; allowed: reviewRequest"
        ],
    );
    check_within(
        r#"{"boundRequest":{"short":"a"}}"#,
        expect![
            "RouteNotAllowed $.boundRequest: the route `boundRequest` is not allowed here; allowed: reviewRequest, ticketRequests, backToReview, backToTickets"
        ],
    );
}

#[test]
fn exactly_one_route_is_set() {
    check(
        "{}",
        expect!["NoRoute $: no field is set; `reviewRequest` must be"],
    );
    check(
        r#"{"reviewRequest":null}"#,
        expect!["NoRoute $: no field is set; `reviewRequest` must be"],
    );
    check_within(
        r#"{"reviewRequest":null}"#,
        expect![
            "NoRoute $: no field is set; set exactly one of: reviewRequest, ticketRequests, backToReview, backToTickets"
        ],
    );
    check_within(
        &format!(r#"{{"reviewRequest":{REVIEW},"backToReview":{REVIEW}}}"#),
        expect!["ManyRoutes $: 2 fields are set: reviewRequest, backToReview; set exactly one"],
    );
}

#[test]
fn nothing_is_read_where_nothing_is_allowed() {
    let read = read_within::<SampleRouting>(b"{}", RouteSet::EMPTY);
    expect_fault(
        read,
        &expect!["NoRoute $: no route of `SampleRouting` is allowed here"],
    );
}

#[test]
fn a_field_that_the_type_does_not_have_is_unknown() {
    check(
        r#"{"review":{}}"#,
        expect![
            "UnknownField $.review: unknown field `review`; the fields here are: reviewRequest"
        ],
    );
    check(
        r#"{"reviewRequest":{"content":"x","urgency":"Low","extra":1}}"#,
        expect![
            "UnknownField $.reviewRequest.extra: unknown field; the fields here are: content, criteria, urgency"
        ],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":1,"weight":1,"plan":{"ask":{"question":"?","why":"-"}}}]}"#,
        expect![
            "UnknownField $.ticketRequests.requests[0].plan.ask.why: unknown field; the fields here are: question"
        ],
    );
    expect_fault(
        read_narrowed::<BoundRoute>(br#"{"boundRequest":{"short":"a","long":"b"}}"#),
        &expect![
            "UnknownField $.boundRequest.long: unknown field `long`; the fields here are: short"
        ],
    );
}

#[test]
fn a_key_stands_once() {
    check(
        &format!(r#"{{"reviewRequest":{REVIEW},"reviewRequest":{REVIEW}}}"#),
        expect!["DuplicateKey $.reviewRequest: the key `reviewRequest` stands twice"],
    );
    check(
        r#"{"reviewRequest":{"content":"x","content":"y","urgency":"Low"}}"#,
        expect!["DuplicateKey $.reviewRequest.content: the key `content` stands twice"],
    );
    check_tickets(
        r#"{"requests":[],"labels":{"a":"b","a":"c"}}"#,
        expect!["DuplicateKey $.ticketRequests.labels.a: the key `a` stands twice"],
    );
    check_within(
        r#"{"reviewRequest":null,"reviewRequest":null}"#,
        expect!["DuplicateKey $.reviewRequest: the key `reviewRequest` stands twice"],
    );
    check_type::<Value>(
        r#"{"a":[{"b":1,"b":2}]}"#,
        expect!["DuplicateKey $.a[0].b: the key `b` stands twice"],
    );
    check_type::<HashMap<u8, u8>>(
        r#"{"1":1,"1":2}"#,
        expect!["DuplicateKey $.1: the key `1` stands twice"],
    );
}

#[test]
fn an_array_is_no_object() {
    check(
        &format!("[{REVIEW}]"),
        expect![
            "ArrayForObject $: an array stands where an object belongs; the fields here are: reviewRequest"
        ],
    );
    check(
        r#"{"reviewRequest":["x",null,"Low"]}"#,
        expect![
            "ArrayForObject $.reviewRequest: an array stands where an object belongs; the fields here are: content, criteria, urgency"
        ],
    );
    check_tickets(
        r#"{"requests":[["a",1,1.0,"nothing",null]]}"#,
        expect![
            "ArrayForObject $.ticketRequests.requests[0]: an array stands where an object belongs; the fields here are: goal, priority, weight, plan, parent"
        ],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":1,"weight":1,"plan":{"ask":["?"]}}]}"#,
        expect![
            "ArrayForObject $.ticketRequests.requests[0].plan.ask: an array stands where an object belongs; the fields here are: question"
        ],
    );
    check_type::<BTreeMap<String, u8>>(
        "[1]",
        expect!["ArrayForObject $: an array stands where an object belongs"],
    );
    check_within(
        r"[null]",
        expect![
            "ArrayForObject $: an array stands where an object belongs; the fields here are: reviewRequest, ticketRequests, backToReview, backToTickets"
        ],
    );
}

#[test]
fn a_value_has_the_type_of_its_field() {
    check(
        r#"{"reviewRequest":{"content":"x"}}"#,
        expect!["WrongShape $.reviewRequest.urgency: missing field `urgency`"],
    );
    check(
        r#"{"reviewRequest":{"content":7,"urgency":"Low"}}"#,
        expect!["WrongShape $.reviewRequest.content: invalid type: integer `7`, expected a string"],
    );
    check(
        r#"{"reviewRequest":{"content":"x","urgency":"low"}}"#,
        expect![
            "WrongShape $.reviewRequest.urgency: unknown variant `low`, expected `Low` or `High`"
        ],
    );
    check(
        r#"{"reviewRequest":{"content":"x","urgency":{"Low":null}}}"#,
        expect![
            "WrongShape $.reviewRequest.urgency.Low: an object stands where the bare name of the variant belongs, as a string"
        ],
    );
    check(
        r#"{"reviewRequest":"review it"}"#,
        expect![[
            r#"WrongShape $.reviewRequest: invalid type: string "review it", expected an object with the fields content, criteria, urgency"#
        ]],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":256,"weight":1,"plan":"nothing"}]}"#,
        expect![
            "WrongShape $.ticketRequests.requests[0].priority: invalid value: integer `256`, expected u8"
        ],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":1,"weight":1,"plan":{"steps":[],"nothing":1}}]}"#,
        expect![
            "WrongShape $.ticketRequests.requests[0].plan.steps: more than one property stands where one names the variant"
        ],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":1,"weight":1,"plan":{}}]}"#,
        expect![
            "WrongShape $.ticketRequests.requests[0].plan: an empty object stands where a property names the variant"
        ],
    );
    check_tickets(
        r#"{"requests":[{"goal":"a","priority":1,"weight":1,"plan":{"both":["a",1,2]}}]}"#,
        expect![
            "WrongShape $.ticketRequests.requests[0].plan.both: the list has more elements than it may"
        ],
    );
    check_tickets(
        r#"{"requests":[],"labels":{"two words":1}}"#,
        expect![[
            r#"WrongShape $.ticketRequests.labels["two words"]: invalid type: integer `1`, expected a string"#
        ]],
    );
}

#[test]
fn an_integer_is_kept_exactly_or_refused() {
    check_type::<Value>(
        "[18446744073709551616]",
        expect![
            "WrongShape $[0]: the number 1.8446744073709552e19 is too large to be kept exactly; at most 64 bits are"
        ],
    );
    check_type::<u64>(
        "18446744073709551616",
        expect![
            "WrongShape $: invalid type: floating point `18446744073709552000.0`, expected u64"
        ],
    );
    let largest = read_strictly::<Value>(b"18446744073709551615").unwrap();
    assert_eq!(largest, Value::from(u64::MAX));
    let real = read_strictly::<f64>(b"1e300").unwrap();
    assert!(real > 1e299);
}

#[test]
fn a_cut_off_answer_is_told_from_a_wrong_one() {
    let whole = format!(r#"{{"reviewRequest":{REVIEW}}}"#);
    for length in 0..whole.len() {
        let error = read_narrowed::<ReviewRoute>(&whole.as_bytes()[..length]).unwrap_err();
        assert_eq!(
            error.fault(),
            crate::answer::AnswerFault::CutOff,
            "{length}: {error}"
        );
    }
    check(
        r#"{"reviewRequest":{"content":"x","urg"#,
        expect![
            "CutOff $.reviewRequest: the answer is cut off: EOF while parsing a string at line 1 column 36"
        ],
    );
    check("", expect!["CutOff $: the answer is empty"]);
}

#[test]
fn text_that_is_no_json_is_told_so() {
    check(
        "I cannot do that.",
        expect!["Syntax $: expected value at line 1 column 1"],
    );
    check(
        &format!(r#"{{"reviewRequest":{REVIEW}}} Done."#),
        expect![
            "Syntax $: more text follows the JSON value (trailing characters at line 1 column 51)"
        ],
    );
    check(
        r#"{"reviewRequest":{"content":'x'}}"#,
        expect!["Syntax $.reviewRequest.content: expected value at line 1 column 29"],
    );
    check_type::<String>(
        "\"\u{1}\"",
        expect![[
            r#"Syntax $: control character (\u0000-\u001F) found while parsing a string at line 1 column 2"#
        ]],
    );
    expect_fault(
        read_strictly::<String>(b"\"\xff\""),
        &expect!["Syntax $: invalid unicode code point at line 1 column 2"],
    );
}

#[test]
fn depth_is_bounded() {
    let bomb = "[".repeat(1_000_000);
    check_type::<Value>(
        &bomb,
        expect![
            "Syntax $[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: recursion limit exceeded at line 1 column 128"
        ],
    );
    let within = format!(r#"{{"reviewRequest":{{"content":{bomb}"#);
    check(
        &within,
        expect!["WrongShape $.reviewRequest.content: invalid type: sequence, expected a string"],
    );
    let mut nested = "null".to_owned();
    for _level in 0..10_000 {
        nested =
            format!(r#"{{"goal":"a","priority":1,"weight":1,"plan":"nothing","parent":{nested}}}"#);
    }
    let error = read_strictly::<TicketRequests>(format!(r#"{{"requests":[{nested}]}}"#).as_bytes())
        .unwrap_err();
    assert!(error.reason().contains("recursion limit"), "{error}");
}

#[test]
fn an_answer_may_be_so_long_and_no_longer() {
    let padded = |length: usize| {
        let mut answer = format!(r#"{{"reviewRequest":{REVIEW}}}"#);
        answer.push_str(&" ".repeat(length - answer.len()));
        answer
    };
    assert!(read_narrowed::<ReviewRoute>(padded(LONGEST_ANSWER).as_bytes()).is_ok());
    check(
        &padded(LONGEST_ANSWER + 1),
        expect!["TooLong $: the answer has 8388609 bytes; at most 8388608 are read"],
    );
}

#[test]
fn what_is_said_of_a_long_answer_is_short() {
    let long = "x".repeat(1_000_000);
    for answer in [
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"reviewRequest":"{long}"}}"#),
        format!(r#"{{"reviewRequest":{{"content":"","urgency":"{long}"}}}}"#),
        "[".repeat(1_000_000),
    ] {
        let error = read_narrowed::<ReviewRoute>(answer.as_bytes()).unwrap_err();
        assert!(error.to_string().len() < 1_000, "{error}");
    }
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "it is never made")]
struct Odd {
    #[serde(rename = "two words")]
    two_words: BTreeMap<String, Vec<u8>>,
}

#[test]
fn keys_that_are_no_names_are_quoted_in_paths() {
    check_type::<Odd>(
        r#"{"two words":{"a.b":[1,"2"]}}"#,
        expect![[r#"WrongShape $["two words"]["a.b"][1]: invalid type: string "2", expected u8"#]],
    );
}

#[test]
fn every_route_of_the_record_is_read_through_its_own_type() {
    let bound = br#"{"boundRequest":{"short":"abc"}}"#;
    let read = read_within::<SampleRouting>(bound, RouteSet::of::<BoundRoute>()).unwrap();
    assert_eq!(read.set_routes(), RouteSet::of::<BoundRoute>());
}
