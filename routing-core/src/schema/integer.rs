//! The formats by which schemars names Rust's numbers, and the bounds that they imply.

use serde_json::{Map, Value};

/// An integer type of Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerType {
    is_signed: bool,
    bits: u32,
}

impl IntegerType {
    /// The type that a schema says it describes.
    pub(super) fn of(schema: &Map<String, Value>) -> Option<Self> {
        let format = schema.get("format")?.as_str()?;
        let (is_signed, bits) = match format.strip_prefix('u') {
            Some(rest) => (false, rest.strip_prefix("int")?),
            None => (true, format.strip_prefix("int")?),
        };
        let bits = match bits {
            // The width of a pointer; no machine has a wider one.
            "" => 64,
            bits => bits.parse().ok()?,
        };
        matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(Self { is_signed, bits })
    }

    /// Whether a bound demands nothing that the type does not.
    pub(super) fn implies(self, keyword: &str, bound: &Value) -> bool {
        let Some(bound) = bound
            .as_i64()
            .map(i128::from)
            .or(bound.as_u64().map(i128::from))
        else {
            return false;
        };
        // What does not fit into 128 bits with a sign is no bound in practice.
        let value_bits = if self.is_signed {
            self.bits - 1
        } else {
            self.bits
        };
        let past = 1_i128.checked_shl(value_bits).filter(|past| *past > 0);
        let (least, most) = match (self.is_signed, past) {
            (true, Some(past)) => (-past, past - 1),
            (true, None) => (i128::MIN, i128::MAX),
            (false, Some(past)) => (0, past - 1),
            (false, None) => (0, i128::MAX),
        };
        match keyword {
            "minimum" => bound <= least,
            "maximum" => bound >= most,
            _ => false,
        }
    }
}

/// Whether a format names a floating-point type.
pub(super) fn is_float_format(format: &str) -> bool {
    matches!(format, "float" | "double")
}
