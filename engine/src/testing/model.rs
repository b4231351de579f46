//! A model that answers as a script says, and finds out who asks again for what is recorded.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::{Outcome, StopScope};
use interrupts::EffectId;
use interrupts::store::Store;
use journal::place;
use llm::{RehearsalConfig, RehearsalModel, Script};

/// Answers as a script says, and where it says nothing with what fits the schema.
pub(super) struct ScriptedModel {
    rehearsal: RehearsalModel,
    store: Arc<dyn Store>,
    /// The places whose answers were recorded, and asked for again.
    repeated: Mutex<Vec<String>>,
}

impl ScriptedModel {
    pub(super) fn new(script: &Script, store: Arc<dyn Store>) -> Self {
        let config = RehearsalConfig {
            script: Some(script.clone()),
            ..RehearsalConfig::default()
        };
        Self {
            rehearsal: RehearsalModel::new(config),
            store,
            repeated: Mutex::default(),
        }
    }

    pub(super) fn take_repeated(&self) -> Vec<String> {
        let mut repeated = self.repeated.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut repeated)
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        self.rehearsal.dialect()
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let place = place::model_call(&call.caller);
        let effect = EffectId::in_run(call.caller.run, &place);
        // A store that does not answer is a matter of the run, which asks it, too.
        if let Ok(Some(entry)) = self.store.effect(effect).await
            && entry.result.is_some()
        {
            let mut repeated = self.repeated.lock().unwrap_or_else(PoisonError::into_inner);
            repeated.push(place);
        }
        self.rehearsal.call(call, scope).await
    }
}
