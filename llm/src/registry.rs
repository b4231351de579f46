//! All models of one agent, so that one interrupt reaches every call of every one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use routing_core::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopMode, StopReason, StopScope};

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks};

/// The models of an agent by name, fallbacks included, of both ports. Its clones are the same registry.
#[derive(Clone, Default)]
pub struct ModelRegistry {
    shared: Arc<RegistryInner>,
}

#[derive(Default)]
struct RegistryInner {
    chat: Mutex<BTreeMap<String, Arc<dyn ChatModel>>>,
    language: Mutex<BTreeMap<String, Arc<dyn LanguageModel>>>,
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
        let registered: Arc<dyn ChatModel> = Arc::new(self.registered(model));
        lock(&self.shared.chat).insert(name.into(), Arc::clone(&registered));
        registered
    }

    /// As [`ModelRegistry::register`], for a model that answers with JSON.
    pub fn register_language(
        &self,
        name: impl Into<String>,
        model: Arc<dyn LanguageModel>,
    ) -> Arc<dyn LanguageModel> {
        let registered: Arc<dyn LanguageModel> = Arc::new(self.registered(model));
        lock(&self.shared.language).insert(name.into(), Arc::clone(&registered));
        registered
    }

    fn registered<M: ?Sized>(&self, inner: Arc<M>) -> Registered<M> {
        Registered {
            inner,
            registry: Arc::clone(&self.shared),
        }
    }

    /// The model of that name that talks.
    pub fn model(&self, name: &str) -> Option<Arc<dyn ChatModel>> {
        lock(&self.shared.chat).get(name).cloned()
    }

    /// The model of that name that answers with JSON.
    pub fn language_model(&self, name: &str) -> Option<Arc<dyn LanguageModel>> {
        lock(&self.shared.language).get(name).cloned()
    }

    /// The names of the models, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> = lock(&self.shared.chat).keys().cloned().collect();
        names.extend(lock(&self.shared.language).keys().cloned());
        names.into_iter().collect()
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

struct Registered<M: ?Sized> {
    inner: Arc<M>,
    registry: Arc<RegistryInner>,
}

impl<M: ?Sized> Registered<M> {
    async fn reachable<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let all = lock(&self.registry.calls).clone();
        let both = scope.child();
        let call = self.inner.run(call, &both);
        tokio::pin!(call);
        tokio::select! {
            biased;
            reason = all.stopped_now() => both.stop(reason),
            ended = &mut call => return ended,
        }
        call.await
    }
}

#[async_trait]
impl ChatModel for Registered<dyn ChatModel> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.reachable::<Chat>(call, scope).await
    }
}

#[async_trait]
impl LanguageModel for Registered<dyn LanguageModel> {
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
        self.reachable::<Language>(call, scope).await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
