//! A chain of models: where one fails, the next is asked.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::{
    ChunkSink, LanguageModel, ModelCall, ModelCaller, PartialReply, TurnForm,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use tracing::Instrument;

use crate::Ended;
use crate::retrying::RestartingSink;

/// Asks one model after the other until one answers. An interrupt ends the chain whole: no later model
/// is asked. The error of the last model is that of the chain.
///
/// If a model broke off in the midst of its answer, the sink gets [`ChunkSink::restarted`] before the first piece of
/// the next one.
#[derive(Clone)]
pub struct Fallback {
    first: Arc<dyn LanguageModel>,
    others: Vec<Arc<dyn LanguageModel>>,
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
    ///
    /// # Errors
    ///
    /// [`MixedDialects`] where they do not all take the same schemas.
    pub fn new(
        first: Arc<dyn LanguageModel>,
        others: Vec<Arc<dyn LanguageModel>>,
    ) -> Result<Self, MixedDialects> {
        let dialect = first.dialect();
        if let Some(other) = others.iter().find(|other| other.dialect() != dialect) {
            return Err(MixedDialects {
                first: first.name().to_owned(),
                first_dialect: dialect,
                other: other.name().to_owned(),
                other_dialect: other.dialect(),
            });
        }
        let all = std::iter::once(&first).chain(&others);
        let names: Vec<&str> = all.map(|model| model.name()).collect();
        Ok(Self {
            name: names.join(", else "),
            first,
            others,
        })
    }

    async fn ask_each(&self, mut call: ModelCall, scope: &StopScope) -> Ended {
        let sink = RestartingSink::around(call.chunks.take());
        call.chunks = Some(Arc::clone(&sink) as Arc<dyn ChunkSink>);
        let mut ended = self.first.call(call.clone(), scope).await;
        for model in &self.others {
            let Err(error) = &ended else {
                break;
            };
            if scope.is_stopped_now() {
                return Ok(Outcome::Interrupted {
                    reason: scope.stopped_now().await,
                    partial: PartialReply::between_tries(sink.said()),
                });
            }
            tracing::info!(model = model.name(), %error, "falling back");
            sink.restart();
            ended = model.call(call.clone(), scope).await;
        }
        ended.map(|outcome| sink.kept_in(outcome))
    }
}

impl Debug for Fallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Fallback").field(&self.name).finish()
    }
}

#[async_trait]
impl LanguageModel for Fallback {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.first.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.first.turn_form(caller)
    }

    /// The calls of all models that are asked, below one span.
    async fn call(&self, call: ModelCall, scope: &StopScope) -> Ended {
        let span = tracing::info_span!("irq.model.chain", models = self.name);
        self.ask_each(call, scope).instrument(span).await
    }
}
