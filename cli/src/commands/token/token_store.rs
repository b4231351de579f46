//! Where tokens are made: in the store of this machine, or by a server.

use client::{Client, MadeToken, TokenLine};
use control::role_name;
use interrupts::store::{TokenRow, TokenScope};
use interrupts::{ActorName, WorkflowName};
use jiff::Timestamp;
use server::{TokenOrder, issue_token};

use crate::actor::actor;
use crate::address::{agent_in, find_agent, find_run};
use crate::arguments::{RoleChoice, StoreArguments, TokenCreateArguments};
use crate::backend::{Backend, Local, Remote, Whereabouts, client_at};
use crate::exit::{Exit, Failure, causes};
use crate::storage::Storage;

/// Where tokens are made.
pub(super) enum TokenStore {
    /// The store of this machine.
    Beside(Local),
    /// A server.
    There(Client),
}

/// A token of the store, as the list shows it.
fn line(row: &TokenRow, all: &[TokenRow]) -> TokenLine {
    TokenLine {
        id: row.short_name(),
        name: row.name.as_str().to_owned(),
        role: role_name(row.role).to_owned(),
        run_id: row
            .scope
            .as_ref()
            .and_then(|it| Some(it.run()?.to_string())),
        agent_id: row.scope.as_ref().and_then(TokenScope::agent),
        workflow: row
            .scope
            .as_ref()
            .and_then(|it| Some(it.workflow()?.to_string())),
        created_at: row.created_at,
        expires_at: row.expires_at,
        once: row.once,
        used_at: row.used_at,
        revoked_at: row.revoked_at,
        holds: row.holds_among(all, Timestamp::now()),
        bought_with: row.of.map(interrupts::store::short_name),
    }
}

impl TokenStore {
    /// The token store that is named. Creates a missing store if a token is to be made in it.
    ///
    /// # Errors
    ///
    /// As opening a store, or if the server's address or token cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(super) async fn open(arguments: &StoreArguments, makes: Makes) -> Result<Self, Failure> {
        match Whereabouts::of(arguments)? {
            Whereabouts::Server(place) => Ok(Self::There(client_at(&place)?)),
            Whereabouts::Store => Ok(Self::Beside(Local::over(match makes {
                Makes::AToken => Storage::create(arguments).await?,
                Makes::Nothing => Storage::open(arguments).await?,
            }))),
        }
    }

    /// All tokens, in the order in which they were made.
    pub(super) async fn tokens(&self) -> Result<Vec<TokenLine>, Failure> {
        match self {
            Self::There(client) => Ok(client.tokens().await?),
            Self::Beside(local) => {
                let rows = local.storage().store.tokens().await?;
                Ok(rows.iter().map(|row| line(row, &rows)).collect())
            }
        }
    }

    /// Makes a token.
    pub(super) async fn make(&self, wanted: &TokenCreateArguments) -> Result<MadeToken, Failure> {
        let name = ActorName::new(wanted.name.clone())
            .map_err(|error| Failure::new(Exit::Usage, format!("--name: {error}")))?;
        let scope = self.scope(wanted).await?;
        let local = match self {
            Self::Beside(local) => local,
            Self::There(client) => {
                let role = role_name(wanted.role.role());
                let made = client.make_token(name.as_str(), role, scope.as_ref(), wanted.lifetime);
                return Ok(made.await?);
            }
        };
        let by = actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let order = TokenOrder {
            name,
            role: wanted.role.role(),
            lifetime: wanted.lifetime,
            once: false,
            scope,
            by: Some(by),
        };
        let issued = issue_token(&*local.storage().store, order).await;
        let issued = issued.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
        Ok(MadeToken {
            token: TokenLine {
                holds: true,
                ..line(&issued.row, &[])
            },
            secret: issued.secret,
        })
    }

    /// What to bind a token to: the named run or agent, which an agent's token needs.
    async fn scope(&self, wanted: &TokenCreateArguments) -> Result<Option<TokenScope>, Failure> {
        let named = wanted.run.is_some() || wanted.agent.is_some();
        let usage = |text: &str, hint: &str| Failure::new(Exit::Usage, text).hint(hint);
        match (wanted.role == RoleChoice::Worker, &wanted.workflow) {
            (true, Some(name)) => {
                let workflow = WorkflowName::new(name);
                let workflow =
                    workflow.map_err(|error| usage(&error.to_string(), "choose another name"))?;
                return Ok(Some(TokenScope::Workflow { workflow }));
            }
            (true, None) => {
                return Err(usage(
                    "the token of a worker is bound to a workflow, and none is named",
                    "--workflow NAME names it: the name that the worker registers",
                ));
            }
            (false, Some(_)) => {
                return Err(usage(
                    "only the token of a worker is bound to a workflow",
                    "leave out --workflow, or say --role worker",
                ));
            }
            (false, None) => {}
        }
        match (wanted.role == RoleChoice::Agent, named) {
            (true, true) => {}
            (false, false) => return Ok(None),
            (true, false) => {
                return Err(usage(
                    "the token of an agent is bound to a run, and none is named",
                    "--run RUN names it, --agent RUN/AGENT one of its agents; `irq ps` lists both",
                ));
            }
            (false, true) => {
                return Err(usage(
                    "only the token of an agent is bound to a run",
                    "leave out --run and --agent, or say --role agent",
                ));
            }
        }
        match self {
            Self::Beside(local) => scope_in(local, wanted).await,
            Self::There(client) => scope_in(&Remote::over(client.clone()), wanted).await,
        }
    }

    /// Revokes a token by its whole id.
    pub(super) async fn revoke(&self, id: &str) -> Result<TokenLine, Failure> {
        let store = match self {
            Self::There(client) => return Ok(client.revoke_token(id).await?),
            Self::Beside(local) => &local.storage().store,
        };
        let rows = store.tokens().await?;
        let gone = || Failure::new(Exit::NotFound, format!("there is no token `{id}`"));
        let row = rows.iter().find(|row| row.short_name() == id);
        let row = row.ok_or_else(gone)?;
        let by = actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let revoked = store.revoke_token(row.digest, Some(by)).await?;
        Ok(TokenLine {
            holds: false,
            ..line(revoked.as_ref().unwrap_or(row), &[])
        })
    }
}

/// What the command line binds a token to.
async fn scope_in(
    from: &dyn Backend,
    wanted: &TokenCreateArguments,
) -> Result<Option<TokenScope>, Failure> {
    let run = match &wanted.run {
        Some(run) => Some(find_run(from, run).await?),
        None => None,
    };
    let (run, node) = match (run, &wanted.agent) {
        (Some(run), None) => (run, None),
        (None, None) => return Ok(None),
        (run, Some(agent)) => {
            let (of, row) = match run.clone().filter(|_run| !agent.starts_with("run_")) {
                Some(run) => agent_in(from, run, agent).await?,
                None => find_agent(from, agent).await?,
            };
            if run.is_some_and(|run| run.id != of.id) {
                let text = format!("--agent {agent}: the agent is of another run than --run names");
                return Err(Failure::new(Exit::Usage, text).hint("leave out --run"));
            }
            (of, Some(row.node))
        }
    };
    Ok(Some(TokenScope::Run { run: run.id, node }))
}

/// Whether a command makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    /// It makes one.
    AToken,
    /// It makes none.
    Nothing,
}
