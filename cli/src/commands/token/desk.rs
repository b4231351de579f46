//! Where tokens are made: in the store of this machine, or by a server.

use interrupts::ActorName;
use interrupts::store::TokenRow;
use jiff::Timestamp;
use server::{TokenOrder, issue_token, role_name};

use crate::actor::actor;
use crate::arguments::{StoreArguments, TokenCreateArguments};
use crate::exit::{Exit, Failure, causes};
use crate::installation::{Client, MadeToken, TokenLine, Whereabouts};
use crate::refused::by_store;
use crate::storage::Storage;

/// Where tokens are made.
pub(super) enum Desk {
    /// The store of this machine.
    Beside(Storage),
    /// A server.
    There(Client),
}

/// A token of the store, as it stands among all of them.
fn line(row: &TokenRow, all: &[TokenRow]) -> TokenLine {
    TokenLine {
        id: row.short_name(),
        name: row.name.as_str().to_owned(),
        role: role_name(row.role).to_owned(),
        created_at: row.created_at,
        expires_at: row.expires_at,
        once: row.once,
        used_at: row.used_at,
        revoked_at: row.revoked_at,
        holds: row.holds_among(all, Timestamp::now()),
        bought_with: row.of.map(interrupts::store::short_name),
    }
}

impl Desk {
    /// What is named. A store that is not there is made, where a token is to be made in it.
    ///
    /// # Errors
    ///
    /// As opening a store, or where the server's address or token cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(super) async fn open(arguments: &StoreArguments, makes: Makes) -> Result<Self, Failure> {
        match Whereabouts::of(arguments)? {
            Whereabouts::Server(place) => Ok(Self::There(Client::at(&place)?)),
            Whereabouts::Store => Ok(Self::Beside(match makes {
                Makes::AToken => Storage::create(arguments).await?,
                Makes::Nothing => Storage::open(arguments).await?,
            })),
        }
    }

    /// All tokens, in the order in which they were made.
    pub(super) async fn tokens(&self) -> Result<Vec<TokenLine>, Failure> {
        match self {
            Self::There(client) => client.tokens().await,
            Self::Beside(storage) => {
                let rows = storage.store.tokens().await;
                let rows = rows.map_err(|error| by_store(&error))?;
                Ok(rows.iter().map(|row| line(row, &rows)).collect())
            }
        }
    }

    /// Makes a token.
    pub(super) async fn make(&self, wanted: &TokenCreateArguments) -> Result<MadeToken, Failure> {
        let name = ActorName::new(wanted.name.clone())
            .map_err(|error| Failure::new(Exit::Usage, format!("--name: {error}")))?;
        let storage = match self {
            Self::Beside(storage) => storage,
            Self::There(client) => {
                let role = role_name(wanted.role.role());
                return client
                    .make_token(name.as_str(), role, wanted.lifetime)
                    .await;
            }
        };
        let by = actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let order = TokenOrder {
            name,
            role: wanted.role.role(),
            lifetime: wanted.lifetime,
            once: false,
            by: Some(by),
        };
        let issued = issue_token(&*storage.store, order).await;
        let issued = issued.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
        Ok(MadeToken {
            token: TokenLine {
                holds: true,
                ..line(&issued.row, &[])
            },
            secret: issued.secret,
        })
    }

    /// Makes a token void, by its whole id.
    pub(super) async fn revoke(&self, id: &str) -> Result<TokenLine, Failure> {
        let storage = match self {
            Self::There(client) => return client.revoke_token(id).await,
            Self::Beside(storage) => storage,
        };
        let rows = storage.store.tokens().await;
        let rows = rows.map_err(|error| by_store(&error))?;
        let gone = || Failure::new(Exit::NotFound, format!("there is no token `{id}`"));
        let row = rows.iter().find(|row| row.short_name() == id);
        let row = row.ok_or_else(gone)?;
        let by = actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let revoked = storage.store.revoke_token(row.digest, Some(by)).await;
        let revoked = revoked.map_err(|error| by_store(&error))?;
        Ok(TokenLine {
            holds: false,
            ..line(revoked.as_ref().unwrap_or(row), &[])
        })
    }
}

/// What a command does to the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    /// It makes one.
    AToken,
    /// It makes none.
    Nothing,
}
