//! What does not fit of a decision, by the names of the REST interface.

use interrupts::life::Interrupt;
use interrupts::{Misfit, RouteName};
use serde_json::{Value, json};

use super::{Code, Refusal, verdict_refused};
use crate::decision::InvalidDecision;

/// The decision does not say which version it is about.
pub(crate) fn version_needed(interrupt: &Interrupt) -> Refusal {
    Refusal::new(
        Code::PreconditionRequired,
        "the decision does not say which version of the interrupt it is about",
        format!(
            "read the interrupt, then send its ETag: `If-Match: \"{}\"` at this moment; `*` is enough for `reject` alone",
            interrupt.version
        ),
    )
    .with("current_version", interrupt.version)
}

/// Why a decision does not fit its interrupt.
pub(crate) fn not_decided(error: &InvalidDecision) -> Refusal {
    match error {
        InvalidDecision::NotAllowed { verdict, allowed } => verdict_refused(*verdict, allowed),
        InvalidDecision::OwnQuestion => Refusal::new(
            Code::Forbidden,
            error.to_string(),
            "let another person decide",
        ),
        InvalidDecision::NoTarget { routes }
        | InvalidDecision::NoReroute { routes }
        | InvalidDecision::UnknownTarget { routes, .. }
        | InvalidDecision::TwoTargets { routes, .. } => {
            let routes: Vec<&str> = routes.iter().map(RouteName::as_str).collect();
            let hint = format!(
                "it can go to: {}; a target comes with the decision `reroute`, and no other",
                routes.join(", ")
            );
            Refusal::new(Code::RouteNotAllowed, error.to_string(), hint).with("routes", routes)
        }
        InvalidDecision::Request { misfits } => invalid_request(error.pointer(), misfits),
        InvalidDecision::Unsaid(_) => {
            let errors = vec![json!({"pointer": error.pointer(), "message": error.to_string()})];
            Refusal::new(
                Code::ResponseSchema,
                error.to_string(),
                "a person says it: put it into `selectedChoices`, `confirmations` or `message`; what the agent proposed counts for nothing",
            )
            .with("errors", errors)
        }
        InvalidDecision::Unreadable { .. }
        | InvalidDecision::SaidTwice { .. }
        | InvalidDecision::NothingSaid
        | InvalidDecision::NoChange
        | InvalidDecision::ChosenTwice { .. }
        | InvalidDecision::NotOffered { .. }
        | InvalidDecision::UnknownItem { .. }
        | InvalidDecision::NoRequest
        | InvalidDecision::NoEdit => misfit(error.pointer(), &error.to_string()),
    }
}

/// An edited request that does not fit.
fn invalid_request(pointer: &str, misfits: &[Misfit]) -> Refusal {
    let told = |misfit: &Misfit| {
        json!({
            "pointer": format!("{pointer}{}", misfit.pointer),
            "message": misfit.reason,
        })
    };
    invalid_answer(
        "the edited request does not fit the schema of its target",
        misfits.iter().map(told).collect(),
    )
}

/// A part of an answer that does not fit.
pub(crate) fn misfit(pointer: &str, message: &str) -> Refusal {
    let errors = vec![json!({"pointer": pointer, "message": message})];
    invalid_answer(format!("{pointer}: {message}"), errors)
}

fn invalid_answer(detail: impl Into<String>, errors: Vec<Value>) -> Refusal {
    Refusal::new(
        Code::ResponseSchema,
        detail,
        "`response_schema` of the interrupt says what fits",
    )
    .with("errors", errors)
}
