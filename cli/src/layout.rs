//! Text in columns: widths as a terminal counts them.

use textwrap::WordSplitter;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The narrowest screen that is laid out for.
const NARROWEST: usize = 40;

/// The widest line of running text; wider is hard to read.
const WIDEST_TEXT: usize = 100;

/// The size of the terminal behind standard error, in columns and rows; 80 by 24 if there is none.
pub(crate) fn screen_size() -> (usize, usize) {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((terminal_size::Width(columns), terminal_size::Height(rows))) => (
            usize::from(columns).max(NARROWEST),
            usize::from(rows).max(1),
        ),
        None => (80, 24),
    }
}

/// How many columns a text takes.
pub(crate) fn columns_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The least room in which a cut text shows its length; less is for names.
const ROOM_FOR_LENGTH: usize = 36;

/// The text, cut to so many columns, with an ellipsis if something is missing; if there is room, with the length of all
/// of it.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    if columns < ROOM_FOR_LENGTH {
        return begun(text, columns);
    }
    let length = format!(" ({} characters)", text.chars().count());
    begun(text, columns - columns_of(&length)) + &length
}

/// The beginning of a text that is longer than so many columns.
fn begun(text: &str, columns: usize) -> String {
    let mut kept = String::new();
    let mut width = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if width + wide + 1 > columns {
            break;
        }
        width += wide;
        kept.push(character);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text, cut or filled with spaces to exactly so many columns.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let mut fitted = cut(text, columns);
    let missing = columns.saturating_sub(columns_of(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// The text in lines of at most `columns`, indent included, broken at words.
pub(crate) fn wrap(text: &str, columns: usize, indent: &str) -> Vec<String> {
    let width = columns
        .min(WIDEST_TEXT)
        .saturating_sub(columns_of(indent))
        .max(NARROWEST / 2);
    // Paths are full of hyphens, and must not be torn there.
    let options = textwrap::Options::new(width).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
        .into_iter()
        .map(|line| format!("{indent}{line}").trim_end().to_owned())
        .collect()
}

/// A duration for people: `0.4s`, `12.3s`, `2m 05s`.
pub(crate) fn duration(duration: jiff::SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    if seconds < 60 {
        let tenths = duration.subsec_millis().max(0) / 100;
        return format!("{seconds}.{tenths}s");
    }
    format!("{}m {:02}s", seconds / 60, seconds % 60)
}

/// A number for people: `950`, `1.2k`, `3.4M`.
pub(crate) fn quantity(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::{columns_of, cut, duration, fit, quantity, wrap};

    #[test]
    fn text_is_cut_and_filled_by_columns_not_by_characters() {
        assert_eq!(cut("大きさです", 5), "大き…");
        assert_eq!(columns_of(&fit("大きさです", 6)), 6);
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn a_text_that_is_cut_says_how_long_it_is() {
        let cut = cut(&"大".repeat(100), 40);
        assert_eq!(cut, "大大大大大大大大大大大… (100 characters)");
        assert!(columns_of(&cut) <= 40);
    }

    #[test]
    fn wrapped_lines_keep_their_indent_and_width() {
        let lines = wrap(&"word ".repeat(30), 40, "    ");
        assert!(lines.iter().all(|line| line.starts_with("    word")));
        assert!(lines.iter().all(|line| columns_of(line) <= 40), "{lines:?}");
    }

    #[test]
    fn durations_and_quantities_are_short() {
        assert_eq!(duration(SignedDuration::from_millis(449)), "0.4s");
        assert_eq!(duration(SignedDuration::from_secs(125)), "2m 05s");
        assert_eq!(quantity(999), "999");
        assert_eq!(quantity(1_250), "1.2k");
        assert_eq!(quantity(3_450_000), "3.4M");
    }
}
