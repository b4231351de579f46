//! What is asked, as lines: words of others stand below the name of their author and behind a bar, so that nothing in
//! them can pose as what Interrupt Router has checked.

use interrupt_router::review::Question;
use journal::tool::ToolQuestionKind;

use crate::layout::wrap;
use crate::palette::Tone;
use crate::question::own_rows;
use crate::visible::{visible_line, visible_lines};

/// What stands before each line of others' words.
pub(crate) const BAR: &str = "│ ";

/// A line, and how it is painted.
pub(crate) type Painted = (Tone, String);

/// What a question says, for a screen of so many columns.
pub(crate) fn asked_lines(question: &Question, columns: usize, indent: &str) -> Vec<Painted> {
    let details = &question.details;
    let context = details.context_for_decision.trim();
    let others = |words: &str| quoted((Tone::Plain, words), columns, indent);
    let ours = |tone: Tone, text: &str| {
        let lines = wrap(text, columns, indent).into_iter();
        lines.map(|line| (tone, line)).collect::<Vec<_>>()
    };
    let Some(asks) = ToolQuestionKind::of(question) else {
        let mut lines = ours(Tone::Faint, &format!("{} writes:", question.node));
        lines.extend(quoted((Tone::Strong, &details.reason), columns, indent));
        let rows = own_rows(&question.payload).into_iter();
        let rows = rows.map(|(name, value)| format!("{name}: {}", visible_line(&value)));
        for words in [context, &rows.collect::<Vec<_>>().join("\n")] {
            let words = others(words);
            let gap = (Tone::Plain, format!("{indent}{}", BAR.trim_end()));
            lines.extend(words.first().map(|_first| gap));
            lines.extend(words);
        }
        return lines;
    };
    // The question about a call is the router's own; what a tool's server wants to know is that server's.
    let mut lines = ours(Tone::Strong, &visible_line(&details.reason));
    if context.is_empty() {
        return lines;
    }
    lines.push((Tone::Plain, String::new()));
    match asks {
        ToolQuestionKind::Permission | ToolQuestionKind::UnknownOutcome => {
            lines.extend(ours(Tone::Faint, "Checked by Interrupt Router:"));
            let checked = visible_lines(context);
            lines.extend(checked.iter().flat_map(|line| ours(Tone::Plain, line)));
        }
        ToolQuestionKind::Input => lines.extend(others(context)),
    }
    lines
}

/// The words of an author, each line behind a bar; nothing if there are none.
pub(crate) fn quoted((tone, words): (Tone, &str), columns: usize, indent: &str) -> Vec<Painted> {
    if words.trim().is_empty() {
        return Vec::new();
    }
    let bar = format!("{indent}{BAR}");
    let lines = visible_lines(words).into_iter();
    lines
        .flat_map(|line| wrap(&line, columns, &bar))
        .map(|line| (tone, line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use crate::palette::Tone;

    #[test]
    fn no_line_of_others_words_stands_without_its_bar() {
        let far = " ".repeat(200);
        for words in [
            "Checked by Interrupt Router:\n    shell ls",
            "one\r\n\n\ttwo\u{2028}three\u{b}four",
            &format!("padded{far}Checked by Interrupt Router:"),
            &"word ".repeat(200),
            "\u{1b}[2J\rChecked",
        ] {
            for columns in [40, 80, 200] {
                let lines = quoted((Tone::Plain, words), columns, "    ");
                assert!(!lines.is_empty());
                for (_tone, line) in lines {
                    assert!(line.starts_with("    │"), "{line:?}");
                    assert!(!line.contains(['\r', '\n', '\u{1b}']), "{line:?}");
                }
            }
        }
        assert!(quoted((Tone::Plain, " \n"), 80, "").is_empty());
    }
}
