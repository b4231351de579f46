//! The tree of agents, and one run with its stream.

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{NodeActivity, NodeRow};
use planning::{DiffLine, Phase, PlanPreview, StoredPlan};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, List, ListItem, ListState, Paragraph, Wrap};

use super::{Theme, fitting, short};
use crate::activity;
use crate::advice::advised;
use crate::time::age;
use crate::visible::visible_line;
use crate::watch::snapshot::RunView;
use crate::watch::state::{ScreenState, TreeRow};

/// All runs.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: Theme) {
    let rows = state.tree();
    if rows.is_empty() {
        let text = advised(
            "No live runs.\n\nStart one in another terminal:\n\n    irq run \"Describe this project\"\n",
        );
        let empty = Paragraph::new(text)
            .style(look.faint())
            .block(frame_of(" Agents "));
        frame.render_widget(empty, area);
        return;
    }
    let items: Vec<ListItem<'_>> = rows
        .iter()
        .map(|row| item(row, state, (area.width, look)))
        .collect();
    let list = List::new(items)
        .block(frame_of(" Agents "))
        .highlight_style(look.chosen());
    let mut selected = ListState::default().with_selected(state.marked_row());
    frame.render_stateful_widget(list, area, &mut selected);
}

/// One run: its agents, and what they did last.
pub(super) fn draw_run(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    run: RunId,
    look: Theme,
) {
    let view = state.snapshot.run(run);
    let stream = if let Some(view) = view.filter(|view| view.plan.is_some()) {
        let [tree, steps, stream] = Layout::vertical([
            Constraint::Length(7),
            Constraint::Percentage(45),
            Constraint::Min(3),
        ])
        .areas(area);
        draw(frame, tree, state, look);
        let title = plan_title(view);
        let block = frame_of(&title);
        let lines = plan_within(view, block.inner(steps).height, look);
        frame.render_widget(Paragraph::new(lines).block(block), steps);
        stream
    } else {
        let [tree, stream] =
            Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area);
        draw(frame, tree, state, look);
        stream
    };
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
            let line = Line::from(vec![
                Span::styled(format!("{:>4} ", age(line.at, state.now)), look.faint()),
                Span::styled(format!("{mark} "), style),
                Span::styled(format!("{} ", line.node), look.strong()),
                Span::styled(format!("{} ", line.kind), look.faint()),
                Span::raw(said),
            ]);
            fitting(line, stream.width)
        })
        .collect();
    let text = if state.snapshot.run(run).is_none() {
        vec![Line::from(advised(&format!(
            "{run} has ended; irq history --run {run}"
        )))]
    } else {
        lines
    };
    frame.render_widget(Paragraph::new(text).block(block), stream);
}

fn frame_of(title: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).title(title)
}

fn item<'a>(row: &TreeRow<'a>, state: &ScreenState, (columns, look): (u16, Theme)) -> ListItem<'a> {
    let line = match row {
        TreeRow::Run(view) => run_line(view, look),
        TreeRow::Node(view, node) => node_line(view, node, state, look),
    };
    ListItem::new(fitting(line, columns))
}

fn run_line(view: &RunView, look: Theme) -> Line<'static> {
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
    if view.plan.is_some() {
        spans.push(Span::styled(plan_title(view), look.faint()));
    }
    if let Some(reason) = &view.run.reason {
        let reason = format!("  ({})", visible_line(reason));
        spans.push(Span::styled(reason, look.faint()));
    }
    Line::from(spans)
}

