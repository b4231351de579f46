//! In which order, and in which batches, open interrupts are shown.

use interrupt_router::RunId;

use super::Policy;
use super::rule_settings::Batching;
use super::subject::Subject;
use crate::life::{Family, Interrupt, Lane};

/// Interrupts that are shown together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<'interrupts> {
    /// The interrupts, at least one, the most urgent first.
    pub interrupts: Vec<&'interrupts Interrupt>,
}

impl Policy {
    /// Arranges interrupts that were given in the order of their admission: what is held behind a person's own
    /// interrupt last, people's own first, then by priority, then by age. Questions of one run whose policy says so
    /// share a batch, which is placed where its most urgent one would be.
    pub fn arrange<'interrupts>(
        &self,
        interrupts: impl IntoIterator<Item = &'interrupts Interrupt>,
    ) -> Vec<Batch<'interrupts>> {
        let mut ranked: Vec<_> = interrupts
            .into_iter()
            .map(|interrupt| {
                let terms = self.terms(&Subject::of(interrupt));
                let rank = (
                    interrupt.held_by.is_some(),
                    interrupt.lane() != Lane::User,
                    terms.priority,
                );
                let shared = terms.batch == Batching::Together
                    && interrupt.family() == Family::Question
                    && interrupt.held_by.is_none();
                (rank, shared.then_some(interrupt.run), interrupt)
            })
            .collect();
        // A stable sort: within a rank the older one stays first.
        ranked.sort_by_key(|(rank, _shared, _interrupt)| *rank);
        let mut batches: Vec<(Option<RunId>, Batch<'interrupts>)> = Vec::new();
        for (_rank, shared, interrupt) in ranked {
            let begun = batches
                .iter_mut()
                .find(|(run, _batch)| run.is_some() && *run == shared);
            match begun {
                Some((_run, batch)) => batch.interrupts.push(interrupt),
                None => batches.push((
                    shared,
                    Batch {
                        interrupts: vec![interrupt],
                    },
                )),
            }
        }
        batches.into_iter().map(|(_run, batch)| batch).collect()
    }
}
