//! How far runs have come and what they have used, across all processes that executed them.

use control::{AskProgress, RunProgress};
use engine::run::{RunUse, TryEnd};
use interrupt_router::model::TokenUsage;
use interrupts::store::Run;
use jiff::SignedDuration;
use journal::Steps;
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::exit::Failure;
use crate::layout::duration;
use crate::listing;
use crate::time::instant;
use crate::visible::visible_line;

/// How far a run has come, and what it has used.
pub(crate) struct Progress {
    pub(crate) run: Run,
    pub(crate) made: RunProgress,
    used: RunUse,
}

impl Progress {
    /// Reads it; `None` if the run was forgotten meanwhile.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn of(from: &dyn Backend, run: Run) -> Result<Option<Self>, Failure> {
        let Some(made) = from.ask(AskProgress { run: run.id }).await? else {
            return Ok(None);
        };
        let journal = listing::journal(from, run.id).await?;
        let used = RunUse::among(&journal, &run.holds)?;
        Ok(Some(Self { run, made, used }))
    }

    /// For programs.
    pub(crate) fn as_json(&self) -> Value {
        let mut progress = json!(self.made);
        if let Some(fields) = progress.as_object_mut() {
            fields.insert("created_at".to_owned(), json!(self.run.created_at));
            fields.insert("calls".to_owned(), self.calls());
            let worked = u64::try_from(self.used.worked.as_millis()).unwrap_or(u64::MAX);
            fields.insert("worked_ms".to_owned(), json!(worked));
        }
        progress
    }

    fn calls(&self) -> Value {
        let usage = self.usage();
        json!({
            "answered": self.count(TryEnd::Answered),
            "cut_short": self.count(TryEnd::CutShort),
            "not_billed": self.count(TryEnd::NotBilled),
            "unknown": self.count(TryEnd::Unknown),
            "tokens": { "input": usage.input, "output": usage.output },
        })
    }

    fn count(&self, end: TryEnd) -> usize {
        self.used
            .calls
            .iter()
            .filter(|call| call.end == end)
            .count()
    }

    fn usage(&self) -> TokenUsage {
        let used = self.used.calls.iter().map(|call| call.usage);
        used.fold(TokenUsage::default(), TokenUsage::plus)
    }

    /// Its steps, as `12 of 14`.
    pub(crate) fn steps(&self) -> String {
        let Steps {
            completed, total, ..
        } = self.made.steps;
        format!("{completed} of {total}")
    }

    /// The interrupt that matters now: what it is, when it came, and why.
    pub(crate) fn interrupt(&self) -> Option<String> {
        let interrupt = self.made.interrupt.as_ref()?;
        Some(format!(
            "{} of {} at {}, {}: {}",
            interrupt.interrupt_type,
            interrupt.node,
            instant(interrupt.at),
            interrupt.state,
            visible_line(&interrupt.reason)
        ))
    }

    /// All of it, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}  {}", self.run.id, self.run.state);
        if let Some(reason) = &self.run.reason {
            text.push_str(&format!(" · {}", visible_line(reason)));
        }
        text.push_str(&format!(
            "\n  begun      {}\n",
            instant(self.run.created_at)
        ));
        let most = self.made.steps.most;
        let most = most.map_or_else(String::new, |most| format!(", at most {most}"));
        text.push_str(&format!("  steps      {} completed{most}\n", self.steps()));
        let worked = SignedDuration::try_from(self.used.worked).unwrap_or(SignedDuration::MAX);
        text.push_str(&format!("  worked     {}\n", duration(worked)));
        text.push_str(&format!("  calls      {}\n", self.calls_in_words()));
        if let Some(interrupt) = self.interrupt() {
            text.push_str(&format!("  interrupt  {interrupt}\n"));
        }
        for (at, node) in self.made.plan.iter().enumerate() {
            let title = if at == 0 { "plan" } else { "" };
            text.push_str(&format!(
                "  {title:<9}  {}  {:?}, step {}\n",
                visible_line(node.node.as_str()),
                node.activity,
                node.step
            ));
        }
        text
    }

    fn calls_in_words(&self) -> String {
        let ends = [
            (TryEnd::Answered, "answered"),
            (TryEnd::CutShort, "cut short"),
            (TryEnd::NotBilled, "failed and not billed"),
            (TryEnd::Unknown, "of unknown cost"),
        ];
        let counted = ends.map(|(end, words)| (self.count(end), words));
        let mut parts: Vec<String> = counted
            .into_iter()
            .filter(|(count, words)| *count > 0 || *words == "answered")
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let TokenUsage { input, output } = self.usage();
        if let (Some(input), Some(output)) = (input, output) {
            parts.push(format!(
                "{input} tokens read, {output} written, as far as was said"
            ));
        }
        parts.join("; ")
    }
}

/// The newest runs first, at most so many.
pub(crate) fn newest(mut runs: Vec<Run>, most: usize) -> Vec<Run> {
    runs.sort_by_key(|run| std::cmp::Reverse(run.created_at));
    runs.truncate(most);
    runs
}
