//! Values of variables and headers: written down, or taken from our environment. They may be secrets.

use std::ffi::OsString;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

/// Looks up a variable of our environment.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A value as it is written in a configuration: a text, or `{ from = "VARIABLE", prefix = "Bearer " }`.
pub(super) enum Value {
    Text(String),
    From { variable: String, prefix: String },
}

/// A variable that a value is to be taken from and that gives none.
pub(super) struct Missing {
    pub(super) problem: String,
    pub(super) remedy: String,
}

impl Value {
    /// The value itself.
    pub(super) fn resolve(self, variables: Variables<'_>) -> Result<OsString, Missing> {
        match self {
            Self::Text(text) => Ok(text.into()),
            Self::From { variable, prefix } => {
                let Some(found) = variables(&variable) else {
                    return Err(Missing {
                        problem: format!("the variable `{variable}` is not set"),
                        remedy: format!(
                            "set `{variable}` before the program starts, or remove the line"
                        ),
                    });
                };
                let mut value = OsString::from(prefix);
                value.push(found);
                Ok(value)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, or a table with `from`, the name of a variable")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let (mut variable, mut prefix) = (None, String::new());
        while let Some(name) = access.next_key::<String>()? {
            match name.as_str() {
                "from" => variable = Some(access.next_value()?),
                "prefix" => prefix = access.next_value()?,
                other => return Err(A::Error::unknown_field(other, &["from", "prefix"])),
            }
        }
        let variable = variable.ok_or_else(|| A::Error::missing_field("from"))?;
        Ok(Value::From { variable, prefix })
    }
}
