//! A struct as an enumeration of agent types.
use interrupt_router::AgentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
struct RouteType;

fn main() {}
