//! What a test of a run needs: a folder, a script, somebody who answers, and a log.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use agents::run::{AgentsWorkflow, Goal, RunHandle};
use agents::workspace::Workspace;
use agents::{AgentKind, RouteType};
use async_trait::async_trait;
use engine::run::{
    Hold, InterruptResult, RunControl, RunEvent, RunLimits, RunObserver, RunOccurrence, RunReport,
    RunSettings, RunStatus, RunStore,
};
use engine::tools::AgentTools;
use interrupt_router::model::LanguageModel;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{AgentType, Outcome, RunId, StopScope};
use interrupts::OwnerName;
use interrupts::store::Store;
use interrupts::{Clock, SystemClock};
use llm::{RehearsalConfig, RehearsalModel, Script, ScriptVocabulary};
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

/// Somebody who answers what was prepared, and is gone after that.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) resumes: Mutex<VecDeque<Resume>>,
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

/// All that was told, in order.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) told: Mutex<Vec<RunOccurrence>>,
}

impl RunObserver for Log {
    fn observe(&self, occurrence: &RunOccurrence) {
        self.told.lock().unwrap().push(occurrence.clone());
    }
}

/// The log, and whoever else watches.
struct Observers {
    log: Arc<Log>,
    others: Vec<Arc<dyn RunObserver>>,
}

impl RunObserver for Observers {
    fn observe(&self, occurrence: &RunOccurrence) {
        self.log.observe(occurrence);
        for other in &self.others {
            other.observe(occurrence);
        }
    }
}

impl Log {
    /// What was told, but the pieces of answers.
    pub(crate) fn events(&self) -> Vec<RunEvent> {
        let told = self.told.lock().unwrap();
        told.iter()
            .map(|occurrence| occurrence.event.clone())
            .filter(|event| {
                !matches!(
                    event,
                    RunEvent::AnswerChunk { .. } | RunEvent::ModelCallRecorded { .. }
                )
            })
            .collect()
    }

    /// The ids of the nodes that took a step, one entry a step, in order.
    pub(crate) fn steps(&self) -> Vec<String> {
        let events = self.events();
        let steps = events.iter().filter_map(|event| match event {
            RunEvent::StepStarted { node, .. } => Some(node.to_string()),
            _ => None,
        });
        steps.collect()
    }

    /// What nodes were told, with the node's id.
    pub(crate) fn messages(&self) -> Vec<(String, String)> {
        let events = self.events();
        let messages = events.iter().filter_map(|event| match event {
            RunEvent::MessageAdded { node, text } => Some((node.to_string(), text.clone())),
            _ => None,
        });
        messages.collect()
    }

    /// The last state of each of these events, by what ended it unused.
    pub(crate) fn ended_events(&self) -> Vec<String> {
        let events = self.events();
        let ended = events.iter().filter_map(|event| match event {
            RunEvent::EventEnded { state, .. } => Some(state.clone()),
            _ => None,
        });
        ended.collect()
    }
}

/// A run that is prepared, and what it is watched by.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) person: Arc<Person>,
    pub(crate) log: Arc<Log>,
    pub(crate) script: Vec<Value>,
    pub(crate) model: Option<Arc<dyn LanguageModel>>,
    /// Somebody else than the person.
    pub(crate) reviewer: Option<Arc<dyn Reviewer>>,
    /// Watch the run beside the log.
    pub(crate) observers: Vec<Arc<dyn RunObserver>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) run: RunId,
    pub(crate) store: Arc<dyn Store>,
    /// Somebody else keeps the run, in this epoch.
    pub(crate) kept_in: Option<u64>,
    /// New input for a run that is resumed.
    pub(crate) input: Option<String>,
    pub(crate) control: Option<Arc<dyn RunControl>>,
    /// Nothing is done, what was recorded is shown.
    pub(crate) limits: RunLimits,
    pub(crate) seed: u64,
    /// What the agents may use.
    pub(crate) tools: Option<AgentTools>,
}

