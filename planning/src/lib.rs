//! Plan and execute as a pure machine, and a plan as the store keeps it.
//!
//! [`PlanExecute`] is a workflow as a synchronous value: a [`PlanEvent`] and a time go in, the next state and its
//! [`PlanEffect`]s come out. It can be written down at any moment and read again. The driver performs the effects.
//!
//! A person may interrupt at any time, which takes effect before the next step. Then the person may change the plan in
//! words, which forces a replan that sees the request, the plan and the finished steps; or edit it, look at the
//! difference first, undo and redo it; or go on unchanged; or cancel. An agent's question is no reason to change a
//! plan. If the two meet, the person goes first and the question is held.

mod change_request;
mod diff;
mod edit_error;
mod effect;
mod event;
mod history;
mod machine;
mod observer;
mod plan;
mod preview;
mod reading;
mod revision;
mod role;
mod snapshot;
mod state;
mod step_outcome;
mod stored;

pub use change_request::PlanChangeRequest;
pub use diff::{DiffLine, PlanDiff};
pub use edit_error::PlanEditError;
pub use effect::{Fact, FactKind, PersonQuestion, PlanEffect, PlanningCall};
pub use event::{Failure, PlanEvent, Refused};
pub use history::PlanHistory;
pub use machine::PlanTurn;
pub use observer::{PlanReadError, facts_in, told_facts};
pub use plan::{FinishedStep, Plan, PlanError, PlanStep, StepId};
pub use preview::{PlanPreview, QuestionFate};
pub use reading::PlanReading;
pub use revision::{PlanRevision, RevisionError};
pub use role::{PLAN_EXECUTE, PlanRole, plan_kind};
pub use snapshot::{OpenQuestion, PlanSnapshot, Taken, Unfinished};
pub use state::{Activity, Cause, Flags, Held, Phase, PlanEnd, PlanExecute, RetryPolicy};
pub use step_outcome::StepOutcome;
pub use stored::{
    PlanVersion, StoredPlan, decided_escape, escape_taking_hold, is_plan, open_escape,
    plan_versions, unread_messages,
};
