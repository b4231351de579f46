//! Reads a supervisor's event when agents are known only by their names.

use interrupt_router::answer::AnswerError;
use interrupt_router::event::RequestEvent;

use super::{Catalogue, KindEntry};
use crate::names::{KindName, RouteName};

/// An event that names agents as text.
pub type NamedEvent = RequestEvent<KindName, RouteName>;

/// Why an event is invalid, or not for its agent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// It is not of the form of an event.
    #[error(transparent)]
    Form(#[from] AnswerError),
    /// It names a kind or a route that the catalogue of the agent's run does not have.
    #[error("{path}: unknown agent type `{given}`; known are: {}", known.join(", "))]
    Unknown {
        /// Where, in the form `$.a.b`.
        path: &'static str,
        /// What is named.
        given: String,
        /// What could have been named.
        known: Vec<String>,
    },
    /// The agent is of another kind.
    #[error("$.sourceAgentType: the agent is a {is}, and no {given}")]
    OtherKind {
        /// Its kind.
        is: KindName,
        /// What the event calls it.
        given: KindName,
    },
    /// The agent's answers can only go back to the agent that asked.
    #[error("$.nodeId: the agent is a {kind}, which has no routes to choose from")]
    NoRoutes {
        /// Its kind.
        kind: KindName,
    },
}

/// Reads an event, strictly. [`Catalogue::check_event`] checks whether its names are known: which catalogue applies
/// depends on which agent is meant.
///
/// # Errors
///
/// [`AnswerError`] names the field and what is wrong with it.
pub fn read_event(json: &[u8]) -> Result<NamedEvent, AnswerError> {
    NamedEvent::from_json(json)
}

impl Catalogue {
    /// Where the answer goes to the interrupt that an event requests from an agent of a kind.
    ///
    /// # Errors
    ///
    /// [`EventError`] if the event names what the catalogue does not have, or is for an agent of another kind.
    pub fn check_event(
        &self,
        event: &NamedEvent,
        kind: &KindName,
    ) -> Result<RouteName, EventError> {
        let named = &event.source_agent_type;
        let names = |kinds: &[KindEntry]| kinds.iter().map(|it| it.name.to_string()).collect();
        let Some(entry) = self.kind(named.as_str()) else {
            return Err(EventError::Unknown {
                path: "$.sourceAgentType",
                given: named.to_string(),
                known: names(&self.kinds),
            });
        };
        if let Some(target) = &event.reroute_to_agent_type
            && !self.routes.is_empty()
            && self.route(target.as_str()).is_none()
        {
            return Err(EventError::Unknown {
                path: "$.rerouteToAgentType",
                given: target.to_string(),
                known: self.routes.iter().map(|it| it.name.to_string()).collect(),
            });
        }
        if named != kind {
            return Err(EventError::OtherKind {
                is: kind.clone(),
                given: named.clone(),
            });
        }
        if self.route(entry.origin.as_str()).is_none() {
            return Err(EventError::NoRoutes { kind: kind.clone() });
        }
        let target = event.reroute_to_agent_type.as_ref();
        Ok(target.unwrap_or(&entry.origin).clone())
    }
}
