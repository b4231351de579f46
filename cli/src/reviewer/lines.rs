//! Lines that a person types, or a program sends.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest line, in bytes.
pub(crate) const LONGEST_LINE: u64 = 1_000_000;

/// Why a line is refused that contains a key which a terminal does not take for itself: `1` after it is no 1.
const NO_TEXT: &str =
    "that line holds a key that is no text, such as Esc or an arrow; nothing was taken";

/// Why there is no line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoLine {
    /// The input has ended.
    #[error("the input has ended")]
    End,
    /// The input cannot be read.
    #[error("cannot read the input")]
    Unreadable(#[source] io::Error),
    /// The line is too long, no UTF-8, or contains keys that are no text; the next one may be fine.
    #[error("{0}")]
    Unusable(&'static str),
    /// Esc was pressed instead of the end of this line: another part of the program has the terminal now.
    #[error("Esc was pressed")]
    Escape(String),
    /// The question was answered elsewhere.
    #[error("it was answered elsewhere")]
    Withdrawn,
}

/// Reads one line when one is asked for and never ahead, so that an editor can have the terminal in between.
///
/// Reading blocks a thread of its own: a read of a terminal cannot be taken back. A line whose caller has gone is given
/// to the next caller.
#[derive(Debug)]
pub(crate) struct Lines {
    channel: Mutex<Channel>,
}

#[derive(Debug)]
struct Channel {
    wishes: Sender<()>,
    lines: UnboundedReceiver<Result<String, NoLine>>,
    wished: bool,
}

impl Lines {
    /// The lines of standard input.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub(crate) fn of_standard_input() -> io::Result<Self> {
        let (wishes, wished) = mpsc::channel();
        let (send, lines) = unbounded_channel();
        // The thread ends with the process: it may be blocked in a read.
        std::thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || read_wished(&wished, &send))?;
        Ok(Self {
            channel: Mutex::new(Channel {
                wishes,
                lines,
                wished: false,
            }),
        })
    }

    /// The next line, without its end.
    ///
    /// # Errors
    ///
    /// [`NoLine`].
    ///
    /// # Cancel safety
    ///
    /// Safe: a line that comes after the future was dropped is the next one.
    pub(crate) async fn next(&self) -> Result<String, NoLine> {
        let mut channel = self.channel.lock().await;
        if !channel.wished {
            channel.wished = true;
            if channel.wishes.send(()).is_err() {
                return Err(NoLine::End);
            }
        }
        let line = channel.lines.recv().await;
        channel.wished = false;
        line.unwrap_or(Err(NoLine::End))
    }
}

/// Discards what was typed on a terminal before it was asked for, so that it does not answer an unseen question. What
/// comes through a pipe is kept: its sender means it.
pub(super) fn forget_typed_ahead() {
    let input = io::stdin();
    if input.is_terminal() {
        // A terminal that cannot be flushed can still be read.
        let _flushed = tcflush(&input, QueueSelector::IFlush);
    }
}

fn read_wished(wishes: &Receiver<()>, lines: &UnboundedSender<Result<String, NoLine>>) {
    while wishes.recv().is_ok() {
        if lines.send(read_line(&mut io::stdin().lock())).is_err() {
            return;
        }
    }
}

pub(super) fn read_line(input: &mut impl BufRead) -> Result<String, NoLine> {
    let mut bytes = Vec::new();
    let read = input
        .by_ref()
        .take(LONGEST_LINE + 1)
        .read_until(b'\n', &mut bytes)
        .map_err(NoLine::Unreadable)?;
    if read == 0 {
        return Err(NoLine::End);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 > LONGEST_LINE {
        skip_line(input)?;
        return Err(NoLine::Unusable("that line is too long"));
    }
    line_of(bytes)
}

/// The text of a line, without its end.
pub(crate) fn line_of(bytes: Vec<u8>) -> Result<String, NoLine> {
    let line = String::from_utf8(bytes)
        .map_err(|_invalid| NoLine::Unusable("that line is no UTF-8 text"))?;
    let line = line.trim_end_matches(['\n', '\r']);
    if line.chars().any(|it| it.is_control() && it != '\t') {
        return Err(NoLine::Unusable(NO_TEXT));
    }
    Ok(line.to_owned())
}

fn skip_line(input: &mut impl BufRead) -> Result<(), NoLine> {
    loop {
        let available = input.fill_buf().map_err(NoLine::Unreadable)?;
        if available.is_empty() {
            return Ok(());
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(available.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{NoLine, read_line};

    #[test]
    fn lines_come_one_by_one_until_the_end() {
        let mut input = Cursor::new("one\r\n\nlast");
        assert_eq!(read_line(&mut input).unwrap(), "one");
        assert_eq!(read_line(&mut input).unwrap(), "");
        assert_eq!(read_line(&mut input).unwrap(), "last");
        assert!(matches!(read_line(&mut input), Err(NoLine::End)));
    }

    #[test]
    fn a_line_that_cannot_be_used_does_not_hurt_the_next_one() {
        let mut bytes = vec![b'x'; 1_500_000];
        bytes.extend(b"\n\xff\xfe\n\x1b1\nfine\tor so\n");
        let mut input = Cursor::new(bytes);
        assert!(matches!(read_line(&mut input), Err(NoLine::Unusable(_))));
        assert!(matches!(read_line(&mut input), Err(NoLine::Unusable(_))));
        assert!(matches!(read_line(&mut input), Err(NoLine::Unusable(_))));
        assert_eq!(read_line(&mut input).unwrap(), "fine\tor so");
    }
}
