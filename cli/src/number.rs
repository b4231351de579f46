//! Numbers as people type them.

use std::num::NonZeroU32;
use std::str::FromStr;

/// Reads a whole number from 0 on.
///
/// # Errors
///
/// In words, if the text is none.
pub(crate) fn parse_number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_wrong| {
        if is_whole(text) {
            format!("`{text}` is too large")
        } else {
            format!("`{text}` is no whole number; write 3 or 250")
        }
    })
}

/// Reads how many of something, of which there is at least one.
///
/// # Errors
///
/// In words, if the text is no such number.
pub(crate) fn parse_count(text: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::new(parse_number(text)?)
        .ok_or_else(|| format!("`{text}` is too small; write a whole number from 1 on"))
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{parse_count, parse_number};

    #[test]
    fn whole_numbers_are_read_and_others_are_told_what_is_wanted() {
        assert_eq!(parse_number::<u64>("0"), Ok(0));
        assert_eq!(parse_number::<u32>("4294967295"), Ok(u32::MAX));
        for (text, words) in [
            ("x", "no whole number"),
            ("", "no whole number"),
            ("-1", "no whole number"),
            ("1.5", "no whole number"),
            ("4294967296", "too large"),
        ] {
            let wrong = parse_number::<u32>(text).unwrap_err();
            assert!(wrong.contains(words), "{wrong}");
        }
        assert_eq!(parse_count("1").map(u32::from), Ok(1));
        assert!(parse_count("0").unwrap_err().contains("from 1 on"));
    }
}
