//! The names that a text may have, for the document: callers in other languages make types of them.
//!
//! A schema and nothing else: the value's own type defines the text itself.

use interrupt_router::model::Dialect;
use interrupt_router::{AnswerForm, InterruptType, StopSource};
use interrupts::life::{DecidedAs, RunState, State, Verdict};
use interrupts::store::NodeActivity;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use workers::QuestionState;

use super::agent::ACTIVITIES;
use super::interrupt::KINDS;
use crate::parameters::naming;

const STOPS: [InterruptType; 4] = [
    InterruptType::Pause,
    InterruptType::Stop,
    InterruptType::Prune,
    InterruptType::Branch,
];

macro_rules! names {
    ($(#[doc = $doc:literal] $name:ident = $names:expr;)*) => {$(
        #[doc = $doc]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let mut schema = naming($names);
                schema.description = Some($doc.trim().to_owned());
                schema.into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

names! {
    /// What an agent does.
    ActivityName = ACTIVITIES.map(NodeActivity::name);
    /// What an answer to a question is.
    AnswerFormName = AnswerForm::ALL.map(AnswerForm::name);
    /// What a decision means for the code that asked: the one thing to look at before anything is carried out.
    DecidedAsName = DecidedAs::ALL.map(DecidedAs::name).into_iter().chain([QuestionState::Withdrawn.name()]);
    /// The dialect of a schema.
    DialectName = Dialect::ALL.map(Dialect::name);
    /// How an effect stands.
    EffectStateName = ["begun", "finished", "unknown"];
    /// What happens when nobody has decided in time.
    ExpiryName = ["reject", "cancel", "reroute"];
    /// Which interrupts an inbox has: some that belong together, or those in one state.
    InboxName = ["open", "live", "claimed"].into_iter().chain(State::ALL.map(State::name));
    /// What an interrupt is about.
    InterruptKindName = KINDS;
    /// Where an interrupt stands.
    InterruptStateName = State::ALL.map(State::name);
    /// Whether a question is still open.
    QuestionStateName = QuestionState::ALL.map(QuestionState::name);
    /// What a caller may do.
    RoleName = ["viewer", "agent", "worker", "reviewer", "supervisor", "admin"];
    /// Where a run stands.
    RunStateName = RunState::ALL.map(RunState::name);
    /// Who is behind an interrupt.
    SourceName = StopSource::ALL.map(StopSource::name);
    /// How a worker is told to stop.
    StopTypeName = STOPS.map(InterruptType::name);
    /// What was decided. `applied` is the end of a stop that has taken hold.
    VerdictName = Verdict::ALL.map(Verdict::name);
}
