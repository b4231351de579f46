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

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rexpect::session::spawn_command;

    use super::TakenScreen;

    #[test]
    fn a_panic_gives_the_terminal_back_and_is_told_below_what_was_there() {
        let program = std::env::current_exe().unwrap();
        let test = "watch::screen::tests::panics_on_the_screen";
        let script = format!(
            "stty rows 30 cols 100; '{}' --exact {test} --ignored --nocapture; stty -a; echo LEFT",
            program.display()
        );
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .env("TERM", "xterm-256color")
            .stdin(Stdio::inherit());
        let mut screen = spawn_command(command, Some(30_000)).unwrap();
        let before = screen.exp_string("as it was told to").unwrap();
        assert!(before.contains("?1049h"), "the screen was never taken");
        assert!(
            before.contains("?1049l"),
            "the panic is told where nobody sees it"
        );
        let modes = screen.exp_string("LEFT").unwrap();
        let words: Vec<&str> = modes.split_whitespace().collect();
        for mode in ["icanon", "isig"] {
            assert!(words.contains(&mode), "{mode} in {modes}");
        }
    }

    #[test]
    #[ignore = "is run by the test above, on a terminal of its own"]
    fn panics_on_the_screen() {
        let _taken = TakenScreen::take().unwrap();
        panic!("as it was told to");
    }
}
