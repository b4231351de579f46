//! The keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Theme, draw_text};
use crate::watch::state::ScreenState;

const KEYS: [(&str, &str); 20] = [
    (
        "Esc",
        "close what is open; leave a review or this page; else interrupt the agent or run that is marked",
    ),
    (
        "Ctrl+C",
        "close a line of text, which is kept; while a pause is under way: stop at once; twice: leave, runs go on",
    ),
    ("Ctrl+D", "leave"),
    (
        "1 2 ?",
        "agents, inbox, this page; in a review digits choose",
    ),
    ("Enter", "open what is marked"),
    ("q Backspace", "back"),
    ("j k ↑ ↓", "down and up"),
    ("g G", "first and last"),
    ("", "In a review:"),
    ("a", "approve, or resume"),
    ("1-9", "choose, then Enter sends the choice"),
    ("r", "answer in words"),
    ("e", "fill in the request in your editor"),
    ("m", "change the plan"),
    ("x", "reject, after a question"),
    ("i", "skip it, after a question"),
    (
        "R",
        "send the answer elsewhere, among the routes that are allowed",
    ),
    ("c", "claim it, or give it back"),
    ("u", "undo a choice before it is sent"),
    ("n p", "next and previous"),
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    let width = usize::from(area.width).saturating_sub(MARGIN);
    let mut lines = Vec::new();
    for (key, meaning) in KEYS {
        for (number, part) in broken(meaning, width).into_iter().enumerate() {
            let key = if number == 0 { key } else { "" };
            lines.push(Line::from(vec![
                Span::styled(format!("  {key:<13}"), look.active()),
                Span::raw(part),
            ]));
        }
    }
    draw_text(frame, area, state, (lines, " Help "));
}

/// The column at which the meanings begin.
const MARGIN: usize = 15;

/// A text in lines of this width, broken between words.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(line) if used == 0 || used + 1 + word.chars().count() <= width => {
                if used > 0 {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
