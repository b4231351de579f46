//! What a chat call cost: as the provider said, as we guess, or not known. Never silently nothing.

use interrupt_router::model::{ModelCall, PartialReply, TokenUsage};

use super::characters;

/// The characters that a token of ordinary text has, roughly.
const CHARACTERS_OF_A_TOKEN: usize = 4;

/// What a call cost in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatUsage {
    /// Tokens read.
    pub input: TokenCount,
    /// Tokens written.
    pub output: TokenCount,
}

/// A number of tokens, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenCount {
    /// Not known.
    #[default]
    Unknown,
    /// No request was sent, so there are none.
    NothingSent,
    /// The provider said so.
    Reported(u64),
    /// We guess, because the provider did not get to say.
    Estimated {
        /// How many.
        tokens: u64,
        /// How they were counted.
        method: EstimationMethod,
    },
}

/// How tokens are counted where the provider did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EstimationMethod {
    /// A token for every four characters begun.
    QuarterOfCharacters,
}

impl EstimationMethod {
    /// What to call it in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuarterOfCharacters => "quarter_of_characters",
        }
    }

    pub(crate) fn of_characters(self, characters: usize) -> u64 {
        match self {
            Self::QuarterOfCharacters => {
                let tokens = characters.div_ceil(CHARACTERS_OF_A_TOKEN);
                u64::try_from(tokens).unwrap_or(u64::MAX)
            }
        }
    }

    fn estimate(self, tokens: u64) -> TokenCount {
        TokenCount::Estimated {
            tokens,
            method: self,
        }
    }
}

impl TokenCount {
    /// The number to charge a budget with; `None` if it is not known.
    pub const fn tokens(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::NothingSent => Some(0),
            Self::Reported(tokens) | Self::Estimated { tokens, .. } => Some(tokens),
        }
    }

    fn reported(said: Option<u64>) -> Self {
        said.map_or(Self::Unknown, Self::Reported)
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::NothingSent, count) | (count, Self::NothingSent) => count,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Reported(left), Self::Reported(right)) => {
                Self::Reported(left.saturating_add(right))
            }
            (
                Self::Estimated { tokens, method },
                Self::Reported(other) | Self::Estimated { tokens: other, .. },
            )
            | (Self::Reported(other), Self::Estimated { tokens, method }) => {
                method.estimate(tokens.saturating_add(other))
            }
        }
    }
}

impl ChatUsage {
    /// Of a call of which nothing was sent.
    pub const NOTHING_SENT: Self = Self {
        input: TokenCount::NothingSent,
        output: TokenCount::NothingSent,
    };

    /// What the provider said, and unknown where it said nothing.
    pub fn reported(said: TokenUsage) -> Self {
        Self {
            input: TokenCount::reported(said.input),
            output: TokenCount::reported(said.output),
        }
    }

    /// Of an interrupted answer, in a call that gave so many characters to read, and of which so many were
    /// written: what the provider had said by then, and estimates for what it says at the end only.
    pub(crate) fn of_interrupted(said: TokenUsage, read: usize, written: usize) -> Self {
        let method = EstimationMethod::QuarterOfCharacters;
        let estimated = |characters| method.estimate(method.of_characters(characters));
        Self {
            input: said
                .input
                .map_or_else(|| estimated(read), TokenCount::Reported),
            output: said
                .output
                .map_or_else(|| estimated(written), TokenCount::Reported),
        }
    }

    /// Of an answer of a model that was interrupted: what the provider had said by then, and estimates for
    /// the rest, texts of tools included.
    pub fn of_partial(call: &ModelCall, partial: &PartialReply) -> Self {
        let read = characters::read(&call.messages, &call.tools);
        let written = characters::written(&partial.text, &partial.tool_requests);
        Self::of_interrupted(partial.usage, read, written)
    }

    /// Whether there is a number for both.
    pub const fn is_known(self) -> bool {
        self.input.tokens().is_some() && self.output.tokens().is_some()
    }

    /// The sum. It is unknown where a part is, and an estimate where a part is one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.plus(other.input),
            output: self.output.plus(other.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::{Message, TokenUsage, ToolOffer, ToolRequest};

    use super::super::characters;
    use super::{ChatUsage, EstimationMethod, TokenCount};

    fn estimated(tokens: u64) -> TokenCount {
        EstimationMethod::QuarterOfCharacters.estimate(tokens)
    }

    #[test]
    fn what_the_provider_did_not_say_is_estimated_and_named_so() {
        let said = TokenUsage {
            input: Some(11),
            output: None,
        };
        let written = characters::written("größer", &[]);
        let usage = ChatUsage::of_interrupted(said, 5, written);
        assert_eq!(usage.input, TokenCount::Reported(11));
        assert_eq!(usage.output, estimated(2));
        let unsaid = ChatUsage::of_interrupted(TokenUsage::default(), 5, 0);
        assert_eq!(unsaid.input, estimated(2));
    }

    #[test]
    fn what_tools_read_and_write_is_estimated_too() {
        let asking = Message::asking("12345", vec![ToolRequest::new("id", "list", "{}")]);
        assert_eq!(characters::read(std::slice::from_ref(&asking), &[]), 11);
        assert_eq!(characters::written("12345", &asking.tool_requests), 11);
        let offer = ToolOffer {
            name: "list".to_owned(),
            description: "Lists.".to_owned(),
            arguments: serde_json::json!({}),
        };
        assert_eq!(characters::read(&[], &[offer]), 12);
    }

    #[test]
    fn a_sum_is_as_sure_as_its_least_sure_part() {
        let reported = TokenCount::Reported(3);
        assert_eq!(reported.plus(TokenCount::NothingSent), reported);
        assert_eq!(reported.plus(estimated(2)), estimated(5));
        assert_eq!(reported.plus(TokenCount::Unknown), TokenCount::Unknown);
        assert_eq!(TokenCount::Unknown.tokens(), None);
    }
}
