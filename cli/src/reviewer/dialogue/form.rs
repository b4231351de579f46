//! A form that is being filled in, one field after the other.

use serde_json::{Map, Value};
use tools::FormField;

/// The fields of a form, and what is filled in so far.
#[derive(Debug)]
pub(super) struct Form {
    fields: Vec<FormField>,
    at: usize,
    filled: Map<String, Value>,
}

impl Form {
    /// The form that a schema describes, with nothing filled in.
    pub(super) fn of(schema: &Value) -> Self {
        Self {
            fields: FormField::all(schema),
            at: 0,
            filled: Map::new(),
        }
    }

    /// The field that is to be filled in now.
    pub(super) fn next(&self) -> Option<&FormField> {
        self.fields.get(self.at)
    }

    /// Fills in the field with what was typed, and continues with the next one.
    ///
    /// # Errors
    ///
    /// In words, why it cannot be that.
    pub(super) fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(field) = self.fields.get(self.at) {
            if let Some(value) = field.read(line)? {
                self.filled.insert(field.name.clone(), value);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// What is filled in. The form is empty then, and begins anew.
    pub(super) fn filled(&mut self) -> Value {
        self.at = 0;
        Value::Object(std::mem::take(&mut self.filled))
    }
}
