//! Calls, their schema, and what listens to them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::model::{
    AnswerSchemaRef, CallNote, ChunkSink, LanguageModel, Message, ModelCall, ModelCaller,
    ModelError, ModelReply, PartialReply, Purpose,
};
use interrupt_router::schema::{AnswerSchema, Dialect};
use interrupt_router::{NodeId, Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use llm::{CallLimits, Provider, ProviderConfig, ProviderModel, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, WireForm};
use tokio::sync::watch;

/// What the doubles answer.
pub(crate) const ANSWER: &str = r#"{"answer":"forty-two"}"#;

/// How a call ends.
pub(crate) type Ending = Result<Outcome<ModelReply, PartialReply>, ModelError>;

/// An answer with every kind of part that the dialects write in their own ways.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Finding {
    /// What was found.
    pub(crate) answer: String,
    /// How sure that is.
    #[schemars(range(min = 0, max = 10))]
    pub(crate) confidence: Option<u8>,
    /// Where.
    #[schemars(length(max = 3))]
    pub(crate) places: Vec<Place>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Place {
    #[schemars(length(min = 1, max = 20))]
    pub(crate) file: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Kind {
    Code,
    Prose,
}

pub(crate) fn schema(dialect: Dialect) -> AnswerSchemaRef {
    AnswerSchemaRef::Shared(Arc::new(AnswerSchema::from_type::<Finding>(
        "Finding", dialect,
    )))
}

pub(crate) fn caller() -> ModelCaller {
    ModelCaller {
        run: RunId::generate(),
        node: NodeId::new("root/discovery").unwrap(),
        agent_type: "DISCOVERY_ORCHESTRATOR",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    }
}

pub(crate) fn call(dialect: Dialect) -> ModelCall {
    ModelCall {
        caller: caller(),
        messages: vec![
            Message::system("You look for things."),
            Message::user("Goal: find the answer"),
            Message::assistant("{}"),
            Message::user("That was empty."),
        ],
        schema: Some(schema(dialect)),
        tools: Arc::default(),
        forward: None,
        chunks: None,
    }
}

/// A call for the next answer of a conversation.
pub(crate) fn talk(messages: Vec<Message>) -> ModelCall {
    ModelCall::new(ModelCaller::conversation(RunId::generate()), messages)
}

/// Keeps the pieces that it is told of.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) text: Mutex<String>,
    notes: Mutex<Vec<String>>,
    count: watch::Sender<usize>,
}

impl Pieces {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            text: Mutex::default(),
            notes: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    /// What else was told.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    /// Waits until so many pieces have come.
    pub(crate) async fn reached(&self, count: usize) {
        let mut changes = self.count.subscribe();
        changes.wait_for(|now| *now >= count).await.unwrap();
    }
}

impl ChunkSink for Pieces {
    fn chunk(&self, text: &str) {
        self.text.lock().unwrap().push_str(text);
        self.count.send_modify(|count| *count += 1);
    }

    fn restarted(&self) {
        self.text.lock().unwrap().push_str("<restarted>");
    }

    fn noted(&self, note: &CallNote) {
        self.notes.lock().unwrap().push(note.to_string());
    }
}

pub(crate) fn provider(form: WireForm) -> Provider {
    match form {
        WireForm::OpenAi => Provider::OPENAI,
        WireForm::OpenAiResponses => "openai_resp".parse().unwrap(),
        WireForm::Anthropic => Provider::ANTHROPIC,
        WireForm::Gemini => Provider::GEMINI,
    }
}

/// Limits that no test reaches unless it is about them.
pub(crate) fn limits() -> CallLimits {
    let long = Duration::from_secs(120);
    CallLimits {
        answer: 1024 * 1024,
        whole: long,
        connect: long,
        first: long,
        silence: long,
        line_reads: 512,
    }
}

pub(crate) fn model_at(
    address: &str,
    form: WireForm,
    key: &str,
    limits: CallLimits,
) -> ProviderModel {
    ProviderModel::new(ProviderConfig {
        provider: provider(form),
        model: "some-model".to_owned(),
        base_url: Some(address.to_owned()),
        key: Some(Secret::new(key)),
        limits,
    })
    .unwrap()
}

pub(crate) fn model(double: &ProviderDouble, form: WireForm) -> ProviderModel {
    model_at(double.address(), form, RIGHT_KEY, limits())
}

pub(crate) async fn double(
    form: WireForm,
    behaviours: impl IntoIterator<Item = Behaviour>,
) -> ProviderDouble {
    ProviderDouble::start(form, behaviours).await.unwrap()
}

/// The ending of one call to a double that behaves so.
pub(crate) async fn ending(form: WireForm, behaviour: Behaviour) -> Ending {
    let double = double(form, [behaviour]).await;
    let model = model(&double, form);
    model.call(call(model.dialect()), &StopScope::new()).await
}

pub(crate) fn reason() -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: "enough".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

pub(crate) fn stop_now(scope: &StopScope) {
    scope.stop(reason());
}
