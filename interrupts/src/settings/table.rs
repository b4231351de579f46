//! A table of settings, which remembers what was asked of it.

use std::cell::RefCell;
use std::ops::Range;

use jiff::SignedDuration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Settings, nearest};

/// A value, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Found<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// A table of settings. Its methods give `None` if a key is missing, and if its value is refused; then the refusal is
/// noted.
pub(crate) struct SettingsTable<'settings> {
    settings: &'settings Settings<'settings>,
    entries: &'settings DeTable<'settings>,
    span: Range<usize>,
    known: RefCell<Vec<&'static str>>,
}

type Value<'settings> = Spanned<DeValue<'settings>>;

impl<'settings> SettingsTable<'settings> {
    pub(super) fn new(
        settings: &'settings Settings<'settings>,
        entries: &'settings DeTable<'settings>,
        span: Range<usize>,
    ) -> Self {
        Self {
            settings,
            entries,
            span,
            known: RefCell::default(),
        }
    }

    /// Notes a mistake.
    pub(crate) fn refuse(&self, span: &Range<usize>, message: impl Into<String>) {
        self.settings.refuse(span, message);
    }

    /// The line, from 1, in which it begins.
    pub(crate) fn line(&self) -> usize {
        self.settings.line(&self.span)
    }

    /// Where it is.
    pub(crate) fn span(&self) -> &Range<usize> {
        &self.span
    }

    pub(super) fn know(&self, key: &'static str) {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
    }

    fn value(&self, key: &'static str) -> Option<&'settings Value<'settings>> {
        self.know(key);
        self.entries.get(key)
    }

    fn read<T>(
        &self,
        key: &'static str,
        form: &str,
        read: impl FnOnce(&'settings DeValue<'settings>) -> Option<T>,
    ) -> Option<Found<T>> {
        let value = self.value(key)?;
        let span = value.span();
        if let Some(value) = read(value.get_ref()) {
            return Some(Found { value, span });
        }
        let given = value.get_ref().type_str();
        self.refuse(
            &span,
            format!("`{key}` is {form}, not a value of type {given}"),
        );
        None
    }

    /// A text.
    pub(crate) fn text(&self, key: &'static str) -> Option<Found<&'settings str>> {
        self.read(key, "a text in quotes", DeValue::as_str)
    }

    /// Whether the key is there, with any value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether the key is there and has this text.
    pub(crate) fn is_text(&self, key: &'static str, text: &str) -> bool {
        self.value(key)
            .is_some_and(|value| value.get_ref().as_str() == Some(text))
    }

    /// The digits of a number, or a text with them.
    pub(crate) fn number(&self, key: &'static str) -> Option<Found<&'settings str>> {
        self.read(key, "a decimal number", |value| match value {
            DeValue::String(text) => Some(text.as_ref()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            DeValue::Float(number) => Some(number.as_str()),
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        })
    }

    /// A whole number in a range.
    pub(crate) fn integer(
        &self,
        key: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<Found<u32>> {
        let found = self.read(key, "a whole number", |value| {
            let number = value.as_integer()?;
            i64::from_str_radix(number.as_str(), number.radix()).ok()
        })?;
        let value = u32::try_from(found.value)
            .ok()
            .filter(|value| range.contains(value));
        let (least, most) = range.into_inner();
        if value.is_none() {
            let given = found.value;
            self.refuse(
                &found.span,
                format!("`{key}` is a whole number from {least} to {most}, not {given}"),
            );
        }
        value.map(|value| Found {
            value,
            span: found.span,
        })
    }

    /// Yes or no.
    pub(crate) fn boolean(&self, key: &'static str) -> Option<Found<bool>> {
        self.read(key, "true or false", DeValue::as_bool)
    }

    /// A text or a list of texts.
    pub(crate) fn texts(&self, key: &'static str) -> Option<Vec<Found<&'settings str>>> {
        let value = self.value(key)?;
        let one = |value: &'settings Value<'settings>| {
            let text = value.get_ref().as_str()?;
            Some(Found {
                value: text,
                span: value.span(),
            })
        };
        let list = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(one).collect(),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => one(value).map(|found| vec![found]),
        };
        if list.is_none() {
            self.refuse(
                &value.span(),
                format!("`{key}` is a text in quotes, or a list of such texts"),
            );
        }
        list
    }

    /// A time span that is longer than nothing.
    pub(crate) fn duration(&self, key: &'static str) -> Option<Found<SignedDuration>> {
        let found = self.text(key)?;
        let value = found
            .value
            .parse::<SignedDuration>()
            .ok()
            .filter(SignedDuration::is_positive);
        if value.is_none() {
            let given = found.value;
            self.refuse(
                &found.span,
                format!("`{key}` is a time such as \"90s\", \"15m\" or \"2h 30m\", not `{given}`"),
            );
        }
        value.map(|value| Found {
            value,
            span: found.span,
        })
    }

    /// A table.
    pub(crate) fn table(&self, key: &'static str) -> Option<Self> {
        let found = self.read(key, "a table", DeValue::as_table)?;
        Some(Self::new(self.settings, found.value, found.span))
    }

    /// The tables of a list, in their order.
    pub(crate) fn tables(&self, key: &'static str) -> Vec<Self> {
        let form = format!("a list of tables, each begun by [[{key}]]");
        let found = self.read(key, &form, |value| {
            let tables = value.as_array()?.iter().map(|value| {
                let entries = value.get_ref().as_table()?;
                Some(Self::new(self.settings, entries, value.span()))
            });
            tables.collect::<Option<Vec<_>>>()
        });
        found.map(|found| found.value).unwrap_or_default()
    }

    /// All entries as tables with their names.
    pub(crate) fn named_tables(&self) -> Vec<(&'settings str, Self)> {
        let mut tables = Vec::new();
        for (name, value) in self.entries {
            match value.get_ref().as_table() {
                Some(entries) => {
                    let table = Self::new(self.settings, entries, value.span());
                    tables.push((name.get_ref().as_ref(), table));
                }
                None => self.refuse(
                    &name.span(),
                    format!("`{}` must be a table", name.get_ref()),
                ),
            }
        }
        tables
    }

    /// Notes which of these keys are missing.
    pub(crate) fn require(&self, keys: &[&'static str]) {
        for key in keys {
            if !self.entries.contains_key(*key) {
                self.refuse(&self.span, format!("`{key}` is missing here"));
            }
        }
    }

    /// Notes the keys that were not asked for. Call it after all known keys were asked for.
    pub(crate) fn finish(&self) {
        let known = self.known.borrow();
        for name in self.entries.keys() {
            let given = name.get_ref().as_ref();
            if known.contains(&given) {
                continue;
            }
            let remedy = nearest(given, known.iter().copied()).map_or_else(
                || format!("known here are: {}", known.join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            self.refuse(&name.span(), format!("unknown key `{given}`; {remedy}"));
        }
    }
}
