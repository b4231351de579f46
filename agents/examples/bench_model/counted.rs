//! A model whose answers are counted.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use interrupt_router::ask::is_rejected_early;
use interrupt_router::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TokenUsage,
    TurnForm,
};
use interrupt_router::schema::{AnswerSchema, Dialect};
use interrupt_router::{Outcome, StopScope};
use serde_json::{Map, Value};

/// What was counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// The answers of all calls.
    pub(super) answers: u32,
    /// Those that name exactly one route, and one that is allowed.
    pub(super) right: u32,
    /// Those that the provider truncated at their maximum length.
    pub(super) cut_off: u32,
    /// The calls that asked for a wrong answer again.
    pub(super) corrections: u32,
    pub(super) read: u64,
    pub(super) written: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.right += other.right;
        self.cut_off += other.cut_off;
        self.corrections += other.corrections;
        self.read += other.read;
        self.written += other.written;
    }

    /// Read and written together.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean of tokens needs no more than 52 bits"
    )]
    pub(super) fn tokens(&self) -> f64 {
        self.read.saturating_add(self.written) as f64
    }
}

/// Counts the answers of a model that is asked in one form.
pub(super) struct Counted {
    inner: Arc<dyn LanguageModel>,
    form: TurnForm,
    tally: Mutex<Tally>,
}

impl Counted {
    pub(super) fn new(inner: Arc<dyn LanguageModel>, form: TurnForm) -> Self {
        Self {
            inner,
            form,
            tally: Mutex::default(),
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.counts(|tally| tally.clone())
    }

    fn counts<T>(&self, change: impl FnOnce(&mut Tally) -> T) -> T {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, call: &ModelCall, text: &str, usage: TokenUsage, cut_off: bool) {
        let schema = call.schema.as_deref();
        let is_right = schema.is_none_or(|schema| is_right(schema, text));
        self.counts(|tally| {
            tally.answers += 1;
            tally.right += u32::from(is_right);
            tally.cut_off += u32::from(cut_off);
            tally.corrections += u32::from(call.caller.correction > 0);
            tally.read += usage.input.unwrap_or(0);
            tally.written += usage.output.unwrap_or(0);
        });
    }
}

/// Whether an answer names exactly one route of those that its schema has: as its one field, or as the route that it
/// chooses.
fn is_right(schema: &AnswerSchema, text: &str) -> bool {
    let Ok(answer) = serde_json::from_str::<Map<String, Value>>(text) else {
        return false;
    };
    let schema = schema.value();
    if let Some(offered) = schema
        .pointer("/properties/route/enum")
        .and_then(Value::as_array)
    {
        return answer
            .get("route")
            .is_some_and(|route| offered.contains(route));
    }
    let mut set = answer.iter().filter(|(_, request)| !request.is_null());
    let (Some((field, _)), None) = (set.next(), set.next()) else {
        return false;
    };
    let has = |object: &Value| {
        object
            .pointer("/properties")
            .is_some_and(|it| it.get(field).is_some())
    };
    let branches = schema.get("anyOf").and_then(Value::as_array);
    has(schema) || branches.is_some_and(|branches| branches.iter().any(has))
}

#[async_trait]
impl LanguageModel for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn turn_form(&self, _caller: &ModelCaller) -> TurnForm {
        self.form
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let outcome = self.inner.call(call.clone(), scope).await?;
        match &outcome {
            Outcome::Completed(reply) => self.count(&call, &reply.text, reply.usage, reply.cut_off),
            Outcome::Interrupted { reason, partial } if is_rejected_early(reason) => {
                self.count(&call, &partial.text, partial.usage, false);
            }
            Outcome::Interrupted { .. } => {}
        }
        Ok(outcome)
    }
}
