//! `irq ps`: runs and their agents.

use std::collections::HashMap;
use std::io::{self, IsTerminal};

use control::{AskProgress, RunProgress};
use interrupt_router::NodeId;
use interrupts::life::{Interrupt, RunState, State};
use interrupts::store::{Filter, NodeRow, Run};
use jiff::Timestamp;
use journal::{Steps, executed_by_worker, needs_in};
use serde_json::json;

use super::{print, waits_for_server};
use crate::activity;
use crate::address::find_run;
use crate::advice::continuing;
use crate::arguments::{Global, PsArguments, StoreArguments};
use crate::asking;
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::layout::{columns_of, cut, screen_size};
use crate::listing::{self, Damaged};
use crate::palette::{Palette, Tone};
use crate::progress::newest;
use crate::question;
use crate::run_owner::has_process;
use crate::state_words::state_words;
use crate::storage::complete;
use crate::time::{age, ago};
use crate::view::{self, json_line};
use crate::visible::visible_line;

/// One run with all that is shown of it.
struct ListedRun {
    run: Run,
    nodes: Vec<NodeRow>,
    open: Vec<Interrupt>,
    /// How far it has come, if that is asked for.
    progress: Option<RunProgress>,
}

impl ListedRun {
    /// Whether it stopped to ask, and no process has continued it though nothing waits for an answer any more.
    fn can_go_on(&self) -> bool {
        let is_asked = |interrupt: &Interrupt| interrupt.state == State::AwaitingReview;
        self.run.state == RunState::Waiting
            && !has_process(&self.run)
            && !self.open.iter().any(is_asked)
    }
}

/// Lists runs and their agents.
///
/// # Errors
///
/// If the backend cannot be read or there is no such run.
pub(crate) fn ps(
    arguments: &PsArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        backend.sweep().await?;
        let mut damaged = Damaged::default();
        let shown = gather(&*backend, (arguments, global), &mut damaged).await?;
        print(&text(arguments, global, &shown)?)?;
        Ok(damaged.end()?)
    })
}

async fn gather(
    from: &dyn Backend,
    (arguments, global): (&PsArguments, Global),
    damaged: &mut Damaged,
) -> Result<Vec<ListedRun>, Failure> {
    let runs = match &arguments.run {
        Some(run) => vec![find_run(from, run).await?],
        None if arguments.all => newest(
            listing::readable_runs(from, &[], damaged).await?,
            usize::MAX,
        ),
        None => newest(
            listing::readable_live_runs(from, damaged).await?,
            usize::MAX,
        ),
    };
    let mut shown = Vec::with_capacity(runs.len());
    for run in runs {
        let open = Filter {
            run: Some(run.id),
            node: None,
            states: State::ALL
                .into_iter()
                .filter(|state| !state.is_final())
                .collect(),
        };
        let progress = match global.verbose {
            0 => None,
            _ => from.ask(AskProgress { run: run.id }).await?,
        };
        let open = listing::readable_interrupts(from, &open, damaged).await?;
        let mut nodes = listing::readable_nodes(from, run.id, damaged).await?;
        let state = run.state_for_nodes(has_process(&run));
        for node in &mut nodes {
            node.activity = node.activity_in(state, &open);
        }
        shown.push(ListedRun {
            progress,
            nodes,
            open,
            run,
        });
    }
    Ok(shown)
}

fn text(arguments: &PsArguments, global: Global, shown: &[ListedRun]) -> anyhow::Result<String> {
    if arguments.json {
        return Ok(shown.iter().map(as_json).collect());
    }
    let palette = Palette::for_stream(&io::stdout(), global.no_color);
    if shown.is_empty() {
        let all = if arguments.all { "" } else { "live " };
        return Ok(format!("No {all}runs.\n"));
    }
    let page = RunsLayout {
        palette,
        columns: io::stdout().is_terminal().then(|| screen_size().0),
        now: Timestamp::now(),
        ended_agents: arguments.all,
        verbose: global.verbose > 0,
    };
    let texts: Vec<String> = shown.iter().map(|shown| page.run(shown)).collect();
    Ok(texts.join("\n"))
}

