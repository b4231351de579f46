//! The line in which a message is typed. It is there while the model speaks, too.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};
use unicode_width::UnicodeWidthStr;

use crate::palette::{Palette, Tone};
use crate::visible::visible_piece;

/// The text before the line.
const SIGN: &str = "> ";

/// What a key asks of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptAction {
    /// Only redraw the line.
    Redraw,
    /// The line is submitted.
    Submit(String),
    /// Ctrl+C.
    Interrupt,
    /// Esc.
    Escape,
    /// Ctrl+D with nothing typed.
    Leave,
    /// Ctrl+L.
    Clear,
}

/// The line, and the lines that were submitted before.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    input: Input,
    before: Vec<String>,
    /// Which of the lines before is shown, and what was typed when it was called up.
    recalled: Option<(usize, String)>,
}

/// The line as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptRow {
    /// The text, with its colours.
    pub(super) text: String,
    /// The column of the cursor.
    pub(super) cursor: usize,
}

impl Prompt {
    pub(super) fn is_empty(&self) -> bool {
        self.input.value().is_empty()
    }

    /// Clears the line; its text can be recalled.
    pub(super) fn clear(&mut self) {
        let text = self.input.value_and_reset();
        self.remember(&text);
    }

    /// Removes and returns the typed text.
    pub(super) fn take_out(&mut self) -> String {
        self.recalled = None;
        self.input.value_and_reset()
    }

    /// Puts a text into the line, to be edited.
    pub(super) fn put(&mut self, text: &str) {
        self.input = Input::new(text.to_owned());
    }

