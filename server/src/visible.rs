//! Text of others on a page: invisible characters, and those that turn the direction of reading, are written out.

use control::push_visible;

/// The text in its own lines, with `\u{…}` for every character that has an effect but cannot be seen.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            other => push_visible(&mut shown, other),
        }
    }
    shown
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
