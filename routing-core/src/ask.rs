//! Asking a model until its answer fits, a bounded number of times.

mod early_end;
mod in_words;
mod route_first;

use std::sync::Arc;

use crate::answer::{
    AnswerError, AnswerFault, ConstraintCheck, body, fault_so_far, is_in_words, read_within,
};
use crate::context::LlmCallContext;
use crate::model::{
    Dialect, LanguageModel, Message, ModelCall, ModelError, ModelReply, PartialReply, TokenUsage,
    TurnForm,
};
use crate::outcome::Outcome;
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::Routing;
use crate::stop::StopScope;

use early_end::EarlyEnd;
pub use early_end::is_rejected_early;
pub use route_first::{STEP_MARK, choice_schema};

/// How many corrections an answer gets by default.
pub const DEFAULT_CORRECTIONS: u32 = 3;

/// Asks a model for routings.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub model: Arc<dyn LanguageModel>,
    /// Checks what types alone do not.
    pub constraints: Arc<dyn ConstraintCheck>,
    /// How many times a wrong answer is explained to the model and asked for again.
    pub corrections: u32,
}

/// A routing as a model gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRouting<T> {
    /// What it answered; one of the allowed routes is set.
    pub routing: T,
    /// The answer's text.
    pub text: String,
    /// How many corrections it took.
    pub corrections: u32,
    /// What all tries used, as far as the provider said.
    pub usage: TokenUsage,
}

/// An answer that did not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongAnswer {
    /// What the model said.
    pub text: String,
    /// What is wrong with it.
    pub error: AnswerError,
}

/// Why no fitting answer came.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The model gave no answer at all, or its answer could not be recorded.
    #[error("{}", .0.in_short())]
    Model(#[from] ModelError),
    /// Every answer was wrong, and the corrections are used up.
    #[error("no fitting answer after {} tries; the last one: {}", attempts.len(), last(attempts))]
    Spent {
        /// The wrong answers, in order. Never empty.
        attempts: Vec<WrongAnswer>,
    },
}

/// What was wrong with the last answer; where it was plain words, those say more.
fn last(attempts: &[WrongAnswer]) -> String {
    let said = |attempt: &WrongAnswer| {
        if !is_in_words(&attempt.text) {
            return attempt.error.to_string();
        }
        let said: String = attempt.text.trim().chars().take(HEARD).collect();
        let more = if said.len() < attempt.text.trim().len() {
            "…"
        } else {
            ""
        };
        format!("{}; the model said: {said}{more}", attempt.error)
    };
    attempts.last().map(said).unwrap_or_default()
}

/// How many characters of a model's words are handed on to a person.
const HEARD: usize = 500;

/// Called for each wrong answer as it comes. The number counts from 1 and is that of the correction that follows, if one
/// follows.
pub type OnCorrection<'a> = &'a (dyn Fn(u32, &AnswerError) + Send + Sync);

impl<M: LanguageModel + 'static> From<M> for Asker {
    /// Asks this model, with [`DEFAULT_CORRECTIONS`] and no constraints beyond types.
    fn from(model: M) -> Self {
        Self {
            model: Arc::new(model),
            constraints: Arc::new(()),
            corrections: DEFAULT_CORRECTIONS,
        }
    }
}

impl Asker {
    /// Asks until the answer is one of the routes that the context allows.
    ///
    /// If the context wants the route first, the model is asked for that alone, and then for the request of what it
    /// named, with the schema and the reader that allow nothing else: any route that it names is a legal one.
    ///
    /// A wrong answer is explained to the model, with the JSON path, the reason and what is allowed, and asked for
    /// again. It is checked while it arrives: once nothing that could follow would repair it, the call is ended, so
    /// that the rest is neither waited for nor paid for.
    ///
    /// # Errors
    ///
    /// [`AskError::Model`] if the model fails, [`AskError::Spent`] if it never gets it right.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the call in flight; what had arrived is lost. Stop `scope` to keep it.
    pub async fn ask<T: Routing>(
        &self,
        context: &LlmCallContext<T>,
        on_correction: OnCorrection<'_>,
        scope: &StopScope,
    ) -> Result<Outcome<ModelRouting<T>, PartialReply>, AskError> {
        if context.form == TurnForm::OneStep || context.selection.routes().len() < 2 {
            return self.ask_at_once(context, on_correction, scope).await;
        }
        let chosen = match self.choose(context, on_correction, scope).await? {
            Outcome::Completed(chosen) => chosen,
            Outcome::Interrupted { reason, partial } => {
                return Ok(Outcome::Interrupted { reason, partial });
            }
        };
        let filling = route_first::filling(context, chosen.routing);
        let outcome = self.ask_at_once(&filling, on_correction, scope).await?;
        Ok(match outcome {
            Outcome::Completed(asked) => Outcome::Completed(ModelRouting {
                corrections: chosen.corrections + asked.corrections,
                usage: chosen.usage.plus(asked.usage),
                ..asked
            }),
            interrupted @ Outcome::Interrupted { .. } => interrupted,
        })
    }

    /// Asks for the whole answer: one of the allowed routes, with its request.
    async fn ask_at_once<T: Routing>(
        &self,
        context: &LlmCallContext<T>,
        on_correction: OnCorrection<'_>,
        scope: &StopScope,
    ) -> Result<Outcome<ModelRouting<T>, PartialReply>, AskError> {
        let routes = context.selection.routes();
        let dialect = self.model.dialect();
        let mut call = context.to_call(dialect);
        // Such a model sees nothing else of the schema that it has to follow.
        if dialect == Dialect::Grammar
            && let Some(fields) = call.schema.as_deref().and_then(in_words::fields)
        {
            let text = format!("{STEP_MARK}\n{fields}");
            call.messages.push(Message::user(text));
        }
        let question = RoutingQuestion {
            call,
            allowed: allowed_fields(routes),
            watched: Some(routes),
        };
        self.until_it_fits(question, on_correction, scope, |reply| {
            self.read(context, &reply.text, reply.cut_off)
        })
        .await
    }