    /// Handles a terminal event.
    pub(super) fn take(&mut self, event: &Event) -> Option<PromptAction> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(self.key(*key, event)),
            Event::Paste(text) => {
                self.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
                Some(PromptAction::Redraw)
            }
            Event::Resize(..) => Some(PromptAction::Redraw),
            Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library knows which of the other keys edit"
    )]
    fn key(&mut self, key: KeyEvent, event: &Event) -> PromptAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('c') if control => return PromptAction::Interrupt,
            KeyCode::Char('l') if control => return PromptAction::Clear,
            KeyCode::Char('d') if control && self.is_empty() => return PromptAction::Leave,
            KeyCode::Esc => return PromptAction::Escape,
            KeyCode::Enter if alt => self.insert("\n"),
            KeyCode::Char('j') if control => return self.submit(),
            KeyCode::Enter => return self.submit(),
            KeyCode::Up => self.recall_older(),
            KeyCode::Down => self.recall_newer(),
            KeyCode::Char('d') if control => self.edit(InputRequest::DeleteNextChar),
            KeyCode::Char('b') if alt => self.edit(InputRequest::GoToPrevWord),
            KeyCode::Char('f') if alt => self.edit(InputRequest::GoToNextWord),
            KeyCode::Char('d') if alt => self.edit(InputRequest::DeleteNextWord),
            _ => {
                // Input that the library does not handle changes nothing.
                let _changed = self.input.handle_event(event);
            }
        }
        PromptAction::Redraw
    }

    fn edit(&mut self, request: InputRequest) {
        let _changed = self.input.handle(request);
    }

    fn submit(&mut self) -> PromptAction {
        let text = self.input.value_and_reset();
        self.remember(&text);
        PromptAction::Submit(text)
    }

    fn remember(&mut self, text: &str) {
        self.recalled = None;
        if !text.trim().is_empty() && self.before.last().is_none_or(|last| last != text) {
            self.before.push(text.to_owned());
        }
    }

    /// Puts a text in at the cursor.
    fn insert(&mut self, text: &str) {
        let value = self.input.value();
        let at = self.input.cursor();
        let inserted: String = value
            .chars()
            .take(at)
            .chain(text.chars())
            .chain(value.chars().skip(at))
            .collect();
        self.input = Input::new(inserted).with_cursor(at + text.chars().count());
    }

    fn recall_older(&mut self) {
        let (index, typed) = match self.recalled.take() {
            Some((index, typed)) => (index.saturating_sub(1), typed),
            None => match self.before.len().checked_sub(1) {
                Some(last) => (last, self.input.value().to_owned()),
                None => return,
            },
        };
        if let Some(text) = self.before.get(index) {
            self.input = Input::new(text.clone());
        }
        self.recalled = Some((index, typed));
    }

    fn recall_newer(&mut self) {
        let Some((index, typed)) = self.recalled.take() else {
            return;
        };
        match self.before.get(index + 1) {
            Some(text) => {
                self.input = Input::new(text.clone());
                self.recalled = Some((index + 1, typed));
            }
            None => self.input = Input::new(typed),
        }
    }

    /// The line in so many columns: the part of it around the cursor. If nothing is typed, the hint.
    pub(super) fn row(&self, columns: usize, palette: Palette, hint: &str) -> PromptRow {
        let sign = palette.paint(Tone::Strong, SIGN.trim_end());
        let room = columns.saturating_sub(SIGN.len() + 1).max(1);
        if self.is_empty() {
            let hint = crate::layout::cut(hint, room);
            return PromptRow {
                text: format!("{sign} {}", palette.paint(Tone::Faint, &hint)),
                cursor: SIGN.len(),
            };
        }
        let cells: Vec<String> = self
            .input
            .value()
            .chars()
            .map(|character| match character {
                '\n' => "\u{23ce}".to_owned(),
                other => visible_piece(&other.to_string()),
            })
            .collect();
        let width = |cells: &[String]| cells.iter().map(|cell| cell.width()).sum::<usize>();
        let (before, after) = cells.split_at(self.input.cursor().min(cells.len()));
        let mut start = 0;
        while width(&before[start..]) > room {
            start += 1;
        }
        let before = &before[start..];
        let cursor = width(before);
        let mut shown = before.concat();
        let mut used = cursor;
        for cell in after {
            used += cell.width();
            if used > room {
                break;
            }
            shown.push_str(cell);
        }
        PromptRow {
            text: format!("{sign} {shown}"),
            cursor: SIGN.len() + cursor,
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    use super::{Prompt, PromptAction};
    use crate::palette::Palette;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn typed(prompt: &mut Prompt, text: &str) {
        for character in text.chars() {
            prompt.take(&key(KeyCode::Char(character), KeyModifiers::NONE));
        }
    }

    fn row(prompt: &Prompt) -> (String, usize) {
        let row = prompt.row(20, Palette::PLAIN, "hint");
        (row.text, row.cursor)
    }

    #[test]
    fn a_line_is_edited_submitted_and_called_up_again() {
        let mut prompt = Prompt::default();
        assert_eq!(row(&prompt), ("> hint".to_owned(), 2));
        typed(&mut prompt, "helo");
        prompt.take(&key(KeyCode::Left, KeyModifiers::NONE));
        typed(&mut prompt, "l");
        assert_eq!(row(&prompt), ("> hello".to_owned(), 6));
        let wish = prompt.take(&key(KeyCode::Enter, KeyModifiers::NONE));
        assert_eq!(wish, Some(PromptAction::Submit("hello".to_owned())));
        typed(&mut prompt, "draft");
        prompt.take(&key(KeyCode::Up, KeyModifiers::NONE));
        assert_eq!(row(&prompt).0, "> hello");
        prompt.take(&key(KeyCode::Down, KeyModifiers::NONE));
        assert_eq!(row(&prompt).0, "> draft", "what was typed is not lost");
    }

    #[test]
    fn a_paste_keeps_its_lines_and_submits_nothing() {
        let mut prompt = Prompt::default();
        typed(&mut prompt, "ac");
        prompt.take(&key(KeyCode::Left, KeyModifiers::NONE));
        let wish = prompt.take(&Event::Paste("1\r\n2".to_owned()));
        assert_eq!(wish, Some(PromptAction::Redraw));
        assert_eq!(row(&prompt), ("> a1\u{23ce}2c".to_owned(), 6));
    }

    #[test]
    fn a_long_line_shows_the_part_around_its_cursor() {
        let mut prompt = Prompt::default();
        typed(&mut prompt, "0123456789abcdefghijklmnop");
        assert_eq!(row(&prompt), ("> 9abcdefghijklmnop".to_owned(), 19));
        prompt.take(&key(KeyCode::Home, KeyModifiers::NONE));
        assert_eq!(row(&prompt), ("> 0123456789abcdefg".to_owned(), 2));
    }

    #[test]
    fn the_keys_that_stop_are_told_apart() {
        let mut prompt = Prompt::default();
        let control = |character| key(KeyCode::Char(character), KeyModifiers::CONTROL);
        assert_eq!(prompt.take(&control('c')), Some(PromptAction::Interrupt));
        assert_eq!(prompt.take(&control('d')), Some(PromptAction::Leave));
        typed(&mut prompt, "x");
        assert_eq!(prompt.take(&control('d')), Some(PromptAction::Redraw));
        let escape = key(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(prompt.take(&escape), Some(PromptAction::Escape));
        assert!(!prompt.is_empty(), "what is typed stays");
    }
}
