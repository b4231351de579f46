//! Attributes of serde and schemars where the derive itself writes reader and schema.
use interrupt_router::{AgentType, InterruptDetails, InterruptRequest, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Routing)]
#[serde(rename_all = "snake_case")]
struct Record {
    #[schemars(rename = "review")]
    review_request: Option<Request>,
    #[schemars(skip)]
    other_request: Option<Request>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum Desk {
    #[serde(rename = "author")]
    Writer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum Kind {
    Writer,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = Kind)]
#[serde(tag = "who")]
enum Interrupt {
    Writer(InterruptDetails),
}

fn main() {}
