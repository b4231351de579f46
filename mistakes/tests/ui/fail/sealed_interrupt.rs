//! A sealed interrupt request written by hand.
use std::any::{Any, TypeId};

use interrupt_router::{AgentType, InterruptDetails, SealedInterrupt};
use serde::Deserializer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Interrupt;

type Payload = (
    TypeId,
    &'static str,
    fn(Box<dyn Any + Send>) -> Option<Interrupt>,
);

impl SealedInterrupt for Interrupt {
    type Kind = AgentKind;

    fn kind(&self) -> AgentKind {
        AgentKind::Orchestrator
    }

    fn details(&self) -> InterruptDetails {
        loop {}
    }

    fn payload(&self) -> Result<serde_json::Value, serde_json::Error> {
        Ok(serde_json::Value::Null)
    }

    fn __deserialize_payload<'de, D: Deserializer<'de>>(_: usize, _: D) -> Result<Self, D::Error> {
        Ok(Self)
    }

    fn __payloads() -> Vec<Payload> {
        Vec::new()
    }
}

fn main() {}
