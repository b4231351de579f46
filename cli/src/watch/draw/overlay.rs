//! What is drawn over the screen.

use interrupts::RouteName;
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Block, BorderType, Borders, Clear, List, ListItem, ListState, Paragraph, Wrap,
};
use tui_input::Input;

use super::agents::{change, plan_within};
use super::{Theme, packed, short};
use crate::layout::wrap;
use crate::reviewer::suggested;
use crate::visible::{visible_line, visible_lines};
use crate::watch::modal::{Chosen, Focus, Modal, PlanChange, phases};
use crate::watch::overlay::Overlay;
use crate::watch::state::ScreenState;

/// How wide the window of a question is at most.
const QUESTION: u16 = 72;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    match &state.overlay {
        None => {}
        Some(Overlay::Modal(modal)) => draw_modal(frame, area, state, modal, look),
        Some(Overlay::Confirm { question, .. }) => {
            draw_yes_or_no(frame, area, (question, " Sure? "), look);
        }
        Some(Overlay::Item { item, .. }) => {
            let mut text = visible_line(&item.prompt);
            if let Some(impact) = &item.impact_if_no {
                text.push_str(&format!("\nif not: {}", visible_line(impact)));
            }
            if let Some(said) = suggested(item) {
                text.push_str(&format!("\n{said}"));
            }
            draw_yes_or_no(frame, area, (&text, " The agent wants to know "), look);
        }
        Some(Overlay::Routes { routes, at, .. }) => draw_routes(frame, area, routes, *at, look),
        Some(Overlay::Prompt { label, text, .. }) => {
            let inner = window(frame, area, 72, 3, &format!(" {label} "));
            draw_input(frame, inner, text, true, look);
        }
    }
}

/// A question that y or n answers.
fn draw_yes_or_no(frame: &mut Frame<'_>, area: Rect, (question, title): (&str, &str), look: Theme) {
    let width = usize::from(area.width.min(QUESTION).saturating_sub(2));
    let lines: Vec<String> = visible_lines(question)
        .iter()
        .flat_map(|line| wrap(line, width, ""))
        .collect();
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(4);
    let inner = window(frame, area, QUESTION, height, title);
    // However long the question is, the keys that answer it are in sight.
    let [text, keys] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inner);
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), text);
    let answers = Line::styled("y yes · n no", look.waiting());
    frame.render_widget(Paragraph::new(answers), keys);
}

/// A window in the middle, and the room within its frame.
fn window(frame: &mut Frame<'_>, area: Rect, width: u16, height: u16, title: &str) -> Rect {
    let [column] = Layout::horizontal([Constraint::Max(width)])
        .flex(Flex::Center)
        .areas(area);
    let [place] = Layout::vertical([Constraint::Max(height)])
        .flex(Flex::Center)
        .areas(column);
    frame.render_widget(Clear, place);
    let block = Block::new()
        .borders(Borders::ALL)
        .border_type(BorderType::Rounded)
        .title(title.to_owned());
    let inner = block.inner(place);
    frame.render_widget(block, place);
    inner
}

fn draw_modal(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, modal: &Modal, look: Theme) {
    let name = match &modal.node {
        Some(node) => node
            .as_str()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned(),
        None => short(&modal.run.to_string()),
    };
    let inner = window(frame, area, 80, 22, &format!(" Interrupted · {name} "));
    let lines = buttons_of(modal, usize::from(inner.width), look);
    let [phase, steps, label, field, _gap, buttons, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::try_from(lines.len()).unwrap_or(1)),
        Constraint::Length(1),
    ])
    .areas(inner);
    let interrupt = modal.interrupt.and_then(|id| state.snapshot.interrupt(id));
    let me = state.snapshot.me.as_deref();
    let checkpoint = state.checkpoint_of(modal.run);
    let line = phases(modal, interrupt, checkpoint, state.now, me);
    frame.render_widget(Paragraph::new(Span::styled(line, look.waiting())), phase);
    if let PlanChange::Shown(preview) = &modal.change {
        let lines = change(preview, look);
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), steps);
    } else if let Some(view) = state.snapshot.run(modal.run) {
        frame.render_widget(Paragraph::new(plan_within(view, steps.height, look)), steps);
    }
    let question = "How would you like to modify the plan?";
    frame.render_widget(Paragraph::new(Span::styled(question, look.strong())), label);
    draw_input(frame, field, &modal.text, modal.focus == Focus::Text, look);
    frame.render_widget(Paragraph::new(lines), buttons);
    let is_over = modal
        .interrupt
        .is_some_and(|id| state.snapshot.has_ended(id));
    let hint = if is_over {
        "it is over, and nothing of this can be done any more · Enter or Esc closes this"
    } else if modal.change == PlanChange::Asked {
        "the model thinks of a change; nothing is applied"
    } else if let PlanChange::Shown(_) = modal.change {
        "Enter applies it · other words ask again · Esc resume unchanged"
    } else if modal.chosen == Some(Chosen::ResumeUnchanged) {
        "it resumes unchanged as soon as it has stopped"
    } else if modal.chosen.is_some() {
        "chosen; carried out as soon as the agent has stopped"
    } else if state.is_stopping(modal) {
        "Tab next · Enter choose · Esc stop at once"
    } else {
        "Tab next · Enter choose · Esc resume unchanged"
    };
    frame.render_widget(Paragraph::new(Span::styled(hint, look.faint())), foot);
}

/// The buttons of the window, in as many lines as they need.
fn buttons_of(modal: &Modal, width: usize, look: Theme) -> Vec<Line<'static>> {
    let spans = modal.buttons().iter().map(|button| {
        let style = if modal.focus == Focus::Button(*button) {
            look.chosen()
        } else {
            look.plain()
        };
        vec![Span::styled(
            format!("[ {} ]", button.label(&modal.change)),
            style,
        )]
    });
    packed(spans, width)
}

fn draw_input(frame: &mut Frame<'_>, area: Rect, input: &Input, has_keys: bool, look: Theme) {
    let width = usize::from(area.width.saturating_sub(3));
    let scroll = input.visual_scroll(width);
    // Of a long text, the part around the cursor is shown; what is made visible may have another length.
    let part: String = input.value().chars().skip(scroll).take(width).collect();
    let line = Line::from(vec![
        Span::styled("› ", look.active()),
        Span::raw(visible_line(&part)),
    ]);
    frame.render_widget(Paragraph::new(line), area);
    if has_keys {
        let cursor = input.visual_cursor().saturating_sub(scroll);
        let column = u16::try_from(cursor).unwrap_or(u16::MAX).saturating_add(2);
        frame.set_cursor_position((area.x.saturating_add(column), area.y));
    }
}

fn draw_routes(frame: &mut Frame<'_>, area: Rect, routes: &[RouteName], at: usize, look: Theme) {
    let height = u16::try_from(routes.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let inner = window(frame, area, 48, height, " Send the answer to ");
    let items = routes.iter().map(|route| ListItem::new(route.to_string()));
    let list = List::new(items).highlight_style(look.chosen());
    let mut selected = ListState::default().with_selected(Some(at));
    frame.render_stateful_widget(list, inner, &mut selected);
}
