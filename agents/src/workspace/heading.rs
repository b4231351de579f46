//! A file's title.

use super::file::printable;

/// How far down a heading is looked for, in lines.
const FIRST_LINES: usize = 12;

/// The most characters of a heading.
const LONGEST_HEADING: usize = 120;

/// What begins a comment at the head of a file, longer marks first.
const MARKS: [&str; 10] = [
    "//!", "///", "//", "\"\"\"", "/**", "/*", "<!--", "--", ";;", "#",
];

/// The first heading of a text, or the first line of the comment at its head.
pub(super) fn heading(text: &str) -> Option<String> {
    text.lines()
        .take(FIRST_LINES)
        .map(str::trim)
        .filter(|line| !line.starts_with("#!") && !line.starts_with("#["))
        .find_map(|line| {
            let mark = MARKS.iter().find(|mark| line.starts_with(**mark))?;
            let said = line
                .trim_start_matches(*mark)
                .trim_start_matches(['#', '*', '!', ' '])
                .trim_end_matches("*/")
                .trim_end_matches("-->")
                .trim_end_matches("\"\"\"")
                .trim()
                .trim_end_matches('.');
            let tells = said.chars().any(char::is_alphabetic);
            tells.then(|| printable(said).chars().take(LONGEST_HEADING).collect())
        })
}
