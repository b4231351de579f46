//! A text in brief, for a list: its beginning and its end, and how long it is.

/// The most characters of a text that is not cut.
const WHOLE: usize = 140;

/// How many characters of the beginning of a longer one.
const HEAD: usize = 90;

/// How many of its end: what matters most may stand there.
const TAIL: usize = 40;

/// A text on one line. Of a long one the beginning and the end, with the length of all of it.
pub fn in_brief(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= WHOLE {
        return line;
    }
    let head: String = line.chars().take(HEAD).collect();
    let tail: String = line.chars().skip(count - TAIL).collect();
    format!(
        "{head} \u{2026} {tail} ({} characters)",
        text.chars().count()
    )
}

#[cfg(test)]
mod tests {
    use super::in_brief;

    #[test]
    fn what_is_cut_shows_its_end_and_the_length_of_all_of_it() {
        assert_eq!(in_brief(" a\n b "), "a b");
        let command = format!("cat {}; touch PWNED", "src/prices.py ".repeat(20));
        let shown = in_brief(&command);
        let length = format!("({} characters)", command.chars().count());
        assert!(
            shown.ends_with(&format!("; touch PWNED {length}")),
            "{shown}"
        );
        assert_eq!(in_brief(&"\u{e9}".repeat(140)).chars().count(), 140);
    }
}
