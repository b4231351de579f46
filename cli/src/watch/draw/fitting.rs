//! Lines that are longer than the screen is wide.

use ratatui::text::{Line, Span};

use crate::layout::cut;

/// The line in so many columns. If it is longer, its last part is cut, and shows how long it is.
pub(super) fn fitting(mut line: Line<'_>, columns: u16) -> Line<'_> {
    let columns = usize::from(columns);
    while line.width() > columns {
        let Some(last) = line.spans.pop() else {
            break;
        };
        let room = columns.saturating_sub(line.width());
        if room > 0 {
            let rest = cut(&last.content, room);
            line.spans.push(Span::styled(rest, last.style));
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use ratatui::text::{Line, Span};

    use super::fitting;

    #[test]
    fn what_stands_last_is_cut_and_says_how_long_it_is() {
        let line = |text: &str| Line::from(vec![Span::raw("run_1 "), Span::raw(text.to_owned())]);
        let shown = |text: &str| fitting(line(text), 46).to_string();
        assert_eq!(shown("bread"), "run_1 bread");
        assert_eq!(
            shown(&"bread ".repeat(20)),
            "run_1 bread bread bread brea… (120 characters)"
        );
        assert_eq!(fitting(line("bread"), 4).to_string(), "run…");
    }
}
