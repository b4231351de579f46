//! What people and programs ask of runs: stops, reroute events and decisions; what an interrupt asks of them; how far a
//! run has come; and how the text of others is shown.
//!
//! REST, the socket, the page, and the program beside the store all share these rules of what can be asked.

mod ask;
mod checkpoint;
mod control;
mod deciding;
mod decision;
mod event;
mod progress;
mod question;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
mod refusal;
mod request;
mod resume;
mod stop;
mod suggested;
mod unseen;

pub use ask::Ask;
pub use checkpoint::{StartError, check_start, ends_at, other_checkpoint};
pub use control::Control;
pub use deciding::{NewDecision, RememberOrder, preview};
pub use decision::{DecisionContent, DecisionParts, InvalidDecision};
pub use event::event_key;
pub use progress::{LastInterrupt, PlannedNode, RunProgress};
pub use question::{
    Destination, QuestionContent, own_fields, reason_of, request_misfits, request_schema, route_of,
    target_of,
};
pub use refusal::{
    Code, NotDone, Refusal, decider, direction, no_interrupt, no_plan, no_rule, not_admitted,
    not_asked, not_changed, not_open, not_read, not_sent, plan_not_changed, refuse_ended,
    rule_not_made, verdict_refused,
};
pub use request::{InvalidRequest, StopRequester, Target};
pub use resume::ResumeOrder;
pub use stop::{CancelOrder, StopOrder};
pub use suggested::{PROGRAM, as_called, call_program, has_own_name, next_command};
pub use unseen::{acts_unseen, push_visible};
