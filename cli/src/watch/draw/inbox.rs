//! What waits for a person.

use interrupts::life::Interrupt;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::Text;
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};

use super::Theme;
use crate::advice::advised;
use crate::layout::cut;
use crate::question;
use crate::time::age;
use crate::visible::visible_line;
use crate::watch::state::ScreenState;

/// The columns of a question's type, its agent, its age, and until when it can be answered.
const FIXED: [u16; 4] = [14, 24, 8, 12];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
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
    let [kind, agent, age, expires] = FIXED;
    let fixed: u16 = FIXED.iter().sum();
    let gaps = u16::try_from(FIXED.len()).unwrap_or_default();
    let why = area.width.saturating_sub(fixed + gaps).max(20);
    let rows = open
        .iter()
        .map(|interrupt| row(interrupt, state, (why, look)));
    let widths = [kind, agent, why, age, expires].map(Constraint::Length);
    let table = Table::new(rows, widths)
        .header(Row::new(["type", "agent", "why", "age", "expires"]).style(look.faint()))
        .row_highlight_style(look.chosen())
        .block(block);
    let mut selected = TableState::default().with_selected(state.marked_row());
    frame.render_stateful_widget(table, area, &mut selected);
}

fn row<'a>(interrupt: &Interrupt, state: &ScreenState, (why, look): (u16, Theme)) -> Row<'a> {
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
        cut(
            &visible_line(&question::reason(interrupt)),
            usize::from(why),
        ),
        waits,
        expires,
    ]
    .into_iter()
    .map(|text| Cell::new(Text::from(text)))
    .collect();
    Row::new(cells).style(style)
}
