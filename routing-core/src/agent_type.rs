//! The types of agents: closed enumerations that name where an interrupt may come from and go to.

use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::__private::MadeByDerive;

/// A closed enumeration of agents, made by `#[derive(AgentType)]`.
///
/// An orchestrator has one or two of these: its *routes* (where an interrupt may be sent) and, if some agents are no
/// routes of their own, its *kinds* (every agent that may raise an interrupt). Each kind has exactly one origin route,
/// and that map is total by construction.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enumeration of agent types",
    note = "put `#[derive(AgentType)]` on an enum without fields; this trait cannot be implemented by hand"
)]
pub trait AgentType:
    MadeByDerive
    + Copy
    + Eq
    + Ord
    + Hash
    + Debug
    + Display
    + FromStr<Err = UnknownAgentType>
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// The routes that agents of this enumeration belong to; `Self` if every agent is a route.
    type Route: AgentType<Route = Self::Route>;

    /// All of them, in the order of declaration.
    const ALL: &'static [Self];

    /// Their names on the wire, in the same order.
    const NAMES: &'static [&'static str];

    /// The place of this one in [`AgentType::ALL`].
    fn index(self) -> usize;

    /// The route to which the answer to this agent's interrupt goes by default.
    fn origin_route(self) -> Self::Route;

    /// The name on the wire.
    fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }

    /// Their names in Rust, in the same order.
    #[doc(hidden)]
    const __VARIANTS: &'static [&'static str];

    /// Their discriminants, in the same order: what a constant can compare.
    #[doc(hidden)]
    const __DISCRIMINANTS: &'static [i128];
}

/// A text that names no agent of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAgentType {
    given: String,
    known: &'static [&'static str],
}

impl UnknownAgentType {
    #[doc(hidden)]
    pub fn new(given: &str, known: &'static [&'static str]) -> Self {
        Self {
            given: given.to_owned(),
            known,
        }
    }

    /// What was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// What could have been given.
    pub fn known(&self) -> &'static [&'static str] {
        self.known
    }
}

impl Display for UnknownAgentType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "unknown agent type `{}`; known are: {}",
            self.given,
            self.known.join(", ")
        )
    }
}

impl Error for UnknownAgentType {}
