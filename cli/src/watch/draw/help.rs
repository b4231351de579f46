//! The keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Look;
use super::agents::text;

const KEYS: [(&str, &str); 27] = [
    (
        "Esc",
        "interrupt the agent or run that is marked, and say how it goes on; closes what is open",
    ),
    (
        "Ctrl+C",
        "puts the draft aside; while a pause is under way: stop at once; twice: leave, runs go on",
    ),
    ("Ctrl+Z", "brings the draft back"),
    ("Ctrl+D", "leave"),
    ("Ctrl+X k", "interrupt all runs, after a question"),
    (
        "Tab",
        "write a message to the agent that is marked; Enter sends it",
    ),
    ("1 2 3 ?", "agents, inbox, history, this page"),
    ("Enter", "open what is marked"),
    ("q Backspace", "back"),
    ("j k ↑ ↓", "down and up"),
    ("g G", "first and last"),
    ("/", "filter"),
    (":", "go to a screen by its name"),
    ("y", "copy the id"),
    ("o", "open its page in a browser, where a server is watched"),
    ("", "In a review:"),
    ("a", "approve, or resume"),
    ("1-9", "choose, then Enter sends the choice"),
    ("r", "answer in words"),
    ("e", "fill in the request in your editor"),
    ("m", "change the plan"),
    ("x", "reject, after a question"),
    ("i", "go on without an answer, after a question"),
    (
        "R",
        "send the answer elsewhere, among the routes that are allowed",
    ),
    ("c", "claim it, or give it back"),
    ("u", "undo a choice before it is sent"),
    (
        "n p",
        "next and previous; A in the inbox approves all that are shown",
    ),
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, look: Look) {
    let lines = KEYS
        .iter()
        .map(|(key, meaning)| {
            Line::from(vec![
                Span::styled(format!("  {key:<13}"), look.active()),
                Span::raw(*meaning),
            ])
        })
        .collect();
    frame.render_widget(text(lines, " Help "), area);
}
