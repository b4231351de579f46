//! Reading and writing a sealed interrupt request: `{"kind": ..., "request": ...}`.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use crate::agent_type::AgentType;
use crate::interrupt::{AgentInterrupt, InterruptDetails, SealedInterrupt};

/// What makes a payload, whose type is known, into a sealed interrupt request.
type Conversion<I> = (TypeId, &'static str, fn(Box<dyn Any + Send>) -> Option<I>);

const FIELDS: &[&str] = &["kind", "request"];

/// A variant of a sealed interrupt request, as a type: its payload type is checked only here, so that an invalid one is
/// reported once, at its type, and not again for each use of it.
pub trait Variant: 'static {
    /// The enumeration.
    type Interrupt: SealedInterrupt;

    /// What the variant carries.
    type Payload: AgentInterrupt;

    /// The payload's type, as written.
    const PAYLOAD: &'static str;

    /// The variant with this payload.
    fn wrap(payload: Self::Payload) -> Self::Interrupt;
}

/// Writes a kind and a payload.
pub fn serialize_interrupt<V: Variant, S: Serializer>(
    kind: <V::Interrupt as SealedInterrupt>::Kind,
    payload: &V::Payload,
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
    deserializer.deserialize_map(InterruptVisitor(PhantomData))
}

/// Reads the payload of one variant.
pub fn deserialize_payload<'de, V: Variant, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<V::Interrupt, D::Error> {
    V::Payload::deserialize(deserializer).map(V::wrap)
}

/// The fault of a kind that has no variant.
pub fn no_such_kind<I: SealedInterrupt, E: Error>(kind_index: usize) -> E {
    E::custom(format_args!(
        "no interrupt of the kind at place {kind_index}"
    ))
}

/// The kind at a place that [`super::kind_position`] has found.
pub fn kind_at<I: SealedInterrupt>(place: usize) -> I::Kind {
    I::Kind::ALL[place]
}

/// What the payload shares with all interrupts.
pub fn payload_details<V: Variant>(payload: &V::Payload) -> InterruptDetails {
    payload.details()
}

/// The payload as JSON.
pub fn payload_value<V: Variant>(payload: &V::Payload) -> Result<Value, serde_json::Error> {
    serde_json::to_value(payload)
}

/// The conversion of a payload type that one variant alone has.
pub fn payload_conversion<V: Variant>() -> Conversion<V::Interrupt> {
    let convert: fn(Box<dyn Any + Send>) -> Option<V::Interrupt> = |payload| {
        let payload = payload.downcast::<V::Payload>().ok()?;
        Some(V::wrap(*payload))
    };
    (TypeId::of::<V::Payload>(), V::PAYLOAD, convert)
}

struct InterruptVisitor<I>(PhantomData<I>);

impl<'de, I: SealedInterrupt> Visitor<'de> for InterruptVisitor<I> {
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
