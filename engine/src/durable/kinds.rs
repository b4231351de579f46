//! The kinds of a workflow's agents and where their interrupts may go, by their names.

use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::{AgentType, UnknownAgentType};
use interrupts::{KindName, NameError, RouteName};

pub use interrupts::catalogue::NamedEvent;

/// The event with names in the place of the orchestrator's types.
pub fn named<K: AgentType>(event: InterruptRequestEvent<K>) -> Result<NamedEvent, NameError> {
    event.renamed(
        |kind| KindName::new(kind.name()),
        |route| RouteName::new(route.name()),
    )
}

/// The event with the orchestrator's types in the place of names.
pub fn typed<K: AgentType>(
    event: NamedEvent,
) -> Result<InterruptRequestEvent<K>, UnknownAgentType> {
    event.renamed(|kind| kind.as_str().parse(), |route| route.as_str().parse())
}

/// The kinds of a workflow's agents, where each one's interrupts go by themselves, and where they may be sent.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    origins: Vec<(&'static str, &'static str)>,
    routes: Vec<&'static str>,
}

impl Kinds {
    /// Those of an enumeration of agents, and of the routes that they belong to.
    pub fn of<K: AgentType>() -> Self {
        let kinds = K::ALL.iter();
        Self {
            origins: kinds
                .map(|kind| (kind.name(), kind.origin_route().name()))
                .collect(),
            routes: K::Route::NAMES.to_vec(),
        }
    }

    /// The default route for the answer to an interrupt of this kind; the route of its own name if the kind belongs to
    /// none.
    pub fn origin_of<'a>(&self, kind: &'a str) -> &'a str {
        let known = self.origins.iter().find(|(known, _origin)| *known == kind);
        known.map_or(kind, |(_known, origin)| origin)
    }

    /// All routes, in the order of their declaration.
    pub fn routes(&self) -> Result<Vec<RouteName>, NameError> {
        self.routes
            .iter()
            .map(|name| RouteName::new(*name))
            .collect()
    }

    /// Where an event's answer shall go.
    pub fn target_of(&self, event: &NamedEvent) -> Result<RouteName, NameError> {
        match &event.reroute_to_agent_type {
            Some(route) => Ok(route.clone()),
            None => RouteName::new(self.origin_of(event.source_agent_type.as_str())),
        }
    }
}
