//! The JSON of an answer as a tree, as far as it has come.
//!
//! A text that is cut off, or is no JSON from some place on, is a tree up to there: what was wrong before that place is
//! found first, and an answer that is still arriving is read by the same code as a whole one.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::path::Path;
use super::{AnswerError, AnswerFault};

/// One value. An object has each of its keys as it was written, doubled ones too.
#[derive(Debug, Default)]
pub(crate) enum Tree<'t> {
    /// Nothing of it, or not all of it, has come.
    #[default]
    Unfinished,
    Null,
    Plain(Plain<'t>),
    List(Vec<Tree<'t>>, Whole),
    Object(Vec<(Cow<'t, str>, Tree<'t>)>, Whole),
}

/// A value that has none inside.
#[derive(Debug)]
pub(crate) enum Plain<'t> {
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Cow<'t, str>),
}

/// Whether the end of a list or an object has come.
pub(crate) type Whole = bool;

/// What a text holds, and what ended it, unless it is one whole value and nothing more.
pub(super) struct Parsed<'t> {
    pub(super) tree: Tree<'t>,
    pub(super) fault: Option<AnswerError>,
}

impl<'t> Parsed<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        let mut tree = Tree::Unfinished;
        let mut json = serde_json::Deserializer::from_slice(text);
        let fault = match Place(&mut tree).deserialize(&mut json) {
            Err(error) => Some(Self::ended(&tree, &error)),
            Ok(()) => json.end().err().map(|error| {
                let reason = format!("more text follows the JSON value ({error})");
                AnswerError::new(AnswerFault::Syntax, "$", reason)
            }),
        };
        Self { tree, fault }
    }

    fn ended(tree: &Tree<'_>, error: &serde_json::Error) -> AnswerError {
        let path = tree.path_of_end();
        match error.classify() {
            Category::Eof => {
                let reason = format!("the answer is cut off: {error}");
                AnswerError::new(AnswerFault::CutOff, path, reason)
            }
            Category::Syntax | Category::Data | Category::Io => {
                AnswerError::new(AnswerFault::Syntax, path, error.to_string())
            }
        }
    }
}

impl Tree<'_> {
    /// Whether a value has begun that is not null.
    pub(super) fn is_set(&self) -> bool {
        !matches!(self, Self::Unfinished | Self::Null)
    }

    /// Where the text ends within the tree.
    fn path_of_end(&self) -> String {
        let mut path = Path::default();
        let mut at = self;
        loop {
            at = match at {
                Self::List(elements, false) => match elements.last() {
                    Some(last) => {
                        path.push_index(elements.len() - 1);
                        last
                    }
                    None => break,
                },
                Self::Object(entries, false) => match entries.last() {
                    Some((key, last)) if !last.is_whole() => {
                        path.push_key(key);
                        last
                    }
                    Some(_) | None => break,
                },
                Self::Unfinished
                | Self::Null
                | Self::Plain(_)
                | Self::List(..)
                | Self::Object(..) => break,
            };
        }
        path.into_text()
    }

    fn is_whole(&self) -> bool {
        !matches!(
            self,
            Self::Unfinished | Self::List(_, false) | Self::Object(_, false)
        )
    }
}

impl<'de> Deserialize<'de> for Tree<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tree = Tree::Unfinished;
        Place(&mut tree).deserialize(deserializer)?;
        Ok(tree)
    }
}

/// Where a value goes: it is put there as it comes, so that what has come stays when the text ends.
struct Place<'p, 'de>(&'p mut Tree<'de>);

impl<'de> DeserializeSeed<'de> for Place<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        *self.0 = Tree::Null;
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Bool(value));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Unsigned(value));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Signed(value));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Float(value));
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Text(Cow::Borrowed(value)));
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<(), E> {
        *self.0 = Tree::Plain(Plain::Text(Cow::Owned(value)));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        *self.0 = Tree::List(Vec::new(), false);
        let Tree::List(elements, whole) = self.0 else {
            return Ok(());
        };
        loop {
            let mut element = Tree::Unfinished;
            let read = sequence.next_element_seed(Place(&mut element));
            match read {
                Ok(Some(())) => elements.push(element),
                Ok(None) => {
                    *whole = true;
                    return Ok(());
                }
                Err(error) => {
                    // Of an element that has not begun nothing is known, not even that there is one.
                    elements.push(element);
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.0 = Tree::Object(Vec::new(), false);
        let Tree::Object(entries, whole) = self.0 else {
            return Ok(());
        };
        while let Some(key) = map.next_key_seed(Key)? {
            let mut value = Tree::Unfinished;
            let read = map.next_value_seed(Place(&mut value));
            entries.push((key, value));
            read?;
        }
        *whole = true;
        Ok(())
    }
}

/// Reads a key.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }

    fn visit_string<E: Error>(self, key: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key))
    }
}
