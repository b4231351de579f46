//! Adapters of the bus port, [`interrupts::bus::Bus`]: NATS.
//!
//! Owns a broker's location, the subjects of events and commands, and how both are written into messages. Knows nothing
//! of what a command means.

mod location;
mod nats;
mod subject;

pub use location::{BusLocation, BusLocationError};
pub use nats::{ConnectError, NatsBus};
