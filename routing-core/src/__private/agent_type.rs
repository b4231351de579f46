//! The names of agent types: read, and described by a schema.

use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::{Deserializer, Error, Visitor};

use crate::agent_type::{AgentType, UnknownAgentType};

/// The agent type of this name.
pub fn parse_agent_type<A: AgentType>(name: &str) -> Result<A, UnknownAgentType> {
    A::ALL
        .iter()
        .copied()
        .find(|known| known.name() == name)
        .ok_or_else(|| UnknownAgentType::new(name, A::NAMES))
}

/// The route at a place that [`super::origin_position`] has found.
pub fn origin_route<A: AgentType>(place: usize) -> A::Route {
    A::Route::ALL[place]
}

/// Reads a name.
pub fn deserialize_agent_type<'de, A: AgentType, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<A, D::Error> {
    deserializer.deserialize_str(Name(PhantomData))
}

/// The schema of an enumeration: one of its names.
pub fn agent_type_schema<A: AgentType>(description: &str) -> Schema {
    let mut schema = json_schema!({ "type": "string", "enum": A::NAMES });
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
    schema
}

struct Name<A>(PhantomData<A>);

impl<A: AgentType> Visitor<'_> for Name<A> {
    type Value = A;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of: {}", A::NAMES.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<A, E> {
        parse_agent_type(name).map_err(E::custom)
    }
}
