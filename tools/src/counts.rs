//! What is counted about interrupted tools.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use interrupt_router::StopSource;

/// Counts what happens to tools; an exporter of metrics implements it.
pub trait ToolCounter: Send + Sync {
    /// A call met an interrupt: adds one to `tool_interrupts_total` of this tool and reason.
    fn interrupted(&self, tool: &str, reason: StopSource);

    /// A result came after its call was given up, and was dropped: adds one to `irq_late_results_dropped_total`.
    fn late_result(&self, tool: &str);
}

/// The value of the label `reason`.
pub const fn reason_label(source: StopSource) -> &'static str {
    match source {
        StopSource::User => "user",
        StopSource::System => "system",
        StopSource::Programmatic => "programmatic",
    }
}

/// The target of the events that are counted: a layer of metrics over `tracing` makes counters of them.
const METRICS: &str = "tools::metrics";

/// Counts a call that met an interrupt.
pub(crate) fn count_interrupt(counter: &dyn ToolCounter, tool: &str, source: StopSource) {
    counter.interrupted(tool, source);
    let reason = reason_label(source);
    tracing::event!(
        target: METRICS,
        tracing::Level::TRACE,
        monotonic_counter.tool_interrupts_total = 1_u64,
        tool,
        reason
    );
}

/// Counts a result that came after its call was given up.
pub(crate) fn count_late_result(counter: &dyn ToolCounter, tool: &str) {
    counter.late_result(tool);
    tracing::event!(
        target: METRICS,
        tracing::Level::TRACE,
        monotonic_counter.irq_late_results_dropped_total = 1_u64,
        tool
    );
}

/// Counts in memory.
#[derive(Debug, Default)]
pub struct ToolCounts {
    totals: Mutex<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    interrupts: BTreeMap<(String, &'static str), u64>,
    late_results: BTreeMap<String, u64>,
}

impl ToolCounts {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `tool_interrupts_total`: each tool and reason with its count, in their order.
    pub fn interrupts(&self) -> Vec<(String, &'static str, u64)> {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = totals.interrupts.iter();
        rows.map(|((tool, reason), count)| (tool.clone(), *reason, *count))
            .collect()
    }

    /// `irq_late_results_dropped_total`, of all tools together.
    pub fn late_results(&self) -> u64 {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.late_results.values().sum()
    }
}

impl ToolCounter for ToolCounts {
    fn interrupted(&self, tool: &str, reason: StopSource) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        *totals
            .interrupts
            .entry((tool.to_owned(), reason_label(reason)))
            .or_default() += 1;
    }

    fn late_result(&self, tool: &str) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        *totals.late_results.entry(tool.to_owned()).or_default() += 1;
    }
}
