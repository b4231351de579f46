//! The wire forms: counterparts of what the store keeps, converted by hand.

mod agent;
mod checkpoint;
mod history;
mod interrupt;
mod label;
mod message;
mod named;
mod names;
mod orders;
mod plan;
mod response_schema;
mod rule;
mod run;
mod signals;
mod work;

pub(crate) use agent::{ACTIVITIES, AgentPage, AgentView, TreeNode, tree_of};
pub(crate) use checkpoint::{CheckpointPage, CheckpointView};
pub(crate) use history::{HistoryPage, HistoryRow};
pub(crate) use interrupt::{
    AskingView, DecisionView, InterruptPage, InterruptView, KINDS, kind_of,
};
pub(crate) use label::label;
pub(crate) use message::{MessagePage, MessageStateName, MessageView};
pub(crate) use named::{DecisionName, TypeName};
pub(crate) use names::{
    ActivityName, AnswerFormName, DialectName, InboxName, InterruptKindName, InterruptStateName,
    RoleName, RunStateName, SourceName,
};
pub(crate) use orders::{CancelBody, InterruptBody, ResumeBody};
pub(crate) use plan::{ChangedPlanView, PlanView};
pub(crate) use rule::{ReachName, RememberBody, RulePage, RuleView};
pub(crate) use run::{RunPage, RunView};
pub(crate) use signals::{ReadingView, SignalsView};
pub(crate) use work::{
    AgentsView, CheckpointStateView, EffectView, LeaseView, RegisteredView, SchemaView,
    WorkQuestionView, WorkView, WorkflowView,
};
