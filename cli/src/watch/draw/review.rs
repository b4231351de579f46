//! One interrupt: what is asked, what may be answered, where it goes.

use interrupts::life::{Family, Interrupt};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use routing_core::InterruptId;
use routing_core::review::Question;

use super::agents::text;
use super::{Theme, draw_text, packed};
use crate::advice::advised;
use crate::asking;
use crate::question;
use crate::refused::decided;
use crate::state_words::state_words;
use crate::time::ago;
use crate::visible::{visible_line, visible_lines};
use crate::watch::state::ScreenState;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    id: InterruptId,
    look: Theme,
) {
    let Some(interrupt) = state.snapshot.interrupt(id) else {
        let lines = vec![
            Line::from(format!("{id} has ended. What became of it:")),
            Line::from(advised(&format!("    irq review {id}"))),
        ];
        frame.render_widget(text(lines, " Review "), area);
        return;
    };
    let mut lines = heading(interrupt, state, look);
    match question::question(interrupt) {
        Ok(question) => lines.extend(asked_lines(&question, state, look)),
        Err(_it_stops) => {
            lines.extend(paragraph(&interrupt.reason, look));
            let askings = asking::lines(interrupt);
            if !askings.is_empty() {
                lines.push(Line::default());
                lines.extend(askings.iter().flat_map(|asking| paragraph(asking, look)));
            }
        }
    }
    // What can be done stays in sight, however much there is to read.
    let buttons = buttons(interrupt, usize::from(area.width), look);
    let height = u16::try_from(buttons.len()).unwrap_or(u16::MAX);
    let [reading, doing] =
        Layout::vertical([Constraint::Min(3), Constraint::Length(height)]).areas(area);
    draw_text(frame, reading, state, (lines, " Review "));
    frame.render_widget(Paragraph::new(buttons), doing);
}

fn heading(interrupt: &Interrupt, state: &ScreenState, look: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{} ", interrupt.interrupt_type), look.strong()),
        Span::raw(format!("of {} ", interrupt.node)),
        Span::styled(
            format!(
                "{} · {} · version {}",
                ago(interrupt.requested_at, state.now),
                state_words(interrupt.state),
                interrupt.version
            ),
            look.faint(),
        ),
    ])];
    if let Some(decision) = &interrupt.decision {
        lines.push(Line::styled(decided(decision), look.good()));
    }
    if let Some(by) = interrupt.held_by {
        let held = format!("Held: {by} goes first.");
        lines.push(Line::styled(held, look.waiting()));
    }
    let claim = interrupt
        .review
        .as_ref()
        .and_then(|review| review.claim_at(state.now));
    if let Some(claim) = claim {
        let claimed = format!("{} looks at it.", claim.by);
        lines.push(Line::styled(claimed, look.waiting()));
    }
    lines.push(Line::default());
    lines
}

fn paragraph(given: &str, look: Theme) -> Vec<Line<'static>> {
    visible_lines(given)
        .into_iter()
        .map(|line| Line::styled(line, look.plain()))
        .collect()
}

fn asked_lines(question: &Question, state: &ScreenState, look: Theme) -> Vec<Line<'static>> {
    let details = &question.details;
    let mut lines: Vec<Line<'static>> = visible_lines(&details.reason)
        .into_iter()
        .map(|line| Line::styled(line, look.strong()))
        .collect();
    if !details.context_for_decision.is_empty() {
        lines.push(Line::default());
        lines.extend(paragraph(&details.context_for_decision, look));
    }
    if !details.choices.is_empty() {
        lines.push(Line::default());
    }
    let draft = state.drafts.get(&question.interrupt);
    for (index, choice) in details.choices.iter().enumerate() {
        let is_chosen = draft.is_some_and(|draft| draft.is_chosen(index));
        let mark = if is_chosen { "[x]" } else { "[ ]" };
        lines.push(Line::from(vec![
            Span::styled(format!("  {} {mark} ", index + 1), look.active()),
            Span::raw(visible_line(&choice.label)),
            Span::styled(
                format!("  {}", visible_line(&choice.description)),
                look.faint(),
            ),
        ]));
    }
    for item in &details.confirmation_items {
        let otherwise = item
            .impact_if_no
            .as_ref()
            .map(|impact| format!("  if not: {}", visible_line(impact)));
        lines.push(Line::from(vec![
            Span::styled("  • confirms: ", look.faint()),
            Span::raw(visible_line(&item.prompt)),
            Span::styled(otherwise.unwrap_or_default(), look.faint()),
        ]));
    }
    lines.push(Line::default());
    lines.push(Line::from(vec![
        Span::raw("The answer goes to "),
        Span::styled(question.target, look.active()),
        Span::styled(
            elsewhere(question.routes.len().saturating_sub(1)),
            look.faint(),
        ),
    ]));
    lines
}

/// The other targets of an answer.
fn elsewhere(others: usize) -> String {
    match others {
        0 => " and nowhere else.".to_owned(),
        1 => " and nowhere else, unless you send it to the one other (R).".to_owned(),
        others => format!(" and nowhere else, unless you send it to one of {others} others (R)."),
    }
}

fn buttons(interrupt: &Interrupt, width: usize, look: Theme) -> Vec<Line<'static>> {
    let keys: &[(&str, &str)] = match interrupt.family() {
        Family::Question => &[
            ("a", "approve"),
            ("1-9", "choose"),
            ("r", "answer"),
            ("e", "edit"),
            ("x", "reject"),
            ("i", "ignore"),
            ("m", "change plan"),
            ("R", "reroute"),
            ("c", "claim"),
        ],
        Family::Stop => &[
            ("a", "resume unchanged"),
            ("r", "resume with new input"),
            ("m", "change plan"),
            ("R", "reroute"),
            ("c", "claim"),
        ],
    };
    let keys = keys.iter().map(|(key, meaning)| {
        vec![
            Span::styled(format!(" {key} "), look.chosen()),
            Span::raw(format!(" {meaning} ")),
        ]
    });
    packed(keys, width)
}
