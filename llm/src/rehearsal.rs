//! The rehearsal model: answers every schema without a key or a network, always the same way.
//!
//! It goes where the workflow says that the way leads forward ([`ModelCall::forward`]), and says what is known: the goal,
//! and facts that were counted. What it picks depends on the seed and on who asks ([`ModelCaller`]) alone, never on the
//! order or the time of the calls, so workers that run in parallel get the same answers in every run.

mod compose;
mod heard;
mod random;
mod script;
mod stream;
mod talk;
mod tool_phrases;
mod tool_use;
mod words;

use async_trait::async_trait;
use interrupt_router::model::{
    LanguageModel, Message, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, Purpose,
    ToolRequest,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use serde_json::{Map, Value, json};

use crate::chat::{ChatCall, ChatModel, ChatOutcome, ChatPartial, ChatReply, ChatUsage};

use compose::Composer;
use heard::Heard;
use random::Random;
use stream::{Streamed, stream_answer};
use words::Words;

pub use script::{
    AnswerStep, InterruptStep, PersonAnswer, Script, ScriptError, ScriptVocabulary, ScriptedEvent,
    ScriptedInterrupt, StepSelector, SupervisorStep,
};
pub use stream::Pace;
pub use words::Fact;

/// How a rehearsal model plays its part.
#[derive(Debug, Clone, Default)]
pub struct RehearsalConfig {
    /// What its choices start from: another seed gives other answers.
    pub seed: u64,
    /// How fast its answers arrive.
    pub pace: Pace,
    /// What its answers say.
    pub facts: Vec<Fact>,
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

    /// The whole answer to a question, at once: what a call with this schema and this way forward is answered.
    ///
    /// For servers that play a provider and have the schema as JSON only.
    pub fn answer(
        &self,
        schema: &Value,
        messages: &[Message],
        caller: &ModelCaller,
        forward: Option<&str>,
    ) -> String {
        if caller.purpose == Purpose::Route {
            return self.route(schema, messages, caller, forward);
        }
        let scripted = self.script().and_then(|script| script.answer_for(caller));
        if let Some(step) = scripted {
            return step.text();
        }
        let heard = Heard::of(messages);
        let mut random = Random::for_caller(self.config.seed, caller);
        let mut composer = Composer {
            schema,
            words: Words::new(&self.config.facts, &heard, &mut random),
            heard: &heard,
            caller,
            random,
        };
        let interrupt = self.interrupt(messages, caller);
        composer.answer(forward, interrupt.as_ref()).to_string()
    }

    /// The fields of the interrupt that this call is to raise: because its script says so, or the router asks.
    fn interrupt(&self, messages: &[Message], caller: &ModelCaller) -> Option<Map<String, Value>> {
        let scripted = self
            .script()
            .and_then(|script| script.interrupt_for(caller));
        let scripted = scripted.map(InterruptStep::fields);
        let is_step = caller.purpose == Purpose::Step;
        is_step
            .then(|| scripted.or_else(|| heard::asked_interrupt(messages)))
            .flatten()
    }

    /// The name of the route of the answer that it would give at once.
    fn route(
        &self,
        schema: &Value,
        messages: &[Message],
        caller: &ModelCaller,
        forward: Option<&str>,
    ) -> String {
        let step = ModelCaller {
            purpose: Purpose::Step,
            ..caller.clone()
        };
        let offered = schema
            .pointer("/properties/route/enum")
            .and_then(Value::as_array);
        let offered: Vec<&str> = offered
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let find =
            |is_wanted: &dyn Fn(&str) -> bool| offered.iter().copied().find(|name| is_wanted(name));
        let scripted = self.script().and_then(|script| script.answer_for(&step));
        let scripted = scripted.and_then(|step| {
            let answer: Map<String, Value> = serde_json::from_str(&step.text()).ok()?;
            find(&|name| answer.keys().next().is_some_and(|first| first == name))
        });
        let interrupt = self.interrupt(messages, &step);
        let name = scripted
            .or_else(|| interrupt.and_then(|_| find(&compose::names_interrupt)))
            .or_else(|| find(&|name| Some(name) == forward))
            .or_else(|| find(&|name| !compose::names_interrupt(name)))
            .or(offered.first().copied());
        json!({ "route": name.unwrap_or_default() }).to_string()
    }

    /// The tools that it asks for before it answers. A scripted answer needs none.
    fn tools_for(&self, call: &ModelCall) -> Vec<ToolRequest> {
        let scripted = self.script();
        if call.caller.purpose != Purpose::Step
            || scripted.is_some_and(|it| it.answer_for(&call.caller).is_some())
        {
            return Vec::new();
        }
        tool_use::wanted(call)
    }
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
            self.answer(
                call.schema.value(),
                &call.messages,
                &call.caller,
                call.forward,
            )
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
