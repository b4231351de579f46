//! The keys of maps: each may appear once.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::AnswerFault;
use super::watch::Watch;

/// Reads a key, and refuses one that has been seen.
pub(super) struct DistinctKey<'seen, T, W> {
    inner: T,
    seen: &'seen mut BTreeSet<String>,
    watch: W,
}

impl<'seen, T, W: Watch> DistinctKey<'seen, T, W> {
    pub(super) fn new(inner: T, seen: &'seen mut BTreeSet<String>, watch: W) -> Self {
        Self { inner, seen, watch }
    }

    fn see<E: Error>(&mut self, key: String) -> Result<(), E> {
        if self.seen.contains(&key) {
            self.watch.note(AnswerFault::DuplicateKey, Some(&key));
            return Err(E::custom(format_args!("the key `{key}` stands twice")));
        }
        self.seen.insert(key);
        Ok(())
    }
}

impl<'de, S: DeserializeSeed<'de>, W: Watch> DeserializeSeed<'de> for DistinctKey<'_, S, W> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let Self { inner, seen, watch } = self;
        inner.deserialize(DistinctKey::new(deserializer, seen, watch))
    }
}

macro_rules! keys {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let Self { inner, seen, watch } = self;
            inner.$method($($argument,)* DistinctKey::new(visitor, seen, watch))
        }
    )*};
}

impl<'de, D: Deserializer<'de>, W: Watch> Deserializer<'de> for DistinctKey<'_, D, W> {
    type Error = D::Error;

    keys! {
        deserialize_any()
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_identifier() deserialize_ignored_any()
    }

    /// The name of a variant is read as text, so that it can be seen.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, seen, watch } = self;
        inner.deserialize_str(DistinctKey::new(VariantName(visitor), seen, watch))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Makes a variant of its name.
struct VariantName<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for VariantName<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        self.0.visit_enum(StrDeserializer::new(name))
    }
}

macro_rules! seen {
    ($($method:ident($type:ty))*) => {$(
        fn $method<E: Error>(mut self, key: $type) -> Result<V::Value, E> {
            self.see(key.to_string())?;
            self.inner.$method(key)
        }
    )*};
}

impl<'de, V: Visitor<'de>, W: Watch> Visitor<'de> for DistinctKey<'_, V, W> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    seen! {
        visit_bool(bool)
        visit_i64(i64)
        visit_i128(i128)
        visit_u64(u64)
        visit_u128(u128)
        visit_f64(f64)
        visit_char(char)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
    }

    fn visit_bytes<E: Error>(mut self, key: &[u8]) -> Result<V::Value, E> {
        self.see(String::from_utf8_lossy(key).into_owned())?;
        self.inner.visit_bytes(key)
    }

    fn visit_borrowed_bytes<E: Error>(mut self, key: &'de [u8]) -> Result<V::Value, E> {
        self.see(String::from_utf8_lossy(key).into_owned())?;
        self.inner.visit_borrowed_bytes(key)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let Self { inner, seen, watch } = self;
        inner.visit_some(DistinctKey::new(deserializer, seen, watch))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, seen, watch } = self;
        inner.visit_newtype_struct(DistinctKey::new(deserializer, seen, watch))
    }
}
