//! What the marked agent has not read yet, above the line for a message.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Theme;
use crate::layout::cut;
use crate::visible::visible_line;
use crate::watch::state::ScreenState;

/// The most columns of a message.
const LONGEST: usize = 56;

/// How many lines it takes.
pub(super) fn height(state: &ScreenState) -> u16 {
    u16::from(!state.queue().is_empty())
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    let queue = state.queue();
    let mut spans = vec![Span::styled(" not read yet ", look.faint())];
    for message in &queue {
        let text = visible_line(&message.message.text);
        let part = cut(&text, LONGEST);
        let from = if state.is_mine(message) {
            String::new()
        } else {
            format!("{}: ", visible_line(message.message.from.name.as_str()))
        };
        spans.push(Span::styled(format!(" {from}{part} "), look.chosen()));
        spans.push(Span::raw(" "));
    }
    if queue.iter().any(|message| state.is_mine(message)) {
        let how = if state.is_composing {
            "↑ takes back"
        } else {
            "Tab ↑ takes back"
        };
        // What can be done is in sight, however long the messages are.
        let width = u16::try_from(Span::raw(how).width() + 1).unwrap_or(u16::MAX);
        let [chips, hint] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(width)]).areas(area);
        frame.render_widget(Paragraph::new(Line::from(spans)), chips);
        frame.render_widget(Paragraph::new(Span::styled(how, look.faint())), hint);
    } else {
        frame.render_widget(Paragraph::new(Line::from(spans)), area);
    }
}
