//! Who may come in, and what a caller may do.

mod caller;
mod concurrency_limit;
mod head;
mod host;
mod middleware;
mod pace;
mod right;
mod session;
mod session_expiry;

pub(crate) use caller::{Proof, caller_with, unauthenticated};
pub(crate) use concurrency_limit::ConcurrencyLimit;
pub(crate) use head::refuse_large_heads;
pub(crate) use host::HostNames;
pub(crate) use middleware::{Ticket, admit_only_the_known, refuse_foreign_sites, takes_tickets};
pub(crate) use pace::{Pace, Peer, limit_rate};
pub(crate) use right::{Decides, Directs, Operates, Reads, Requests, Surveys, Works};
pub(crate) use session::{SessionCookie, begin_session, end_session};
pub(crate) use session_expiry::{SessionExpiry, Stay};
