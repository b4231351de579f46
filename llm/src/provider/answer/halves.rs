//! Characters that a server cuts in two between events.
//!
//! JSON writes a character beyond the first 65,536 as two escapes. A server that cuts a text between the two sends half a
//! character, which is no JSON to others. Each half is kept as a private character until the other one has come.

use std::borrow::Cow;

use serde_json::Value;

/// Where halves are kept: the last 2,048 private characters.
const KEPT: u32 = 0x0010_F800;
const FIRST: u32 = 0xD800;
const SECOND: u32 = 0xDC00;
const LAST: u32 = 0xDFFF;

/// Reads JSON with halves of characters in it.
#[derive(Debug, Default)]
pub(super) struct Halves {
    /// Whether there were any.
    seen: bool,
    /// The first half of a character at the end of the text so far.
    held: Option<char>,
}

impl Halves {
    /// Reads the data of an event.
    pub(super) fn parse(&mut self, data: &str) -> Result<Value, serde_json::Error> {
        let read = serde_json::from_str(data);
        let Err(error) = read else {
            return read;
        };
        match kept_apart(data) {
            Some(data) => {
                self.seen = true;
                serde_json::from_str(&data)
            }
            None => Err(error),
        }
    }

    /// The next piece of a text, of which the last half is held back.
    pub(super) fn piece<'p>(&mut self, piece: &'p str) -> Cow<'p, str> {
        if !self.seen || piece.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut whole: String = self.held.take().into_iter().collect();
        whole.push_str(piece);
        if whole
            .chars()
            .next_back()
            .is_some_and(|last| half(last).is_some_and(is_first))
        {
            self.held = whole.pop();
        }
        Cow::Owned(joined(&whole))
    }

    /// What is held back at the end of a text.
    pub(super) fn rest(&mut self) -> Option<char> {
        self.held.take().map(|_half| char::REPLACEMENT_CHARACTER)
    }

    /// Puts the halves of a whole text together.
    pub(super) fn whole(&self, text: &str) -> String {
        if self.seen {
            joined(text)
        } else {
            text.to_owned()
        }
    }
}

const fn is_first(half: u32) -> bool {
    half < SECOND
}

/// The half that a character is kept for.
fn half(character: char) -> Option<u32> {
    let place = u32::from(character).checked_sub(KEPT)?;
    (FIRST + place <= LAST).then_some(FIRST + place)
}

fn joined(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let Some(first) = half(character) else {
            whole.push(character);
            continue;
        };
        let second = rest.peek().copied().and_then(half);
        let second = second.filter(|second| is_first(first) && !is_first(*second));
        let both = second.and_then(|second| {
            char::from_u32(0x0001_0000 + ((first - FIRST) << 10) + (second - SECOND))
        });
        if both.is_some() {
            rest.next();
        }
        whole.push(both.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    whole
}

/// JSON in which each half without its other half is a character of its own; `None` where there is none.
fn kept_apart(data: &str) -> Option<String> {
    let mut whole = String::with_capacity(data.len());
    let mut rest = data;
    let mut found = false;
    while let Some(place) = rest.find('\\') {
        let (before, escape) = rest.split_at(place);
        whole.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(first), Some(second)) if is_first(first) && !is_first(second) => 12,
            (Some(one), _) => {
                found = true;
                whole.extend(char::from_u32(KEPT + (one - FIRST)));
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // Another escape, of which the sign after the stroke may be a stroke.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        whole.push_str(escape.get(..length).unwrap_or(escape));
        rest = escape.get(length..).unwrap_or_default();
    }
    whole.push_str(rest);
    found.then_some(whole)
}

/// The half at the beginning of a text, if it is the escape of one.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    (FIRST..=LAST).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::Halves;

    /// The texts of JSON strings, joined as pieces of one text.
    fn read(pieces: &[&str]) -> String {
        let mut halves = Halves::default();
        let mut text = String::new();
        for piece in pieces {
            let value = halves.parse(piece).unwrap();
            let piece = halves.piece(value.as_str().unwrap()).into_owned();
            text.push_str(&piece);
        }
        text.extend(halves.rest());
        text
    }

    #[test]
    fn halves_are_put_together_and_one_that_is_alone_is_replaced() {
        for (pieces, whole) in [
            (&[r#""x \ud83d""#, r#""\uDE00 y""#][..], "x 😀 y"),
            (&[r#""\ud83d""#, r#""""#, r#""\ude00""#][..], "😀"),
            (&[r#""\ud83d\ude00\ud83d""#, r#""b""#][..], "😀\u{fffd}b"),
            (&[r#""\ude00 \\ud83d""#][..], "\u{fffd} \\ud83d"),
            (&[r#""a\ud83d""#][..], "a\u{fffd}"),
            (&[r#""\"\ud83d""#, r#""\ude00\\""#][..], "\"😀\\"),
        ] {
            assert_eq!(read(pieces), whole, "{pieces:?}");
        }
        assert!(Halves::default().parse(r#"{"a":"#).is_err());
    }
}
