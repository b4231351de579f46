//! Forgetting rows.

use interrupt_router::RunId;
use jiff::Timestamp;

use super::Tables;

/// What is to be removed from a database. From what is loaded of it, it is removed at once.
#[derive(Debug, Default)]
pub(crate) struct Forgotten {
    pub(crate) runs: Vec<RunId>,
    /// The last row of the outbox that goes.
    pub(crate) outbox: u64,
    /// The last row of the audit that goes.
    pub(crate) audit: u64,
    /// Workers whose time was over by then go.
    pub(crate) workers: Option<Timestamp>,
}

impl Tables {
    /// Forgets a run with all that belongs to it, when the operation is kept.
    pub(crate) fn forget_run(&mut self, run: RunId) {
        self.forgetting.runs.push(run);
    }

    /// Forgets the rows of the outbox and of the audit up to these, when the operation is kept.
    pub(crate) fn cut(&mut self, outbox: u64, audit: u64) {
        self.forgetting.outbox = outbox;
        self.forgetting.audit = audit;
    }

    /// Forgets the workers whose time is over, when the operation is kept.
    pub(crate) fn forget_workers(&mut self) {
        self.forgetting.workers = Some(self.now);
    }

    /// Forgets what the operation said. There is no way back.
    pub(super) fn forget(&mut self) {
        let forgetting = std::mem::take(&mut self.forgetting);
        for run in forgetting.runs {
            self.remove_run(run);
            self.forgotten.runs.push(run);
        }
        let (outbox, audit) = (forgetting.outbox, forgetting.audit);
        if outbox > 0 {
            self.outbox.retain(|position, _row| *position > outbox);
            self.forgotten.outbox = self.forgotten.outbox.max(outbox);
        }
        if audit > 0 {
            self.audit.retain(|position, _row| *position > audit);
            self.forgotten.audit = self.forgotten.audit.max(audit);
        }
        if let Some(now) = forgetting.workers {
            // What is to be written stays until it is: it may say that a worker has left.
            self.forgotten.workers = self.forgotten.workers.max(Some(now));
        }
    }

    fn remove_run(&mut self, id: RunId) {
        let interrupts = &self.interrupts;
        self.keys.retain(|_key, row| {
            interrupts
                .row(&row.interrupt)
                .is_none_or(|row| row.interrupt.run != id)
        });
        self.interrupts.retain(|_id, row| row.interrupt.run != id);
        self.reroutes.retain(|_event, row| row.run != id);
        self.slots.retain(|(of, _node), _slot| *of != id);
        self.nodes.retain(|(of, _node), _row| *of != id);
        self.messages.retain(|_key, row| row.message.run != id);
        self.journal.retain(|_effect, entry| entry.intent.run != id);
        self.checkpoint_ids.retain(|of, ()| of.run != id);
        self.checkpoints.retain(|of, _row| of.run != id);
        self.aliases.retain(|_alias, of| *of != id);
        self.rules
            .retain(|_rule, row| row.rule.scope.run() != Some(id));
        self.runs.retain(|of, _row| *of != id);
    }
}
