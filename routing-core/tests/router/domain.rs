//! A small orchestrator: a writer, an editor and a publisher, with a proofreader below the editor.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::ask::Asker;
use interrupt_router::bus::{Admission as _, NodeStatus};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{LifecycleEvent, UnifiedInterruptHandler};
use interrupt_router::memory::{InMemoryRouter, RunningAgents};
use interrupt_router::model::{
    Dialect, LanguageModel, Message, ModelCall, ModelError, ModelReply, PartialReply, TokenUsage,
};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{
    AgentInterrupt, AgentType, Choice, ConfirmationItem, InterruptDetails, InterruptRequest,
    InterruptType, NodeId, Outcome, Routing, RunId, StopScope,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where an interrupt can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub(crate) enum Desk {
    Writer,
    Editor,
    Publisher,
}

/// Who may raise one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = Desk)]
pub(crate) enum Person {
    Writer,
    Editor,
    Publisher,
    #[agent_type(origin = Editor)]
    Proofreader,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    pub(crate) topic: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Edit {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Publish {
    pub(crate) text: String,
}

/// The answer to an interrupt.
#[derive(Debug, Clone, PartialEq, Routing)]
#[routing(agent_types = Desk)]
pub(crate) struct AfterInterrupt {
    /// Write it, or write it again.
    #[route(marker = WriterRoute, agent_type = Writer)]
    pub(crate) draft: Option<Draft>,
    /// Edit what was written.
    #[route(marker = EditorRoute, agent_type = Editor)]
    pub(crate) edit: Option<Edit>,
    /// Publish it.
    #[route(marker = PublisherRoute, agent_type = Publisher)]
    pub(crate) publish: Option<Publish>,
}

/// What an editor returns: to whoever called, or on.
#[derive(Debug, Clone, PartialEq, Routing)]
pub(crate) struct EditorRouting {
    /// Ask.
    #[route(marker = EditorAsks)]
    pub(crate) interrupt_request: Option<EditorInterrupt>,
    /// Back to the writer.
    #[route(marker = BackToWriter, agent_type = Desk::Writer, returns)]
    pub(crate) draft: Option<Draft>,
    /// Back to the publisher.
    #[route(marker = BackToPublisher, agent_type = Desk::Publisher, returns)]
    pub(crate) publish: Option<Publish>,
}

macro_rules! payloads {
    ($($name:ident)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub(crate) struct $name {
            pub(crate) details: InterruptDetails,
            pub(crate) paragraph: String,
        }

        impl AgentInterrupt for $name {
            fn details(&self) -> InterruptDetails {
                self.details.clone()
            }
        }
    )*};
}

payloads! { WriterInterrupt EditorInterrupt PublisherInterrupt ProofreaderInterrupt }

#[derive(Debug, Clone, PartialEq, InterruptRequest)]
#[interrupt(kind = Person)]
pub(crate) enum Interrupt {
    Writer(WriterInterrupt),
    Editor(EditorInterrupt),
    Publisher(PublisherInterrupt),
    Proofreader(ProofreaderInterrupt),
}

pub(crate) fn details(interrupt_type: InterruptType) -> InterruptDetails {
    InterruptDetails {
        r#type: interrupt_type,
        reason: "two sources disagree".to_owned(),
        choices: vec![
            Choice {
                label: "First".into(),
                value: "first".into(),
                description: "The older source.".into(),
            },
            Choice {
                label: "Second".into(),
                value: "second".into(),
                description: "The newer source.".into(),
            },
        ],
        confirmation_items: vec![ConfirmationItem {
            id: "cite".into(),
            prompt: "Cite it?".into(),
            default_value: Some(true),
            impact_if_no: None,
        }],
        context_for_decision: "The figures differ by 4 percent.".to_owned(),
        answer_form: None,
    }
}

pub(crate) fn from_editor(interrupt_type: InterruptType) -> Interrupt {
    Interrupt::Editor(EditorInterrupt {
        details: details(interrupt_type),
        paragraph: "§ 3".to_owned(),
    })
}

pub(crate) fn node(text: &str) -> NodeId {
    NodeId::new(text).unwrap()
}

pub(crate) fn event(
    id: &str,
    node_id: &str,
    target: Option<Desk>,
) -> InterruptRequestEvent<Person> {
    InterruptRequestEvent {
        event_id: id.to_owned().try_into().unwrap(),
        timestamp: Timestamp::UNIX_EPOCH,
        node_id: node(node_id),
        source_agent_type: Person::Editor,
        reroute_to_agent_type: target,
        interrupt_type: InterruptType::HumanReview,
        reason: "The law has changed".to_owned(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    }
}

/// Says what it was given to say, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct ScriptedModel {
    pub(crate) answers: Mutex<VecDeque<String>>,
    pub(crate) calls: Mutex<Vec<ModelCall>>,
}

impl ScriptedModel {
    pub(crate) fn saying(answers: &[&str]) -> Arc<Self> {
        let answers = answers.iter().map(|&answer| answer.to_owned()).collect();
        Arc::new(Self {
            answers: Mutex::new(answers),
            calls: Mutex::default(),
        })
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.calls.lock().unwrap().push(call);
        if scope.is_stopped_now() {
            let reason = scope.stopped_now().await;
            return Ok(Outcome::Interrupted {
                reason,
                partial: PartialReply::default(),
            });
        }
        let Some(text) = self.answers.lock().unwrap().pop_front() else {
            return Err(ModelError::Malformed {
                detail: "nothing left to say".to_owned(),
            });
        };
        if let Some(detail) = text.strip_prefix("refused: ") {
            let detail = detail.to_owned();
            return Err(ModelError::Refused { detail });
        }
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text,
            usage: TokenUsage::default(),
            cut_off: false,
        }))
    }
}