fn as_json(shown: &ListedRun) -> String {
    let agents: Vec<_> = shown
        .nodes
        .iter()
        .map(|row| {
            let mut agent = view::agent(row);
            let open: Vec<_> = shown
                .open
                .iter()
                .filter(|interrupt| interrupt.node == row.node)
                .map(|interrupt| interrupt.id)
                .collect();
            if let Some(agent) = agent.as_object_mut() {
                agent.insert("open_interrupts".to_owned(), json!(open));
            }
            agent
        })
        .collect();
    let mut run = view::run(&shown.run);
    if let Some(run) = run.as_object_mut() {
        let open: Vec<_> = shown.open.iter().map(|interrupt| interrupt.id).collect();
        run.insert("is_owned".to_owned(), json!(has_process(&shown.run)));
        let waits_for_server = !has_process(&shown.run) && waits_for_server(&shown.run);
        run.insert("waits_for_server".to_owned(), json!(waits_for_server));
        run.insert("open_interrupts".to_owned(), json!(open));
        run.insert("agents".to_owned(), json!(agents));
        if let Some(progress) = &shown.progress {
            run.insert("progress".to_owned(), json!(progress));
        }
    }
    json_line(&run)
}

/// How runs are laid out.
struct RunsLayout {
    palette: Palette,
    columns: Option<usize>,
    now: Timestamp,
    ended_agents: bool,
    verbose: bool,
}

impl RunsLayout {
    fn run(&self, shown: &ListedRun) -> String {
        let run = &shown.run;
        let (symbol, tone) = run_symbol(run.state);
        let mut head = vec![format!("{}, {}", run.state, age(run.created_at, self.now))];
        if let Some(waits) = waits(run) {
            head.push(waits);
        }
        if shown.can_go_on() {
            head.push(format!("its questions are decided: {}", continuing(run)));
        } else if let Some(reason) = &run.reason {
            head.push(visible_line(reason));
        }
        if let Some(goal) = view::goal(run) {
            head.push(format!("“{}”", visible_line(&goal)));
        }
        let palette = self.palette;
        let id = run.id.to_string();
        let room = self.room(columns_of(&id) + 4);
        let mut text = format!(
            "{} {}  {}\n",
            palette.paint(tone, symbol),
            palette.paint(Tone::Strong, &id),
            cut(&head.join(" · "), room)
        );
        if let Some(progress) = &shown.progress {
            for line in self.progress(progress) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        for line in self.agents(shown) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// How far it has come, and the interrupt that matters now.
    fn progress(&self, progress: &RunProgress) -> Vec<String> {
        let Steps {
            completed,
            total,
            most,
        } = progress.steps;
        // The person who resumed it may have allowed more steps.
        let most = most.filter(|most| *most >= total);
        let most = most.map_or_else(String::new, |most| format!(", at most {most}"));
        let mut lines = vec![format!("  {completed} of {total} steps completed{most}")];
        if let Some(interrupt) = &progress.interrupt {
            let text = format!(
                "{} of {} {}, {}: {}",
                interrupt.interrupt_type,
                interrupt.node,
                ago(interrupt.at, self.now),
                state_words(interrupt.state),
                visible_line(&interrupt.reason)
            );
            lines.push(format!("  {}", cut(&text, self.room(2))));
        }
        lines
    }

    fn room(&self, used: usize) -> usize {
        self.columns
            .map_or(usize::MAX, |columns| columns.saturating_sub(used))
    }

    fn agents(&self, shown: &ListedRun) -> Vec<String> {
        let listed: Vec<&NodeRow> = shown
            .nodes
            .iter()
            .filter(|row| self.is_listed(row, &shown.nodes))
            .collect();
        let leads = leads(&listed);
        let lead = |row: &NodeRow| leads.get(&row.node).map_or("", String::as_str);
        let width = |row: &NodeRow| columns_of(lead(row)) + columns_of(row.node.as_str());
        let widest = listed.iter().map(|row| width(row)).max();
        let widest = widest.unwrap_or(0);
        let mut lines = Vec::new();
        let mut ordered = Vec::new();
        order(&listed, None, &mut ordered);
        for row in ordered {
            let (symbol, tone) = activity::sign(row.activity);
            let step = match row.step {
                0 => String::new(),
                step => format!("step {step}"),
            };
            let tokens = match row.tokens {
                0 => String::new(),
                tokens if self.verbose => format!("  {tokens} tokens"),
                _ => String::new(),
            };
            let padding = " ".repeat(widest - width(row));
            let lead = lead(row);
            lines.push(
                format!(
                    "  {lead}{} {}{padding}  {step:<8}  {:>5}  {}{tokens}",
                    self.palette.paint(tone, symbol),
                    row.node,
                    age(row.since, self.now),
                    self.palette
                        .paint(activity::tone(row.activity), &doing(row, self.now)),
                )
                .trim_end()
                .to_owned(),
            );
            let open = shown.open.iter().filter(|open| open.node == row.node);
            for open in open {
                lines.push(self.open(open, lead));
                if self.verbose {
                    let askings = asking::lines(open);
                    let room = self.room(columns_of(lead) + 6);
                    lines.extend(
                        askings
                            .iter()
                            .map(|it| format!("      {lead}{}", cut(it, room))),
                    );
                }
            }
        }
        lines
    }

    /// What an agent waits for, or is asked to do.
    fn open(&self, interrupt: &Interrupt, lead: &str) -> String {
        let lead = format!(
            "    {lead}{} {}: ",
            interrupt.id,
            state_words(interrupt.state)
        );
        let room = self.room(columns_of(&lead));
        let asks = cut(&visible_line(&question::reason(interrupt)), room);
        self.palette.paint(Tone::Waiting, &format!("{lead}{asks}"))
    }

    /// Whether an agent is listed: one that has ended only if an agent below it has not, or if all are wanted.
    fn is_listed(&self, row: &NodeRow, nodes: &[NodeRow]) -> bool {
        self.ended_agents
            || nodes
                .iter()
                .any(|other| !other.activity.is_final() && other.node.is_within(&row.node))
    }
}

/// Which process a run waits for: one with the labels that it needs, if it needs any.
fn waiting_for(process: &str, run: &Run) -> String {
    let needs = needs_in(&run.content);
    if needs.is_empty() {
        format!("waiting for a {process}")
    } else {
        format!("waiting for a worker with {needs}")
    }
}

/// What a run that no process executes waits for; `None` if it does not wait.
fn waits(run: &Run) -> Option<String> {
    if run.state.is_final() || has_process(run) {
        None
    } else if waits_for_server(run) {
        Some(waiting_for("server", run))
    } else if executed_by_worker(&run.content) {
        let goes_on = matches!(run.state, RunState::Created | RunState::Running);
        goes_on.then(|| waiting_for("worker", run))
    } else {
        (run.state != RunState::Created).then(|| "no process runs it".to_owned())
    }
}

/// The rows below a parent, each followed by those below it; with no parent, all rows.
fn order<'n>(listed: &[&'n NodeRow], above: Option<&NodeId>, ordered: &mut Vec<&'n NodeRow>) {
    for row in listed {
        if parent_in(row, listed).as_ref() == above {
            ordered.push(row);
            order(listed, Some(&row.node), ordered);
        }
    }
}

