//! The state of an interrupt, in words for people. Programs get the names on the wire.

use interrupts::life::State;

/// The state in words: fits behind "is", and into a column.
pub(crate) const fn state_words(state: State) -> &'static str {
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

/// The same for a name on the wire; an unknown one is returned as it is.
pub(crate) fn stands_by_name(name: &str) -> &str {
    match name.parse() {
        Ok(state) => state_words(state),
        Err(_unknown) => name,
    }
}
