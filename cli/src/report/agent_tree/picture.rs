//! The tree as lines of text that fit a screen.

use interrupt_router::{NodeId, StopMode};
use interrupts::store::NodeActivity;
use jiff::Timestamp;

use super::{AgentRow, AgentTree};
use crate::activity;
use crate::layout::{columns_of, cut, duration, fit, quantity};
use crate::palette::{Palette, Tone};

/// The pictures of something that works, one after the other.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The widest first column, in columns.
const WIDEST_LABEL: usize = 38;

/// The space for `step 12` and for the time, in columns.
const STEP_COLUMNS: usize = 8;
const TIME_COLUMNS: usize = 8;

/// The fewest lines of a tree: its first agent, how many are hidden, and one of the others.
const FEWEST_BRANCHES: usize = 3;

/// What follows the totals if there is room: what Esc does, and the next Ctrl+C.
const fn how_to_stop(stopping: Option<StopMode>, hears_escape: bool) -> &'static str {
    match stopping {
        None if hears_escape => "   Esc interrupts · Ctrl+C stops",
        None => "   Ctrl+C stops",
        Some(StopMode::Graceful) => "   stopping · Ctrl+C stops now",
        Some(StopMode::Immediate) => "   stopping now · Ctrl+C leaves",
    }
}

/// How to draw the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picture {
    /// The screen's width.
    pub(crate) columns: usize,
    /// How many lines the tree may take, the line of totals not counted.
    pub(crate) rows: usize,
    /// The colours.
    pub(crate) palette: Palette,
    /// The time now.
    pub(crate) now: Timestamp,
    /// How many frames were drawn before this one; `None` for a picture that does not move.
    pub(crate) frame: Option<usize>,
    /// Whether Esc opens the window of the run.
    pub(crate) hears_escape: bool,
}

/// One line before it is laid out.
struct Branch<'t> {
    lead: String,
    row: &'t AgentRow,
    /// How many ended agents below are not shown.
    folded: usize,
}

impl Picture {
    /// The tree, folded if it does not fit.
    pub(crate) fn tree(&self, tree: &AgentTree) -> Vec<String> {
        let mut branches = self.branches(tree, false);
        if branches.len() > self.rows {
            branches = self.branches(tree, true);
        }
        let room = self.rows.max(FEWEST_BRANCHES);
        if branches.len() <= room {
            return self.lines(&branches);
        }
        // One more line gives way to the line that says how many there are.
        let hidden = branches.len() + 1 - room;
        let first_hidden = hide(&mut branches, hidden);
        let mut lines = self.lines(&branches);
        let more = format!("  … {hidden} more agents");
        let place = first_hidden.min(lines.len());
        lines.insert(place, self.palette.paint(Tone::Faint, &more));
        lines
    }

    /// One line of totals.
    pub(crate) fn totals(&self, tree: &AgentTree) -> String {
        let counts = tree.counts();
        let mut parts = Vec::new();
        for (count, word, tone) in [
            (counts.working, "working", Tone::Active),
            (counts.waiting, "waiting", Tone::Waiting),
            (counts.ready, "ready", Tone::Plain),
            (counts.ended, "done", Tone::Good),
        ] {
            if count > 0 {
                parts.push((tone, format!("{count} {word}")));
            }
        }
        parts.push((Tone::Plain, format!("step {}", tree.steps)));
        let tokens = tree.usage.input.unwrap_or(0) + tree.usage.output.unwrap_or(0);
        if tokens > 0 {
            parts.push((Tone::Plain, format!("{} tokens", quantity(tokens))));
        }
        parts.push((Tone::Plain, duration(tree.elapsed(self.now))));
        self.joined(&parts, how_to_stop(tree.stopping, self.hears_escape))
    }

    /// As many of the parts as fit on one line: how to stop goes first, then the parts from the end.
    fn joined(&self, parts: &[(Tone, String)], how_to_stop: &str) -> String {
        let mut line = String::new();
        let mut used = 0;
        for (index, (tone, part)) in parts.iter().enumerate() {
            let between = if index == 0 { "" } else { " · " };
            let columns = columns_of(between) + columns_of(part);
            if used + columns > self.columns {
                return line;
            }
            used += columns;
            line.push_str(between);
            line.push_str(&self.palette.paint(*tone, part));
        }
        if used + columns_of(how_to_stop) <= self.columns {
            line.push_str(&self.palette.paint(Tone::Faint, how_to_stop));
        }
        line
    }