impl Stage {
    /// A run over a small folder, without a script.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("README.md", "# Inventory\n\nKeeps count of parts.\n"),
            ("engine/core.rs", "//! Counts parts.\npub fn count() {}\n"),
            ("engine/store.rs", "//! Keeps the counts.\n"),
            ("pages/index.html", "<!-- The start page -->\n"),
        ] {
            write(folder.path(), name, text);
        }
        Self {
            folder,
            person: Arc::default(),
            log: Arc::default(),
            script: Vec::new(),
            model: None,
            reviewer: None,
            observers: Vec::new(),
            clock: Arc::new(SystemClock),
            run: RunId::generate(),
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
            input: None,
            control: None,
            kept_in: None,
            limits: RunLimits::default(),
            seed: 7,
            tools: None,
        }
    }

    /// A step of the script: an agent raises an interrupt.
    pub(crate) fn interrupts(mut self, agent: &str, turn: u32, kind: &str) -> Self {
        self.script.push(json!({
            "agent": agent, "turn": turn,
            "interrupt": { "type": kind, "reason": format!("{agent} is unsure"), "choices": [], "confirmationItems": [] },
        }));
        self
    }

    /// Any step of the script.
    pub(crate) fn scripted(mut self, step: Value) -> Self {
        self.script.push(step);
        self
    }

    /// The next answer of the person.
    pub(crate) fn answered(self, answer: Answer) -> Self {
        self.person.answers.lock().unwrap().push_back(answer);
        self
    }

    /// The next text with which the person answers.
    pub(crate) fn said(self, text: &str) -> Self {
        self.answered(Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        })
    }

    /// Another model than the rehearsal's.
    pub(crate) fn played_by(mut self, model: impl LanguageModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// The rehearsal model of this stage.
    pub(crate) fn rehearsal(&self) -> RehearsalModel {
        RehearsalModel::new(self.rehearsal_config())
    }

    pub(crate) fn rehearsal_config(&self) -> RehearsalConfig {
        RehearsalConfig {
            seed: self.seed,
            script: Some(self.parsed_script()),
            facts: Workspace::open(self.folder.path()).unwrap().facts(),
            ..RehearsalConfig::default()
        }
    }

    fn parsed_script(&self) -> Script {
        let vocabulary = ScriptVocabulary {
            agent_types: AgentKind::NAMES.iter().map(|it| (*it).to_owned()).collect(),
            routes: RouteType::NAMES.iter().map(|it| (*it).to_owned()).collect(),
            ..ScriptVocabulary::default()
        };
        let text = json!({ "version": 1, "steps": self.script }).to_string();
        Script::parse(&text, &vocabulary).unwrap()
    }

    fn kept(&self) -> RunStore {
        let owner = OwnerName::new("test").unwrap();
        let mut kept = RunStore::new(Arc::clone(&self.store), owner.clone(), "{}");
        kept.hold = if let Some(epoch) = self.kept_in {
            Hold::Kept { epoch }
        } else {
            // Whoever had it before is gone.
            Hold::Own {
                content: "{}".to_owned(),
                lost: Some(owner),
            }
        };
        kept.input.clone_from(&self.input);
        kept.control.clone_from(&self.control);
        kept
    }

    pub(crate) fn run(&self) -> RunHandle {
        let model = self
            .model
            .clone()
            .unwrap_or_else(|| Arc::new(self.rehearsal()));
        let reviewer = self.reviewer.clone();
        let mut settings = RunSettings::new(self.run, model, self.kept());
        settings.reviewer = reviewer.unwrap_or_else(|| Arc::clone(&self.person) as Arc<_>);
        settings.observer = Arc::new(Observers {
            log: Arc::clone(&self.log),
            others: self.observers.clone(),
        });
        settings.limits = self.limits;
        settings.clock = Arc::clone(&self.clock);
        settings.tools = self.tools.clone();
        let agents = AgentsWorkflow {
            goal: Goal::new("count the parts faster").unwrap(),
            workspace: Workspace::open(self.folder.path()).unwrap(),
            supervisor_steps: self.parsed_script().supervisor_steps(),
        };
        agents.run(settings)
    }

    /// Executes the run to its end.
    pub(crate) async fn execute(&self) -> RunReport {
        self.run().execute(&StopScope::new()).await
    }
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The run has done its work.
#[track_caller]
pub(crate) fn assert_completed(report: &RunReport) {
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{:#?}",
        report.status
    );
}

/// Where an interrupt went.
#[track_caller]
pub(crate) fn target(report: &RunReport, at: usize) -> &str {
    match &report.interrupts[at].outcome {
        InterruptResult::Routed { target, .. } => target,
        other => panic!("not routed but {other:?}"),
    }
}
