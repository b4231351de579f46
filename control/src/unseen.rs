//! Characters of other people's text that act without being seen: on a terminal, on a page, in a log.

use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether a character moves the cursor, starts an escape code, changes the direction of text, joins or hides other
/// characters, looks like an ordinary space and is none, or shows nothing at all.
pub fn acts_unseen(character: char) -> bool {
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
    acts || is_blank(character) || is_other_space(character)
}

/// Appends a character; one that acts without being seen is written out as `\u{…}`.
pub fn push_visible(shown: &mut String, character: char) {
    if acts_unseen(character) {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
    } else {
        shown.push(character);
    }
}

/// Spaces that look like an ordinary one, and separate no words for a program. An ideographic one is as wide as a letter.
fn is_other_space(character: char) -> bool {
    let is_space = get_general_category(character) == GeneralCategory::SpaceSeparator;
    is_space && !matches!(character, ' ' | '\u{3000}')
}

/// Characters that are letters or marks by their category and yet are never seen.
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
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}
