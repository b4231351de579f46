//! What people and programs ask of runs: stops, reroute events and decisions; what an interrupt asks of them; how far a
//! run has come; and how the text of others is shown.
//!
//! REST, the socket, the page, and the program beside the store all share these rules of what can be asked.

mod address;
mod ask;
mod caller;
mod checkpoint;
mod command;
mod control;
mod deciding;
mod decision;
mod event;
mod progress;
mod question;
mod reach;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
mod refusal;
mod request;
mod resume;
mod right;
mod stop;
mod suggested;
mod token;
mod unseen;

pub use address::{AgentAddress, FoundAgent, LIVE, agents_of, first_agent, in_run, live_runs};
pub use ask::{
    Ask, AskAgent, AskAgents, AskAudit, AskCatalogueOfInterrupt, AskCatalogueOfRun, AskCheckpoints,
    AskInterrupt, AskInterruptOf, AskInterrupts, AskJournal, AskMessages, AskPlan, AskProgress,
    AskRule, AskRules, AskRun, AskRuns, AskTokens, LONGEST_PAGE, QUESTIONS, Question, Reading,
    answered,
};
pub use caller::{Caller, role_name};
pub use checkpoint::{StartError, check_start, ends_at, other_checkpoint};
pub use command::{
    COMMANDS, CarriedOut, ChangeClaim, Command, Redrive, RevokeRule, SendMessage, TakeBack,
    Withdraw, carried_out,
};
pub use control::Control;
pub use deciding::{NewDecision, RememberOrder, preview};
pub use decision::{DecisionContent, DecisionParts, InvalidDecision};
pub use event::{PublishEvent, event_key};
pub use progress::{LastInterrupt, PlannedNode, RunProgress};
pub use question::{
    Destination, QuestionContent, own_fields, reason_of, request_misfits, request_schema, route_of,
    target_of,
};
pub use reach::Reach;
pub use refusal::{
    Code, NotDone, Refusal, decider, direction, no_agent, no_interrupt, no_plan, no_rule, no_run,
    not_admitted, not_asked, not_changed, not_open, not_read, not_sent, plan_not_changed,
    plan_not_read, refuse_ended, rule_not_made, verdict_refused,
};
pub use request::{InvalidRequest, Target};
pub use resume::ResumeOrder;
pub use right::Right;
pub use stop::{CancelOrder, RequestStop, StopOrder};
pub use suggested::{PROGRAM, as_called, call_program, has_own_name, next_command};
pub use token::{
    Credential, Issued, MadeToken, MakeToken, RevokeToken, TokenOrder, TokenView, issue_bought,
    issue_token,
};
pub use unseen::{acts_unseen, push_visible};
