//! All models of one agent, so that one interrupt reaches every call of every one of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use interrupt_router::model::ModelError;
use interrupt_router::{StopMode, StopReason, StopScope};

use crate::chat::{ChatCall, ChatModel, ChatOutcome};

/// The models of an agent by name, fallbacks included. Its clones are the same registry.
#[derive(Clone, Default)]
pub struct ModelRegistry {
    shared: Arc<RegistryInner>,
}

#[derive(Default)]
struct RegistryInner {
    models: Mutex<BTreeMap<String, Arc<dyn ChatModel>>>,
    /// Stops the calls that began since the last interrupt. A stop is never cleared, so later calls get
    /// another scope.
    calls: Mutex<StopScope>,
}

impl ModelRegistry {
    /// A registry without models.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a model, in place of one of the same name. What is returned is the model to call: only its
    /// calls are reached by [`ModelRegistry::interrupt`].
    pub fn register(
        &self,
        name: impl Into<String>,
        model: Arc<dyn ChatModel>,
    ) -> Arc<dyn ChatModel> {
        let registered: Arc<dyn ChatModel> = Arc::new(Registered {
            inner: model,
            registry: Arc::clone(&self.shared),
        });
        lock(&self.shared.models).insert(name.into(), Arc::clone(&registered));
        registered
    }

    /// The model of that name.
    pub fn model(&self, name: &str) -> Option<Arc<dyn ChatModel>> {
        lock(&self.shared.models).get(name).cloned()
    }

    /// The names of the models.
    pub fn names(&self) -> Vec<String> {
        lock(&self.shared.models).keys().cloned().collect()
    }

    /// Stops every call of every model that has begun. Calls that begin later are not touched.
    pub fn interrupt(&self, reason: StopReason) {
        let begun = std::mem::take(&mut *lock(&self.shared.calls));
        begun.stop(StopReason {
            mode: StopMode::Immediate,
            ..reason
        });
    }
}

struct Registered {
    inner: Arc<dyn ChatModel>,
    registry: Arc<RegistryInner>,
}

#[async_trait]
impl ChatModel for Registered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        let all = lock(&self.registry.calls).clone();
        let both = scope.child();
        let call = self.inner.chat(call, &both);
        tokio::pin!(call);
        tokio::select! {
            biased;
            reason = all.stopped_now() => both.stop(reason),
            ended = &mut call => return ended,
        }
        call.await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
