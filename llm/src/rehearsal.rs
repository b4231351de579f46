//! The rehearsal model: answers every schema without a key or a network, always the same way.
//!
//! Its answers are made of what the conversation and the workspace say: the goal, the files, the
//! headings. What it picks depends on the seed and on who asks ([`ModelCaller`]) alone, never on the order
//! or the time of the calls, so workers that run in parallel get the same answers in every run.

mod compose;
mod facts;
mod interrupt;
mod prose;
mod random;
mod route_choice;
mod schema_view;
mod script;
mod stream;
mod talk;
mod tool_phrases;
mod tool_use;

use async_trait::async_trait;
use routing_core::model::{
    LanguageModel, Message, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, Purpose,
    ToolRequest,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};
use serde_json::{Map, Value, json};

use crate::chat::{ChatCall, ChatModel, ChatOutcome, ChatPartial, ChatReply, ChatUsage};

use compose::Composer;
use facts::Facts;
use random::Random;
use schema_view::SchemaView;
use stream::{Streamed, stream_answer};

pub use script::{
    AnswerStep, InterruptStep, PersonAnswer, Script, ScriptError, ScriptVocabulary, ScriptedEvent,
    ScriptedInterrupt, StepSelector, SupervisorStep,
};
pub use stream::Pace;

/// How a rehearsal model plays its part.
#[derive(Debug, Clone, Default)]
pub struct RehearsalConfig {
    /// What its choices start from: another seed gives other answers.
    pub seed: u64,
    /// How fast its answers arrive.
    pub pace: Pace,
    /// Names of files and headings of the workspace, which its answers speak of.
    pub material: Vec<String>,
    /// What it answers where it must not choose for itself.
    pub script: Option<Script>,
}

/// A model that needs no provider and always gives the same answer to the same caller.
#[derive(Debug, Clone)]
pub struct RehearsalModel {
    config: RehearsalConfig,
    dialect: Dialect,
}

impl RehearsalModel {
    /// A model that takes plain JSON Schema.
    pub fn new(config: RehearsalConfig) -> Self {
        Self {
            config,
            dialect: Dialect::JsonSchema,
        }
    }

    /// The same model, shown schemas in another dialect: it can play any provider's part.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The script that steers it.
    pub fn script(&self) -> Option<&Script> {
        self.config.script.as_ref()
    }

    /// The whole answer to a question, at once: what a call with this schema is answered.
    ///
    /// For servers that play a provider and have the schema as JSON only.
    pub fn answer(&self, schema: &Value, messages: &[Message], caller: &ModelCaller) -> String {
        if caller.purpose == Purpose::Route {
            return self.route(schema, messages, caller);
        }
        let scripted = self.script().and_then(|script| script.answer_for(caller));
        if let Some(step) = scripted {
            return step.text();
        }
        let facts = Facts::gather(messages, &self.config.material);
        let view = SchemaView::new(schema);
        let random = Random::for_caller(self.config.seed, caller);
        let mut composer = Composer::new(&view, &facts, caller, random);
        let wanted = (caller.purpose == Purpose::Step)
            .then(|| interrupt::wanted(self.script(), messages, caller))
            .flatten();
        let answer = composer.answer(wanted.as_ref());
        compact(&answer)
    }
}

impl RehearsalModel {
    /// The name of the route of the answer that it would give at once.
    fn route(&self, schema: &Value, messages: &[Message], caller: &ModelCaller) -> String {
        let step = ModelCaller {
            purpose: Purpose::Step,
            ..caller.clone()
        };
        let routes = route_choice::named(schema).unwrap_or_default();
        let is_offered = |name: &str| routes.iter().any(|(offered, _)| offered == name);
        let scripted = self.script().and_then(|script| script.answer_for(&step));
        let scripted = scripted.and_then(|step| {
            let answer: Map<String, Value> = serde_json::from_str(&step.text()).ok()?;
            answer.into_iter().map(|(name, _)| name).next()
        });
        let wanted = interrupt::wanted(self.script(), messages, &step);
        let facts = Facts::gather(messages, &self.config.material);
        let name = scripted
            .or_else(|| wanted.map(|wanted| wanted.route.to_owned()))
            .filter(|name| is_offered(name))
            .or_else(|| route_choice::choose(&routes, &facts, &step).map(str::to_owned))
            .unwrap_or_default();
        compact(&json!({ "route": name }))
    }

    /// The tools that it asks for before it answers. A scripted answer needs none.
    fn tools_for(&self, call: &ModelCall) -> Vec<ToolRequest> {
        let scripted = self.script();
        if call.caller.purpose != Purpose::Step
            || scripted.is_some_and(|it| it.answer_for(&call.caller).is_some())
        {
            return Vec::new();
        }
        let facts = Facts::gather(&call.messages, &self.config.material);
        tool_use::wanted(call, &facts)
    }
}

/// A JSON tree as text; a tree of JSON values always has one.
fn compact(value: &Value) -> String {
    value.to_string()
}

#[async_trait]
impl LanguageModel for RehearsalModel {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let tool_requests = self.tools_for(&call);
        let text = if tool_requests.is_empty() {
            self.answer(call.schema.value(), &call.messages, &call.caller)
        } else {
            String::new()
        };
        let sink = call.chunks.as_deref();
        let Streamed {
            text,
            usage,
            stopped,
        } = stream_answer(&call.messages, sink, &text, self.config.pace, scope).await;
        Ok(match stopped {
            Some(reason) => Outcome::Interrupted {
                reason,
                partial: PartialReply {
                    tool_requests: Vec::new(),
                    text,
                    usage,
                },
            },
            None => Outcome::Completed(ModelReply {
                tool_requests,
                text,
                usage,
                cut_off: false,
            }),
        })
    }
}

#[async_trait]
impl ChatModel for RehearsalModel {
    fn name(&self) -> &str {
        "rehearsal"
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        let requests = tool_phrases::asked_for(&call.messages, &call.tools);
        let text = if requests.is_empty() {
            let remark = tool_phrases::remark(&call.messages);
            remark.unwrap_or_else(|| talk::answer(self.config.seed, &call.messages))
        } else {
            String::new()
        };
        let sink = call.chunks.as_deref();
        let Streamed {
            text,
            usage,
            stopped,
        } = stream_answer(&call.messages, sink, &text, self.config.pace, scope).await;
        let usage = ChatUsage::reported(usage);
        Ok(match stopped {
            Some(reason) => ChatPartial {
                text,
                usage,
                ..ChatPartial::default()
            }
            .interrupted(reason),
            None => Outcome::Completed(ChatReply {
                tool_requests: requests,
                text,
                usage,
                cut_off: false,
            }),
        })
    }
}
