//! What is around the JSON of an answer, and what else is tolerated.

use crate::answer::{AnswerFault, read_narrowed, read_strictly, read_within};
use crate::schema::tests::sample::{
    Plan, ReviewRequest, ReviewRoute, SampleRouting, Ticket, TicketRequests, TicketsRoute, Urgency,
};
use crate::{Narrowed, Route, RouteSet};

fn review() -> ReviewRequest {
    ReviewRequest {
        content: "x".to_owned(),
        criteria: None,
        urgency: Urgency::Low,
    }
}

const ANSWER: &str = r#"{"reviewRequest":{"content":"x","criteria":null,"urgency":"Low"}}"#;

#[track_caller]
fn takes(answer: &str) {
    let read = read_narrowed::<ReviewRoute>(answer.as_bytes()).unwrap();
    assert_eq!(read, Narrowed::new(review()));
}

#[track_caller]
fn refuses(answer: &str, fault: AnswerFault) {
    let error = read_narrowed::<ReviewRoute>(answer.as_bytes()).unwrap_err();
    assert_eq!((error.fault(), error.path()), (fault, "$"), "{error}");
}

#[test]
fn white_space_and_one_fence_are_tolerated() {
    takes(ANSWER);
    takes(&format!(" \r\n\t{ANSWER}\n\n"));
    takes(&format!("```json\n{ANSWER}\n```"));
    takes(&format!("\n```\n{ANSWER}```\n"));
    takes(&format!("```JSON \r\n{ANSWER}\r\n```"));
}

#[test]
fn nothing_else_is_tolerated() {
    refuses(&format!("Here you are:\n{ANSWER}"), AnswerFault::Syntax);
    refuses(
        &format!("```json\n{ANSWER}\n```\nDone."),
        AnswerFault::CutOff,
    );
    refuses(&format!("```json\n{ANSWER}"), AnswerFault::CutOff);
    refuses(&format!("```yaml\n{ANSWER}\n```"), AnswerFault::Syntax);
    refuses(
        &format!("``````json\n{ANSWER}\n``````"),
        AnswerFault::Syntax,
    );
    refuses(&format!("{ANSWER}{ANSWER}"), AnswerFault::Syntax);
    refuses("```json", AnswerFault::CutOff);
    refuses("```", AnswerFault::CutOff);
    refuses("``", AnswerFault::Syntax);
}

#[test]
fn a_null_beside_the_one_route_is_unset() {
    let answer = r#"{"backToReview":null,"reviewRequest":{"content":"x","urgency":"Low"},"boundRequest":null}"#;
    let read = read_within::<SampleRouting>(answer.as_bytes(), RouteSet::ALL).unwrap();
    assert_eq!(read, ReviewRoute::wrap(review()));
}

#[test]
fn every_shape_is_read_as_serde_json_reads_it() {
    let request = TicketRequests {
        requests: vec![
            Ticket {
                goal: "a \"quoted\" \u{1F600} goal\n".to_owned(),
                priority: 255,
                weight: -1.5e3,
                plan: Plan::Both("b".to_owned(), i64::MIN),
                parent: Some(Box::new(Ticket {
                    goal: String::new(),
                    priority: 0,
                    weight: 2.0,
                    plan: Plan::Ask {
                        question: "?".to_owned(),
                    },
                    parent: None,
                })),
            },
            Ticket {
                goal: "c".to_owned(),
                priority: 1,
                weight: 0.0,
                plan: Plan::Steps(vec!["d".to_owned()]),
                parent: None,
            },
            Ticket {
                goal: "e".to_owned(),
                priority: 1,
                weight: 0.0,
                plan: Plan::Nothing,
                parent: None,
            },
        ],
        labels: [("k".to_owned(), "v".to_owned())].into_iter().collect(),
    };
    let narrowed = Narrowed::<TicketsRoute>::new(request.clone());
    let answer = serde_json::to_vec(&narrowed).unwrap();
    assert_eq!(read_narrowed::<TicketsRoute>(&answer).unwrap(), narrowed);
    assert_eq!(
        read_strictly::<Narrowed<TicketsRoute>>(&answer).unwrap(),
        narrowed
    );
    assert_eq!(
        serde_json::from_slice::<Narrowed<TicketsRoute>>(&answer).unwrap(),
        narrowed
    );
    assert_eq!(narrowed.into_routing(), TicketsRoute::wrap(request));
}

#[test]
fn the_schema_of_a_narrowed_type_is_the_row_of_its_route() {
    use crate::schema::{AnswerSchema, Dialect};
    for dialect in Dialect::ALL {
        let own = AnswerSchema::from_type::<Narrowed<ReviewRoute>>(
            "SampleRouting_reviewRequest",
            dialect,
        );
        assert_eq!(&own, ReviewRoute::schema(dialect));
    }
}
