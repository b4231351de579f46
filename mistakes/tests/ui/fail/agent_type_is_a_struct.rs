//! A struct as an enumeration of agent types.
use routing_core::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
struct RouteType;

fn main() {}
