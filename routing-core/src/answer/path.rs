//! Where a value stands in an answer: `$.a.b[2]`.

use std::fmt::Write;

/// A path from the whole answer, `$`, to a value.
#[derive(Debug, Clone)]
pub(super) struct Path(String);

impl Default for Path {
    fn default() -> Self {
        Self("$".to_owned())
    }
}

impl From<String> for Path {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Path {
    pub(super) fn push_index(&mut self, index: usize) {
        // Writing to a string cannot fail.
        let _written = write!(self.0, "[{index}]");
    }

    pub(super) fn push_key(&mut self, key: &str) {
        let is_plain = !key.is_empty()
            && key
                .chars()
                .all(|char| char.is_alphanumeric() || char == '_');
        if is_plain {
            self.0.push('.');
            self.0.push_str(key);
        } else {
            let _written = write!(self.0, "[{key:?}]");
        }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}
