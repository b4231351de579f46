//! An enumeration of agent types written by hand.
use interrupt_router::AgentType;

use interrupt_router::UnknownAgentType;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
enum RouteType {
    Orchestrator,
}

impl std::fmt::Display for RouteType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ORCHESTRATOR")
    }
}

impl std::str::FromStr for RouteType {
    type Err = UnknownAgentType;

    fn from_str(_: &str) -> Result<Self, UnknownAgentType> {
        Ok(Self::Orchestrator)
    }
}

impl AgentType for RouteType {
    type Route = Self;

    const ALL: &'static [Self] = &[Self::Orchestrator];
    const NAMES: &'static [&'static str] = &["ORCHESTRATOR"];
    const __VARIANTS: &'static [&'static str] = &["Orchestrator"];
    const __DISCRIMINANTS: &'static [i128] = &[0];

    fn index(self) -> usize {
        0
    }

    fn origin_route(self) -> Self {
        self
    }
}

fn main() {}
