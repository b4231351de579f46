//! What is kept of a program's output: its start and its end.

use std::collections::VecDeque;

/// The output of a program, bounded in memory: what lies between its start and its end is counted and dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Of each of the two.
    limit: usize,
    dropped: u64,
}

impl BoundedOutput {
    /// Keeps up to so many bytes.
    pub fn new(kept: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            limit: kept.div_ceil(2),
            dropped: 0,
        }
    }

    /// Takes up the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // Of a long piece only its end can stay.
        let (gone, rest) = rest.split_at(rest.len().saturating_sub(self.limit));
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.limit);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
        self.dropped += (gone.len() + surplus) as u64;
    }

    /// How many bytes were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The text, with a line in place of what was dropped. Bytes that are no UTF-8 become `\u{fffd}`.
    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            let line = format!("\n[... {} bytes left out ...]\n", self.dropped);
            bytes.extend_from_slice(line.as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::BoundedOutput;

    proptest! {
        #[test]
        fn start_and_end_are_kept_and_all_else_is_counted(
            pieces in proptest::collection::vec("[a-z]{0,9}", 0..12), kept in 0_usize..20
        ) {
            let whole = pieces.concat();
            let mut output = BoundedOutput::new(kept);
            for piece in &pieces {
                output.push(piece.as_bytes());
            }
            let half = kept.div_ceil(2);
            let text = output.text();
            if whole.len() <= 2 * half {
                prop_assert_eq!(text, whole);
                prop_assert_eq!(output.dropped(), 0);
            } else {
                prop_assert!(text.starts_with(&whole[..half]));
                prop_assert!(text.ends_with(&whole[whole.len() - half..]));
                prop_assert_eq!(output.dropped(), (whole.len() - 2 * half) as u64);
                let line = format!("\n[... {} bytes left out ...]\n", output.dropped());
                prop_assert!(text.contains(&line));
            }
        }
    }
}
