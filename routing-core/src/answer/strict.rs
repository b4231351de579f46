//! JSON read more strictly than serde does by default, at any depth.
//!
//! Derived code takes an array for a struct (fields by position), skips fields that it does not know, and lets a
//! doubled key of a map win over the first. A model's answer must do none of this: what its schema forbids is refused
//! here. The adapter wraps any deserializer of a self-describing format, and stores nothing but the keys of maps.
//!
//! One hole is serde's: what it buffers (untagged and internally tagged enums, `flatten`) is read from its buffer,
//! which an adapter does not reach. The watch is notified of it, and such an answer is compared with its schema.

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::AnswerFault;
use super::strict_visitor::{EnumVisitor, ReadShape, StrictVisitor};
use super::watch::Watch;

/// A deserializer that refuses what the schema of a type would.
pub(crate) struct Strict<D, W> {
    inner: D,
    watch: W,
    /// The fields of the struct whose value this is; empty if it is no struct's.
    siblings: &'static [&'static str],
}

impl<D, W: Watch> Strict<D, W> {
    #[inline]
    pub(crate) fn new(inner: D, watch: W) -> Self {
        Self::beside(inner, watch, &[])
    }

    #[inline]
    pub(super) fn beside(inner: D, watch: W, siblings: &'static [&'static str]) -> Self {
        Self {
            inner,
            watch,
            siblings,
        }
    }
}

/// Reads with a seed, strictly.
pub(super) struct StrictSeed<S, W> {
    pub(super) seed: S,
    pub(super) watch: W,
    pub(super) siblings: &'static [&'static str],
}

impl<'de, S: DeserializeSeed<'de>, W: Watch> DeserializeSeed<'de> for StrictSeed<S, W> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.seed
            .deserialize(Strict::beside(deserializer, self.watch, self.siblings))
    }
}

/// Methods whose values have nothing inside: the visitor is passed on as it is.
macro_rules! plain {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        }
    )*};
}

/// Methods whose values may have others inside.
macro_rules! watched {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = StrictVisitor::new(visitor, self.watch, ReadShape::Other);
            self.inner.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>, W: Watch> Deserializer<'de> for Strict<D, W> {
    type Error = D::Error;

    plain! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string
        deserialize_unit deserialize_identifier
    }

    watched! {
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_option()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
    }

    /// Buffers are filled by this method.
    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.watch.buffers();
        let visitor = StrictVisitor::new(visitor, self.watch, ReadShape::Other);
        self.inner.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = StrictVisitor::new(visitor, self.watch, ReadShape::Struct(fields));
        self.inner.deserialize_struct(name, fields, visitor)
    }

    /// Distinguishes a string from an object of one property: serde takes `{"A": null}` for the variant `A`, which the
    /// schema writes as `"A"` alone.
    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_any(EnumVisitor::new(visitor, self.watch, variants))
    }

    /// Derived code skips the value of a field that it does not know by this method.
    #[cold]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, D::Error> {
        self.watch.note(AnswerFault::UnknownField, None);
        Err(D::Error::custom(format_args!(
            "unknown field; {}",
            Fields(self.siblings)
        )))
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// The fields that an object may have, in words.
pub(super) struct Fields(pub(super) &'static [&'static str]);

impl std::fmt::Display for Fields {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("there are no fields here");
        }
        write!(formatter, "the fields here are: {}", self.0.join(", "))
    }
}
