//! `irq stats`: how many interrupts, how long they waited, how they ended.

use std::collections::BTreeMap;
use std::io;

use interrupts::life::{Decider, Interrupt};
use interrupts::store::Filter;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::print;
use crate::address::find_run;
use crate::arguments::{Global, StatsArguments, StoreArguments};
use crate::backend;
use crate::exit::Exit;
use crate::layout::{cut, duration};
use crate::listing;
use crate::palette::{Palette, Tone};
use crate::progress::{Progress, newest};
use crate::state_words::stands_by_name;
use crate::storage::complete;
use crate::table::Table;
use crate::view::json_line;
use crate::visible::visible_line;

/// The progress of at most this many runs is shown: the newest ones.
const MOST_RUNS: usize = 50;

/// How much of a run's interrupt a line shows.
const WIDEST_INTERRUPT: usize = 80;

/// Counts interrupts, and says how far runs have come.
///
/// # Errors
///
/// If the store cannot be read or there is no such run.
pub(crate) fn stats(
    arguments: &StatsArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let mut filter = Filter::default();
        let runs = match &arguments.run {
            Some(run) => {
                let run = find_run(&*backend, run).await?;
                filter.run = Some(run.id);
                vec![run]
            }
            None => newest(listing::runs(&*backend, &[]).await?, MOST_RUNS),
        };
        let mut progress = Vec::new();
        for run in runs {
            progress.extend(Progress::of(&*backend, run).await?);
        }
        let mut all = listing::interrupts(&*backend, &filter).await?;
        all.retain(|interrupt| {
            arguments
                .since
                .is_none_or(|since| interrupt.requested_at >= since)
        });
        let counts = InterruptCounts::of(&all);
        let text = if arguments.json {
            let mut counted = counts.as_json();
            if let Some(fields) = counted.as_object_mut() {
                let runs: Vec<Value> = progress.iter().map(Progress::as_json).collect();
                fields.insert("runs".to_owned(), runs.into());
            }
            json_line(&counted)
        } else {
            let palette = Palette::for_stream(&io::stdout(), global.no_color);
            let counted = if all.is_empty() {
                "No interrupts.\n".to_owned()
            } else {
                counts.text(palette)
            };
            counted + &of_runs(&progress, palette)
        };
        print(&text)?;
        Ok(Exit::Success)
    })
}

/// How far the runs have come.
fn of_runs(progress: &[Progress], palette: Palette) -> String {
    if progress.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["RUN", "STATE", "STEPS", "INTERRUPT"]);
    for progress in progress {
        let interrupt = progress.interrupt().unwrap_or_else(|| "-".to_owned());
        table.row(vec![
            (Tone::Plain, progress.run.id.to_string()),
            (Tone::Plain, progress.run.state.to_string()),
            (Tone::Plain, progress.steps()),
            (Tone::Plain, cut(&interrupt, WIDEST_INTERRUPT)),
        ]);
    }
    format!("\n{}", table.text(palette))
}

/// How often each name occurs.
type Tally = BTreeMap<String, u64>;

#[derive(Debug, Default)]
struct InterruptCounts {
    total: u64,
    states: Tally,
    types: Tally,
    sources: Tally,
    agents: BTreeMap<String, OfAgent>,
    decisions: Tally,
    deciders: Tally,
    until_acknowledged: WaitTimes,
    until_ended: WaitTimes,
}

/// The interrupts of one kind of agent.
#[derive(Debug, Default)]
struct OfAgent {
    total: u64,
    open: u64,
    until_ended: WaitTimes,
}

/// Waiting times.
#[derive(Debug, Default)]
struct WaitTimes(Vec<SignedDuration>);

impl InterruptCounts {
    fn of(interrupts: &[Interrupt]) -> Self {
        let mut counts = Self::default();
        for interrupt in interrupts {
            counts.add(interrupt);
        }
        counts
    }

    fn add(&mut self, interrupt: &Interrupt) {
        self.total += 1;
        count(&mut self.states, interrupt.state.name());
        count(&mut self.types, interrupt.interrupt_type.name());
        let source = match interrupt.source {
            interrupt_router::StopSource::User => "user",
            interrupt_router::StopSource::System => "system",
            interrupt_router::StopSource::Programmatic => "programmatic",
        };
        count(&mut self.sources, source);
        let agent = self.agents.entry(interrupt.kind.to_string()).or_default();
        agent.total += 1;
        if !interrupt.state.is_final() {
            agent.open += 1;
        }
        if let Some(at) = interrupt.acknowledged_at {
            self.until_acknowledged
                .add(at.duration_since(interrupt.requested_at));
        }
        if let Some(at) = interrupt.ended_at {
            let waited = at.duration_since(interrupt.requested_at);
            agent.until_ended.add(waited);
            self.until_ended.add(waited);
        }
        if let Some(decision) = &interrupt.decision {
            count(&mut self.decisions, decision.verdict.name());
            let by = match &decision.by {
                Decider::Person { name } => format!("person {name}"),
                Decider::Policy => "policy".to_owned(),
                Decider::Rule { name, .. } => format!("rule of {name}"),
                Decider::Deadline => "deadline".to_owned(),
            };
            count(&mut self.deciders, &by);
        }
    }

