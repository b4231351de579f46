//! An answer arrives in pieces, as from a real model, and may be interrupted between any two.

use std::num::NonZeroU32;
use std::time::Duration;

use interrupt_router::model::{
    AtProvider, ChunkSink, Message, ModelReply, PartialReply, TokenUsage, ToolRequest,
};
use interrupt_router::{Outcome, StopScope};
use tokio::time::{Instant, sleep_until};

/// The most characters of a piece: about as much as a token of English text.
const LONGEST_PIECE: usize = 4;

/// How fast answers arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As fast as it goes.
    #[default]
    Unlimited,
    /// So many token-sized pieces in a second.
    TokensPerSecond(NonZeroU32),
}

impl Pace {
    /// The pace of so many pieces in a second; 0 is as fast as it goes.
    pub fn from_tokens_per_second(tokens: u32) -> Self {
        NonZeroU32::new(tokens).map_or(Self::Unlimited, Self::TokensPerSecond)
    }
}

/// Hands an answer to the call's sink piece by piece; what is interrupted is what came before the stop.
pub(super) async fn stream(
    (text, tool_requests): (String, Vec<ToolRequest>),
    messages: &[Message],
    sink: Option<&dyn ChunkSink>,
    pace: Pace,
    scope: &StopScope,
) -> Outcome<ModelReply, PartialReply> {
    let start = Instant::now();
    let read = messages.iter().flat_map(|message| pieces(&message.text));
    let read = read.fold(0, |sum, _piece| sum + 1);
    let mut said = PartialReply {
        tool_requests: Vec::new(),
        text: String::new(),
        usage: TokenUsage {
            input: Some(read),
            output: Some(0),
        },
        at_provider: AtProvider::NothingUnderWay,
    };
    for (written, piece) in (1_u64..).zip(pieces(&text)) {
        let stopped = match pace {
            Pace::Unlimited => {
                // Gives other tasks their turn now and then, though nothing is ever waited for.
                tokio::task::consume_budget().await;
                scope.is_stopped_now().then(|| scope.reason()).flatten()
            }
            Pace::TokensPerSecond(rate) => {
                // Counted from the start, so that late wake-ups do not add up.
                let nanoseconds = written.saturating_mul(1_000_000_000) / u64::from(rate.get());
                tokio::select! {
                    biased;
                    reason = scope.stopped_now() => Some(reason),
                    () = sleep_until(start + Duration::from_nanos(nanoseconds)) => None,
                }
            }
        };
        if let Some(reason) = stopped {
            return Outcome::Interrupted {
                reason,
                partial: said,
            };
        }
        if let Some(sink) = sink {
            sink.chunk(piece);
        }
        said.text.push_str(piece);
        said.usage.output = Some(written);
    }
    Outcome::Completed(ModelReply {
        tool_requests,
        text,
        usage: said.usage,
        cut_off: false,
    })
}

/// Cuts a text into pieces of at most four characters that do not run over the start of a word.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let inner = rest.char_indices().skip(1).enumerate();
        let mut ends = inner.filter(|(before, (_, character))| {
            before + 1 == LONGEST_PIECE || character.is_ascii_whitespace()
        });
        let end = ends.next().map_or(rest.len(), |(_, (offset, _))| offset);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_make_up_the_text() {
        for text in ["", "a", "one two  three", "größer – ∞ Ωμέγα", "\n\n \"x\""] {
            assert_eq!(pieces(text).collect::<String>(), text);
            assert!(pieces(text).all(|piece| (1..=4).contains(&piece.chars().count())));
        }
    }
}
