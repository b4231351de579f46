//! The agents of the workflows, as the interrupts that stop them name them.

use std::collections::BTreeMap;

use agents::plan_execute::{PLAN_EXECUTE, PlanRole, plan_kind};
use agents::{AgentKind, RouteType};
use interrupts::manager::{Facing, Facings};
use interrupts::{KindName, NameError, RouteName};
use routing_core::{AgentType, NodeId, RunId};

/// Knows the kinds of agents and where their answers may go.
pub(super) struct AgentFacings {
    by_kind: Vec<(AgentKind, Facing)>,
    first: Facing,
    /// The nodes of a plan: their answers go back to whoever asks.
    of_plans: BTreeMap<&'static str, Facing>,
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
            of_plans: of_plans()?,
        })
    }
}

fn of_plans() -> Result<BTreeMap<&'static str, Facing>, NameError> {
    let roles = PlanRole::ALL.into_iter().map(PlanRole::name);
    roles
        .chain([PLAN_EXECUTE])
        .map(|name| {
            let route = RouteName::new(name)?;
            let facing = Facing {
                kind: KindName::new(name)?,
                origin: route.clone(),
                routes: vec![route],
            };
            Ok((name, facing))
        })
        .collect()
}

impl Facings for AgentFacings {
    fn facing(&self, _run: RunId, node: &NodeId, kind: Option<&KindName>) -> Facing {
        let plans = kind.map_or_else(
            || (*node == NodeId::root()).then_some(PLAN_EXECUTE),
            |kind| plan_kind(kind.as_str()),
        );
        if let Some(facing) = plans.and_then(|name| self.of_plans.get(name)) {
            return facing.clone();
        }
        let named = kind.and_then(|kind| kind.as_str().parse::<AgentKind>().ok());
        self.by_kind
            .iter()
            .find(|(kind, _facing)| Some(*kind) == named)
            .map_or_else(|| self.first.clone(), |(_kind, facing)| facing.clone())
    }
}
