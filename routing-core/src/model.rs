//! The model port: what the router needs of a language model.

mod error;
mod shared_text;
mod tool;

use std::fmt::{self, Debug, Display};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, RunId};
use crate::outcome::Outcome;
use crate::schema::AnswerSchema;
use crate::stop::StopScope;

pub use crate::schema::Dialect;
pub use error::{Awaited, ModelError};
pub use tool::{ToolOffer, ToolRequest};

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions of the agent.
    System,
    /// The router, a person or a supervisor.
    User,
    /// The model itself.
    Assistant,
    /// A tool that the model asked for.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said. Shared, since each call of a conversation gets the whole conversation.
    #[serde(with = "shared_text")]
    pub text: Arc<str>,
    /// The tools that the model asked for with this answer. Only an assistant's message has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_requests: Vec<ToolRequest>,
    /// The id of the request that this is the result of. Only a tool's message has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_of: Option<String>,
}

impl Message {
    /// An instruction.
    pub fn system(text: impl Into<Arc<str>>) -> Self {
        Self::said(Role::System, text.into())
    }

    /// A message to the model.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::said(Role::User, text.into())
    }

    /// An answer of the model.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::said(Role::Assistant, text.into())
    }

    /// An answer of the model that asks for tools. Its text may be empty.
    pub fn asking(text: impl Into<Arc<str>>, tool_requests: Vec<ToolRequest>) -> Self {
        Self {
            tool_requests,
            ..Self::assistant(text)
        }
    }

    /// What came of the request with this id.
    pub fn result(request: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self {
            result_of: Some(request.into()),
            ..Self::said(Role::Tool, text.into())
        }
    }

    const fn said(role: Role, text: Arc<str>) -> Self {
        Self {
            role,
            text,
            tool_requests: Vec::new(),
            result_of: None,
        }
    }
}

/// On whose behalf a model is called. For logs, progress, and models that play a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCaller {
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: NodeId,
    /// The name of the node's agent type on the wire.
    pub agent_type: &'static str,
    /// What the call is for.
    pub purpose: Purpose,
    /// The turn of the node, from 1: how many answers it has been asked for, this one included.
    pub turn: u32,
    /// How many corrections of this answer came before, 0 for the first try.
    pub correction: u32,
}

impl ModelCaller {
    /// A conversation, which is named as a run of one node.
    pub fn conversation(run: RunId) -> Self {
        Self {
            run,
            node: NodeId::root(),
            agent_type: "CONVERSATION",
            purpose: Purpose::Conversation,
            turn: 1,
            correction: 0,
        }
    }
}

/// What a call to a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An agent's own step.
    Step,
    /// Choosing the route of an agent's own step, before its request is filled in.
    Route,
    /// Filling in the request of the route that a resolved interrupt goes to.
    Resolution,
    /// Reviewing an interrupt in place of a person.
    Review,
    /// The next answer of a conversation.
    Conversation,
}

/// How an answer that may take several routes is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnForm {
    /// At once: the model sets one of the fields, and fills it in.
    #[default]
    OneStep,
    /// In two calls: the model names one of the routes, and then fills in the request of that route, with the schema that
    /// allows nothing else.
    RouteFirst,
}

impl TurnForm {
    /// The name in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneStep => "one_step",
            Self::RouteFirst => "route_first",
        }
    }
}

/// One call to a model. The answer is a JSON text that fits the schema, or free text where there is none, or asks for some
/// of the tools.
#[derive(Clone)]
pub struct ModelCall {
    /// On whose behalf.
    pub caller: ModelCaller,
    /// The conversation, in order.
    pub messages: Vec<Message>,
    /// What the answer must fit, in the dialect that [`LanguageModel::dialect`] asks for. Without it the model talks.
    pub schema: Option<AnswerSchemaRef>,
    /// The tools that the model may ask for before it answers. Mostly none.
    pub tools: Arc<[ToolOffer]>,
    /// The field of the route that leads the work forward, where the workflow names one: a model that plays a part takes it.
    pub forward: Option<&'static str>,
    /// Receives each piece of the answer as it arrives. Must not block.
    pub chunks: Option<Arc<dyn ChunkSink>>,
}

