//! What workers read.

use interrupt_router::schema::AnswerSchema;
use interrupts::OwnerName;
use interrupts::catalogue::Catalogue;
use interrupts::store::{CatalogueRow, NodeRow};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use workers::{Decided, EffectState, Protocol, QuestionStatus, Route, Work, WorkerCheckpoint};

use super::named::DecisionName;
use super::names::{
    ActivityName, DecidedAsName, DialectName, EffectStateName, QuestionStateName, RunStateName,
};

/// A version of a workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RegisteredView {
    /// The workflow.
    name: String,
    /// Counts its versions, from 1.
    version: u64,
    /// The digest of all that it says.
    digest: String,
}

impl RegisteredView {
    pub(crate) fn of(row: &CatalogueRow) -> Self {
        Self {
            name: row.name.to_string(),
            version: row.version,
            digest: row.digest.to_string(),
        }
    }
}

/// A kind of agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowKindView {
    /// Its name.
    name: String,
    /// The route that its answers take unless they are sent elsewhere.
    origin: String,
    /// The schema of the fields of its questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Value>,
}

/// A place where answers may go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowRouteView {
    /// Its name.
    name: String,
    /// The property in which a model gives the request.
    field: String,
    /// The name of the request.
    request: String,
    /// What a model reads about it.
    description: String,
    /// The schema of the request.
    schema: Value,
}

/// The newest version of a workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkflowView {
    /// The workflow.
    name: String,
    /// Counts its versions, from 1.
    version: u64,
    /// The digest of all that it says.
    digest: String,
    /// Its kinds of agents.
    kinds: Vec<WorkflowKindView>,
    /// Where answers may go.
    routes: Vec<WorkflowRouteView>,
}

impl WorkflowView {
    pub(crate) fn of(catalogue: &Catalogue, version: u64) -> Self {
        let kinds = catalogue.kinds().iter().map(|kind| WorkflowKindView {
            name: kind.name.to_string(),
            origin: kind.origin.to_string(),
            fields: kind.request.clone(),
        });
        let routes = catalogue.routes().iter().map(|route| WorkflowRouteView {
            name: route.name.to_string(),
            field: route.field.clone(),
            request: route.request.clone(),
            description: route.description.clone(),
            schema: route.request_schema(),
        });
        Self {
            name: catalogue.name().to_string(),
            version,
            digest: catalogue.digest().to_string(),
            kinds: kinds.collect(),
            routes: routes.collect(),
        }
    }
}

/// A run as its worker sees it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkView {
    /// Its id.
    run_id: String,
    /// The worker's own name for it.
    thread_id: Option<String>,
    /// Its workflow.
    workflow: String,
    /// The digest of the version of the workflow that it goes on under, once it has begun.
    digest: Option<String>,
    /// Where it stands.
    #[schema(value_type = RunStateName)]
    state: String,
    /// Why it stands there.
    reason: Option<String>,
    /// What it works on.
    input: Value,
    /// Counts its owners: name it in every request that writes.
    epoch: u64,
    /// The worker that has it.
    worker: Option<String>,
    /// How long that worker has it unless it renews its lease.
    lease_until: Option<String>,
    /// The number of its last checkpoint; 0 before the first.
    checkpoint: u64,
    /// What came of it, once it is completed.
    result: Option<Value>,
}

impl WorkView {
    pub(crate) fn of(protocol: &Protocol<'_>, work: Work) -> Self {
        let Work { run, input, result } = work;
        let lease = run.lease.as_ref();
        let worker = |owner: &OwnerName| {
            let worker = protocol.worker_of(owner);
            worker.unwrap_or(owner.as_str()).to_owned()
        };
        Self {
            run_id: run.id.to_string(),
            thread_id: run.alias,
            workflow: protocol.workflow.to_string(),
            digest: run.catalogue.map(|digest| digest.to_string()),
            state: run.state.name().to_owned(),
            reason: run.reason,
            input,
            epoch: run.epoch,
            worker: lease.map(|lease| worker(&lease.owner)),
            lease_until: lease.map(|lease| lease.until.to_string()),
            checkpoint: run.checkpoint,
            result,
        }
    }
}

/// How an agent stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentStandingView {
    /// Its id.
    agent_id: String,
    /// What it does.
    #[schema(value_type = ActivityName)]
    status: String,
}

/// How the agents stand that were told of.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentsView {
    /// The agents, in the order in which they were named.
    agents: Vec<AgentStandingView>,
}

impl AgentsView {
    pub(crate) fn of(rows: &[NodeRow]) -> Self {
        let agents = rows.iter().map(|row| AgentStandingView {
            agent_id: row.node.to_string(),
            status: row.activity.name().to_owned(),
        });
        Self {
            agents: agents.collect(),
        }
    }
}

/// A lease that holds for longer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeaseView {
    /// How long it holds now.
    pub(crate) lease_until: Option<String>,
    /// Whether the run was told to stop.
    pub(crate) stopping: bool,
}

