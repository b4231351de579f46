//! What a person types when asked for consent. The same words mean the same everywhere.

use std::fmt::{self, Display};

use interrupt_router::ConfirmationItem;

/// What a typed line says about a call of a tool. Nothing but a clear yes allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent<'line> {
    /// It may be made, once, as it is shown.
    Allow,
    /// It may not; why, if that was typed.
    Deny(Option<&'line str>),
    /// It may be made with other arguments: with these, or with what is written next.
    Edit(Option<&'line str>),
    /// All of it is to be shown.
    Show,
    /// What can be typed is to be shown.
    Help,
    /// Nothing.
    Nothing,
    /// Words that are none of these.
    Words(&'line str),
}

impl<'line> Consent<'line> {
    /// What a line says.
    pub(crate) fn read(line: &'line str) -> Self {
        let line = line.trim();
        let end = line.find([' ', '\t', ':']).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let rest = rest.trim_start_matches([' ', '\t', ':']);
        let more = (!rest.is_empty()).then_some(rest);
        match (word.to_lowercase().as_str(), more) {
            ("", None) => Self::Nothing,
            // With more words it is something else.
            ("y" | "yes" | "allow" | "approve", None) => Self::Allow,
            ("n" | "no" | "deny" | "reject", why) => Self::Deny(why),
            ("e" | "edit", None) => Self::Edit(None),
            ("e" | "edit", Some(json)) if json.starts_with('{') => Self::Edit(Some(json)),
            ("v" | "view" | "s" | "show", None) => Self::Show,
            ("?" | "h" | "help", None) => Self::Help,
            _ => Self::Words(line),
        }
    }
}

/// What can be typed, each with what it does.
pub(crate) const CONSENTS: [(&str, &str); 6] = [
    ("y", "allow this one call, once (also: yes, allow, approve)"),
    ("n", "deny it (also: no, deny, reject)"),
    ("n WORDS", "the same, and tell the agent why"),
    ("e", "change the arguments, in $VISUAL or $EDITOR"),
    ("e {…}", "the same at once, as JSON"),
    ("s", "show all of it (also: show, v, view)"),
];

/// The reply to a line that is no answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoAnswer;

impl Display for NoAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Type y to allow it or n to deny it; `n WORDS` says why.")
    }
}

/// What an agent suggests to say. It is never said by itself.
pub(crate) fn suggested(item: &ConfirmationItem) -> Option<&'static str> {
    Some(match item.default_value? {
        true => "the agent suggests yes",
        false => "the agent suggests no",
    })
}

/// Reads a line that has to be a yes or a no.
pub(crate) fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Consent, yes_or_no};

    #[test]
    fn nothing_but_a_clear_yes_allows() {
        for yes in ["y", "Y", " yes ", "allow", "Approve"] {
            assert_eq!(Consent::read(yes), Consent::Allow, "{yes}");
        }
        for other in ["yes, but not there", "y es", "yep", "1", "ok", "allow all"] {
            assert_eq!(Consent::read(other), Consent::Words(other), "{other}");
        }
        assert_eq!(Consent::read(" "), Consent::Nothing);
    }

    #[test]
    fn a_no_may_say_why_and_an_edit_may_say_what() {
        assert_eq!(Consent::read("n"), Consent::Deny(None));
        assert_eq!(
            Consent::read("no: not on a Sunday"),
            Consent::Deny(Some("not on a Sunday"))
        );
        assert_eq!(
            Consent::read("deny not here"),
            Consent::Deny(Some("not here"))
        );
        assert_eq!(
            Consent::read("e {\"a\": 1}"),
            Consent::Edit(Some("{\"a\": 1}"))
        );
        let words = "e for effort";
        assert_eq!(Consent::read(words), Consent::Words(words));
        let words = "nothing like that";
        assert_eq!(Consent::read(words), Consent::Words(words));
    }

    #[test]
    fn a_yes_or_a_no_is_one_word() {
        assert_eq!(yes_or_no("Yes"), Some(true));
        assert_eq!(yes_or_no("n"), Some(false));
        assert_eq!(yes_or_no("yes please"), None);
    }
}
