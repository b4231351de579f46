//! Where an interrupt stands, in words for people. Programs get the names on the wire.

use interrupts::life::State;

/// What it is: fits behind "is", and into a column.
pub(crate) const fn stands(state: State) -> &'static str {
    match state {
        State::Requested => "requested",
        State::Delivered => "delivered",
        State::Acknowledged => "acknowledged",
        State::AwaitingReview => "waiting for a person",
        State::Resolved => "resolved",
        State::Rerouted => "rerouted",
        State::Expired => "expired",
        State::Cancelled => "cancelled",
        State::DeadLettered => "undeliverable",
    }
}

/// The same of a name on the wire; one that is not known here as it is.
pub(crate) fn stands_by_name(name: &str) -> &str {
    match name.parse() {
        Ok(state) => stands(state),
        Err(_unknown) => name,
    }
}