    /// Asks for a route alone.
    async fn choose<T: Routing>(
        &self,
        context: &LlmCallContext<T>,
        on_correction: OnCorrection<'_>,
        scope: &StopScope,
    ) -> Result<Outcome<ModelRouting<RouteId<T>>, PartialReply>, AskError> {
        let offered = context.offered();
        let question = RoutingQuestion {
            call: route_first::choice(context, self.model.dialect()),
            allowed: route_first::allowed(offered),
            watched: None::<RouteSet<T>>,
        };
        self.until_it_fits(question, on_correction, scope, |reply| {
            route_first::read(&reply.text, reply.cut_off, offered)
        })
        .await
    }

    /// Asks until the answer can be read. The model learns where and why an answer is wrong, and what every answer may
    /// be; the wrong answer is not repeated, since that costs more with each correction and teaches nothing.
    async fn until_it_fits<T: Routing, A>(
        &self,
        question: RoutingQuestion<T>,
        on_correction: OnCorrection<'_>,
        scope: &StopScope,
        read: impl Fn(&ModelReply) -> Result<A, AnswerError> + Send,
    ) -> Result<Outcome<ModelRouting<A>, PartialReply>, AskError> {
        let RoutingQuestion {
            mut call,
            allowed,
            watched,
        } = question;
        let mut attempts = Vec::new();
        let mut usage = TokenUsage::default();
        for correction in 0..=self.corrections {
            call.caller.correction = correction;
            let reply = match self.answer(watched, &call, scope).await? {
                Outcome::Completed(reply) => reply,
                Outcome::Interrupted { reason, partial } => {
                    return Ok(Outcome::Interrupted { reason, partial });
                }
            };
            usage = usage.plus(reply.usage);
            match read(&reply) {
                Ok(routing) => {
                    return Ok(Outcome::Completed(ModelRouting {
                        routing,
                        text: reply.text,
                        corrections: correction,
                        usage,
                    }));
                }
                Err(error) => {
                    on_correction(correction + 1, &error);
                    call.messages.push(explanation(&allowed, &error));
                    attempts.push(WrongAnswer {
                        text: reply.text,
                        error,
                    });
                }
            }
        }
        Err(AskError::Spent { attempts })
    }

    /// One answer: whole, or as far as it arrived if it is watched for its routes and was rejected early.
    async fn answer<T: Routing>(
        &self,
        watched: Option<RouteSet<T>>,
        call: &ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let Some(routes) = watched else {
            return self.model.call(call.clone(), scope).await;
        };
        let call_scope = scope.child();
        let end = EarlyEnd::around(call.chunks.clone(), routes, call_scope.clone());
        let watched = ModelCall {
            chunks: Some(end),
            ..call.clone()
        };
        Ok(match self.model.call(watched, &call_scope).await? {
            Outcome::Interrupted { reason, partial } if is_rejected_early(&reason) => {
                let received = partial.text.len();
                tracing::info!(
                    model = self.model.name(),
                    received,
                    reason = reason.message,
                    "rejected a wrong answer early"
                );
                Outcome::Completed(ModelReply::rejected_early(partial))
            }
            outcome @ (Outcome::Completed(_) | Outcome::Interrupted { .. }) => outcome,
        })
    }

    /// Reads an answer that is there already: one of the routes that the context allows, within its constraints.
    ///
    /// # Errors
    ///
    /// [`AnswerError`]; if the answer was cut off and cannot be read, it says so.
    pub fn read<T: Routing>(
        &self,
        context: &LlmCallContext<T>,
        text: &str,
        cut_off: bool,
    ) -> Result<T, AnswerError> {
        let answer = text.as_bytes();
        let routes = context.selection.routes();
        let routing = read_within(answer, routes).map_err(|error| {
            if cut_off {
                return AnswerError::cut_off(text.len());
            }
            // If an answer ends too early, the fault for which it was rejected says more.
            if error.fault() == AnswerFault::CutOff {
                return fault_so_far(text, routes).unwrap_or(error);
            }
            error
        })?;
        let schema = context.selection.schema(Dialect::JsonSchema);
        if schema.has_constraints() {
            // The check reads plain JSON: it must not see the fence that was tolerated above.
            self.constraints.check(schema, body(answer)?)?;
        }
        Ok(routing)
    }
}

/// The question, as often as it has to be asked.
struct RoutingQuestion<T: Routing> {
    call: ModelCall,
    /// What every answer may be, in words.
    allowed: String,
    /// The routes for which the answer is watched while it arrives.
    watched: Option<RouteSet<T>>,
}

/// What an answer that takes one of these routes may be.
fn allowed_fields<T: Routing>(routes: RouteSet<T>) -> String {
    let fields = routes.fields().join("`, `");
    format!("one JSON object that has exactly one of these fields, and nothing else: `{fields}`")
}

fn explanation(allowed: &str, error: &AnswerError) -> Message {
    Message::user(format!(
        "Your last answer cannot be used.\npath: {}\nreason: {}\nAnswer again with {allowed}.",
        error.path(),
        error.reason()
    ))
}
