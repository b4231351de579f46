//! The continuation of a run.

use serde::{Deserialize, Serialize};

use crate::request::InvalidRequest;

/// How a run is to continue, in its one form on the wire too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeOrder {
    /// From this checkpoint, as a run of its own; from where it is if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
    /// New input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Accept an incompatible version of its workflow: open questions with changed schemas are asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_catalogue: bool,
    /// A fork goes on without answers, messages and reroutes that the run has not carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_pending: bool,
}

impl ResumeOrder {
    /// Whether a run can be asked to continue so.
    ///
    /// # Errors
    ///
    /// [`InvalidRequest`].
    pub fn check(&self) -> Result<(), InvalidRequest> {
        if self.input.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return Err(InvalidRequest::EmptyInput);
        }
        if self.accept_catalogue && self.checkpoint.is_some() {
            return Err(InvalidRequest::CatalogueOfFork);
        }
        if self.drop_pending && self.checkpoint.is_none() {
            return Err(InvalidRequest::DropsWithoutFork);
        }
        Ok(())
    }
}
