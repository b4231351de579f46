//! Writing a schema in a provider's dialect.
use serde_json::Value;

use super::Dialect;

/// Writes a plain schema in a provider's dialect.
pub(super) fn render(plain: &Value, _dialect: Dialect) -> Value {
    plain.clone()
}
