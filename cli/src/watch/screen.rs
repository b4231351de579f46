//! The terminal while the screens are shown. It is given back on every way out, a panic included.

use std::io::{self, Write};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{execute, terminal};
use ratatui::DefaultTerminal;

/// The terminal, taken.
pub(super) struct TakenScreen {
    pub(super) terminal: DefaultTerminal,
    /// Whether the terminal tells Esc from the beginning of a sequence.
    tells_keys_apart: bool,
}

impl TakenScreen {
    /// Takes the terminal. What was on it comes back when this is dropped.
    ///
    /// # Errors
    ///
    /// Where it is no terminal.
    pub(super) fn take() -> io::Result<Self> {
        // Asked before the screen changes: some terminals answer late.
        let tells_keys_apart = terminal::supports_keyboard_enhancement().unwrap_or(false);
        let terminal = ratatui::try_init()?;
        let taken = Self {
            terminal,
            tells_keys_apart,
        };
        execute!(io::stdout(), EnableBracketedPaste)?;
        if tells_keys_apart {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
            execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        }
        Ok(taken)
    }
}

impl Drop for TakenScreen {
    fn drop(&mut self) {
        // There is nobody left to tell of a failure.
        if self.tells_keys_apart {
            let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags);
        }
        let _ = execute!(io::stdout(), DisableBracketedPaste);
        ratatui::restore();
        let _ = io::stdout().flush();
    }
}
