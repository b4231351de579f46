//! The terminal of a conversation: what was said above, the prompt in the last row.
//!
//! A value that turns events into bytes, so that every step of it can be tested without a terminal. Rows are broken here and
//! never by the terminal, so the position of the cursor is always known.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::prompt::PromptRow;

/// Back to the first column, and nothing from there on.
const CLEAR_BELOW: &str = "\r\u{1b}[J";

/// What is drawn, and where the text above the prompt ends.
#[derive(Debug)]
pub(super) struct Screen {
    columns: usize,
    /// The column in which the text goes on; 0 at the beginning of a row.
    column: usize,
    /// Whether the text was broken off in the middle of a row.
    torn: bool,
    /// The last word of the text, which moves to the next row if it does not fit.
    word: String,
    prompt: Option<PromptRow>,
    bytes: String,
}

impl Screen {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            column: 0,
            torn: false,
            word: String::new(),
            prompt: None,
            bytes: String::new(),
        }
    }

    /// The bytes to write since this was last asked.
    pub(super) fn take_bytes(&mut self) -> String {
        std::mem::take(&mut self.bytes)
    }

    /// The terminal has another width now. It may have moved anything, so the text goes on in a new row.
    pub(super) fn resize(&mut self, columns: usize) {
        if columns != self.columns {
            self.columns = columns;
            self.torn = self.column > 0;
            self.column = 0;
            self.word.clear();
        }
    }

    /// Begins with an empty screen.
    pub(super) fn clear(&mut self) {
        self.bytes.push_str("\u{1b}[2J\u{1b}[H");
        self.column = 0;
        self.word.clear();
        self.prompt = None;
    }

    /// Adds to the text above the prompt. The text cannot control the terminal.
    pub(super) fn text(&mut self, text: &str) {
        self.lift_prompt();
        for character in text.chars() {
            match character {
                '\n' => self.new_row(),
                other => self.put(other),
            }
        }
    }

    /// Adds a coloured mark to the end of the row, or in a row of its own if it does not fit.
    pub(super) fn mark(&mut self, plain: &str, painted: &str) {
        self.lift_prompt();
        let width = plain.width();
        if self.column > 0 && self.column + 1 + width >= self.columns {
            self.new_row();
        } else if self.column > 0 {
            self.bytes.push(' ');
            self.column += 1;
        }
        self.bytes.push_str(painted);
        self.column += width;
        self.word.clear();
    }

    /// Adds whole rows, already broken and painted.
    pub(super) fn rows<'r>(&mut self, rows: impl IntoIterator<Item = &'r str>) {
        self.end_row();
        for row in rows {
            self.bytes.push_str(row);
            self.new_row();
        }
    }

    /// What follows begins in a row of its own.
    pub(super) fn end_row(&mut self) {
        self.lift_prompt();
        if self.column > 0 {
            self.new_row();
        }
    }

    /// Draws the prompt below the text.
    pub(super) fn prompt(&mut self, row: PromptRow) {
        if self.prompt.as_ref() == Some(&row) {
            return;
        }
        self.lift_prompt();
        if self.column > 0 {
            self.bytes.push_str("\r\n");
        }
        self.bytes.push_str(&row.text);
        self.bytes.push('\r');
        if row.cursor > 0 {
            self.bytes.push_str(&format!("\u{1b}[{}C", row.cursor));
        }
        self.prompt = Some(row);
    }

    /// Takes the prompt away for good.
    pub(super) fn close(&mut self) {
        self.end_row();
    }

    /// Removes the prompt and moves the cursor to the end of the text.
    fn lift_prompt(&mut self) {
        if self.prompt.take().is_none() {
            return;
        }
        self.bytes.push_str(CLEAR_BELOW);
        if self.column > 0 {
            self.bytes
                .push_str(&format!("\u{1b}[A\u{1b}[{}C", self.column));
        }
    }

    fn put(&mut self, character: char) {
        // The space between two words is not the beginning of a row.
        if std::mem::take(&mut self.torn) && character == ' ' {
            return;
        }
        let width = character.width().unwrap_or(0);
        if self.column + width >= self.columns {
            if character == ' ' {
                return self.new_row();
            }
            self.move_word_down();
        }
        self.bytes.push(character);
        self.column += width;
        if character == ' ' {
            self.word.clear();
        } else {
            self.word.push(character);
        }
    }

    /// Begins a new row with the word that does not fit; empty if the word fills a whole row.
    fn move_word_down(&mut self) {
        let word = std::mem::take(&mut self.word);
        let width = word.width();
        if width == 0 || width >= self.column {
            return self.new_row();
        }
        self.bytes.push_str(&format!("\u{1b}[{width}D\u{1b}[K"));
        self.new_row();
        self.bytes.push_str(&word);
        self.column = width;
        self.word = word;
    }

    fn new_row(&mut self) {
        self.bytes.push_str("\r\n");
        self.column = 0;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{PromptRow, Screen};

    fn prompt(text: &str) -> PromptRow {
        PromptRow {
            text: format!("> {text}"),
            cursor: 2,
        }
    }

    #[test]
    fn text_goes_on_where_it_was_above_the_prompt() {
        let mut screen = Screen::new(40);
        screen.text("Hel");
        screen.prompt(prompt(""));
        assert_eq!(screen.take_bytes(), "Hel\r\n> \r\u{1b}[2C");
        screen.text("lo\n");
        assert_eq!(screen.take_bytes(), "\r\u{1b}[J\u{1b}[A\u{1b}[3Clo\r\n");
        screen.prompt(prompt("typed"));
        screen.take_bytes();
        screen.prompt(prompt("typed"));
        assert_eq!(screen.take_bytes(), "", "what has not changed is not drawn");
        screen.rows(["a row"]);
        assert_eq!(screen.take_bytes(), "\r\u{1b}[Ja row\r\n");
    }

    #[test]
    fn a_word_that_does_not_fit_moves_to_the_next_row_as_it_grows() {
        let mut screen = Screen::new(10);
        for piece in ["one ", "two", "thr", "ee"] {
            screen.text(piece);
        }
        assert_eq!(
            screen.take_bytes(),
            "one twoth\u{1b}[5D\u{1b}[K\r\ntwothree"
        );
    }

    #[test]
    fn a_word_that_is_wider_than_the_screen_is_broken() {
        let mut screen = Screen::new(6);
        screen.text("abcdefgh 大大大");
        assert_eq!(screen.take_bytes(), "abcde\r\nfgh \r\n大大\r\n大");
    }

    #[test]
    fn after_a_resize_the_text_goes_on_in_a_new_row() {
        let mut screen = Screen::new(40);
        screen.text("one");
        screen.prompt(prompt(""));
        screen.take_bytes();
        screen.resize(30);
        screen.text(" two three");
        assert_eq!(screen.take_bytes(), "\r\u{1b}[Jtwo three");
    }

    #[test]
    fn a_mark_stands_behind_the_text_or_below_it() {
        let mut screen = Screen::new(20);
        screen.text("part");
        screen.mark("[mark]", "<[mark]>");
        assert_eq!(screen.take_bytes(), "part <[mark]>");
        screen.text("\n0123456789abcdef");
        screen.mark("[mark]", "<[mark]>");
        assert_eq!(screen.take_bytes(), "\r\n0123456789abcdef\r\n<[mark]>");
    }
}
