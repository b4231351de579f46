//! The catalogues of the built-in workflows, as the store keeps them.

use std::sync::LazyLock;

use interrupt_router::{AgentType as _, InterruptType};
use interrupts::catalogue::{
    Catalogue, CatalogueDraft, CatalogueError, KindEntry, SharedCatalogue,
};
use interrupts::{KindName, NameError, RouteName, WorkflowName};

use super::{RecordKind, records};
use crate::agent_kind::AgentKind;
use crate::records::InterruptRouting;
use journal::Workflow;
use planning::{PLAN_EXECUTE, PlanRole};

/// Why a workflow has no catalogue. It is a mistake in the workflow, and a test finds it.
#[derive(Debug, thiserror::Error)]
enum Unmade {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

static CATALOGUES: LazyLock<[Option<SharedCatalogue>; 2]> = LazyLock::new(|| {
    [agents(), plan_execute()].map(|made| match made {
        Ok(catalogue) => Some(SharedCatalogue::new(catalogue)),
        Err(error) => {
            tracing::error!(%error, "a workflow has no catalogue");
            None
        }
    })
});

/// The catalogue of a built-in workflow. It is made once, and always there.
pub fn of_workflow(workflow: &Workflow) -> Option<SharedCatalogue> {
    let [agents, plans] = &*CATALOGUES;
    match workflow {
        Workflow::Agents => agents.clone(),
        Workflow::PlanExecute => plans.clone(),
        Workflow::Embedded(_) => None,
    }
}

/// The catalogues of the built-in workflows: first the one for runs that do not name their workflow.
pub fn built_in() -> Vec<SharedCatalogue> {
    let all = [Workflow::Agents, Workflow::PlanExecute];
    all.iter().filter_map(of_workflow).collect()
}

/// The field of each agent's record with which it raises an interrupt.
const ASKS: &str = "interruptRequest";

fn agents() -> Result<Catalogue, Unmade> {
    let name = WorkflowName::new(Workflow::Agents.name())?;
    let mut draft = CatalogueDraft::of::<AgentKind, InterruptRouting>(name)?;
    for record in records() {
        if let (RecordKind::AgentAnswer(kind), Some(plain)) = (record.kind, record.plain) {
            draft = draft.asking(kind.name(), ASKS, plain(ASKS));
        }
    }
    Ok(draft.check()?)
}

/// The agents of a plan have no routes: the answer goes back to the agent that asked.
fn plan_execute() -> Result<Catalogue, Unmade> {
    let names = [PLAN_EXECUTE]
        .into_iter()
        .chain(PlanRole::ALL.map(PlanRole::name));
    let kind = |name: &str| -> Result<KindEntry, NameError> {
        Ok(KindEntry {
            name: KindName::new(name)?,
            origin: RouteName::new(name)?,
            asks: vec![InterruptType::HumanReview],
            request: None,
        })
    };
    let draft = CatalogueDraft {
        name: WorkflowName::new(Workflow::PlanExecute.name())?,
        record: String::new(),
        kinds: names.map(kind).collect::<Result<_, _>>()?,
        routes: Vec::new(),
    };
    Ok(draft.check()?)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::agent_kind::RouteType;

    #[test]
    fn each_workflow_has_a_catalogue_with_its_kinds_and_routes() {
        let agents = agents().unwrap();
        let kinds: Vec<_> = agents.kinds().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(kinds, AgentKind::NAMES);
        let routes: Vec<_> = RouteType::NAMES.to_vec();
        for kind in AgentKind::ALL {
            let entry = agents.kind(kind.name()).unwrap();
            assert_eq!(entry.origin.as_str(), kind.origin_route().name());
            let asks = entry.request.as_ref().unwrap();
            let lacks = interrupts::catalogue::misfits(asks, &serde_json::json!({}));
            let lacks: Vec<_> = lacks.iter().map(|it| &*it.reason).collect();
            let reason = "\"reason\" is a required property".to_owned();
            assert!(lacks.contains(&&*reason), "{kind}: {lacks:?}");
            let mut ways: Vec<_> = agents.ways(entry).1;
            assert_eq!(ways.len(), routes.len());
            ways.retain(|way| !routes.contains(&way.as_str()));
            assert_eq!(ways, []);
        }
        let plans = plan_execute().unwrap();
        assert_eq!(plans.kinds()[0].name.as_str(), PLAN_EXECUTE);
        assert!(plans.routes().is_empty());
    }

    #[test]
    fn what_a_catalogue_shows_of_a_route_is_what_a_model_gets() {
        let agents = of_workflow(&Workflow::Agents).unwrap();
        for route in agents.routes() {
            for dialect in interrupt_router::schema::Dialect::ALL {
                let query = crate::catalogue::SchemaQuery {
                    reroute_to: Some(route.name.as_str().parse().unwrap()),
                    ..crate::catalogue::SchemaQuery::new(dialect)
                };
                let shown = crate::catalogue::schema("InterruptRouting", &query).unwrap();
                assert_eq!(
                    *shown,
                    route.schema_in(agents.record(), dialect),
                    "{}",
                    route.name
                );
            }
        }
    }
}