/// A schema that a call refers to: from a fixed table, or made for this call.
#[derive(Clone)]
pub enum AnswerSchemaRef {
    /// From a record's table.
    Fixed(&'static AnswerSchema),
    /// Made at run time.
    Shared(Arc<AnswerSchema>),
}

impl std::ops::Deref for AnswerSchemaRef {
    type Target = AnswerSchema;

    fn deref(&self) -> &AnswerSchema {
        match self {
            Self::Fixed(schema) => schema,
            Self::Shared(schema) => schema,
        }
    }
}

impl ModelCall {
    /// A call for free text, without tools and without a sink for its pieces.
    pub fn new(caller: ModelCaller, messages: Vec<Message>) -> Self {
        Self {
            caller,
            messages,
            schema: None,
            tools: Arc::default(),
            forward: None,
            chunks: None,
        }
    }

    /// How many bytes it gives the model to read: its messages, the tools that are offered, and the schema.
    pub fn bytes(&self) -> usize {
        let said = self.messages.iter();
        let said = said.map(|it| bytes_of(&it.text, &it.tool_requests));
        let offered = self.tools.iter().map(ToolOffer::bytes);
        said.chain(offered).sum::<usize>() + self.schema_text().len()
    }

    /// The text of its schema; empty where the model talks.
    pub fn schema_text(&self) -> &str {
        self.schema.as_ref().map_or("", |schema| schema.text())
    }
}

impl Debug for ModelCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelCall")
            .field("caller", &self.caller)
            .field("messages", &self.messages.len())
            .field("schema", &self.schema.as_ref().map(|schema| schema.name()))
            .finish_non_exhaustive()
    }
}

/// Receives the pieces of an answer while it is streamed.
pub trait ChunkSink: Send + Sync {
    /// A piece of the answer has arrived. Called in order, from one task at a time.
    fn chunk(&self, text: &str);

    /// The pieces so far do not count: the answer broke off and starts again from its beginning.
    fn restarted(&self) {}

    /// A note about the call that is not a piece of the answer.
    fn noted(&self, _note: &CallNote) {}
}

/// A note about a call that is under way, beside the pieces of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallNote {
    /// The call failed, and is made again after a wait.
    Waits {
        /// Why, in a few words.
        why: String,
        /// How long.
        wait: Duration,
    },
    /// The wait is over: the call is made again.
    GoesOn,
    /// The prompt was too long for the model, and its oldest material was left out.
    Cut {
        /// How many messages were left out.
        messages: usize,
        /// How many bytes.
        bytes: usize,
    },
}

impl Display for CallNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits { why, wait } => {
                write!(formatter, "{why}, goes on in {}", in_words(*wait))
            }
            Self::GoesOn => formatter.write_str("goes on"),
            Self::Cut { messages, bytes } => write!(
                formatter,
                "the prompt is too long for the model: the oldest {messages} messages ({bytes} bytes) were left out"
            ),
        }
    }
}

/// A wait in whole seconds, or in minutes and seconds.
fn in_words(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_millis() >= 500);
    match (seconds / 60, seconds % 60) {
        (0, 0) => "less than a second".to_owned(),
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// What a model used, as far as it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens read, if the provider said.
    pub input: Option<u64>,
    /// Tokens written, if the provider said.
    pub output: Option<u64>,
}

impl TokenUsage {
    /// The usage of what was never sent.
    pub const NOTHING: Self = Self {
        input: Some(0),
        output: Some(0),
    };

    /// Tokens read and written together, as far as the provider said.
    #[must_use]
    pub fn total(self) -> u64 {
        let (input, output) = (self.input.unwrap_or(0), self.output.unwrap_or(0));
        input.saturating_add(output)
    }

    /// The sum; what is unknown on both sides stays unknown.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |left: Option<u64>, right: Option<u64>| match (left, right) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0).saturating_add(right.unwrap_or(0))),
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
        }
    }
}