    fn as_json(&self) -> Value {
        let agents: BTreeMap<&String, Value> = self
            .agents
            .iter()
            .map(|(kind, agent)| {
                let value = json!({
                    "total": agent.total,
                    "open": agent.open,
                    "until_ended": agent.until_ended.as_json(),
                });
                (kind, value)
            })
            .collect();
        json!({
            "total": self.total,
            "by_state": self.states,
            "by_type": self.types,
            "by_source": self.sources,
            "by_agent_type": agents,
            "by_decision": self.decisions,
            "by_decider": self.deciders,
            "until_acknowledged": self.until_acknowledged.as_json(),
            "until_ended": self.until_ended.as_json(),
        })
    }

    fn text(&self, palette: Palette) -> String {
        let plural = if self.total == 1 { "" } else { "s" };
        let mut text = format!("{} interrupt{plural}\n", self.total);
        for (title, tally) in [
            ("STATE", &self.states),
            ("TYPE", &self.types),
            ("SOURCE", &self.sources),
            ("DECISION", &self.decisions),
            ("DECIDED BY", &self.deciders),
        ] {
            if tally.is_empty() {
                continue;
            }
            let mut table = Table::new(&[title, "COUNT"]);
            for (name, count) in tally {
                let name = visible_line(stands_by_name(name));
                table.row(vec![(Tone::Plain, name), (Tone::Plain, count.to_string())]);
            }
            text.push('\n');
            text.push_str(&table.text(palette));
        }
        text.push('\n');
        text.push_str(&self.agents(palette));
        text.push('\n');
        text.push_str(&self.waits(palette));
        text
    }

    fn agents(&self, palette: Palette) -> String {
        let mut table = Table::new(&["AGENT TYPE", "COUNT", "OPEN", "MEDIAN UNTIL ENDED"]);
        for (kind, agent) in &self.agents {
            table.row(vec![
                (Tone::Plain, visible_line(kind)),
                (Tone::Plain, agent.total.to_string()),
                (Tone::Plain, agent.open.to_string()),
                (Tone::Plain, agent.until_ended.percentile(50)),
            ]);
        }
        table.text(palette)
    }

    fn waits(&self, palette: Palette) -> String {
        let mut table = Table::new(&["WAITED", "COUNT", "MEDIAN", "90 %", "LONGEST"]);
        for (name, waits) in [
            ("until acknowledged", &self.until_acknowledged),
            ("until it ended", &self.until_ended),
        ] {
            table.row(vec![
                (Tone::Plain, name.to_owned()),
                (Tone::Plain, waits.0.len().to_string()),
                (Tone::Plain, waits.percentile(50)),
                (Tone::Plain, waits.percentile(90)),
                (Tone::Plain, waits.percentile(100)),
            ]);
        }
        table.text(palette)
    }
}

fn count(tally: &mut Tally, name: &str) {
    *tally.entry(name.to_owned()).or_default() += 1;
}

impl WaitTimes {
    fn add(&mut self, waited: SignedDuration) {
        // A clock that was set back must not make a negative wait.
        let waited = waited.max(SignedDuration::ZERO);
        let place = self.0.partition_point(|other| *other <= waited);
        self.0.insert(place, waited);
    }

    /// The wait that this percentage did not exceed: the nearest rank.
    fn at(&self, percent: usize) -> Option<SignedDuration> {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.checked_sub(1)?).copied()
    }

    fn percentile(&self, percent: usize) -> String {
        match self.at(percent) {
            None => "-".to_owned(),
            Some(wait) if wait < SignedDuration::from_millis(1) => "<1ms".to_owned(),
            Some(wait) if wait < SignedDuration::from_secs(1) => {
                format!("{}ms", wait.as_millis())
            }
            Some(wait) => duration(wait),
        }
    }

    fn as_json(&self) -> Value {
        let millis = |percent| {
            self.at(percent)
                .and_then(|wait| u64::try_from(wait.as_millis()).ok())
        };
        json!({
            "count": self.0.len(),
            "median_ms": millis(50),
            "p90_ms": millis(90),
            "longest_ms": millis(100),
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::WaitTimes;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let mut waits = WaitTimes::default();
        assert_eq!(waits.at(50), None);
        for seconds in [5, 1, 4, 2, 3] {
            waits.add(SignedDuration::from_secs(seconds));
        }
        waits.add(SignedDuration::from_secs(-1));
        let at = |percent| waits.at(percent).map(|wait| wait.as_secs());
        assert_eq!(at(50), Some(2));
        assert_eq!(at(90), Some(5));
        assert_eq!(at(100), Some(5));
        assert_eq!(at(1), Some(0));
    }
}
