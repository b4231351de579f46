//! Whether a command works on a server or on the store of this machine, and who said so.

use std::path::PathBuf;

use crate::arguments::StoreArguments;
use crate::exit::{Exit, Failure};

/// The variable that names a server.
pub(crate) const SERVER_VARIABLE: &str = "IRQ_SERVER";
/// The variable that names the store.
const STORE_VARIABLE: &str = "IRQ_STORE";

/// Where a server is, as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerPlace {
    /// Its address.
    pub(crate) url: String,
    /// The file with the token for it.
    pub(crate) token_file: Option<PathBuf>,
    /// The file with the authorities that it is trusted by, beside the system's.
    pub(crate) ca_certificate: Option<PathBuf>,
    /// Who named it: `--server` or `IRQ_SERVER`.
    pub(crate) named_by: &'static str,
}

/// What a command works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// A server.
    Server(ServerPlace),
    /// The store of this machine.
    Store,
}

impl Whereabouts {
    /// What is named. A flag goes before the environment, and in the environment a server before a store.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] where flags name both.
    pub(crate) fn of(arguments: &StoreArguments) -> Result<Self, Failure> {
        let server = arguments.server.as_deref().filter(|url| !url.is_empty());
        let store = arguments.store.as_deref().filter(|url| !url.is_empty());
        let Some(url) = server else {
            return Ok(Self::Store);
        };
        let by_flag =
            |value: &str, variable: &str| std::env::var(variable).ok().as_deref() != Some(value);
        let server_by_flag = by_flag(url, SERVER_VARIABLE);
        let store_by_flag = store.is_some_and(|store| by_flag(store, STORE_VARIABLE));
        if server_by_flag && store_by_flag {
            let text = "--server and --store are two installations";
            return Err(Failure::new(Exit::Usage, text).hint("leave out one of them"));
        }
        if store_by_flag {
            return Ok(Self::Store);
        }
        Ok(Self::Server(ServerPlace {
            url: url.to_owned(),
            token_file: arguments.token_file.clone(),
            ca_certificate: arguments.ca_certificate.clone(),
            named_by: if server_by_flag {
                "--server"
            } else {
                SERVER_VARIABLE
            },
        }))
    }

    /// Refuses a server for a command that works on the store's file.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] with what to do instead.
    pub(crate) fn demand_store(
        arguments: &StoreArguments,
        command: &str,
        instead: &str,
    ) -> Result<(), Failure> {
        match Self::of(arguments)? {
            Self::Store => Ok(()),
            Self::Server(place) => {
                let text = format!(
                    "`irq {command}` works beside the store, not through a server ({} names {})",
                    place.named_by, place.url
                );
                let hint = if place.named_by == SERVER_VARIABLE {
                    format!("{instead}, or without {SERVER_VARIABLE} in the environment")
                } else {
                    instead.to_owned()
                };
                Err(Failure::new(Exit::Usage, text).hint(hint))
            }
        }
    }
}
