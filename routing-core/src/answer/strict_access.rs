//! Sequences, maps and variants of strict reading: what is inside is read strictly too.

use std::collections::BTreeSet;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::AnswerFault;
use super::strict::{Strict, StrictSeed};
use super::strict_key::DistinctKey;
use super::watch::Watch;

/// A sequence whose elements are read strictly.
pub(super) struct StrictSeq<A, W> {
    inner: A,
    watch: W,
}

impl<A, W: Watch> StrictSeq<A, W> {
    #[inline]
    pub(super) fn new(inner: A, watch: W) -> Self {
        Self { inner, watch }
    }
}

impl<'de, A: SeqAccess<'de>, W: Watch> SeqAccess<'de> for StrictSeq<A, W> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_element_seed(strict(seed, self.watch))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// What is known of an object's keys.
pub(super) enum Keys {
    /// They are the fields of a struct.
    Fields(&'static [&'static str]),
    /// They are free, and these have been seen.
    Seen(BTreeSet<String>),
}

impl Keys {
    #[inline]
    pub(super) fn none_seen() -> Self {
        Self::Seen(BTreeSet::new())
    }
}

/// An object whose values are read strictly, and whose keys must differ.
pub(super) struct StrictMap<A, W> {
    inner: A,
    watch: W,
    keys: Keys,
}

impl<A, W: Watch> StrictMap<A, W> {
    #[inline]
    pub(super) fn new(inner: A, watch: W, keys: Keys) -> Self {
        Self { inner, watch, keys }
    }
}

impl<'de, A: MapAccess<'de>, W: Watch> MapAccess<'de> for StrictMap<A, W> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        match &mut self.keys {
            Keys::Fields(_) => self.inner.next_key_seed(seed),
            Keys::Seen(seen) => self
                .inner
                .next_key_seed(DistinctKey::new(seed, seen, self.watch)),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let siblings: &'static [&'static str] = match self.keys {
            Keys::Fields(fields) => fields,
            Keys::Seen(_) => &[],
        };
        self.inner.next_value_seed(StrictSeed {
            seed,
            watch: self.watch,
            siblings,
        })
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// An enum of a format that has enums of its own.
pub(super) struct StrictEnum<A, W> {
    inner: A,
    watch: W,
}

impl<A, W: Watch> StrictEnum<A, W> {
    #[inline]
    pub(super) fn new(inner: A, watch: W) -> Self {
        Self { inner, watch }
    }
}

impl<'de, A: EnumAccess<'de>, W: Watch> EnumAccess<'de> for StrictEnum<A, W> {
    type Error = A::Error;
    type Variant = A::Variant;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, A::Variant), A::Error> {
        self.inner.variant_seed(strict(seed, self.watch))
    }
}

/// A variant with data: an object whose one key names it.
pub(super) struct StrictVariantMap<A, W> {
    inner: A,
    watch: W,
}

impl<A, W: Watch> StrictVariantMap<A, W> {
    #[inline]
    pub(super) fn new(inner: A, watch: W) -> Self {
        Self { inner, watch }
    }

    fn value<'de, S>(mut self, seed: S) -> Result<S::Value, A::Error>
    where
        A: MapAccess<'de>,
        S: DeserializeSeed<'de>,
    {
        let value = self.inner.next_value_seed(seed)?;
        if self.inner.next_key::<IgnoredAny>()?.is_some() {
            self.watch.note(AnswerFault::WrongShape, None);
            return Err(A::Error::custom(
                "more than one property stands where one names the variant",
            ));
        }
        Ok(value)
    }
}

impl<'de, A: MapAccess<'de>, W: Watch> EnumAccess<'de> for StrictVariantMap<A, W> {
    type Error = A::Error;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<(S::Value, Self), A::Error> {
        match self.inner.next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(A::Error::custom(
                "an empty object stands where a property names the variant",
            )),
        }
    }
}

impl<'de, A: MapAccess<'de>, W: Watch> VariantAccess<'de> for StrictVariantMap<A, W> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.watch.note(AnswerFault::WrongShape, None);
        Err(A::Error::custom(
            "an object stands where the bare name of the variant belongs, as a string",
        ))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = strict(seed, self.watch);
        self.value(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let watch = self.watch;
        self.value(Tuple {
            length,
            visitor,
            watch,
        })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let watch = self.watch;
        self.value(Struct {
            fields,
            visitor,
            watch,
        })
    }
}

struct Tuple<V, W> {
    length: usize,
    visitor: V,
    watch: W,
}

impl<'de, V: Visitor<'de>, W: Watch> DeserializeSeed<'de> for Tuple<V, W> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        Strict::new(deserializer, self.watch).deserialize_tuple(self.length, self.visitor)
    }
}

struct Struct<V, W> {
    fields: &'static [&'static str],
    visitor: V,
    watch: W,
}

impl<'de, V: Visitor<'de>, W: Watch> DeserializeSeed<'de> for Struct<V, W> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        Strict::new(deserializer, self.watch).deserialize_struct("", self.fields, self.visitor)
    }
}

#[inline]
fn strict<S, W>(seed: S, watch: W) -> StrictSeed<S, W> {
    StrictSeed {
        seed,
        watch,
        siblings: &[],
    }
}
