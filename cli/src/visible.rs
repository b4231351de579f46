//! Text of others on a terminal: nothing in it may act, hide or change the direction of reading.

use std::fmt::Write;

use control::{acts_unseen, push_visible};

/// The text on one line: line breaks and runs of spaces become one space, all that cannot be seen is written out as
/// `\u{…}`.
pub(crate) fn visible_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text
        .split([' ', '\n', '\r', '\t'])
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        write_visible(&mut line, word);
    }
    line
}

/// The text in its own lines; tabs become spaces, all that cannot be seen is written out as `\u{…}`.
pub(crate) fn visible_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .trim_end()
        .lines()
        .map(|line| {
            let mut shown = String::with_capacity(line.len());
            write_visible(&mut shown, &line.replace('\t', "    "));
            shown
        })
        .collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// A piece of a longer text, with its line breaks: tabs become spaces, all that cannot be seen is written out as
/// `\u{…}`.
pub(crate) fn visible_piece(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (index, line) in text.replace("\r\n", "\n").split('\n').enumerate() {
        if index > 0 {
            shown.push('\n');
        }
        write_visible(&mut shown, &line.replace('\t', "    "));
    }
    shown
}

/// JSON whose invisible characters are escapes. They occur only inside strings, where an escape means the same.
pub(crate) fn visible_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && acts_unseen(character) {
            let mut units = [0_u16; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn write_visible(shown: &mut String, text: &str) {
    for character in text.chars() {
        push_visible(shown, character);
    }
}

#[cfg(test)]
mod tests {
    use super::{visible_json, visible_line, visible_lines, visible_piece};

    #[test]
    fn a_piece_keeps_its_line_breaks_and_nothing_that_acts() {
        assert_eq!(
            visible_piece("a\r\n\n\tb\r\u{1b}[2J\n"),
            "a\n\n    b\\u{d}\\u{1b}[2J\n"
        );
        assert_eq!(visible_piece(""), "");
    }

    #[test]
    fn an_escape_code_is_shown_and_never_sent() {
        assert_eq!(visible_line("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(visible_line("a\u{9b}2Jb\u{7f}"), "a\\u{9b}2Jb\\u{7f}");
    }

    #[test]
    fn what_turns_or_hides_text_is_written_out() {
        assert_eq!(visible_line("pay \u{202e}001"), "pay \\u{202e}001");
        assert_eq!(visible_line("a\u{200b}b\u{e0041}"), "a\\u{200b}b\\u{e0041}");
        assert_eq!(visible_line("x\u{e0101}\u{3164}"), "x\\u{e0101}\\u{3164}");
        assert_eq!(
            visible_line("rm\u{a0}-rf \u{2764}\u{fe0f}\u{202f}/"),
            "rm\\u{a0}-rf \u{2764}\\u{fe0f}\\u{202f}/"
        );
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        let text = "Größe, 大きさ, גודל, размер 🙂 — “ok”";
        assert_eq!(visible_line(text), text);
    }

    #[test]
    fn lines_stay_apart_and_cannot_return_to_their_start() {
        assert_eq!(visible_lines("one\r\ntwo\rX\n\n"), ["one", "two\\u{d}X"]);
        assert_eq!(visible_line("one\r\n two\tthree "), "one two three");
    }

    #[test]
    fn escaped_json_reads_as_the_same_value() {
        let value = serde_json::json!({"text": "a\u{9b}b\u{202e}c\u{e0041}\n\"q\""});
        let escaped = visible_json(&value.to_string());
        assert!(escaped.is_ascii(), "{escaped}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).unwrap(),
            value
        );
    }
}
