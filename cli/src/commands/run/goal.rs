//! Where the goal comes from.

use std::io::{self, IsTerminal, Read};

use agents::run::{Goal, LONGEST_GOAL};

use crate::exit::{Exit, Failure};

/// The argument that means standard input.
const STANDARD_INPUT: &str = "-";

/// How many bytes are read at most: more than a goal may have by enough to say so.
const READ_AT_MOST: u64 = LONGEST_GOAL as u64 + 1;

/// Where the goal comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GoalSource {
    /// The command line.
    Argument(String),
    /// Standard input.
    Input,
    /// Nowhere: none was given, and standard input is a terminal.
    Nowhere,
}

impl GoalSource {
    /// What an argument, or its absence, says.
    pub(super) fn of(argument: Option<&str>) -> Self {
        match argument {
            Some(STANDARD_INPUT) => Self::Input,
            Some(text) => Self::Argument(text.to_owned()),
            None if io::stdin().is_terminal() => Self::Nowhere,
            None => Self::Input,
        }
    }

    /// Whether standard input is read to its end.
    pub(super) fn takes_input(&self) -> bool {
        *self == Self::Input
    }

    /// Reads and checks the goal.
    ///
    /// # Errors
    ///
    /// A usage failure if there is no goal, or an invalid one.
    pub(super) fn read(self) -> Result<Goal, Failure> {
        let text = match self {
            Self::Argument(text) => text,
            Self::Input => read_input(&mut io::stdin().lock())?,
            Self::Nowhere => {
                return Err(Failure::new(Exit::Usage, "no goal was given").hint(HINT));
            }
        };
        Goal::new(text).map_err(|error| Failure::new(Exit::Usage, error.to_string()).hint(HINT))
    }
}

const HINT: &str = "irq run \"what shall be done\", or send the goal on standard input";

fn read_input(input: &mut impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input
        .take(READ_AT_MOST)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::new(
                Exit::Failure,
                format!("the goal cannot be read from standard input: {error}"),
            )
        })?;
    if bytes.len() > LONGEST_GOAL {
        let message = format!("the goal on standard input has more than {LONGEST_GOAL} bytes");
        return Err(Failure::new(Exit::Usage, message).hint("put long texts into the workspace"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let message =
            format!("the goal on standard input is no UTF-8 text: byte {place} belongs to none");
        Failure::new(Exit::Usage, message)
    })
}

#[cfg(test)]
mod tests {
    use super::read_input;

    #[test]
    fn an_endless_goal_is_refused_after_a_bounded_read() {
        let failure = read_input(&mut std::io::repeat(b'x')).unwrap_err();
        assert!(
            failure.to_string().contains("more than 1000000 bytes"),
            "{failure}"
        );
    }

    #[test]
    fn a_goal_that_is_no_text_is_refused_with_the_place() {
        let failure = read_input(&mut &b"ab\xff"[..]).unwrap_err();
        assert!(failure.to_string().contains("byte 2"), "{failure}");
    }
}
