//! Plan and execute: a workflow that makes a plan, carries it out step by step, and changes it on the way.
//!
//! [`PlanExecute`] is the whole of it as a synchronous value: a [`PlanEvent`] and a time go in, the next state
//! and its [`PlanEffect`]s come out. It can be written down at any moment and read again. [`PlanDesk`] turns the
//! effects that ask a model into the events that follow; whoever runs the workflow performs the others.
//!
//! What a person may do: interrupt at any time, which takes hold before the next step; then change the plan in
//! words, which forces a replan that sees the request, the plan and the finished steps; or edit it himself,
//! look at the difference first, undo and redo it; or go on unchanged; or cancel. An agent's question is no
//! reason to change a plan. Where the two meet, the person goes first and the question is held.

mod desk;
mod diff;
mod driver;
mod effect;
mod event;
mod history;
mod machine;
mod news;
mod observer;
mod plan;
mod preview;
mod prompts;
mod reading;
mod records;
mod revision;
mod state;
mod stored;

pub use desk::{DeskError, PlanDesk, PlanRole};
pub use diff::{DiffLine, PlanDiff};
pub use driver::{
    OpenQuestion, PLAN_EXECUTE, PlanBench, PlanChange, PlanEditError, PlanStanding, Unfinished,
    change_plan, execute_plan, plan_kind,
};
pub use effect::{Asking, Fact, FactKind, PersonAsked, PlanEffect};
pub use event::{Failure, PlanEvent, Refused};
pub use history::PlanHistory;
pub use machine::PlanTurn;
pub use news::{PlanNews, PlanStands, PlanStepStarted};
pub use observer::{PlanReadError, facts_in, told_facts};
pub use plan::{FinishedStep, Plan, PlanError, PlanStep, StepId};
pub use preview::{PlanPreview, QuestionFate};
pub use reading::PlanReading;
pub use records::{
    ExecutorRouting, FinalResponse, PlanDraft, PlannerRouting, ReplannerRouting, StepOutcome,
    StepReport,
};
pub use revision::{PlanRevision, Unfit};
pub use state::{Activity, Cause, Flags, Held, Phase, PlanEnd, PlanExecute, RetryPolicy};
pub use stored::{
    PlanVersion, StoredPlan, decided_escape, escape_taking_hold, is_plan, open_escape,
    plan_versions, unread_messages,
};