fn node_line(view: &RunView, node: &NodeRow, state: &ScreenState, look: Theme) -> Line<'static> {
    let depth = node.node.as_str().matches('/').count();
    let name = node.node.as_str().rsplit('/').next().unwrap_or_default();
    let asks = state
        .snapshot
        .inbox()
        .find(|interrupt| interrupt.run == view.run.id && interrupt.node == node.node);
    let (mark, style) = match asks {
        Some(_question) => ("?", look.waiting()),
        None => mark(node.activity, look),
    };
    let mut spans = vec![
        Span::raw("  ".repeat(depth + 1)),
        Span::styled(format!("{mark} "), style),
        Span::raw(name.to_owned()),
    ];
    if asks.is_none() {
        let doing = match node.waits_at(node.activity, state.now) {
            Some(waits) => visible_line(&waits.at(state.now)),
            None => activity::words(node.activity).to_owned(),
        };
        spans.push(Span::styled(format!("  {doing}"), style));
    }
    if node.step > 0 {
        spans.push(Span::styled(format!("  step {}", node.step), look.faint()));
    }
    if node.tokens > 0 {
        let tokens = format!("  {} tokens", counted(node.tokens));
        spans.push(Span::styled(tokens, look.faint()));
    }
    if !node.activity.is_final() {
        let since = age(node.since, state.now);
        spans.push(Span::styled(format!("  {since}"), look.faint()));
    }
    if let Some(interrupt) = asks {
        let why = format!("  waiting: {}", visible_line(&interrupt.reason));
        spans.push(Span::styled(why, look.waiting()));
    }
    Line::from(spans)
}

/// A count in few characters: 950, 1.2k, 35k, 2.1M.
fn counted(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

fn mark(activity: NodeActivity, look: Theme) -> (&'static str, Style) {
    let (sign, tone) = activity::sign(activity);
    (sign, look.of(tone))
}

/// The title above a plan: how much of it is done.
fn plan_title(view: &RunView) -> String {
    let plan = view.plan.as_ref().map(|plan| plan.state().plan());
    let (done, total) = plan.map_or((0, 0), |plan| (plan.finished().len(), plan.total()));
    format!(" Plan {done}/{total} ")
}

/// As much of a run's plan as there is room for: its present place is preferred to what is done long ago.
pub(super) fn plan_within(view: &RunView, room: u16, look: Theme) -> Vec<Line<'static>> {
    let room = usize::from(room);
    let lines = plan(view, look);
    let done = match &view.plan {
        Some(plan) => plan.state().plan().finished().len(),
        // The last agents are the run's present place.
        None => lines.len(),
    };
    let surplus = lines.len().saturating_sub(room);
    // The last of the steps that are done stays in sight.
    let skipped = surplus.min(if view.plan.is_some() {
        done.saturating_sub(1)
    } else {
        done
    });
    lines.into_iter().skip(skipped).take(room).collect()
}

/// A change of a plan that is not applied.
pub(super) fn change(preview: &PlanPreview, look: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled(
        format!("{} done, and kept", preview.completed_steps),
        look.faint(),
    )];
    lines.extend(preview.diff.lines.iter().map(|line| match line {
        DiffLine::Kept { task } => Line::raw(format!("  {}", visible_line(task))),
        DiffLine::Added { task } => Line::styled(format!("+ {}", visible_line(task)), look.good()),
        DiffLine::Removed { task } => Line::styled(format!("- {}", visible_line(task)), look.bad()),
        DiffLine::Moved { task, from } => {
            let text = format!("~ {} (was {from})", visible_line(task));
            Line::styled(text, look.active())
        }
    }));
    if preview.diff.is_empty() {
        lines.push(Line::styled("nothing would change", look.faint()));
    }
    lines
}

/// The steps of a plan: done, now, next.
fn steps(plan: &StoredPlan, look: Theme) -> Vec<Line<'static>> {
    let now = plan.now().map(|step| step.id);
    let is_held = matches!(plan.state().phase(), Phase::Held(_));
    let steps = plan.state().plan();
    let done = steps.finished().iter().map(|done| {
        Line::from(vec![
            Span::styled("✓ ", look.good()),
            Span::raw(visible_line(&done.step.task)),
        ])
    });
    let left = steps.left().iter().map(|step| {
        let (mark, style) = match (Some(step.id) == now, is_held) {
            (true, true) => ("‖ ", look.waiting()),
            (true, false) => ("▶ ", look.active()),
            (false, _) => ("· ", look.faint()),
        };
        Line::from(vec![
            Span::styled(mark, style),
            Span::raw(visible_line(&step.task)),
        ])
    });
    done.chain(left).collect()
}

/// The plan of a run: its steps, or its agents if it has none: done, now, next.
fn plan(view: &RunView, look: Theme) -> Vec<Line<'static>> {
    if let Some(plan) = &view.plan {
        return steps(plan, look);
    }
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
