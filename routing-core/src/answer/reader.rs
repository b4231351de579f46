//! A tree into a type, more strictly than serde does by default, at any depth.
//!
//! Derived code takes an array for a struct (fields by position), skips fields that it does not know, and lets a
//! doubled key of a map win over the first. A model's answer must do none of this: what its schema forbids is refused
//! here.
//!
//! One hole is serde's: what it buffers (untagged and internally tagged enums, `flatten`) is read from its buffer. That
//! is noted, and such an answer is compared with its schema.

mod entries;
mod key;
mod variant;

use std::borrow::Cow;
use std::cell::Cell;

use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Expected, Unexpected, Visitor};

use self::entries::{Elements, Entries, Keys};
use self::variant::VariantObject;
use super::AnswerFault;
use super::read_error::{Fields, ReadError};
use super::tree::{Plain, Tree};

/// 2 to the power of 64: from here on integers are read as floating-point numbers.
const PAST_INTEGERS: f64 = 18_446_744_073_709_551_616.0;

/// Reads one value of a tree. The one deserializer that a request's type meets, so that it is compiled once.
pub(crate) struct Reader<'t, 'n> {
    tree: Tree<'t>,
    /// The fields of the struct whose value this is; empty if it is no struct's.
    siblings: &'static [&'static str],
    is_buffered: &'n Cell<bool>,
}

impl<'t, 'n> Reader<'t, 'n> {
    /// A reader that notes whether serde has buffered a part.
    pub(super) fn new(tree: Tree<'t>, is_buffered: &'n Cell<bool>) -> Self {
        Self::beside(tree, &[], is_buffered)
    }

    fn beside(
        tree: Tree<'t>,
        siblings: &'static [&'static str],
        is_buffered: &'n Cell<bool>,
    ) -> Self {
        Self {
            tree,
            siblings,
            is_buffered,
        }
    }

    fn refused<V: Visitor<'t>>(&self, expected: &V) -> ReadError {
        misplaced(&self.tree, &(expected as &dyn Expected))
    }

    /// A value that has none inside.
    fn plain<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::Plain(Plain::Bool(value)) => visitor.visit_bool(value),
            Tree::Plain(Plain::Unsigned(value)) => visitor.visit_u64(value),
            Tree::Plain(Plain::Signed(value)) => visitor.visit_i64(value),
            Tree::Plain(Plain::Float(value)) => visitor.visit_f64(value),
            Tree::Plain(Plain::Text(Cow::Borrowed(text))) => visitor.visit_borrowed_str(text),
            Tree::Plain(Plain::Text(Cow::Owned(text))) => visitor.visit_string(text),
            Tree::Null => visitor.visit_unit(),
            Tree::Unfinished | Tree::List(..) | Tree::Object(..) => Err(self.refused(&visitor)),
        }
    }

    fn list<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let Tree::List(elements, whole) = self.tree else {
            return Err(self.refused(&visitor));
        };
        let mut elements = Elements::new(elements, whole, self.is_buffered);
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        Ok(value)
    }
}

/// The error of a value that stands where something else is expected.
pub(super) fn misplaced(tree: &Tree<'_>, expected: &dyn std::fmt::Display) -> ReadError {
    let unexpected = match tree {
        Tree::Unfinished => return ReadError::unfinished(),
        Tree::Null => Unexpected::Unit,
        Tree::Plain(Plain::Bool(value)) => Unexpected::Bool(*value),
        Tree::Plain(Plain::Unsigned(value)) => Unexpected::Unsigned(*value),
        Tree::Plain(Plain::Signed(value)) => Unexpected::Signed(*value),
        Tree::Plain(Plain::Float(value)) => Unexpected::Float(*value),
        Tree::Plain(Plain::Text(text)) => Unexpected::Str(text),
        Tree::List(..) => Unexpected::Seq,
        Tree::Object(..) => Unexpected::Map,
    };
    ReadError::misplaced(unexpected, expected)
}

/// An array where an object belongs, with these fields if they are known.
pub(super) fn array_for_object(fields: &[&str]) -> ReadError {
    let reason = match fields {
        [] => "an array stands where an object belongs".to_owned(),
        _ => format!(
            "an array stands where an object belongs; {}",
            Fields(fields)
        ),
    };
    ReadError::new(AnswerFault::ArrayForObject, reason)
}

macro_rules! plain {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.plain(visitor)
        }
    )*};
}

impl<'t> Deserializer<'t> for Reader<'t, '_> {
    type Error = ReadError;

    plain! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string
        deserialize_unit deserialize_identifier
    }

    /// Buffers are filled by this method.
    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.is_buffered.set(true);
        match self.tree {
            Tree::List(..) => self.list(visitor),
            Tree::Object(entries, whole) => {
                visitor.visit_map(Entries::new(entries, whole, Keys::Free, self.is_buffered))
            }
            Tree::Plain(Plain::Float(value)) if value.abs() >= PAST_INTEGERS => {
                Err(ReadError::new(
                    AnswerFault::WrongShape,
                    format_args!(
                        "the number {value:e} is too large to be kept exactly; at most 64 bits are"
                    ),
                ))
            }
            Tree::Unfinished | Tree::Null | Tree::Plain(_) => self.plain(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::Null => visitor.visit_none(),
            Tree::Unfinished => Err(ReadError::unfinished()),
            Tree::Plain(_) | Tree::List(..) | Tree::Object(..) => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::List(..) => self.list(visitor),
            Tree::Unfinished | Tree::Null | Tree::Plain(_) | Tree::Object(..) => {
                self.plain(visitor)
            }
        }
    }

    fn deserialize_byte_buf<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.plain(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'t>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::Object(entries, whole) => {
                visitor.visit_map(Entries::new(entries, whole, Keys::Free, self.is_buffered))
            }
            Tree::List(..) => Err(array_for_object(&[])),
            Tree::Unfinished | Tree::Null | Tree::Plain(_) => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::Object(entries, whole) => {
                let keys = Keys::Fields(fields);
                visitor.visit_map(Entries::new(entries, whole, keys, self.is_buffered))
            }
            Tree::List(..) => Err(array_for_object(fields)),
            other @ (Tree::Unfinished | Tree::Null | Tree::Plain(_)) => Err(misplaced(
                &other,
                &match fields {
                    [] => "an empty object".to_owned(),
                    _ => format!("an object with the fields {}", fields.join(", ")),
                },
            )),
        }
    }

    /// Tells a string from an object of one property: serde takes `{"A": null}` for the variant `A`, which the schema
    /// writes as `"A"` alone.
    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.tree {
            Tree::Plain(Plain::Text(name)) => visitor.visit_enum(StrDeserializer::new(&name)),
            Tree::Object(entries, whole) => {
                visitor.visit_enum(VariantObject::new(entries, whole, self.is_buffered))
            }
            other @ (Tree::Unfinished | Tree::Null | Tree::Plain(_) | Tree::List(..)) => {
                let expected = format!("one of: {}", variants.join(", "));
                Err(misplaced(&other, &expected))
            }
        }
    }

    /// Derived code skips the value of a field that it does not know by this method.
    fn deserialize_ignored_any<V: Visitor<'t>>(self, _visitor: V) -> Result<V::Value, ReadError> {
        let reason = format!("unknown field; {}", Fields(self.siblings));
        Err(ReadError::new(AnswerFault::UnknownField, reason))
    }
}
