//! What a run shall do, in a person's words.

/// The most bytes of a goal.
pub const LONGEST_GOAL: usize = 1_000_000;

/// How much of a long goal is repeated to nodes that only need to know what it is about, in bytes.
const GIST: usize = 2_000;

/// What a run shall do, in a person's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal(String);

/// A text that is no goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// Nothing but white space.
    #[error("the goal is empty; say what the run shall do")]
    Empty,
    /// Too long.
    #[error("the goal has {bytes} bytes; at most {LONGEST_GOAL} are allowed")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A control character other than a line break or a tab.
    #[error(
        "the goal has the control character U+{code:04X} at byte {at}; only line breaks and tabs are allowed"
    )]
    ControlCharacter {
        /// The character's code point.
        code: u32,
        /// Its place, in bytes from the start.
        at: usize,
    },
}

impl Goal {
    /// Checks a goal. White space around it is dropped.
    ///
    /// # Errors
    ///
    /// [`GoalError`] if it is empty, longer than [`LONGEST_GOAL`], or has control characters other than line breaks and
    /// tabs.
    pub fn new(text: impl Into<String>) -> Result<Self, GoalError> {
        let text = text.into();
        if text.len() > LONGEST_GOAL {
            return Err(GoalError::TooLong { bytes: text.len() });
        }
        // Windows' line ends are line breaks too.
        let text = text.replace("\r\n", "\n");
        if let Some((at, character)) = text
            .char_indices()
            .find(|(_, character)| character.is_control() && !matches!(character, '\n' | '\t'))
        {
            let code = u32::from(character);
            return Err(GoalError::ControlCharacter { code, at });
        }
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(GoalError::Empty);
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The goal.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The goal on one line, shortened if it is long.
    pub fn gist(&self) -> String {
        let end = self.0.floor_char_boundary(GIST);
        let start = self.0.get(..end).unwrap_or(&self.0);
        let mut gist = start.split_whitespace().collect::<Vec<_>>().join(" ");
        if end < self.0.len() {
            gist.push('\u{2026}');
        }
        gist
    }
}

#[cfg(test)]
mod tests {
    use super::{Goal, GoalError, LONGEST_GOAL};

    #[test]
    fn a_goal_without_words_is_refused() {
        for text in ["", " ", "\n\t \n"] {
            assert_eq!(Goal::new(text), Err(GoalError::Empty));
        }
    }

    #[test]
    fn the_longest_goal_is_taken_and_one_byte_more_is_not() {
        assert!(Goal::new("x".repeat(LONGEST_GOAL)).is_ok());
        assert_eq!(
            Goal::new("x".repeat(LONGEST_GOAL + 1)),
            Err(GoalError::TooLong {
                bytes: LONGEST_GOAL + 1
            })
        );
    }

    #[test]
    fn control_characters_are_refused_where_they_stand() {
        assert_eq!(
            Goal::new("ab\u{1b}[31m"),
            Err(GoalError::ControlCharacter { code: 0x1b, at: 2 })
        );
        assert_eq!(Goal::new("a\r\n\tb").unwrap().as_str(), "a\n\tb");
    }

    #[test]
    fn a_gist_is_one_line() {
        assert_eq!(Goal::new("a\nb  c").unwrap().gist(), "a b c");
        let long = Goal::new("ä".repeat(5_000)).unwrap().gist();
        assert!(long.len() < 2_010 && long.ends_with('\u{2026}'));
    }
}
