//! The rehearsal model: answers every schema without a key or a network, always the same way.
//!
//! It goes where the workflow says that the way leads forward ([`ModelCall::forward`]), and says what is known: the goal,
//! and facts that were counted. What it picks depends on the seed and on who asks ([`ModelCaller`]) alone, never on the
//! order or the time of the calls, so workers that run in parallel get the same answers in every run.

mod asked;
mod route;
mod script;
mod stream;
mod tools;
mod words;

use async_trait::async_trait;
use interrupt_router::model::{
    LanguageModel, Message, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, Purpose,
    ToolRequest,
};
use interrupt_router::schema::{Dialect, Sampler};
use interrupt_router::{Outcome, StopScope};
use serde_json::{Map, Value, json};

use route::Route;
use stream::stream;
use words::Words;

pub use script::{
    AnsweredInterrupt, PersonAnswer, Script, ScriptError, ScriptVocabulary, ScriptedEvent,
    SupervisedTurn, SupervisorStep,
};
pub use stream::Pace;
pub use words::Fact;

/// What is true of a conversation with a rehearsal: enough words to be interrupted in.
const REMARKS: [&str; 5] = [
    "An answer like this one arrives piece by piece, as it does from a real model, and can be stopped between any two pieces.",
    "Whatever had arrived when it was stopped is kept and marked, and the next message goes on from there.",
    "The same seed and the same messages always give the same words, on every machine.",
    "What you type while I speak is kept: press Enter and it is sent when I have finished.",
    "Name a real model to get a real answer, as in openai:NAME.",
];

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
        let is_step = matches!(caller.purpose, Purpose::Step | Purpose::Route);
        let mut step = caller.clone();
        if is_step {
            step.purpose = Purpose::Step;
        }
        let script = self.config.script.as_ref();
        let scripted = script.and_then(|script| script.answer_for(&step));
        let interrupt = script.and_then(|script| script.interrupt_for(&step));
        let interrupt = interrupt.or_else(|| asked::interrupt(messages));
        let interrupt = interrupt.filter(|_| is_step && scripted.is_none());
        if caller.purpose == Purpose::Route {
            let answer: Option<Map<String, Value>> =
                scripted.and_then(|answer| serde_json::from_str(&answer).ok());
            let named = answer.as_ref().and_then(|answer| answer.keys().next());
            let forward = named.map(String::as_str).or(forward);
            let routes = Route::to_name(schema);
            let taken = Route::taken(&routes, interrupt.as_ref(), forward);
            return json!({ "route": taken.map_or("", |route| route.name) }).to_string();
        }
        if let Some(answer) = scripted {
            return answer;
        }
        let asker = format!(
            "{} {} {} {:?}",
            caller.node, caller.turn, caller.correction, caller.purpose
        );
        let mut words = Words::new(self.config.seed, &asker, &self.config.facts, messages);
        if caller.purpose == Purpose::Review {
            let text = words
                .fact()
                .map_or("Nothing was counted.", |fact| &fact.says);
            return asked::decision(messages, text).to_string();
        }
        let mut sampler = Sampler::new(schema, length, |place, keywords| {
            words.text(place, keywords)
        });
        made(schema, &mut sampler, interrupt, forward).to_string()
    }

    /// The tools that an agent asks for, else its answer.
    fn step(&self, call: &ModelCall, schema: &Value) -> (Vec<ToolRequest>, String) {
        let script = self.config.script.as_ref();
        // A scripted answer needs no tools.
        let is_scripted = script.is_some_and(|script| script.answer_for(&call.caller).is_some());
        let may_look = call.caller.purpose == Purpose::Step && !is_scripted;
        let tool_requests = may_look.then(|| tools::of_agent(call));
        let tool_requests = tool_requests.unwrap_or_default();
        let text = || self.answer(schema, &call.messages, &call.caller, call.forward);
        let text = tool_requests.is_empty().then(text).unwrap_or_default();
        (tool_requests, text)
    }

    /// The tools that a conversation asks for, else what is said in it.
    fn talk(&self, call: &ModelCall) -> (Vec<ToolRequest>, String) {
        let messages = &call.messages;
        let tool_requests = tools::of_conversation(messages, &call.tools);
        let text = || tools::remark(messages).unwrap_or_else(|| self.remark(messages));
        let text = tool_requests.is_empty().then(text).unwrap_or_default();
        (tool_requests, text)
    }

    /// What is said in a conversation.
    fn remark(&self, messages: &[Message]) -> String {
        let said: Vec<&str> = words::said(messages).collect();
        let (count, last) = (said.len(), said.last().copied().unwrap_or_default());
        let mut remarks = REMARKS;
        let first = self.config.seed % (remarks.len() as u64);
        remarks.rotate_left(usize::try_from(first).unwrap_or(0));
        format!(
            "I am the rehearsal model: no language model is behind me, and nothing has read your message {count}, \u{201c}{}\u{201d}.\n\n{}",
            words::quoted(last),
            remarks.join(" ")
        )
    }
}

/// How many elements a list has; work is given to one more, so that one sees agents side by side.
fn length(list: &str) -> usize {
    if list == "requests" { 3 } else { 2 }
}

/// The whole answer. In a record of routes one is set.
fn made(
    schema: &Value,
    sampler: &mut Sampler<'_>,
    interrupt: Option<Map<String, Value>>,
    forward: Option<&str>,
) -> Value {
    let routes = Route::of_record(schema);
    let Some(route) = Route::taken(&routes, interrupt.as_ref(), forward) else {
        return sampler.most(schema).unwrap_or_default();
    };
    // What an interrupt need not say is left out: the form of an answer would refuse what people say.
    let request = match route.raises_interrupt {
        true => sampler.least(route.request),
        false => sampler.most(route.request),
    };
    let mut request = request.unwrap_or_default();
    let fields = interrupt.filter(|_| route.raises_interrupt);
    if let (Some(fields), Some(request)) = (fields, request.as_object_mut()) {
        // Also those that are unknown here: the caller learns from the refusal.
        request.extend(fields);
    }
    let unset = route::must_have(schema).map(|name| (name.to_owned(), Value::Null));
    let mut answer: Map<_, _> = unset.collect();
    answer.insert(route.name.to_owned(), request);
    answer.into()
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
        let (tool_requests, text) = match call.schema.as_deref() {
            None => self.talk(&call),
            Some(schema) => self.step(&call, schema.value()),
        };
        let sink = call.chunks.as_deref();
        let said = (text, tool_requests);
        Ok(stream(said, &call.messages, sink, self.config.pace, scope).await)
    }
}

#[cfg(test)]
mod tests;