/// A decision as a worker reads it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkDecisionView {
    /// Its id.
    id: String,
    /// What was decided.
    #[schema(value_type = DecisionName)]
    decision: String,
    /// What was said.
    text: Option<String>,
    /// The values that were chosen.
    choices: Vec<String>,
    /// What was confirmed, by the ids of the items.
    confirmations: BTreeMap<String, bool>,
    /// Who decided: a person's name, `a standing rule of` its maker, `policy` or `deadline`.
    by: String,
    /// When.
    at: String,
}

impl WorkDecisionView {
    fn of(decided: &Decided) -> Self {
        Self {
            id: decided.id.to_string(),
            decision: decided.verdict.name().to_owned(),
            text: decided.answer.text.clone(),
            choices: decided.answer.selected_choices.clone(),
            confirmations: decided.answer.confirmations.clone(),
            by: decided.by.clone(),
            at: decided.at.to_string(),
        }
    }
}

/// The one route that an answer takes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TakenRouteView {
    /// Its name.
    name: String,
    /// The property in which a model gives the request.
    field: String,
    /// Whether it is another one than that of the kind.
    rerouted: bool,
}

impl TakenRouteView {
    fn of(route: &Route) -> Self {
        Self {
            name: route.entry.name.to_string(),
            field: route.entry.field.clone(),
            rerouted: route.rerouted,
        }
    }
}

/// A question of a worker.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkQuestionView {
    /// Its key.
    key: String,
    /// Its interrupt, as people decide it.
    interrupt_id: String,
    /// The agent that asks.
    agent_id: String,
    /// The kind of that agent.
    kind: String,
    /// Whether it is still open.
    #[schema(value_type = QuestionStateName)]
    state: String,
    /// Why it was asked, in the words of the first time.
    reason: String,
    /// What became of it, once it is over. After `declined`, `expired` and `withdrawn` there is neither route nor request.
    #[schema(value_type = Option<DecidedAsName>)]
    decided_as: Option<&'static str>,
    /// What was decided.
    decision: Option<WorkDecisionView>,
    /// Where the answer goes; absent where it takes no route, and where the kind has none.
    route: Option<TakenRouteView>,
    /// The request of that route, once it is filled in.
    request: Option<Value>,
    /// How many more answers of a model are read after one that does not fit.
    corrections_left: u32,
    /// The key of the question that asks a person for the request, where the model's answers are spent.
    asked: Option<String>,
}

impl WorkQuestionView {
    pub(crate) fn of(status: &QuestionStatus) -> Self {
        Self {
            key: status.key.to_string(),
            interrupt_id: status.interrupt.id.to_string(),
            agent_id: status.interrupt.node.to_string(),
            kind: status.interrupt.kind.to_string(),
            state: status.state.name().to_owned(),
            reason: status.interrupt.reason.clone(),
            decided_as: status.decided_as(),
            decision: status.decided.as_ref().map(WorkDecisionView::of),
            route: status.route.as_ref().map(TakenRouteView::of),
            request: status.request.clone(),
            corrections_left: status.corrections_left(),
            asked: status.asked.as_ref().map(|it| it.key.to_string()),
        }
    }
}

/// The schema to hand to a model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SchemaView {
    /// A name that providers take.
    name: String,
    /// The dialect that it is written in.
    #[schema(value_type = DialectName)]
    dialect: String,
    /// The one property that it has.
    field: String,
    /// The schema.
    schema: Value,
}

impl SchemaView {
    pub(crate) fn of(route: &Route, schema: &AnswerSchema) -> Self {
        Self {
            name: schema.name().to_owned(),
            dialect: schema.dialect().name().to_owned(),
            field: route.entry.field.clone(),
            schema: schema.value().clone(),
        }
    }
}

/// How an effect stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EffectView {
    /// `begun`: do it; `finished`: it is done; `unknown`: it was begun before, and may have happened.
    #[schema(value_type = EffectStateName)]
    state: &'static str,
    /// What it came to.
    result: Value,
}

impl From<EffectState> for EffectView {
    fn from(state: EffectState) -> Self {
        match state {
            EffectState::Begun => Self {
                state: "begun",
                result: json!(null),
            },
            EffectState::Unknown => Self {
                state: "unknown",
                result: json!(null),
            },
            EffectState::Finished(result) => Self {
                state: "finished",
                result,
            },
        }
    }
}

/// A checkpoint with its worker's state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckpointStateView {
    /// Its number in the run.
    number: u64,
    /// When it was saved.
    at: String,
    /// Why.
    reason: String,
    /// The worker's state.
    state: Value,
}

impl From<WorkerCheckpoint> for CheckpointStateView {
    fn from(checkpoint: WorkerCheckpoint) -> Self {
        Self {
            number: checkpoint.number,
            at: checkpoint.at.to_string(),
            reason: checkpoint.reason,
            state: checkpoint.state,
        }
    }
}
