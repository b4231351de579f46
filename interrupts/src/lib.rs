//! Stopping and asking: the life of an interrupt, and the ports that a store implements.
//!
//! [`life`] is the machine: nine states, the legal transitions between them, what each demands and what
//! each causes. It is a synchronous value: an event and a time go in, a new interrupt and its effects come
//! out. [`store`] is what keeps interrupts, runs, journals, checkpoints and the audit; its adapters perform
//! the effects of a transition in the transaction that records it.
//!
//! Owns the meaning of an interrupt's states. Knows nothing of databases, clocks or the network.

pub mod bus;
mod canonical;
pub mod catalogue;
mod clock;
mod digest;
mod fleet;
pub mod hooks;
mod label;
pub mod life;
pub mod limits;
pub mod manager;
mod misfit;
pub mod money;
mod names;
mod notifier;
mod own_files;
pub mod policy;
pub mod rules;
mod settings;
pub mod signals;
pub mod store;

pub use canonical::canonical_json;
pub use clock::{Clock, SystemClock};
pub use digest::{Digest, EffectId, ParseDigestError};
pub use fleet::{Fleet, FreeRun};
pub use label::{Label, LabelError, Labels};
pub use misfit::{Misfit, SchemaError, ValueSchema};
pub use names::{
    ActorName, IdempotencyKey, KindName, NameError, OwnerName, RouteName, WorkflowName,
};
pub use notifier::{NoNotifier, Notifier};
pub use own_files::OwnFiles;
pub use settings::{Problem, SettingsError, nearest};
