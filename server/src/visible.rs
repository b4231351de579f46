//! Text of others on a page: what cannot be seen, or turns the direction of reading, is written out.

use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};

/// The text in its own lines, with `\u{…}` for every character that acts without being seen.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        if matches!(character, '\n' | '\t') || !acts_unseen(character) {
            shown.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        }
    }
    shown
}

/// Whether a character hides itself or others, or changes how those around it are read.
fn acts_unseen(character: char) -> bool {
    if character.is_ascii_graphic() || character == ' ' {
        return false;
    }
    let acts = matches!(
        get_general_category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
    );
    acts || is_blank(character)
}

/// Letters and marks that are never seen.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0e}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_turns_hides_or_acts_is_written_out_and_scripts_of_the_world_are_not() {
        assert_eq!(visible("pay \u{202e}001"), "pay \\u{202e}001");
        assert_eq!(visible("a\u{200b}b\u{1b}[2J"), "a\\u{200b}b\\u{1b}[2J");
        let text = "Größe, 大きさ, גודל, размер\n\t— “ok”";
        assert_eq!(visible(text), text);
    }
}
