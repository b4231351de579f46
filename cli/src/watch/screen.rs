//! The terminal while the screens are shown. It is restored on every way out, a panic included.

use std::io::{self, Write};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::LeaveAlternateScreen;
use crossterm::{queue, terminal};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

use super::output::{self, Output};

/// How long a slow link may take for what is on its way when the screens are left.
const PATIENCE: Duration = Duration::from_secs(2);
/// Ends a sequence that was cut off, and does nothing else.
const CANCEL: &[u8] = b"\x18";

/// Asks the terminal whether it tells Esc from the beginning of a sequence, before its screen changes. One that is far
/// away answers late, and some never do, which takes two seconds: what was begun before goes on meanwhile.
///
/// # Cancel safety
///
/// Dropped, the terminal is asked to the end, and what is typed meanwhile may be lost.
pub(super) async fn tells_keys_apart() -> bool {
    let asked = tokio::task::spawn_blocking(terminal::supports_keyboard_enhancement).await;
    matches!(asked, Ok(Ok(true)))
}

/// The terminal, taken.
pub(super) struct TakenScreen {
    terminal: Terminal<CrosstermBackend<Output>>,
    output: Output,
    /// Whether the terminal tells Esc from the beginning of a sequence.
    tells_keys_apart: bool,
}

impl TakenScreen {
    /// Takes the terminal. What was on it comes back when this is dropped.
    ///
    /// # Errors
    ///
    /// If it is no terminal.
    pub(super) fn take(tells_keys_apart: bool) -> io::Result<Self> {
        // This one is not drawn on; it has made the panic hook, and has taken the screen.
        drop(ratatui::try_init()?);
        let mut output = Output::begin()?;
        let taken = Self {
            terminal: Terminal::new(CrosstermBackend::new(output.clone()))?,
            output: output.clone(),
            tells_keys_apart,
        };
        queue!(output, EnableBracketedPaste)?;
        if tells_keys_apart {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
            queue!(output, PushKeyboardEnhancementFlags(flags))?;
        }
        Ok(taken)
    }

    /// Whether the terminal tells Esc from the beginning of a sequence.
    pub(super) const fn tells_keys_apart(&self) -> bool {
        self.tells_keys_apart
    }

    /// Whether the terminal has taken all that was drawn.
    pub(super) fn is_ready(&self) -> bool {
        self.output.is_drained()
    }

    /// Waits until it has.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only waits.
    pub(super) async fn ready(&self) {
        self.output.drained().await;
    }

    /// Draws, and does not wait until the terminal has taken it.
    ///
    /// # Errors
    ///
    /// If the terminal is gone.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw)?;
        self.output.send()
    }

    /// What was drawn may not be there any more: the next picture is drawn whole.
    ///
    /// # Errors
    ///
    /// If the terminal is gone.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // `clear` would ask the terminal where its cursor is.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// What goes to the terminal beside what is drawn.
    pub(super) fn beside(&self) -> Output {
        self.output.clone()
    }
}

impl TakenScreen {
    /// Writes what restores the terminal.
    fn give_back(&self, to: &mut impl Write) -> io::Result<()> {
        if self.tells_keys_apart {
            queue!(to, PopKeyboardEnhancementFlags)?;
        }
        queue!(to, DisableBracketedPaste, LeaveAlternateScreen, Show)
    }
}

impl Drop for TakenScreen {
    fn drop(&mut self) {
        // A failure can be reported to no one any more.
        let mut output = self.output.clone();
        let _ = self.give_back(&mut output);
        let _ = output.send();
        if !output.end(PATIENCE) {
            output::discard();
            let _ = output.waits(PATIENCE);
            let mut terminal = io::stdout();
            let _ = terminal.write_all(CANCEL);
            let _ = self.give_back(&mut terminal);
            let _ = terminal.flush();
        }
        let _ = terminal::disable_raw_mode();
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
        let _taken = TakenScreen::take(false).unwrap();
        panic!("as it was told to");
    }
}
