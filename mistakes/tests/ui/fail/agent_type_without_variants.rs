//! An enumeration of no agent.
use routing_core::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {}

fn main() {}
