//! The tree of agents, and one run with its stream.

use interrupts::life::RunState;
use interrupts::store::{NodeActivity, NodeRow};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, List, ListItem, ListState, Paragraph, Wrap};
use routing_core::RunId;

use super::{Look, short};
use crate::time::age;
use crate::visible::visible_line;
use crate::watch::snapshot::RunView;
use crate::watch::state::{Row, State};

/// All runs.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, look: Look) {
    let rows = state.tree();
    if rows.is_empty() {
        let text = if state.filter.is_empty() {
            "No live runs.\n\nStart one in another terminal:\n\n    irq run \"Describe this project\"\n"
        } else {
            "Nothing passes the filter. / changes it."
        };
        let empty = Paragraph::new(text)
            .style(look.faint())
            .block(frame_of(" Agents "));
        frame.render_widget(empty, area);
        return;
    }
    let items: Vec<ListItem<'_>> = rows.iter().map(|row| item(row, state, look)).collect();
    let list = List::new(items)
        .block(frame_of(" Agents "))
        .highlight_style(look.chosen());
    let mut selected = ListState::default().with_selected(Some(state.at));
    frame.render_stateful_widget(list, area, &mut selected);
}

/// One run: its agents, and what they did last.
pub(super) fn draw_run(frame: &mut Frame<'_>, area: Rect, state: &State, run: RunId, look: Look) {
    let [tree, stream] =
        Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area);
    draw(frame, tree, state, look);
    let block = frame_of(" What happened ");
    let room = usize::from(block.inner(stream).height);
    let lines: Vec<Line<'_>> = state
        .snapshot
        .stream
        .iter()
        .rev()
        .take(room)
        .rev()
        .map(|line| {
            let (mark, style) = match line.result {
                Some(_) => ("✓", look.good()),
                None => ("▶", look.active()),
            };
            let said = line.result.clone().unwrap_or_default();
            Line::from(vec![
                Span::styled(format!("{:>4} ", age(line.at, state.now)), look.faint()),
                Span::styled(format!("{mark} "), style),
                Span::styled(format!("{} ", line.node), look.strong()),
                Span::styled(format!("{} ", line.kind), look.faint()),
                Span::raw(said),
            ])
        })
        .collect();
    let text = if state.snapshot.run(run).is_none() {
        vec![Line::from(format!(
            "{run} has ended; irq history --run {run}"
        ))]
    } else {
        lines
    };
    frame.render_widget(Paragraph::new(text).block(block), stream);
}

fn frame_of(title: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).title(title)
}

fn item<'a>(row: &Row<'a>, state: &State, look: Look) -> ListItem<'a> {
    match row {
        Row::Run(view) => ListItem::new(run_line(view, look)),
        Row::Node(view, node) => ListItem::new(node_line(view, node, state, look)),
    }
}

fn run_line(view: &RunView, look: Look) -> Line<'static> {
    let style = match view.run.state {
        RunState::Waiting | RunState::Paused => look.waiting(),
        RunState::Running | RunState::Created => look.active(),
        RunState::Stopping => look.bad(),
        RunState::Completed | RunState::Failed | RunState::Cancelled => look.faint(),
    };
    let mut spans = vec![
        Span::styled(short(&view.run.id.to_string()), look.strong()),
        Span::raw("  "),
        Span::styled(view.run.state.to_string(), style),
        Span::raw(format!("  {}", view.goal)),
    ];
    if let Some(reason) = &view.run.reason {
        let reason = format!("  ({})", visible_line(reason));
        spans.push(Span::styled(reason, look.faint()));
    }
    Line::from(spans)
}

fn node_line(view: &RunView, node: &NodeRow, state: &State, look: Look) -> Line<'static> {
    let depth = node.node.as_str().matches('/').count();
    let name = node.node.as_str().rsplit('/').next().unwrap_or_default();
    let (mark, style) = mark(node.activity, look);
    let mut spans = vec![
        Span::raw("  ".repeat(depth + 1)),
        Span::styled(format!("{mark} "), style),
        Span::raw(name.to_owned()),
        Span::styled(format!("  {}", words(node.activity)), style),
    ];
    if node.step > 0 {
        spans.push(Span::styled(format!("  step {}", node.step), look.faint()));
    }
    if !node.activity.is_final() {
        let since = age(node.since, state.now);
        spans.push(Span::styled(format!("  {since}"), look.faint()));
    }
    let asks = state
        .snapshot
        .inbox()
        .find(|interrupt| interrupt.run == view.run.id && interrupt.node == node.node);
    if let Some(interrupt) = asks {
        let why = format!("  waiting: {}", visible_line(&interrupt.reason));
        spans.push(Span::styled(why, look.waiting()));
    }
    Line::from(spans)
}

fn mark(activity: NodeActivity, look: Look) -> (&'static str, Style) {
    match activity {
        NodeActivity::Pending | NodeActivity::Ready => ("·", look.faint()),
        NodeActivity::Running => ("▶", look.active()),
        NodeActivity::WaitingReview | NodeActivity::Paused => ("?", look.waiting()),
        NodeActivity::Completed => ("✓", look.good()),
        NodeActivity::Failed => ("✗", look.bad()),
        NodeActivity::Cancelled | NodeActivity::Pruned => ("–", look.faint()),
    }
}

const fn words(activity: NodeActivity) -> &'static str {
    match activity {
        NodeActivity::Pending => "pending",
        NodeActivity::Ready => "ready",
        NodeActivity::Running => "running",
        NodeActivity::WaitingReview => "waiting for review",
        NodeActivity::Paused => "paused",
        NodeActivity::Completed => "completed",
        NodeActivity::Failed => "failed",
        NodeActivity::Cancelled => "cancelled",
        NodeActivity::Pruned => "pruned",
    }
}

/// The plan of a run as its agents stand: done, now, next.
pub(super) fn plan(view: &RunView, look: Look) -> Vec<Line<'static>> {
    view.nodes
        .iter()
        .map(|node| {
            let depth = node.node.as_str().matches('/').count();
            let name = node.node.as_str().rsplit('/').next().unwrap_or_default();
            let (mark, style) = mark(node.activity, look);
            Line::from(vec![
                Span::raw("  ".repeat(depth)),
                Span::styled(format!("{mark} "), style),
                Span::raw(name.to_owned()),
            ])
        })
        .collect()
}

/// Running text in a frame without sides.
pub(super) fn text<'a>(lines: Vec<Line<'a>>, title: &'a str) -> Paragraph<'a> {
    Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .block(frame_of(title))
}
