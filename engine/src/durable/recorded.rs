//! The run's model, as far as its journal has the answers.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::{Outcome, StopScope};

use super::journal::RunJournal;
use super::model::{end_of_what_was_recorded, unrecorded};
use crate::run::metered_model::MeteredModel;
use journal::place;

/// A model that gives the recorded answers, and stops at the first missing one: it asks nothing and uses no tool.
pub struct RecordedModel {
    pub inner: Arc<MeteredModel>,
    pub journal: Arc<RunJournal>,
    /// How often an agent may use tools before it has to answer.
    pub rounds: u32,
}

#[async_trait]
impl LanguageModel for RecordedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    async fn call(
        &self,
        call: ModelCall,
        _scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let asked_at = self.journal.call_place(&call.caller);
        for round in 0..=self.rounds {
            let place = place::in_round(&asked_at, round);
            let recorded = self
                .journal
                .answer(&place, &call.caller.node)
                .map_err(unrecorded)?;
            let Some(result) = recorded else {
                break;
            };
            // The tool calls that it asked for first are done: otherwise the answer would not be there.
            if result.tool_requests.is_empty() || round == self.rounds {
                return Ok(Outcome::Completed(ModelReply {
                    tool_requests: Vec::new(),
                    ..result.into()
                }));
            }
        }
        Ok(Outcome::Interrupted {
            reason: end_of_what_was_recorded(),
            partial: PartialReply::default(),
        })
    }
}
