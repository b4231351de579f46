//! Where tokens are made: in the store of this machine, or by a server.

use control::{AskTokens, MadeToken, MakeToken, RevokeToken, TokenView};
use interrupts::store::TokenScope;
use interrupts::{ActorName, WorkflowName};

use crate::address::{agent_in, find_agent, find_run};
use crate::arguments::{RoleChoice, StoreArguments, TokenCreateArguments};
use crate::backend::{Backend, Local, Remote, Whereabouts};
use crate::exit::{Exit, Failure};
use crate::storage::Storage;

/// Where tokens are made.
pub(super) struct TokenStore(Box<dyn Backend>);

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
        Ok(Self(match Whereabouts::of(arguments)? {
            Whereabouts::Server(place) => Box::new(Remote::at(&place)?),
            Whereabouts::Store => Box::new(Local::over(match makes {
                Makes::AToken => Storage::create(arguments).await?,
                Makes::Nothing => Storage::open(arguments).await?,
            })),
        }))
    }

    /// All tokens, in the order in which they were made.
    pub(super) async fn tokens(&self) -> Result<Vec<TokenView>, Failure> {
        self.0.ask(AskTokens {}).await
    }

    /// Makes a token.
    pub(super) async fn make(&self, wanted: &TokenCreateArguments) -> Result<MadeToken, Failure> {
        let name = ActorName::new(wanted.name.clone())
            .map_err(|error| Failure::new(Exit::Usage, format!("--name: {error}")))?;
        let make = MakeToken {
            name,
            role: wanted.role.role(),
            lifetime: wanted.lifetime,
            scope: self.scope(wanted).await?,
        };
        self.0.carry_out(make).await
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
        scope_in(&*self.0, wanted).await
    }

    /// Revokes a token by its whole id.
    pub(super) async fn revoke(&self, id: String) -> Result<TokenView, Failure> {
        self.0.carry_out(RevokeToken { id }).await
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
