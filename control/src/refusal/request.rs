//! What cannot be requested.

use interrupts::catalogue::EventError;
use interrupts::life::AdmissionError;
use interrupts::store::AdmitError;
use jiff::Timestamp;
use serde_json::json;

use super::interrupt::of_life;
use super::message::not_read;
use super::{Code, NotDone, Refusal};
use crate::request::InvalidRequest;

/// Why something cannot be asked.
pub fn not_asked(error: InvalidRequest) -> Refusal {
    let (code, hint) = match &error {
        InvalidRequest::Question(_) => (
            Code::Shape,
            "publish it as an event, `dev.irq.interrupt.request_event.v1`: `POST /v1/interrupt-requests`",
        ),
        InvalidRequest::PruneOfRun => (
            Code::Shape,
            "name one of its agents, as `irq ps` lists them, or end the whole run with the type STOP",
        ),
        InvalidRequest::Fork { .. } => (Code::NotInState, "begin another run with the same input"),
        InvalidRequest::EmptyInput => (Code::Shape, "leave it out to say nothing"),
        InvalidRequest::CatalogueOfFork => (
            Code::Shape,
            "fork the run first, then resume the fork with `accept_catalogue`",
        ),
        InvalidRequest::DropsWithoutFork => (
            Code::Shape,
            "leave it out: a run that goes on carries all of it out",
        ),
        InvalidRequest::Event(error) => return misnamed(error),
        InvalidRequest::EventId(_) => (Code::Shape, "shorten it"),
        InvalidRequest::Json(_) => (Code::Internal, "report this"),
    };
    Refusal::new(code, error.to_string(), hint)
}

fn misnamed(error: &EventError) -> Refusal {
    let said = error.to_string();
    let (place, reason) = said.split_once(": ").unwrap_or(("", &said));
    let pointer = place.replacen("$.", "/", 1);
    let errors = json!([{"pointer": pointer, "message": reason}]);
    let hint = match error {
        EventError::NoRoutes { .. } => {
            "send it a message, which its next replan reads, or interrupt the run"
        }
        EventError::OtherKind { .. } => "name the agent's own type",
        EventError::Form(_) | EventError::Unknown { .. } | _ => {
            "name a type of the catalogue of the agent's run; `can_route_to` of the agent lists the routes"
        }
    };
    Refusal::new(Code::Shape, said, hint).with("errors", errors)
}

/// Why an interrupt was not admitted.
pub fn not_admitted(error: AdmitError, now: Timestamp) -> NotDone {
    let said = error.to_string();
    let refusal = match error {
        AdmitError::Store(error) => return NotDone::Store(error),
        AdmitError::NotRaised(refusal) => of_life(None, &refusal, now),
        AdmitError::OtherContent { interrupt, .. } | AdmitError::IdTaken { interrupt } => {
            let hint = "give a new id or key, or the same content again";
            Refusal::new(Code::IdempotencyConflict, said, hint)
                .with("interrupt_id", interrupt.to_string())
        }
        AdmitError::UnknownRun { .. } => {
            Refusal::new(Code::RunNotFound, said, "`irq ps --all` lists the runs")
        }
        AdmitError::Refused(AdmissionError::RunEnded { .. }) => {
            Refusal::new(Code::RunFinished, said, "`irq ps` lists the live runs")
        }
        AdmitError::NodeEnded { .. } => {
            let hint = "`irq ps` lists the agents that are not";
            Refusal::new(Code::RunFinished, said, hint)
        }
        AdmitError::MessagesWait(waiting) => not_read(&waiting),
        AdmitError::Refused(AdmissionError::RouteUnknown { route }) => Refusal::new(
            Code::RouteNotAllowed,
            format!("`{route}` is not where it can go"),
            "`irq routes` and `can_route_to` of the agent list the routes",
        ),
        _ => Refusal::new(
            Code::Shape,
            said,
            "`/openapi.json` and `--help` describe what is taken",
        ),
    };
    refusal.into()
}
