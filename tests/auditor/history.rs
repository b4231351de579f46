//! The audit, sorted by interrupt.

use std::collections::BTreeMap;

use interrupt_router::InterruptId;
use interrupts::Digest;
use interrupts::life::Audited;
use interrupts::store::{AuditSubject, Page, Store, StoreError, VerifyError};
use jiff::Timestamp;

use super::{Finding, Report};

/// How many rows are read at a time.
pub(super) const PAGE: u32 = 1000;

/// One row of the audit about an interrupt.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When, by the store's clock.
    pub at: Timestamp,
    /// What.
    pub audited: Audited,
    /// The digest of the interrupt as it stands from then on, where the row has it.
    pub bound: Option<Digest>,
}

/// The life of each interrupt as the audit tells it.
#[derive(Debug, Default)]
pub struct History {
    /// The rows of each interrupt, in their order.
    pub lives: BTreeMap<InterruptId, Vec<Moment>>,
}

impl History {
    pub(super) async fn read(store: &dyn Store, report: &mut Report) -> Result<Self, StoreError> {
        match store.verify_audit().await {
            Ok(_head) => {}
            Err(VerifyError::Store(error)) => return Err(error),
            Err(broken) => report.findings.push(Finding::BrokenAudit {
                detail: broken.to_string(),
            }),
        }
        let mut history = Self::default();
        let mut after = 0;
        loop {
            let rows = store.audit(Page { after, limit: PAGE }).await?;
            let Some(last) = rows.last() else {
                return Ok(history);
            };
            after = last.position;
            for row in &rows {
                let entry = row.read()?;
                if let AuditSubject::Interrupt {
                    interrupt, audited, ..
                } = entry.subject
                {
                    let moment = Moment {
                        at: entry.at,
                        audited,
                        bound: entry.bound,
                    };
                    history.lives.entry(interrupt).or_default().push(moment);
                }
            }
        }
    }
}
