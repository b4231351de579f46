//! The run's model: counts what is used, and ends with the run's stop no matter what the model does.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply,
    TokenUsage, TurnForm,
};
use interrupt_router::{NodeId, Outcome, StopScope};

/// How long a model may take to hand over its partial answer after an immediate stop. A model that does not watch its
/// scope is then dropped, which closes its connection.
const GRACE: Duration = Duration::from_millis(250);

/// A model whose use is added up.
pub struct MeteredModel {
    inner: Arc<dyn LanguageModel>,
    used: Mutex<Used>,
}

/// What was used.
#[derive(Debug, Default)]
struct Used {
    all: TokenUsage,
    /// The tokens of each node.
    tokens: HashMap<NodeId, u64>,
    /// The nodes that have used tokens since they were last taken.
    touched: BTreeSet<NodeId>,
}

impl MeteredModel {
    pub fn new(inner: Arc<dyn LanguageModel>) -> Self {
        Self {
            inner,
            used: Mutex::default(),
        }
    }

    /// What all calls have used, those that were interrupted or asked again included.
    pub fn usage(&self) -> TokenUsage {
        self.used().all
    }

    /// Adds what was used before this process had the run: in total, and the tokens of each node.
    pub fn add(&self, all: TokenUsage, tokens: &HashMap<NodeId, u64>) {
        let mut used = self.used();
        used.all = used.all.plus(all);
        for (node, count) in tokens {
            let sum = used.tokens.entry(node.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// The tokens that a node has used.
    pub fn tokens_of(&self, node: &NodeId) -> u64 {
        self.used().tokens.get(node).copied().unwrap_or(0)
    }

    /// The nodes that have used tokens since the last call.
    pub fn take_touched(&self) -> BTreeSet<NodeId> {
        std::mem::take(&mut self.used().touched)
    }

    fn add_of(&self, node: &NodeId, usage: TokenUsage) {
        let mut used = self.used();
        used.all = used.all.plus(usage);
        let sum = used.tokens.entry(node.clone()).or_default();
        *sum = sum.saturating_add(usage.total());
        used.touched.insert(node.clone());
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        // Each addition is complete before the lock is released.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LanguageModel for MeteredModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.inner.turn_form(caller)
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let node = call.caller.node.clone();
        let too_late = async {
            let reason = scope.stopped_now().await;
            tokio::time::sleep(GRACE).await;
            reason
        };
        let reply = tokio::select! {
            biased;
            reply = self.inner.call(call, scope) => reply?,
            reason = too_late => Outcome::Interrupted { reason, partial: PartialReply::default() },
        };
        match &reply {
            Outcome::Completed(reply) => self.add_of(&node, reply.usage),
            Outcome::Interrupted { partial, .. } => self.add_of(&node, partial.usage),
        }
        Ok(reply)
    }
}