/// Answers what it was given to answer, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct ScriptedReviewer {
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) resumes: Mutex<VecDeque<Resume>>,
    pub(crate) questions: Mutex<Vec<Question>>,
}

#[async_trait]
impl Reviewer for ScriptedReviewer {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        self.questions.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer
            .map(Outcome::Completed)
            .ok_or(ReviewError::NobodyThere)
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        let resume = self.resumes.lock().unwrap().pop_front();
        resume
            .map(Outcome::Completed)
            .ok_or(ReviewError::NobodyThere)
    }
}

/// Keeps the moments of interrupts as text.
#[derive(Default)]
pub(crate) struct Journal(pub(crate) Mutex<Vec<String>>);

impl Journal {
    fn observe(&self, moment: LifecycleEvent<'_>) {
        let line = match moment {
            LifecycleEvent::Bound { event, target } => format!("bound {event} to {target}"),
            LifecycleEvent::Asked(question) => format!("asked {}", question.target),
            LifecycleEvent::Refused { problem } => format!("refused: {problem}"),
            LifecycleEvent::Answered(_) => "answered".to_owned(),
            LifecycleEvent::Corrected { correction, error } => {
                format!("correction {correction}: {error}")
            }
            LifecycleEvent::Resolved {
                origin,
                target,
                reroute,
                ..
            } => {
                format!(
                    "resolved {origin} to {target} with {}",
                    reroute.unwrap_or("no event")
                )
            }
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(line);
    }
}

pub(crate) type Handler = UnifiedInterruptHandler<Interrupt, AfterInterrupt>;

/// A handler and everything around it.
pub(crate) struct Desks {
    pub(crate) handler: Handler,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) reviewer: Arc<ScriptedReviewer>,
    pub(crate) router: Arc<InMemoryRouter<Person>>,
    pub(crate) journal: Arc<Journal>,
}

impl Desks {
    /// A handler whose model and reviewer say these things, in order.
    pub(crate) fn new(model: &[&str], answers: Vec<Answer>) -> Self {
        Self::changed(model, answers, |handler| handler)
    }

    /// The same, with a change to the handler.
    pub(crate) fn changed(
        model: &[&str],
        answers: Vec<Answer>,
        change: impl FnOnce(Handler) -> Handler,
    ) -> Self {
        let reviewer = Arc::new(ScriptedReviewer {
            answers: Mutex::new(answers.into()),
            ..Default::default()
        });
        Self::reviewed(model, Arc::clone(&reviewer), reviewer, change)
    }

    /// The same, with a reviewer of another kind.
    pub(crate) fn reviewed(
        model: &[&str],
        reviewer: Arc<ScriptedReviewer>,
        answers: impl Reviewer + 'static,
        change: impl FnOnce(Handler) -> Handler,
    ) -> Self {
        let model = ScriptedModel::saying(model);
        let router = Arc::new(InMemoryRouter::new(Arc::new(Everyone)));
        let journal = Arc::new(Journal::default());
        let asker = Asker {
            corrections: 2,
            ..Asker::from(Arc::clone(&model))
        };
        let seen = Arc::clone(&journal);
        let handler = Handler::new(asker, answers)
            .with_decisions(Arc::clone(&router) as _)
            .with_observer(move |_interrupt, moment| seen.observe(moment));
        Self {
            handler: change(handler),
            model,
            reviewer,
            router,
            journal,
        }
    }

    /// Publishes an event to a node of the scene's run.
    pub(crate) async fn publish(&self, event: &InterruptRequestEvent<Person>) {
        self.router.admit(event).await.unwrap();
    }
}

/// Editors at work, wherever an event looks for one. All are of one run.
pub(crate) struct Everyone;

/// The run of everyone.
pub(crate) const RUN: RunId = RunId::from_uuid(Uuid::from_u128(1));

#[async_trait]
impl RunningAgents<Person> for Everyone {
    fn find(&self, _node: &NodeId) -> Option<NodeStatus<Person>> {
        Some(NodeStatus {
            run: RUN,
            kind: Person::Editor,
            running: true,
            status: "running",
        })
    }

    async fn send(&self, _run: RunId, _node: &NodeId, _message: Message) -> bool {
        true
    }
}
