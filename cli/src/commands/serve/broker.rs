//! The broker that a server publishes to and takes commands from.

use std::sync::Arc;

use bus::{BusLocation, NatsBus};
use interrupts::bus::Bus;

use crate::arguments::{LOCAL_BUS, ServeArguments};
use crate::exit::{Exit, Failure, causes, tell};

/// Where the broker is.
pub(super) struct Broker(BusLocation);

impl Broker {
    /// The broker that the arguments name.
    ///
    /// # Errors
    ///
    /// If what they name is none. The input is not repeated: it may contain a password.
    pub(super) fn of(arguments: &ServeArguments) -> Result<Option<Self>, Failure> {
        if arguments.bus == LOCAL_BUS || arguments.bus.is_empty() {
            return Ok(None);
        }
        let location = arguments.bus.parse::<BusLocation>().map_err(|error| {
            Failure::new(Exit::Usage, format!("--bus: {error}"))
                .hint("write nats://HOST:PORT?tenant=NAME, or local; `docs/bus.md` lists what else it takes")
        })?;
        Ok(Some(Self(location)))
    }

    /// Connects to the named broker, and says so. If it is unreachable, connects later.
    ///
    /// # Errors
    ///
    /// If it can never be connected to.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it is not connected to.
    pub(super) async fn connected(named: Option<Self>) -> Result<Option<Arc<dyn Bus>>, Failure> {
        let Some(Self(location)) = named else {
            return Ok(None);
        };
        let tenant = location.tenant().to_owned();
        let bus = NatsBus::connect(location).await.map_err(|error| {
            Failure::new(Exit::Failure, causes(&error))
                .hint("check the files that the address of --bus names")
        })?;
        match bus.prepare().await {
            Ok(()) => tell(format_args!(
                "Publishing to {}, on subjects below irq.v1.{tenant}.",
                bus.place()
            )),
            Err(error) => tell(format_args!(
                "Publishing to {} as soon as it takes events: {error}.",
                bus.place()
            )),
        }
        Ok(Some(Arc::new(bus)))
    }
}
