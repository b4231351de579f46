//! Counting the fields of an object that are set, as far as it has arrived.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Counts the fields whose values have begun and are not null.
#[derive(Clone, Copy)]
pub(super) struct SetFields<'count>(&'count Cell<usize>);

impl SetFields<'_> {
    /// How many are set in the object that the text begins with; none if it is no object.
    pub(super) fn begun_in(text: &[u8]) -> usize {
        let count = Cell::new(0);
        let mut json = serde_json::Deserializer::from_slice(text);
        // The text ends within the object; that error is of no interest.
        let _end = SetFields(&count).deserialize(&mut json);
        count.get()
    }
}

impl<'de> DeserializeSeed<'de> for SetFields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SetFields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(SetField(self.0))?;
        }
        Ok(())
    }
}

/// The value of one field, which counts once it has begun.
struct SetField<'count>(&'count Cell<usize>);

impl SetField<'_> {
    fn is_set(&self) {
        self.0.set(self.0.get() + 1);
    }
}

impl<'de> DeserializeSeed<'de> for SetField<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SetField<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or null")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<(), E> {
        self.is_set();
        Ok(())
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<(), E> {
        self.is_set();
        Ok(())
    }

    fn visit_u64<E: Error>(self, _value: u64) -> Result<(), E> {
        self.is_set();
        Ok(())
    }

    fn visit_f64<E: Error>(self, _value: f64) -> Result<(), E> {
        self.is_set();
        Ok(())
    }

    fn visit_str<E: Error>(self, _value: &str) -> Result<(), E> {
        self.is_set();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<(), A::Error> {
        self.is_set();
        IgnoredAny.visit_seq(sequence).map(|_value| ())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.is_set();
        IgnoredAny.visit_map(map).map(|_value| ())
    }
}
