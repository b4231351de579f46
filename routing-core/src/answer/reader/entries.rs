//! The elements of a list, and the entries of an object, whose keys differ.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::Reader;
use super::key::KeyReader;
use crate::answer::AnswerFault;
use crate::answer::read_error::{ReadError, doubled};
use crate::answer::tree::{Tree, Whole};

/// The elements of a list.
pub(super) struct Elements<'t, 'n> {
    elements: std::vec::IntoIter<Tree<'t>>,
    at: usize,
    whole: Whole,
    is_buffered: &'n Cell<bool>,
}

impl<'t, 'n> Elements<'t, 'n> {
    pub(super) fn new(elements: Vec<Tree<'t>>, whole: Whole, is_buffered: &'n Cell<bool>) -> Self {
        Self {
            elements: elements.into_iter(),
            at: 0,
            whole,
            is_buffered,
        }
    }

    /// Nothing may be left.
    pub(super) fn end(mut self) -> Result<(), ReadError> {
        match self.elements.next() {
            None if self.whole => Ok(()),
            None | Some(Tree::Unfinished) => Err(ReadError::unfinished()),
            Some(_) => {
                let reason = "the list has more elements than it may";
                Err(ReadError::new(AnswerFault::WrongShape, reason))
            }
        }
    }
}

impl<'t> SeqAccess<'t> for &mut Elements<'t, '_> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some(element) = self.elements.next() else {
            return if self.whole {
                Ok(None)
            } else {
                Err(ReadError::unfinished())
            };
        };
        let index = self.at;
        self.at += 1;
        let read = seed.deserialize(Reader::new(element, self.is_buffered));
        read.map(Some).map_err(|error| error.below_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// What is known of an object's keys.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    /// They are the fields of a struct. Derived code refuses doubled ones itself.
    Fields(&'static [&'static str]),
    /// They are free.
    Free,
}

/// The entries of an object.
pub(super) struct Entries<'t, 'n> {
    entries: std::vec::IntoIter<(Cow<'t, str>, Tree<'t>)>,
    whole: Whole,
    keys: Keys,
    seen: BTreeSet<Cow<'t, str>>,
    /// The entry whose key was read.
    open: Option<(Cow<'t, str>, Tree<'t>)>,
    is_buffered: &'n Cell<bool>,
}

impl<'t, 'n> Entries<'t, 'n> {
    pub(super) fn new(
        entries: Vec<(Cow<'t, str>, Tree<'t>)>,
        whole: Whole,
        keys: Keys,
        is_buffered: &'n Cell<bool>,
    ) -> Self {
        Self {
            entries: entries.into_iter(),
            whole,
            keys,
            seen: BTreeSet::new(),
            open: None,
            is_buffered,
        }
    }
}

impl<'t> MapAccess<'t> for Entries<'t, '_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some((key, value)) = self.entries.next() else {
            return if self.whole {
                Ok(None)
            } else {
                Err(ReadError::unfinished())
            };
        };
        if matches!(self.keys, Keys::Free) && !self.seen.insert(key.clone()) {
            return Err(doubled(&key));
        }
        let read = seed.deserialize(KeyReader(&key));
        self.open = Some((key, value));
        read.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let Some((key, value)) = self.open.take() else {
            return Err(ReadError::unfinished());
        };
        let siblings = match self.keys {
            Keys::Fields(fields) => fields,
            Keys::Free => &[],
        };
        seed.deserialize(Reader::beside(value, siblings, self.is_buffered))
            .map_err(|error| error.below_key(&key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}
