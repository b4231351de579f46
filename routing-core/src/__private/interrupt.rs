//! Reading and writing a sealed interrupt request: `{"kind": ..., "request": ...}`.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::agent_type::AgentType;
use crate::interrupt::{AgentInterrupt, SealedInterrupt};

/// What makes a payload, whose type is known, into a sealed interrupt request.
type Conversion<I> = (TypeId, &'static str, fn(Box<dyn Any + Send>) -> Option<I>);

const FIELDS: &[&str] = &["kind", "request"];

/// Writes a kind and a payload.
pub fn serialize_interrupt<K: AgentType, P: Serialize, S: Serializer>(
    kind: K,
    payload: &P,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("kind", &kind)?;
    map.serialize_entry("request", payload)?;
    map.end()
}

/// Reads a sealed interrupt request; the kind decides what the payload is.
pub fn deserialize_interrupt<'de, I: SealedInterrupt, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<I, D::Error> {
    deserializer.deserialize_map(Interrupt(PhantomData))
}

/// Reads the payload of one variant.
pub fn deserialize_payload<'de, I: SealedInterrupt, P: DeserializeOwned, D: Deserializer<'de>>(
    variant: fn(P) -> I,
    deserializer: D,
) -> Result<I, D::Error> {
    P::deserialize(deserializer).map(variant)
}

/// The conversion of a payload type that one variant alone has.
pub fn payload_conversion<I: SealedInterrupt + From<P>, P: AgentInterrupt>(
    name: &'static str,
) -> Conversion<I> {
    let convert: fn(Box<dyn Any + Send>) -> Option<I> = |payload| {
        payload
            .downcast::<P>()
            .ok()
            .map(|payload| I::from(*payload))
    };
    (TypeId::of::<P>(), name, convert)
}

struct Interrupt<I>(PhantomData<I>);

impl<'de, I: SealedInterrupt> Visitor<'de> for Interrupt<I> {
    type Value = I;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `kind` and `request`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<I, A::Error> {
        let mut kind: Option<I::Kind> = None;
        let mut interrupt: Option<I> = None;
        let mut waiting: Option<Value> = None;
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "kind" if kind.is_some() => return Err(A::Error::duplicate_field("kind")),
                "kind" => kind = Some(map.next_value()?),
                "request" if interrupt.is_some() || waiting.is_some() => {
                    return Err(A::Error::duplicate_field("request"));
                }
                "request" => match kind {
                    Some(kind) => interrupt = Some(map.next_value_seed(Payload::<I>(kind))?),
                    // Stores may order the keys of an object as they like.
                    None => waiting = Some(map.next_value()?),
                },
                unknown => return Err(A::Error::unknown_field(unknown, FIELDS)),
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("kind"))?;
        match (interrupt, waiting) {
            (Some(interrupt), _) => Ok(interrupt),
            (None, Some(waiting)) => Payload::<I>(kind)
                .deserialize(waiting.into_deserializer())
                .map_err(A::Error::custom),
            (None, None) => Err(A::Error::missing_field("request")),
        }
    }
}

/// The payload of a kind.
struct Payload<I: SealedInterrupt>(I::Kind);

impl<'de, I: SealedInterrupt> DeserializeSeed<'de> for Payload<I> {
    type Value = I;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<I, D::Error> {
        I::__deserialize_payload(self.0.index(), deserializer)
    }
}
