//! What happened, the last first.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, List, ListItem, ListState};

use super::{Theme, fitting};
use crate::time::instant;
use crate::watch::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    let items = state.snapshot.history.iter().map(|line| {
        let line = Line::from(vec![
            Span::styled(format!("{}  ", instant(line.at)), look.faint()),
            Span::raw(line.text.clone()),
        ]);
        ListItem::new(fitting(line, area.width))
    });
    let list = List::new(items)
        .block(Block::new().borders(Borders::TOP).title(" History "))
        .highlight_style(look.chosen());
    let mut selected = ListState::default().with_selected(Some(state.at));
    frame.render_stateful_widget(list, area, &mut selected);
}
