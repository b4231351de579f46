//! Whether a command works on a server or on the store of this machine, and who named it.

use std::path::PathBuf;

use crate::arguments::StoreArguments;
use crate::exit::{Exit, Failure};
use crate::settings::{Origin, origin_of};

/// Where a server is, as it was configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerLocation {
    /// Its address.
    pub(crate) url: String,
    /// The file with the token for it.
    pub(crate) token_file: Option<PathBuf>,
    /// The file with the authorities that it is trusted by, beside the system's.
    pub(crate) ca_certificate: Option<PathBuf>,
    /// Who named it.
    pub(crate) named_by: Origin,
}

/// What a command works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// A server.
    Server(ServerLocation),
    /// The store of this machine.
    Store,
}

impl Whereabouts {
    /// What is named. Of a server and a store, the one that is named more strongly; if the environment or one file
    /// names both, the server.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] if flags name both.
    pub(crate) fn of(arguments: &StoreArguments) -> Result<Self, Failure> {
        let server = arguments.server.as_deref().filter(|url| !url.is_empty());
        let store = arguments.store.as_deref().filter(|url| !url.is_empty());
        let Some(url) = server else {
            return Ok(Self::Store);
        };
        let named_by = origin_of("server");
        let store_by = store.map_or(Origin::Usual, |_store| origin_of("store"));
        if let (Origin::Typed(_), Origin::Typed(_)) = (&named_by, &store_by) {
            let text = "--server and --store are two installations";
            return Err(Failure::new(Exit::Usage, text).hint("leave out one of them"));
        }
        if store_by.strength() > named_by.strength() {
            return Ok(Self::Store);
        }
        Ok(Self::Server(ServerLocation {
            url: url.to_owned(),
            token_file: arguments.token_file.clone(),
            ca_certificate: arguments.ca_certificate.clone(),
            named_by,
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
                let hint = match &place.named_by {
                    Origin::Usual | Origin::Typed(_) => instead.to_owned(),
                    Origin::Variable(name) => {
                        format!("{instead}, or without {name} in the environment")
                    }
                    Origin::User(file) | Origin::Folder(file) => {
                        format!("{instead}, or without `server` in {}", file.display())
                    }
                };
                Err(Failure::new(Exit::Usage, text).hint(hint))
            }
        }
    }
}
