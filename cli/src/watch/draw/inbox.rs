//! What waits for a person.

use interrupts::life::Interrupt;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::Text;
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};

use super::Look;
use crate::advice::advised;
use crate::asked;
use crate::time::age;
use crate::visible::visible_line;
use crate::watch::state::State;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, look: Look) {
    let open = state.inbox();
    let block = Block::new().borders(Borders::TOP).title(" Inbox ");
    if open.is_empty() {
        let text = "Nothing waits for you.\n\nTo see a question, start a run that asks one:\n\n    irq run \"Describe this project\" --script examples/scripts/tour.json\n";
        let empty = Paragraph::new(advised(text))
            .style(look.faint())
            .block(block);
        frame.render_widget(empty, area);
        return;
    }
    let rows = open.iter().map(|interrupt| row(interrupt, state, look));
    let widths = [
        Constraint::Length(14),
        Constraint::Length(24),
        Constraint::Min(20),
        Constraint::Length(8),
        Constraint::Length(12),
    ];
    let table = Table::new(rows, widths)
        .header(Row::new(["type", "agent", "why", "age", "expires"]).style(look.faint()))
        .row_highlight_style(look.chosen())
        .block(block);
    let mut selected = TableState::default().with_selected(Some(state.at));
    frame.render_stateful_widget(table, area, &mut selected);
}

fn row<'a>(interrupt: &Interrupt, state: &State, look: Look) -> Row<'a> {
    let name = interrupt
        .node
        .as_str()
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let waits = age(interrupt.requested_at, state.now);
    let expires = match interrupt.due_at() {
        Some(deadline) => age(state.now, deadline),
        None => "never".to_owned(),
    };
    let style = if interrupt.held_by.is_some() {
        look.faint()
    } else {
        look.plain()
    };
    let cells: Vec<Cell<'a>> = [
        interrupt.interrupt_type.to_string(),
        name.to_owned(),
        visible_line(&asked::reason(interrupt)),
        waits,
        expires,
    ]
    .into_iter()
    .map(|text| Cell::new(Text::from(text)))
    .collect();
    Row::new(cells).style(style)
}
