//! What stands for the broker in a build without NATS: none can be named.

use std::sync::Arc;

use interrupts::bus::Bus;

use crate::arguments::{LOCAL_BUS, ServeArguments};
use crate::exit::Failure;

/// Where the broker is: nowhere.
pub(super) enum Broker {}

impl Broker {
    /// None.
    ///
    /// # Errors
    ///
    /// If the arguments name one.
    pub(super) fn of(arguments: &ServeArguments) -> Result<Option<Self>, Failure> {
        match arguments.bus.as_str() {
            "" | LOCAL_BUS => Ok(None),
            _ => Err(Failure::built_without("NATS")),
        }
    }

    /// Connects to none.
    ///
    /// # Errors
    ///
    /// Never.
    ///
    /// # Cancel safety
    ///
    /// Safe: it does nothing.
    pub(super) async fn connected(named: Option<Self>) -> Result<Option<Arc<dyn Bus>>, Failure> {
        match named {
            Some(named) => match named {},
            None => Ok(None),
        }
    }
}
