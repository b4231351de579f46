//! The life of an interrupt, from its admission to its end.
//!
//! [`Transition::LEGAL`] is the one table: each pair of states that may follow each other, with what triggers it, what
//! it demands and what it causes. [`Interrupt::after`] is its only interpreter; an event that the table does not list
//! is refused, and the interrupt stays as it is. The diagram in the guide is made from the table.

mod admission;
mod asked;
mod asking;
mod decision;
mod diagram;
mod effect;
mod event;
mod interrupt;
mod lane;
mod machine;
mod recurrence;
mod refusal;
mod review;
mod run;
mod state;
mod table;

pub use admission::{Admission, AdmissionError, Limits, USUAL_ATTEMPTS, USUAL_CLAIM};
pub use asked::{shared_part, shared_place};
pub use asking::{
    Asking, AskingId, FIRST_ASKING, MOST_ASKINGS, NewAsking, ParseAskingIdError, TakenBack,
};
pub use decision::{Choosing, Decider, Decision, ExpiryOutcome, Judge};
pub use diagram::diagram;
pub use effect::{Audited, Effect, Notice, ReviewStep};
pub use event::{Actor, Event, Evidence, Role, WithdrawCause};
pub use interrupt::{BoundReroute, Interrupt, Lease, Scope};
pub use lane::{Family, Lane, narrow};
pub use machine::Step;
pub use recurrence::Recurrence;
pub use refusal::{NOBODY_ASKS, Refusal};
pub use review::{Claim, Review, ReviewChange, Vote};
pub use run::{RunState, UnknownRunState};
pub use state::{State, UnknownState};
pub use table::{Admitting, Transition, Trigger};
// Its name is stored and sent with every decision.
pub use interrupt_router::{DecidedAs, Verdict};
