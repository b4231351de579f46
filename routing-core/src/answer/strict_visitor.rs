//! The visitors of strict reading: they pass every value on, and look into what has values inside.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

use super::AnswerFault;
use super::strict::{Fields, Strict};
use super::strict_access::{Keys, StrictEnum, StrictMap, StrictSeq, StrictVariantMap};
use super::watch::Watch;

/// 2 to the power of 64: from here on integers are read as floating-point numbers.
const PAST_INTEGERS: f64 = 18_446_744_073_709_551_616.0;

/// What is read.
#[derive(Clone, Copy)]
pub(super) enum ReadShape {
    /// A struct with these fields.
    Struct(&'static [&'static str]),
    /// Anything else.
    Other,
}

/// Passes values on, strictly.
pub(super) struct StrictVisitor<V, W> {
    inner: V,
    watch: W,
    place: ReadShape,
}

impl<V, W: Watch> StrictVisitor<V, W> {
    #[inline]
    pub(super) fn new(inner: V, watch: W, place: ReadShape) -> Self {
        Self {
            inner,
            watch,
            place,
        }
    }
}

/// Visits that are passed on as they are.
macro_rules! passed_on {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>, W: Watch> Visitor<'de> for StrictVisitor<V, W> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            ReadShape::Struct([]) => formatter.write_str("an empty object"),
            ReadShape::Struct(fields) => {
                write!(formatter, "an object with the fields {}", fields.join(", "))
            }
            ReadShape::Other => self.inner.expecting(formatter),
        }
    }

    passed_on! {
        visit_bool(bool)
        visit_i64(i64)
        visit_i128(i128)
        visit_u64(u64)
        visit_u128(u128)
        visit_char(char)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
        visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8])
        visit_byte_buf(Vec<u8>)
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        if value.abs() >= PAST_INTEGERS {
            self.watch.note(AnswerFault::WrongShape, None);
            return Err(E::custom(format_args!(
                "the number {value:e} is too large to be kept exactly; at most 64 bits are"
            )));
        }
        self.inner.visit_f64(value)
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Strict::new(deserializer, self.watch))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .visit_newtype_struct(Strict::new(deserializer, self.watch))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<V::Value, A::Error> {
        match self.place {
            ReadShape::Struct(fields) => {
                self.watch.note(AnswerFault::ArrayForObject, None);
                Err(A::Error::custom(format_args!(
                    "an array stands where an object belongs; {}",
                    Fields(fields)
                )))
            }
            ReadShape::Other => self.inner.visit_seq(StrictSeq::new(sequence, self.watch)),
        }
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let keys = match self.place {
            // Derived code refuses doubled fields itself.
            ReadShape::Struct(fields) => Keys::Fields(fields),
            ReadShape::Other => Keys::none_seen(),
        };
        self.inner.visit_map(StrictMap::new(map, self.watch, keys))
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(StrictEnum::new(access, self.watch))
    }
}

/// Takes a string for a variant without data, an object of one property for one with data.
pub(super) struct EnumVisitor<V, W> {
    inner: V,
    watch: W,
    variants: &'static [&'static str],
}

impl<V, W: Watch> EnumVisitor<V, W> {
    #[inline]
    pub(super) fn new(inner: V, watch: W, variants: &'static [&'static str]) -> Self {
        Self {
            inner,
            watch,
            variants,
        }
    }
}

impl<'de, V: Visitor<'de>, W: Watch> Visitor<'de> for EnumVisitor<V, W> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of: {}", self.variants.join(", "))
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        self.inner.visit_enum(StrDeserializer::new(name))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner
            .visit_enum(StrictVariantMap::new(map, self.watch))
    }
}
