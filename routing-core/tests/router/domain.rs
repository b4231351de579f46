//! A small orchestrator: a writer, an editor and a publisher, with a proofreader below the editor.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::answer::TypesOnly;
use interrupt_router::ask::Asker;
use interrupt_router::context::DecoratorChain;
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::handler::{
    HandlerConfig, HandlerPolicy, InMemoryDecisions, InterruptObserver, LifecycleEvent,
    UnifiedInterruptHandler,
};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply, TokenUsage,
};
use interrupt_router::reroute::{InMemoryReroutes, RerouteLimits};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{
    AgentInterrupt, AgentType, Choice, Clock, ConfirmationItem, InterruptDetails, InterruptId,
    InterruptRequest, InterruptType, NodeId, Outcome, Routing, StopScope,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A clock that stands where it is set.
#[derive(Debug, Default)]
pub(crate) struct FixedClock(pub(crate) Mutex<Timestamp>);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
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

impl InterruptObserver for Journal {
    fn observe(&self, _interrupt: InterruptId, moment: LifecycleEvent<'_>) {
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
    pub(crate) reroutes: Arc<InMemoryReroutes<Person>>,
    pub(crate) journal: Arc<Journal>,
}

impl Desks {
    /// A handler whose model and reviewer say these things, in order.
    pub(crate) fn new(model: &[&str], answers: Vec<Answer>) -> Self {
        Self::changed(model, answers, |_config| {})
    }

    /// The same, with a change to the handler's ports or policy.
    pub(crate) fn changed(
        model: &[&str],
        answers: Vec<Answer>,
        change: impl FnOnce(&mut HandlerConfig<Interrupt, AfterInterrupt>),
    ) -> Self {
        let model = ScriptedModel::saying(model);
        let reviewer = Arc::new(ScriptedReviewer {
            answers: Mutex::new(answers.into()),
            ..Default::default()
        });
        let reroutes = Arc::new(InMemoryReroutes::new(RerouteLimits::default()));
        let journal = Arc::new(Journal::default());
        let asker = Asker {
            model: Arc::clone(&model) as _,
            constraints: Arc::new(TypesOnly),
            corrections: 2,
        };
        let mut config = HandlerConfig {
            asker: asker.clone(),
            reviewing_model: asker,
            reviewer: Arc::clone(&reviewer) as _,
            reroutes: Arc::clone(&reroutes) as _,
            decisions: Arc::new(InMemoryDecisions::new(Arc::clone(&reroutes) as _)),
            decorators: DecoratorChain::default(),
            observer: Arc::clone(&journal) as _,
            clock: Arc::new(FixedClock::default()),
            policy: HandlerPolicy::default(),
        };
        change(&mut config);
        let handler = Handler::new(config);
        Self {
            handler,
            model,
            reviewer,
            reroutes,
            journal,
        }
    }
}
