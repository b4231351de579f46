//! What can be said to the program instead of the model.

use interrupts::nearest;

/// What a submitted line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Submitted {
    /// A message to the model.
    Message(String),
    /// Nothing was typed: pending work continues.
    Nothing,
    /// A list of the commands.
    Help,
    /// The end.
    Exit,
    /// No such command; what may have been meant.
    Unknown {
        given: String,
        near: Option<&'static str>,
    },
}

/// The commands, and what they do.
pub(super) const COMMANDS: [(&str, &str); 3] = [
    ("/help", "this list"),
    ("/exit", "leave, as Ctrl+D does"),
    ("//…", "a message that begins with a slash"),
];

const NAMES: [&str; 2] = ["/help", "/exit"];

/// Reads a submitted line.
pub(super) fn read(line: &str) -> Submitted {
    let text = line.trim();
    if text.is_empty() {
        return Submitted::Nothing;
    }
    if !text.starts_with('/') {
        return Submitted::Message(line.trim_end().to_owned());
    }
    if let Some(escaped) = text.strip_prefix("//") {
        return Submitted::Message(format!("/{escaped}"));
    }
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (name, argument.trim()) {
        ("/help", "") => Submitted::Help,
        ("/exit" | "/quit", "") => Submitted::Exit,
        (name, _) => Submitted::Unknown {
            given: name.to_owned(),
            near: nearest(name, NAMES),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Submitted, read};

    #[test]
    fn a_line_is_a_message_unless_it_begins_with_one_slash() {
        assert_eq!(read(" "), Submitted::Nothing);
        assert_eq!(read("a /help "), Submitted::Message("a /help".to_owned()));
        assert_eq!(
            read("//etc/fstab"),
            Submitted::Message("/etc/fstab".to_owned())
        );
        assert_eq!(read("/exit"), Submitted::Exit);
        assert!(matches!(read("/model"), Submitted::Unknown { .. }));
        let unknown = Submitted::Unknown {
            given: "/hlep".to_owned(),
            near: Some("/help"),
        };
        assert_eq!(read("/hlep"), unknown);
    }
}
