//! An answer arrives in pieces, as from a real model, and may be interrupted between any two.

use std::num::NonZeroU32;
use std::time::Duration;

use interrupt_router::model::{ChunkSink, Message, TokenUsage};
use interrupt_router::{StopReason, StopScope};
use tokio::time::Instant;

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

/// The most characters of a piece: about as much as a token of English text.
const LONGEST_PIECE: usize = 4;

/// How an answer was given.
pub(crate) struct Streamed {
    /// What was said: the whole answer, or what came before the stop.
    pub(crate) text: String,
    /// What it cost in pieces.
    pub(crate) usage: TokenUsage,
    /// Why it was stopped, where it was.
    pub(crate) stopped: Option<StopReason>,
}

/// Hands an answer to the call's sink piece by piece.
///
/// Each piece has its own due time counted from the start, so that late wake-ups do not add up.
pub(crate) async fn stream_answer(
    messages: &[Message],
    sink: Option<&dyn ChunkSink>,
    text: &str,
    pace: Pace,
    scope: &StopScope,
) -> Streamed {
    let start = Instant::now();
    let read = messages
        .iter()
        .map(|message| count(pieces(&message.text)))
        .sum();
    let mut sent = 0;
    let mut written = 0_u64;
    let mut stopped = None;
    for piece in pieces(text) {
        stopped = stopped_before(pace, start, written, scope).await;
        if stopped.is_some() {
            break;
        }
        if let Some(sink) = sink {
            sink.chunk(piece);
        }
        sent += piece.len();
        written += 1;
    }
    Streamed {
        text: text.get(..sent).unwrap_or_default().to_owned(),
        usage: TokenUsage {
            input: Some(read),
            output: Some(written),
        },
        stopped,
    }
}

/// Waits until the next piece is due; the reason of a stop where one comes first.
async fn stopped_before(
    pace: Pace,
    start: Instant,
    written: u64,
    scope: &StopScope,
) -> Option<StopReason> {
    match pace {
        Pace::Unlimited => {
            // Gives other tasks their turn now and then, though nothing is ever waited for.
            tokio::task::consume_budget().await;
            scope.is_stopped_now().then(|| scope.reason()).flatten()
        }
        Pace::TokensPerSecond(rate) => {
            let nanoseconds = (written + 1).saturating_mul(1_000_000_000) / u64::from(rate.get());
            let due = start + Duration::from_nanos(nanoseconds);
            tokio::select! {
                biased;
                reason = scope.stopped_now() => Some(reason),
                () = tokio::time::sleep_until(due) => None,
            }
        }
    }
}

fn count<'a>(pieces: impl Iterator<Item = &'a str>) -> u64 {
    pieces.fold(0, |sum, _piece| sum + 1)
}

/// Cuts a text into pieces of at most four characters that do not run over the start of a word.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut characters = rest.char_indices();
        characters.next()?;
        let end = characters
            .enumerate()
            .find(|(before, (_, character))| {
                before + 1 == LONGEST_PIECE || character.is_ascii_whitespace()
            })
            .map_or(rest.len(), |(_, (offset, _))| offset);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
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
