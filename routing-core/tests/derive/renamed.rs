//! The derives where the router's crate has another name.

use interrupt_router::schema::Dialect;
use interrupt_router::{InterruptType, Route as _, SealedInterrupt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workflow::details;

/// A crate that re-exports the router.
pub(crate) mod facade {
    pub(crate) use interrupt_router as router;
}

use facade::router::{AgentType, InterruptDetails, InterruptRequest, Routing};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(crate = "crate::derive::renamed::facade::router")]
enum Desk {
    Writer,
    Legal,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Article {
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Objection {
    ground: String,
}

#[derive(Debug, Clone, Routing)]
#[routing(agent_types = Desk, actions = Actions, crate = "crate::derive::renamed::facade::router")]
struct Next {
    #[route(marker = Write, agent_type = Writer)]
    rewrite: Option<Article>,
    #[route(marker = Object, agent_type = Legal)]
    object: Option<Objection>,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = Desk, crate = "crate::derive::renamed::facade::router")]
enum Asked {
    Writer(InterruptDetails),
    Legal(InterruptDetails),
}

#[test]
fn the_derives_find_the_router_where_they_are_told_to() {
    assert_eq!(Desk::NAMES, ["WRITER", "LEGAL"]);
    let shown = Write::schema(Dialect::JsonSchema).value();
    assert_eq!(shown["required"], serde_json::json!(["rewrite"]));
    let read: Next = serde_json::from_str(r#"{"rewrite": {"text": "again"}}"#).unwrap();
    assert_eq!(read.rewrite.unwrap().text, "again");
    assert!(read.object.is_none());
    let asked = Asked::Legal(details(InterruptType::Pause, "unclear"));
    let asked = serde_json::to_string(&asked).unwrap();
    let asked: Asked = serde_json::from_str(&asked).unwrap();
    assert_eq!(asked.kind(), Desk::Legal);
}
