//! A chain of models: where one fails, the next is asked.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::{
    ChunkSink, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply,
    TurnForm,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use tracing::Instrument;

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks};
use crate::retrying::RestartingSink;

/// Asks one model after the other until one answers. An interrupt ends the chain whole: no later model
/// is asked. The error of the last model is that of the chain.
///
/// If a model broke off in the midst of its answer, the sink gets [`ChunkSink::restarted`] before the first piece of
/// the next one.
pub struct Fallback<M: ?Sized = dyn ChatModel> {
    first: Arc<M>,
    others: Vec<Arc<M>>,
    name: String,
}

/// Models that take their schemas in different dialects: one call cannot be made to all of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{first} takes {first_dialect}, {other} takes {other_dialect}: one call does not fit both")]
pub struct MixedDialects {
    /// The first model of the chain.
    pub first: String,
    /// Its dialect.
    pub first_dialect: Dialect,
    /// The first model that differs.
    pub other: String,
    /// Its dialect.
    pub other_dialect: Dialect,
}

impl Fallback {
    /// A chain of `first` and, where it fails, `others` in their order.
    pub fn new(first: Arc<dyn ChatModel>, others: Vec<Arc<dyn ChatModel>>) -> Self {
        Self::of::<Chat>(first, others)
    }
}

impl Fallback<dyn LanguageModel> {
    /// A chain of `first` and, where it fails, `others` in their order.
    ///
    /// # Errors
    ///
    /// [`MixedDialects`] where they do not all take the same schemas.
    pub fn new_language(
        first: Arc<dyn LanguageModel>,
        others: Vec<Arc<dyn LanguageModel>>,
    ) -> Result<Self, MixedDialects> {
        let dialect = first.dialect();
        match others.iter().find(|other| other.dialect() != dialect) {
            None => Ok(Self::of::<Language>(first, others)),
            Some(other) => Err(MixedDialects {
                first: first.name().to_owned(),
                first_dialect: dialect,
                other: other.name().to_owned(),
                other_dialect: other.dialect(),
            }),
        }
    }
}

impl<M: ?Sized> Fallback<M> {
    fn of<P: Port>(first: Arc<M>, others: Vec<Arc<M>>) -> Self
    where
        M: Speaks<P>,
    {
        let names: Vec<&str> = std::iter::once(&first)
            .chain(&others)
            .map(|model| model.title())
            .collect();
        Self {
            name: names.join(", else "),
            first,
            others,
        }
    }

    /// The calls of all models that are asked, below one span.
    async fn first_answer<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let span = tracing::info_span!("irq.model.chain", models = self.name);
        self.ask_each::<P>(call, scope).instrument(span).await
    }

    async fn ask_each<P: Port>(&self, mut call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let sink = RestartingSink::around(P::chunks(&mut call).take());
        *P::chunks(&mut call) = Some(Arc::clone(&sink) as Arc<dyn ChunkSink>);
        let mut ended = self.first.run(call.clone(), scope).await;
        for model in &self.others {
            let Err(error) = &ended else {
                break;
            };
            if scope.is_stopped_now() {
                return Ok(Outcome::Interrupted {
                    reason: scope.stopped_now().await,
                    partial: P::between_tries(sink.said()),
                });
            }
            tracing::info!(model = model.title(), %error, "falling back");
            sink.restart();
            ended = model.run(call.clone(), scope).await;
        }
        ended.map(|outcome| sink.kept_in::<P>(outcome))
    }
}

// Not derived: a derive would ask the model itself to be `Clone`.
impl<M: ?Sized> Clone for Fallback<M> {
    fn clone(&self) -> Self {
        Self {
            first: Arc::clone(&self.first),
            others: self.others.clone(),
            name: self.name.clone(),
        }
    }
}

impl<M: ?Sized> Debug for Fallback<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Fallback").field(&self.name).finish()
    }
}

#[async_trait]
impl ChatModel for Fallback {
    fn name(&self) -> &str {
        &self.name
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.first_answer::<Chat>(call, scope).await
    }
}

#[async_trait]
impl LanguageModel for Fallback<dyn LanguageModel> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.first.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.first.turn_form(caller)
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.first_answer::<Language>(call, scope).await
    }
}
