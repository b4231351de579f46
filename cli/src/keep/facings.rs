//! The agents of the reference workflow, as the interrupts that stop them name them.

use agents::{AgentKind, RouteType};
use interrupts::manager::{Facing, Facings};
use interrupts::{KindName, NameError, RouteName};
use routing_core::{AgentType, NodeId, RunId};

/// Knows the kinds of agents and where their answers may go.
pub(super) struct AgentFacings {
    by_kind: Vec<(AgentKind, Facing)>,
    first: Facing,
}

impl AgentFacings {
    /// All kinds.
    ///
    /// # Errors
    ///
    /// [`NameError`] where a name of the workflow is none of the store's.
    pub(super) fn new() -> Result<Self, NameError> {
        let routes: Vec<RouteName> = RouteType::NAMES
            .iter()
            .map(|name| RouteName::new(*name))
            .collect::<Result<_, _>>()?;
        let facing = |kind: AgentKind| -> Result<Facing, NameError> {
            Ok(Facing {
                kind: KindName::new(kind.name())?,
                origin: RouteName::new(kind.origin_route().name())?,
                routes: routes.clone(),
            })
        };
        let by_kind = AgentKind::ALL
            .iter()
            .map(|kind| Ok((*kind, facing(*kind)?)))
            .collect::<Result<_, NameError>>()?;
        Ok(Self {
            by_kind,
            first: facing(AgentKind::Orchestrator)?,
        })
    }
}

impl Facings for AgentFacings {
    fn facing(&self, _run: RunId, _node: &NodeId, kind: Option<&KindName>) -> Facing {
        let named = kind.and_then(|kind| kind.as_str().parse::<AgentKind>().ok());
        self.by_kind
            .iter()
            .find(|(kind, _facing)| Some(*kind) == named)
            .map_or_else(|| self.first.clone(), |(_kind, facing)| facing.clone())
    }
}
