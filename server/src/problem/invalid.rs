//! From a decision that does not fit its interrupt to the problem for the caller.

use control::{InvalidDecision, verdict_refused};
use interrupts::{Misfit, RouteName};
use serde_json::{Value, json};

use super::{Code, Problem};

/// The problem for an invalid decision.
pub(crate) fn of_invalid(error: &InvalidDecision) -> Problem {
    match error {
        InvalidDecision::NotAllowed { verdict, allowed } => {
            verdict_refused(*verdict, allowed).into()
        }
        InvalidDecision::OwnQuestion => Problem::new(
            Code::Forbidden,
            error.to_string(),
            "let another person decide",
        ),
        InvalidDecision::NoTarget { routes }
        | InvalidDecision::NoReroute { routes }
        | InvalidDecision::UnknownTarget { routes, .. }
        | InvalidDecision::TwoTargets { routes, .. } => {
            let routes = routes.iter().map(RouteName::as_str).map(Value::from);
            Problem::new(
                Code::RouteNotAllowed,
                error.to_string(),
                "name one of the routes in `reroute_to`, with the decision `reroute`",
            )
            .with("routes", routes.collect::<Vec<_>>())
        }
        InvalidDecision::Request { misfits } => invalid_request(error.pointer(), misfits),
        InvalidDecision::Unsaid(_) => {
            let errors = vec![json!({"pointer": error.pointer(), "message": error.to_string()})];
            Problem::new(
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
        | InvalidDecision::NoEdit
        | _ => misfit(error.pointer(), &error.to_string()),
    }
}

/// The problem for an edited request that does not fit.
fn invalid_request(pointer: &str, misfits: &[Misfit]) -> Problem {
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

/// The problem for a part of an answer that does not fit.
pub(crate) fn misfit(pointer: &str, message: &str) -> Problem {
    let errors = vec![json!({"pointer": pointer, "message": message})];
    invalid_answer(format!("{pointer}: {message}"), errors)
}

fn invalid_answer(detail: impl Into<String>, errors: Vec<Value>) -> Problem {
    Problem::new(
        Code::ResponseSchema,
        detail,
        "`response_schema` of the interrupt says what fits",
    )
    .with("errors", errors)
}
