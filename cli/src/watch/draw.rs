//! The state on the screen.

mod agents;
mod fitting;
mod help;
mod inbox;
mod overlay;
mod review;
mod theme;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::overlay::Overlay;
use super::state::{Screen, ScreenState};
use crate::visible::visible_line;
use fitting::fitting;

pub(super) use theme::Theme;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &ScreenState, look: Theme) {
    let [head, body, status] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_head(frame, head, state, look);
    match state.screen {
        Screen::Agents => agents::draw(frame, body, state, look),
        Screen::Run(run) => agents::draw_run(frame, body, state, run, look),
        Screen::Inbox => inbox::draw(frame, body, state, look),
        Screen::Review(id) => review::draw(frame, body, state, id, look),
        Screen::Help => help::draw(frame, body, state, look),
    }
    draw_status(frame, status, state, look);
    overlay::draw(frame, body, state, look);
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    // In a review digits choose, so they are not offered as keys to another screen.
    let digit = |digit: &str| match state.screen {
        Screen::Review(_) => String::new(),
        Screen::Agents | Screen::Run(_) | Screen::Inbox | Screen::Help => format!("{digit} "),
    };
    let mut inbox = format!("{}Inbox", digit("2"));
    if state.waiting().number > 0 {
        inbox.push_str(&format!(" ({})", state.waiting()));
    }
    let tabs = [
        (
            format!("{}Agents", digit("1")),
            matches!(state.screen, Screen::Agents | Screen::Run(_)),
        ),
        (
            inbox,
            matches!(state.screen, Screen::Inbox | Screen::Review(_)),
        ),
        ("? Help".to_owned(), state.screen == Screen::Help),
    ];
    let mut spans = vec![Span::styled(" irq ", look.strong())];
    for (label, is_here) in tabs {
        let style = if is_here { look.chosen() } else { look.faint() };
        spans.push(Span::raw(" "));
        spans.push(Span::styled(format!(" {label} "), style));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn draw_status(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    if let Some(note) = &state.note {
        let style = if note.is_bad { look.bad() } else { look.good() };
        let text = format!(" {}", visible_line(&note.text));
        frame.render_widget(Paragraph::new(Span::styled(text, style)), area);
        return;
    }
    let (waiting, stopping) = (state.waiting(), state.stopping());
    let esc = match &state.overlay {
        Some(Overlay::Modal(_)) => "esc resume unchanged".to_owned(),
        Some(Overlay::Confirm { .. } | Overlay::Item { .. }) => "y yes · n no".to_owned(),
        Some(Overlay::Routes { .. } | Overlay::Prompt { .. }) => "esc close".to_owned(),
        None if matches!(state.screen, Screen::Review(_) | Screen::Help) => "esc back".to_owned(),
        None => match state.to_interrupt() {
            Some((run, node)) => {
                let what = node.map_or_else(|| short(&run.to_string()), |node| node.to_string());
                format!("esc interrupt {what}")
            }
            None => "? help".to_owned(),
        },
    };
    let mut text = format!(" {esc} · {waiting} waiting");
    if let Some(first) = stopping.first() {
        let time = state.now.duration_since(first.requested_at);
        let tenths = time.as_millis().max(0) / 100;
        text.push_str(&format!(
            " · {} stopping {}.{} s",
            stopping.len(),
            tenths / 10,
            tenths % 10
        ));
    }
    let style = if waiting.number > 0 {
        look.waiting()
    } else {
        look.faint()
    };
    frame.render_widget(Paragraph::new(Span::styled(text, style)), area);
}

/// Things that stay whole, next to each other if there is room, in as many lines as they need.
fn packed(
    things: impl IntoIterator<Item = Vec<Span<'static>>>,
    width: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    for spans in things {
        let more: usize = spans.iter().map(Span::width).sum();
        if line.width() > 0 && line.width() + 1 + more > width {
            lines.push(std::mem::take(&mut line));
        }
        if line.width() > 0 {
            line.push_span(" ");
        }
        line.extend(spans);
    }
    lines.push(line);
    lines
}

/// Running text below a title, moved up as far as the keys say and as there is more of it.
fn draw_text(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    (lines, title): (Vec<Line<'_>>, &str),
) {
    let room = usize::from(area.height.saturating_sub(1));
    let width = usize::from(area.width);
    let needed: usize = lines.iter().map(|line| rows_of(line, width)).sum();
    let reach = needed.saturating_sub(room);
    state.reach.set(reach);
    let moved = state.at.min(reach);
    let title = if reach == 0 {
        title.to_owned()
    } else {
        format!("{title}· j k to read on, {} more lines ", reach - moved)
    };
    let text = agents::text(lines, &title);
    let moved = u16::try_from(moved).unwrap_or(u16::MAX);
    frame.render_widget(text.scroll((moved, 0)), area);
}

/// How many rows a line takes when it is broken between words.
fn rows_of(line: &Line<'_>, width: usize) -> usize {
    let text: String = line.spans.iter().map(|span| &*span.content).collect();
    let (mut rows, mut used) = (1, 0);
    for word in text.split_inclusive(' ') {
        let length = Span::raw(word).width();
        let seen = Span::raw(word.trim_end()).width();
        if used > 0 && used + seen > width {
            rows += 1;
            used = 0;
        }
        used += length;
        while used > width && width > 0 && seen > width {
            rows += 1;
            used -= width;
        }
    }
    rows
}

/// The beginning of a long id, as much as people tell apart.
pub(super) fn short(id: &str) -> String {
    id.chars().take(16).collect()
}
