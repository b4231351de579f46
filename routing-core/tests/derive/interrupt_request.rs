//! Sealed interrupt requests: kinds, payloads, JSON, conversions.

use std::any::TypeId;

use interrupt_router::{AgentType, InterruptDetails, InterruptType, SealedInterrupt};
use serde_json::json;

use super::workflow::{
    AgentKind, Boxed, RouteType, Ticket, TicketInterrupt, WorkflowInterrupt, details,
};

fn ticket() -> TicketInterrupt {
    TicketInterrupt {
        reason: "unclear".to_owned(),
        ticket: Ticket {
            title: "parser".to_owned(),
        },
    }
}

#[test]
fn the_variant_says_who_raised_it_and_where_the_answer_goes() {
    let raised = WorkflowInterrupt::from(ticket());
    assert_eq!(raised.kind(), AgentKind::TicketAgent);
    assert_eq!(raised.kind().origin_route(), RouteType::TicketDispatch);
    let review = WorkflowInterrupt::ReviewAgent(details(InterruptType::Stop, "enough"));
    assert_eq!(review.kind(), AgentKind::ReviewAgent);
}

#[test]
fn the_shared_part_and_the_own_fields_are_both_there() {
    let raised = WorkflowInterrupt::TicketAgent(ticket());
    assert_eq!(raised.details(), details(InterruptType::Pause, "unclear"));
    assert_eq!(
        raised.payload().unwrap(),
        json!({ "reason": "unclear", "ticket": { "title": "parser" } })
    );
}

#[test]
fn json_names_the_kind_and_is_read_back_in_any_order() {
    let raised = WorkflowInterrupt::TicketAgent(ticket());
    let text = serde_json::to_string(&raised).unwrap();
    assert_eq!(
        text,
        r#"{"kind":"TICKET_AGENT","request":{"reason":"unclear","ticket":{"title":"parser"}}}"#
    );
    assert_eq!(
        serde_json::from_str::<WorkflowInterrupt>(&text).unwrap(),
        raised
    );
    let turned =
        r#"{"request":{"reason":"unclear","ticket":{"title":"parser"}},"kind":"TICKET_AGENT"}"#;
    assert_eq!(
        serde_json::from_str::<WorkflowInterrupt>(turned).unwrap(),
        raised
    );
}

#[test]
fn every_variant_is_read_back_as_itself() {
    let details = details(InterruptType::HumanReview, "which way");
    for raised in [
        WorkflowInterrupt::Orchestrator(details.clone()),
        WorkflowInterrupt::ReviewAgent(details.clone()),
        WorkflowInterrupt::TicketDispatch(Boxed {
            details: details.clone(),
        }),
    ] {
        let text = serde_json::to_string(&raised).unwrap();
        assert_eq!(
            serde_json::from_str::<WorkflowInterrupt>(&text).unwrap(),
            raised
        );
    }
}

#[test]
fn what_is_wrong_with_an_interrupt_is_told() {
    for (json, expected) in [
        (r#"{"kind":"TICKET_AGENT"}"#, "missing field `request`"),
        (r#"{"request":{}}"#, "missing field `kind`"),
        (
            r#"{"kind":"NOBODY","request":{}}"#,
            "unknown agent type `NOBODY`",
        ),
        (
            r#"{"kind":"TICKET_AGENT","request":{}}"#,
            "missing field `reason`",
        ),
        (
            r#"{"kind":"TICKET_AGENT","kind":"TICKET_AGENT"}"#,
            "duplicate field `kind`",
        ),
        (
            r#"{"request":{},"request":{}}"#,
            "duplicate field `request`",
        ),
        (r#"{"colour":"red"}"#, "unknown field `colour`"),
    ] {
        let error = serde_json::from_str::<WorkflowInterrupt>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{json} gave: {error}");
    }
}

#[test]
fn payload_types_of_one_variant_are_converted_and_shared_ones_are_not() {
    let payloads = WorkflowInterrupt::__payloads();
    let types: Vec<_> = payloads.iter().map(|(id, name, _)| (*id, *name)).collect();
    assert_eq!(
        types,
        [
            (TypeId::of::<TicketInterrupt>(), "TicketInterrupt"),
            (TypeId::of::<Boxed>(), "Boxed"),
        ]
    );
    let (_, _, convert) = payloads[0];
    assert_eq!(
        convert(Box::new(ticket())),
        Some(WorkflowInterrupt::TicketAgent(ticket()))
    );
    let other: InterruptDetails = details(InterruptType::Stop, "enough");
    assert_eq!(convert(Box::new(other)), None);
}
