//! Values of variables and headers: written down, or taken from our environment. They may be secrets.

use std::ffi::OsString;

use serde::Deserialize;

/// Looks up a variable of our environment.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A value as it is written in a configuration: a text, or `{ from = "VARIABLE", prefix = "Bearer " }`.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, or a table with `from`, the name of a variable"
)]
pub(super) enum Value {
    Text(String),
    Variable(Variable),
}

/// A value of our environment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variable {
    from: String,
    #[serde(default)]
    prefix: String,
}

impl Value {
    /// The value itself; an error says which variable is missing.
    pub(super) fn resolve(self, variables: Variables<'_>) -> Result<OsString, String> {
        match self {
            Self::Text(text) => Ok(text.into()),
            Self::Variable(Variable { from, prefix }) => {
                let found = variables(&from).ok_or_else(|| {
                    format!("the variable `{from}` is not set; set `{from}` before the program starts, or remove the line")
                })?;
                let mut value = OsString::from(prefix);
                value.push(found);
                Ok(value)
            }
        }
    }
}
