//! The terminal in raw mode, in which every key is reported at once, for as long as this lives.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::{execute, terminal};

static RESTORE_ON_PANIC: Once = Once::new();

/// Gives the terminal back when it is dropped. A panic on any thread gives it back first, so that its
/// message can be read.
#[derive(Debug)]
pub(super) struct RawTerminal {
    _private: (),
}

impl RawTerminal {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        RESTORE_ON_PANIC.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |panicked| {
                give_back();
                usual(panicked);
            }));
        });
        terminal::enable_raw_mode()?;
        // From here on the terminal is restored even if a step fails.
        let taken = Self { _private: () };
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(taken)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Does nothing to a terminal that was not taken or was given back already.
fn give_back() {
    if terminal::is_raw_mode_enabled().unwrap_or(true) {
        // A failure can no longer be reported.
        let _ = execute!(io::stdout(), DisableBracketedPaste);
        let _ = terminal::disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rexpect::session::spawn_command;

    use super::RawTerminal;

    /// Set when this test is run by itself, on a terminal.
    const ON_TERMINAL: &str = "IRQ_TEST_ON_TERMINAL";

    #[test]
    fn a_panic_on_any_thread_gives_the_terminal_back() {
        if std::env::var_os(ON_TERMINAL).is_some() {
            let _taken = RawTerminal::take().unwrap();
            let panicking = std::thread::spawn(|| panic!("told to"));
            assert!(panicking.join().is_err());
            // This exit drops nothing.
            std::process::exit(0);
        }
        let mut command = Command::new("sh");
        let program = std::env::current_exe().unwrap();
        let name = "a_panic_on_any_thread_gives_the_terminal_back";
        command
            .arg("-c")
            .arg(format!(
                "{} {name} --nocapture; stty -a; echo DONE",
                program.display()
            ))
            .env(ON_TERMINAL, "1")
            .env("TERM", "xterm");
        let mut session = spawn_command(command, Some(20_000)).unwrap();
        session.exp_string("told to").unwrap();
        let modes = session.exp_string("DONE").unwrap();
        let words: Vec<&str> = modes.split_whitespace().collect();
        assert!(
            words.contains(&"icanon") && words.contains(&"isig"),
            "{modes}"
        );
    }
}