/// The bytes of a text with the tools that it asks for.
fn bytes_of(text: &str, requests: &[ToolRequest]) -> usize {
    let asked = requests.iter().map(|it| it.name.len() + it.arguments.len());
    text.len() + asked.sum::<usize>()
}

/// A model's whole answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelReply {
    /// The text, which should be one JSON value if no tool is asked for.
    pub text: String,
    /// The tools that the model asked for, in its order. What they return goes into the next call.
    pub tool_requests: Vec<ToolRequest>,
    /// What it cost in tokens.
    pub usage: TokenUsage,
    /// Whether the provider said that the answer was cut off at its length limit.
    pub cut_off: bool,
}

/// What had arrived of an interrupted answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartialReply {
    /// The text so far.
    pub text: String,
    /// The tools that it had asked for by then: those requests that had arrived whole.
    pub tool_requests: Vec<ToolRequest>,
    /// What is known of its cost.
    pub usage: TokenUsage,
    /// What the interrupt did where the model is served.
    pub at_provider: AtProvider,
}

impl PartialReply {
    /// Of a call that was never made: nothing was sent, so nothing is billed.
    pub fn never_made() -> Self {
        Self {
            usage: TokenUsage::NOTHING,
            at_provider: AtProvider::NothingUnderWay,
            ..Self::default()
        }
    }

    /// Of a call between two tries, of which this counts. No provider said what those before have cost.
    pub fn between_tries(text: String) -> Self {
        Self {
            text,
            at_provider: AtProvider::NothingUnderWay,
            ..Self::default()
        }
    }

    /// How many bytes the model wrote, with the tools that it asked for.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.text, &self.tool_requests)
    }

    /// Whether the provider may bill more than is known, though its answer is no longer read: a request was under way, or
    /// earlier tries failed whose cost is unknown.
    pub fn may_be_billed(&self) -> bool {
        let TokenUsage { input, output } = self.usage;
        self.at_provider != AtProvider::NothingUnderWay || input.is_none() || output.is_none()
    }
}

/// What an interrupt did where the model is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AtProvider {
    /// No request was under way: none had been sent, or the last one was over.
    NothingUnderWay,
    /// The connection was closed, or with HTTP/2 its stream. A server that can stop generating does so
    /// then.
    ConnectionClosed,
    /// The answer is made in the background, and the provider is being told to cancel it.
    BeingTold,
    /// The answer is no longer read. Its connection was not seen to close in time, or it is made in the
    /// background and has no name yet by which it could be cancelled. So it is with a model that does not say.
    #[default]
    OnlyDiscarded,
}

impl AtProvider {
    /// The name in spans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NothingUnderWay => "nothing_under_way",
            Self::ConnectionClosed => "connection_closed",
            Self::BeingTold => "being_told",
            Self::OnlyDiscarded => "only_discarded",
        }
    }
}

impl ModelReply {
    /// How many bytes the model wrote, with the tools that it asked for.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.text, &self.tool_requests)
    }

    /// What has arrived of an answer that was rejected early, as the model's answer.
    pub fn rejected_early(partial: PartialReply) -> Self {
        Self {
            text: partial.text,
            // Tools are used only if an answer has arrived whole.
            tool_requests: Vec::new(),
            usage: partial.usage,
            cut_off: false,
        }
    }
}

/// A language model. Implement it once for each provider.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// What to call it in logs and on screen.
    fn name(&self) -> &str;

    /// The dialect in which it takes schemas.
    fn dialect(&self) -> Dialect;

    /// How it is best asked for an answer that may take several routes.
    fn turn_form(&self, _caller: &ModelCaller) -> TurnForm {
        TurnForm::OneStep
    }

    /// Runs one call; ends early, with what has arrived, when `scope` is stopped immediately.
    ///
    /// # Errors
    ///
    /// [`ModelError`] if there is no whole answer. An interrupted call is not an error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection to the provider; the partial answer is lost. Stop
    /// `scope` instead to keep it.
    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError>;
}

#[async_trait]
impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dialect(&self) -> Dialect {
        (**self).dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        (**self).turn_form(caller)
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        (**self).call(call, scope).await
    }
}
