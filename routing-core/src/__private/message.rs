//! Text put together at compile time, for the errors of constant evaluation.

/// The longest text that can be made; what does not fit is left out.
const CAPACITY: usize = 4096;

/// A text that is made in a constant.
pub(super) struct Message {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Message {
    /// No text yet.
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; CAPACITY],
            length: 0,
        }
    }

    /// Adds a text at the end, if it fits.
    pub(super) const fn push(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if self.length + text.len() > CAPACITY {
            return self;
        }
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length + at] = text[at];
            at += 1;
        }
        self.length += text.len();
        self
    }

    /// Adds a name in backquotes, after a comma where it is not the first of its list.
    pub(super) const fn push_name(self, name: &str, first: bool) -> Self {
        let message = if first { self } else { self.push(", ") };
        message.push("`").push(name).push("`")
    }

    /// Adds a list of names.
    pub(super) const fn push_names(mut self, names: &[&str]) -> Self {
        let mut at = 0;
        while at < names.len() {
            self = self.push_name(names[at], at == 0);
            at += 1;
        }
        self
    }

    /// The text so far.
    pub(super) const fn text(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.length);
        match core::str::from_utf8(text) {
            Ok(text) => text,
            // Only whole texts are added, so this branch is never taken.
            Err(_) => "",
        }
    }
}
