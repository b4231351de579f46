//! A variant with data: an object whose one key names it.

use std::borrow::Cow;
use std::cell::Cell;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::Reader;
use super::key::KeyReader;
use crate::answer::AnswerFault;
use crate::answer::read_error::ReadError;
use crate::answer::tree::{Tree, Whole};

/// The object, whose name is to be read.
pub(super) struct VariantObject<'t, 'n> {
    entries: Vec<(Cow<'t, str>, Tree<'t>)>,
    whole: Whole,
    is_buffered: &'n Cell<bool>,
}

/// What follows the name.
pub(super) struct VariantValue<'t, 'n> {
    name: Cow<'t, str>,
    value: Tree<'t>,
    /// Whether nothing stands beside it; `None` while that is not known.
    is_alone: Option<bool>,
    is_buffered: &'n Cell<bool>,
}

impl<'t, 'n> VariantObject<'t, 'n> {
    pub(super) fn new(
        entries: Vec<(Cow<'t, str>, Tree<'t>)>,
        whole: Whole,
        is_buffered: &'n Cell<bool>,
    ) -> Self {
        Self {
            entries,
            whole,
            is_buffered,
        }
    }
}

impl<'t, 'n> EnumAccess<'t> for VariantObject<'t, 'n> {
    type Error = ReadError;
    type Variant = VariantValue<'t, 'n>;

    fn variant_seed<S: DeserializeSeed<'t>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), ReadError> {
        let is_alone = match self.entries.len() {
            0 | 1 => self.whole.then_some(true),
            _ => Some(false),
        };
        let Some((name, value)) = self.entries.into_iter().next() else {
            return Err(match is_alone {
                None => ReadError::unfinished(),
                Some(_) => ReadError::new(
                    AnswerFault::WrongShape,
                    "an empty object stands where a property names the variant",
                ),
            });
        };
        let variant = seed.deserialize(KeyReader(&name))?;
        let rest = VariantValue {
            name,
            value,
            is_alone,
            is_buffered: self.is_buffered,
        };
        Ok((variant, rest))
    }
}

impl<'t, 'n> VariantValue<'t, 'n> {
    fn read<T>(
        self,
        read: impl FnOnce(Reader<'t, 'n>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let value = read(Reader::new(self.value, self.is_buffered));
        let value = value.and_then(|value| match self.is_alone {
            Some(true) => Ok(value),
            None => Err(ReadError::unfinished()),
            Some(false) => Err(ReadError::new(
                AnswerFault::WrongShape,
                "more than one property stands where one names the variant",
            )),
        });
        value.map_err(|error| error.below_key(&self.name))
    }
}

impl<'t> VariantAccess<'t> for VariantValue<'t, '_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        let reason = "an object stands where the bare name of the variant belongs, as a string";
        Err(ReadError::new(AnswerFault::WrongShape, reason).below_key(&self.name))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value, ReadError> {
        self.read(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'t>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.read(|reader| reader.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.read(|reader| reader.deserialize_struct("", fields, visitor))
    }
}