    fn lines(&self, branches: &[Branch<'_>]) -> Vec<String> {
        let label_columns = branches
            .iter()
            .map(|branch| columns_of(&branch.lead) + 2 + columns_of(&branch.row.label()))
            .max()
            .unwrap_or(0)
            .min(WIDEST_LABEL)
            .min(self.columns / 2);
        branches
            .iter()
            .map(|branch| self.line(branch, label_columns))
            .collect()
    }

    fn line(&self, branch: &Branch<'_>, label_columns: usize) -> String {
        let row = branch.row;
        let (symbol, tone) = self.symbol(row.state);
        let lead = columns_of(&branch.lead) + 2;
        let label = fit(&row.label(), label_columns.saturating_sub(lead).max(1));
        let step = match row.step {
            0 => String::new(),
            step => format!("step {step}"),
        };
        let time = row.elapsed(self.now).map(duration).unwrap_or_default();
        let used = lead + columns_of(&label) + STEP_COLUMNS + TIME_COLUMNS + 4;
        let room = self.columns.saturating_sub(used);
        let mut does = row.activity(self.now);
        if branch.folded > 0 {
            does = format!("(+{} done) {does}", branch.folded);
        }
        let activity_tone = activity::tone(row.state);
        let palette = self.palette;
        format!(
            "{}{} {}  {}{:>time_columns$}  {}",
            palette.paint(Tone::Faint, &branch.lead),
            palette.paint(tone, symbol),
            label,
            palette.paint(Tone::Faint, &fit(&step, STEP_COLUMNS)),
            time,
            palette.paint(activity_tone, &cut(&does, room)),
            time_columns = TIME_COLUMNS,
        )
        .trim_end()
        .to_owned()
    }

    fn symbol(&self, state: NodeActivity) -> (&'static str, Tone) {
        let (sign, tone) = activity::sign(state);
        match self.frame {
            Some(frame) if state == NodeActivity::Running => (SPINNER[frame % SPINNER.len()], tone),
            _ => (sign, tone),
        }
    }

    fn branches<'t>(&self, tree: &'t AgentTree, fold: bool) -> Vec<Branch<'t>> {
        let mut branches = Vec::new();
        for root in &tree.roots {
            self.add(tree, root, Lead::root(), fold, &mut branches);
        }
        branches
    }

    fn add<'t>(
        &self,
        tree: &'t AgentTree,
        node: &NodeId,
        lead: Lead,
        fold: bool,
        branches: &mut Vec<Branch<'t>>,
    ) {
        let Some(row) = tree.rows.get(node) else {
            return;
        };
        let below = descendants(tree, node);
        let folded = fold && row.has_ended() && below.iter().all(|row| row.has_ended());
        branches.push(Branch {
            lead: lead.own,
            row,
            folded: if folded { below.len() } else { 0 },
        });
        if folded {
            return;
        }
        for (index, child) in row.children.iter().enumerate() {
            let last = index + 1 == row.children.len();
            let lead = Lead {
                own: format!("{}{}", lead.below, if last { "└ " } else { "├ " }),
                below: format!("{}{}", lead.below, if last { "  " } else { "│ " }),
            };
            self.add(tree, child, lead, fold, branches);
        }
    }
}

/// Removes `count` lines, never the first one: of agents that have ended, then of those that have not begun, then of
/// those at work; agents that wait for a person stay longest. Returns the place of the first removed line.
fn hide(branches: &mut Vec<Branch<'_>>, count: usize) -> usize {
    let mut places: Vec<usize> = (1..branches.len()).collect();
    places.sort_by_key(|place| branches.get(*place).map(|branch| weight(branch.row.state)));
    places.truncate(count);
    places.sort_unstable();
    for place in places.iter().rev() {
        branches.remove(*place);
    }
    places.first().copied().unwrap_or(branches.len())
}

fn weight(state: NodeActivity) -> u8 {
    match state {
        NodeActivity::Completed
        | NodeActivity::Failed
        | NodeActivity::Cancelled
        | NodeActivity::Pruned => 0,
        NodeActivity::Pending | NodeActivity::Ready => 1,
        NodeActivity::Running => 2,
        NodeActivity::WaitingReview | NodeActivity::Paused => 3,
    }
}

/// The text before a row, and before the rows below it.
struct Lead {
    own: String,
    below: String,
}

impl Lead {
    fn root() -> Self {
        Self {
            own: String::new(),
            below: String::new(),
        }
    }
}

fn descendants<'t>(tree: &'t AgentTree, node: &NodeId) -> Vec<&'t AgentRow> {
    let mut found = Vec::new();
    let mut next = vec![node];
    while let Some(node) = next.pop() {
        let Some(row) = tree.rows.get(node) else {
            continue;
        };
        for child in &row.children {
            found.extend(tree.rows.get(child));
            next.push(child);
        }
    }
    found
}
