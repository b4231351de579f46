//! Models that play a part: each does one thing otherwise than the rehearsal model.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply,
    TokenUsage, TurnForm,
};
use interrupt_router::{Outcome, StopScope};
use llm::RehearsalModel;

pub(crate) type Reply = Result<Outcome<ModelReply, PartialReply>, ModelError>;

/// What a model that is not the rehearsal's does with a call; `None` leaves it to the rehearsal model.
#[async_trait]
pub(crate) trait Part: Send + Sync {
    async fn play(&self, call: &mut ModelCall, scope: &StopScope) -> Option<Reply>;

    /// How it is asked.
    fn turn_form(&self) -> TurnForm {
        TurnForm::OneStep
    }
}

/// The rehearsal model, with a part that comes first, and a list of all calls.
pub(crate) struct Playing<P> {
    pub(crate) part: P,
    pub(crate) rehearsal: RehearsalModel,
    pub(crate) calls: Arc<Mutex<Vec<ModelCall>>>,
}

impl<P> Playing<P> {
    pub(crate) fn new(part: P, rehearsal: RehearsalModel) -> Self {
        Self {
            part,
            rehearsal,
            calls: Arc::default(),
        }
    }
}

#[async_trait]
impl<P: Part> LanguageModel for Playing<P> {
    fn name(&self) -> &str {
        "playing"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    fn turn_form(&self, _caller: &ModelCaller) -> TurnForm {
        self.part.turn_form()
    }

    async fn call(&self, mut call: ModelCall, scope: &StopScope) -> Reply {
        self.calls.lock().unwrap().push(call.clone());
        match self.part.play(&mut call, scope).await {
            Some(reply) => reply,
            None => self.rehearsal.call(call, scope).await,
        }
    }
}

/// Plays nothing: the calls are watched.
pub(crate) struct Watched;

#[async_trait]
impl Part for Watched {
    async fn play(&self, _call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        None
    }
}

/// A whole answer.
pub(crate) fn reply(text: impl Into<String>) -> Reply {
    Ok(Outcome::Completed(ModelReply {
        tool_requests: Vec::new(),
        text: text.into(),
        usage: TokenUsage::default(),
        cut_off: false,
    }))
}
