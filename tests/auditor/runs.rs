//! Runs that have ended: nothing of them is left open, and every decision was dispatched once.

use interrupts::life::{RunState, State};
use interrupts::store::{Store, StoreError};

use super::journal::Journal;
use super::lives::all;
use super::{Finding, Report};

pub(super) async fn check(
    store: &dyn Store,
    journals: &[Journal],
    report: &mut Report,
) -> Result<(), StoreError> {
    for journal in journals {
        let with_result = journal
            .entries
            .iter()
            .filter(|entry| entry.result.is_some());
        report.results += with_result.count();
        if journal.run.state != RunState::Completed {
            continue;
        }
        for entry in journal
            .entries
            .iter()
            .filter(|entry| entry.result.is_none())
        {
            report.findings.push(Finding::Unfinished {
                run: journal.run.id,
                effect: entry.intent.effect,
                place: entry.intent.place.clone().unwrap_or_default(),
            });
        }
    }
    for interrupt in all(store).await? {
        let journal = journals
            .iter()
            .find(|journal| journal.run.id == interrupt.run);
        let Some(journal) = journal else {
            continue;
        };
        if let Some(decision) = &interrupt.decision {
            let is_it = |effect| effect == decision.effect;
            let effects = journal.entries.iter().map(|entry| entry.intent.effect);
            let times = effects.filter(|effect| is_it(*effect)).count();
            // A run that was cancelled dispatches nothing any more.
            let is_cut_off = times == 0 && journal.run.state == RunState::Cancelled;
            if times != 1 && !is_cut_off && interrupt.state != State::Expired {
                report.findings.push(Finding::NotDispatchedOnce {
                    interrupt: interrupt.id,
                    times,
                });
            }
        }
        if journal.run.state.is_final() && interrupt.state.is_live() {
            report.findings.push(Finding::Stuck {
                interrupt: interrupt.id,
                state: interrupt.state,
            });
        }
    }
    Ok(())
}
