//! A plan whose run is kept in a store, and somebody who answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agents::plan_execute::PlanWorkflow;
use agents::run::Goal;
use agents::workspace::Workspace;
use async_trait::async_trait;
use engine::run::{Hold, RunReport, RunSettings, RunStore};
use engine::tools::AgentTools;
use interrupt_router::model::{
    Awaited, Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{NodeId, Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use interrupts::life::{Actor, Role};
use interrupts::store::{MessageError, NewMessage, Store, StoredMessage};
use interrupts::{ActorName, IdempotencyKey, OwnerName};
use llm::{RehearsalConfig, RehearsalModel};
use planning::{Fact, FactKind, PlanSnapshot, told_facts};
use store::{MemoryStore, StoreSettings};

use crate::improvised::Improvised;

/// What a model does instead of playing its part.
pub(crate) enum Act {
    /// It answers this.
    Say(String),
    /// It answers as usual, and a person interrupts meanwhile.
    Interrupted(&'static str),
    /// It answers as usual, and a message for the plan comes meanwhile.
    Told(&'static str),
    /// It fails, and trying again is of no use.
    Fail,
    /// It fails, and is to be tried again.
    FailForNow,
}

/// The rehearsal model, with acts in the place of some of its answers, by the number of the call in its run.
#[derive(Default)]
pub(crate) struct Player {
    acts: Mutex<HashMap<u32, Act>>,
    /// Answers instead of the rehearsal model, where it is there.
    pub(crate) improvised: Mutex<Option<Improvised>>,
    pub(crate) calls: Mutex<Vec<ModelCall>>,
    scope: Mutex<StopScope>,
    post: Mutex<Option<(Arc<dyn Store>, RunId)>>,
}

impl Player {
    /// From now on it plays its part.
    pub(crate) fn is_mended(&self) {
        self.acts.lock().unwrap().clear();
    }

    /// What the calls to an agent said, all messages of a call in one text.
    pub(crate) fn told(&self, agent: &str) -> Vec<String> {
        let calls = self.calls.lock().unwrap();
        let of_agent = calls.iter().filter(|call| call.caller.agent_type == agent);
        let texts = of_agent.map(|call| {
            let texts = call.messages.iter().map(|message| message.text.clone());
            texts.collect::<Vec<_>>().join("\n")
        });
        texts.collect()
    }
}

#[async_trait]
impl LanguageModel for Player {
    fn name(&self) -> &str {
        "player"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.calls.lock().unwrap().push(call.clone());
        let message = match self.acts.lock().unwrap().get(&call.caller.turn) {
            Some(Act::Told(text)) => Some(*text),
            _ => None,
        };
        if let Some(text) = message {
            let post = self.post.lock().unwrap().clone();
            let (store, run) = post.unwrap();
            send(&*store, run, "root", text).await.unwrap();
        }
        match self.acts.lock().unwrap().get(&call.caller.turn) {
            Some(Act::Say(text)) => {
                return Ok(Outcome::Completed(ModelReply {
                    tool_requests: Vec::new(),
                    text: text.clone(),
                    usage: Default::default(),
                    cut_off: false,
                }));
            }
            Some(Act::Interrupted(why)) => self.scope.lock().unwrap().stop(StopReason {
                source: StopSource::User,
                mode: StopMode::Graceful,
                message: (*why).to_owned(),
                timestamp: jiff::Timestamp::UNIX_EPOCH,
            }),
            Some(Act::Fail) => {
                return Err(ModelError::Unauthorized {
                    status: 401,
                    detail: "no key".to_owned(),
                });
            }
            Some(Act::FailForNow) => {
                return Err(ModelError::TimedOut {
                    limit: std::time::Duration::ZERO,
                    awaited: Awaited::Whole,
                });
            }
            Some(Act::Told(_)) | None => {}
        }
        if let Some(improvised) = &mut *self.improvised.lock().unwrap() {
            return improvised.answer(&call, &self.scope.lock().unwrap());
        }
        let model = RehearsalModel::new(RehearsalConfig::default());
        model.call(call, scope).await
    }
}

/// Sends a message to a node of a run.
pub(crate) async fn send(
    store: &dyn Store,
    run: RunId,
    node: &str,
    text: &str,
) -> Result<StoredMessage, MessageError> {
    let message = NewMessage {
        run,
        node: NodeId::new(node).unwrap(),
        text: text.to_owned(),
        from: Actor {
            name: ActorName::new("someone").unwrap(),
            role: Role::Operator,
        },
        key: IdempotencyKey::new(format!("send-{text}")).unwrap(),
    };
    store.send_message(message).await
}

/// Somebody who gives the same answer to all questions, or is not there.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answer: Mutex<Option<Answer>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

#[async_trait]
impl Reviewer for Person {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answer.lock().unwrap().clone();
        answer
            .map(Outcome::Completed)
            .ok_or(ReviewError::NobodyThere)
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

/// A plan, and all that it is kept by.
pub(crate) struct Kept {
    folder: tempfile::TempDir,
    pub(crate) run: RunId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) player: Arc<Player>,
    pub(crate) person: Arc<Person>,
    /// What the agents may use.
    pub(crate) tools: Option<AgentTools>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            run: RunId::generate(),
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
            player: Arc::default(),
            person: Arc::default(),
            tools: None,
        }
    }

    /// What happens at a call of the model, counted from 1.
    pub(crate) fn acts(self, call: u32, act: Act) -> Self {
        self.player.acts.lock().unwrap().insert(call, act);
        self
    }

    /// What the person answers from now on.
    pub(crate) fn says(self, text: &str) -> Self {
        *self.person.answer.lock().unwrap() = Some(Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        });
        self
    }

    /// Runs in a process of its own until it rests.
    pub(crate) async fn execute(&self, input: Option<&str>) -> RunReport {
        self.execute_over(Arc::clone(&self.store), input).await
    }

    pub(crate) async fn execute_over(
        &self,
        store: Arc<dyn Store>,
        input: Option<&str>,
    ) -> RunReport {
        *self.player.post.lock().unwrap() = Some((Arc::clone(&store), self.run));
        let scope = StopScope::new();
        *self.player.scope.lock().unwrap() = scope.clone();
        let owner = OwnerName::new("test").unwrap();
        let mut kept = RunStore::new(store, owner.clone(), "{}");
        // Whoever had it before is gone.
        kept.hold = Hold::Own {
            content: "{}".to_owned(),
            lost: Some(owner),
        };
        kept.input = input.map(str::to_owned);
        let mut settings = RunSettings::new(self.run, Arc::clone(&self.player) as Arc<_>, kept);
        settings.reviewer = Arc::clone(&self.person) as Arc<_>;
        settings.tools = self.tools.clone();
        let plan = PlanWorkflow {
            goal: Goal::new("write the manual").unwrap(),
            workspace: Workspace::open(self.folder.path()).unwrap(),
        };
        plan.execute(settings, &scope).await
    }

    pub(crate) async fn facts(&self) -> Vec<Fact> {
        told_facts(&*self.store, self.run).await.unwrap()
    }

    pub(crate) async fn kinds(&self) -> Vec<FactKind> {
        self.facts().await.iter().map(|fact| fact.kind).collect()
    }

    /// Where the run stands.
    pub(crate) async fn snapshot(&self) -> PlanSnapshot {
        let last = self.store.last_checkpoint(self.run).await.unwrap().unwrap();
        PlanSnapshot::of(&last).unwrap()
    }
}
