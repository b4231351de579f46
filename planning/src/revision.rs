//! What a decision says about a stopped plan.

use interrupts::Digest;
use serde::{Deserialize, Serialize};

use crate::event::Refused;
use crate::preview::PlanPreview;
use crate::state::PlanExecute;

/// The content of a decision that changes a plan: its steps, or a request in words, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PlanRevision {
    /// The steps that are to be left, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<String>>,
    /// Other wishes, in words: the plan is made anew with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The digest of the change as it was previewed. If the plan has changed since, nothing is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previewed: Option<Digest>,
}

/// Why a revision does not fit its plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// Its steps make no plan, or the plan is over.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It is not the change that was previewed.
    #[error("the plan has changed since the preview {previewed}; look at it again")]
    Other {
        /// What was previewed.
        previewed: Digest,
    },
    /// It says nothing.
    #[error("it changes nothing: say `plan`, the steps that are to be left, or `input`, in words")]
    Empty,
}

impl PlanRevision {
    /// What it would do to the steps, if it names those that are to be left.
    ///
    /// # Errors
    ///
    /// [`RevisionError`] if it does not fit the current plan.
    pub fn check(&self, state: &PlanExecute) -> Result<Option<PlanPreview>, RevisionError> {
        let Some(tasks) = &self.plan else {
            let says_something = self.input.as_ref().is_some_and(|it| !it.trim().is_empty());
            return if says_something {
                Ok(None)
            } else {
                Err(RevisionError::Empty)
            };
        };
        let preview = PlanPreview::of(state, tasks)?;
        match self.previewed {
            Some(previewed) if previewed != preview.digest => {
                Err(RevisionError::Other { previewed })
            }
            Some(_) | None => Ok(Some(preview)),
        }
    }
}