/// The nearest listed agent above.
fn parent_in(row: &NodeRow, listed: &[&NodeRow]) -> Option<NodeId> {
    let mut above = row.node.parent();
    while let Some(node) = above {
        if listed.iter().any(|other| other.node == node) {
            return Some(node);
        }
        above = node.parent();
    }
    None
}

/// The indentation of each agent: one step for each listed agent above it.
fn leads(listed: &[&NodeRow]) -> HashMap<NodeId, String> {
    listed
        .iter()
        .map(|row| {
            let depth = listed
                .iter()
                .filter(|other| other.node != row.node && row.node.is_within(&other.node))
                .count();
            (row.node.clone(), "  ".repeat(depth))
        })
        .collect()
}

/// What an agent does.
fn doing(row: &NodeRow, now: Timestamp) -> String {
    match row.waits_at(row.activity, now) {
        Some(waits) => visible_line(&waits.at(now)),
        None => activity::words(row.activity).to_owned(),
    }
}

const fn run_symbol(state: RunState) -> (&'static str, Tone) {
    match state {
        RunState::Created => ("○", Tone::Plain),
        RunState::Running => ("▶", Tone::Active),
        RunState::Stopping => ("▷", Tone::Waiting),
        RunState::Paused => ("‖", Tone::Waiting),
        RunState::Waiting => ("?", Tone::Waiting),
        RunState::Completed => ("✓", Tone::Good),
        RunState::Failed => ("✗", Tone::Bad),
        RunState::Cancelled => ("■", Tone::Faint),
    }
}
