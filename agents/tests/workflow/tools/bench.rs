//! What the tests of tools work with: a tool that does what its arguments say, a model that asks for it, a person
//! who decides.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use engine::tools::{AgentTools, ToolPermissions};
use interrupt_router::model::{ModelCall, ModelReply, Role, TokenUsage, ToolRequest};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, StopScope};
use interrupts::store::Repeating;
use serde_json::{Value, json};
use tools::{
    Interruption, PartialOutput, Progress, Tool, ToolCall, ToolContext, ToolError, ToolName,
    ToolOutput, ToolRegistry, ToolSpec, Workspace,
};

use crate::models::{Part, Playing, Reply};
use crate::stage::Stage;

/// The worker that uses tools in these tests.
pub(crate) const WORKER: &str = "orchestrator/tickets/dispatch/worker-1";

/// What the tools have done, over all lives of a run.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) lines: Mutex<Vec<String>>,
    pub(crate) running: AtomicUsize,
}

impl Done {
    fn add(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    pub(crate) fn count(&self, line: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|known| *known == line).count()
    }
}

/// Takes as long as it is told, and says its name.
struct Work {
    spec: ToolSpec,
    done: Arc<Done>,
}

#[async_trait]
impl Tool for Work {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn preview(&self, call: &ToolCall, _context: &ToolContext) -> Option<String> {
        Some(format!("-nothing\n+{}", call.arguments["name"]))
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let name = call.arguments["name"].as_str().unwrap().to_owned();
        let time = call.arguments["ms"].as_u64().unwrap_or(0);
        self.done.add(format!("{name} started"));
        context.progress.progress(Progress::Step {
            done: 0.0,
            total: None,
            message: Some(name.clone()),
        });
        self.done.running.fetch_add(1, Ordering::SeqCst);
        let outcome = tokio::select! {
            biased;
            reason = context.scope.stopped_now() => Outcome::Interrupted {
                reason,
                partial: PartialOutput::returned(format!("half of {name}")),
            },
            () = tokio::time::sleep(Duration::from_millis(time)) => {
                self.done.add(format!("{name} finished"));
                Outcome::Completed(ToolOutput::done(format!("all of {name}")))
            }
        };
        self.done.running.fetch_sub(1, Ordering::SeqCst);
        Ok(outcome)
    }
}

fn work(name: &str, repeating: Repeating, done: &Arc<Done>) -> Arc<dyn Tool> {
    Arc::new(Work {
        spec: ToolSpec {
            name: ToolName::new(name).unwrap(),
            description: "does what it is told".to_owned(),
            arguments: json!({
                "type": "object",
                "properties": {"name": {"type": "string"}, "ms": {"type": "integer", "minimum": 0}},
                "required": ["name"],
                "additionalProperties": false,
            }),
            interruption: Interruption::Stops,
            repeating,
        },
        done: Arc::clone(done),
    })
}

/// `work`, which may be done again, and `once`, which may not; what `once` does is asked about.
pub(crate) fn tools(stage: &Stage, done: &Arc<Done>, permissions: Value) -> AgentTools {
    let mut registry = ToolRegistry::new();
    for tool in [
        work("work", Repeating::Idempotent, done),
        work("once", Repeating::AskPerson, done),
    ] {
        registry.register(tool).unwrap();
    }
    let permissions: ToolPermissions = serde_json::from_value(permissions).unwrap();
    let workspace = Workspace::open(stage.folder.path()).unwrap();
    AgentTools::new(registry, workspace, &permissions, agents::usual_access()).unwrap()
}

/// `work` and launching are allowed, `once` is asked about.
pub(crate) fn careful() -> Value {
    json!({"rules": [{"tool": "work|launch_agent", "then": "allow"}], "otherwise": "ask"})
}

/// A request for a tool.
pub(crate) fn asks(id: &str, tool: &str, arguments: &Value) -> ToolRequest {
    ToolRequest::new(id, tool, arguments.to_string())
}

/// A request for `work` or `once` that takes so long.
pub(crate) fn takes(tool: &str, name: &str, ms: u64) -> ToolRequest {
    asks(name, tool, &json!({"name": name, "ms": ms}))
}

/// Asks for tools in the first turn of some nodes, round by round; all else is the rehearsal's.
#[derive(Default)]
pub(crate) struct Asking {
    /// The end of the node's id, its rounds.
    pub(crate) scripts: Vec<(&'static str, Vec<Vec<ToolRequest>>)>,
    /// What is said before the tools are asked for.
    pub(crate) words: &'static str,
}

impl Asking {
    pub(crate) fn of(rounds: Vec<Vec<ToolRequest>>) -> Self {
        Self {
            scripts: vec![(WORKER, rounds)],
            words: "",
        }
    }
}

/// How many rounds a conversation has seen.
pub(crate) fn rounds_of(call: &ModelCall) -> usize {
    let messages = call.messages.iter();
    messages
        .filter(|message| !message.tool_requests.is_empty())
        .count()
}

#[async_trait]
impl Part for Asking {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        let node = call.caller.node.as_str().to_owned();
        let offered = std::mem::take(&mut call.tools);
        let script = self.scripts.iter().find(|(end, _)| node.ends_with(end));
        let (_, rounds) = script?;
        if call.caller.turn != 1 || offered.is_empty() {
            return None;
        }
        let requests = rounds.get(rounds_of(call))?.clone();
        if let Some(chunks) = &call.chunks {
            chunks.chunk(self.words);
        }
        Some(Ok(Outcome::Completed(ModelReply {
            text: self.words.to_owned(),
            tool_requests: requests,
            usage: TokenUsage::default(),
            cut_off: false,
        })))
    }
}

/// Decides questions about tools as it is told, and counts them. Gone where it is told nothing.
#[derive(Default)]
pub(crate) struct Decider {
    pub(crate) answer: Mutex<Option<Answer>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Decider {
    pub(crate) fn saying(answer: Answer) -> Arc<Self> {
        Arc::new(Self {
            answer: Mutex::new(Some(answer)),
            asked: Mutex::default(),
        })
    }

    pub(crate) fn choosing(value: &str) -> Arc<Self> {
        Self::saying(chosen(value))
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

pub(crate) fn chosen(value: &str) -> Answer {
    Answer {
        selected_choices: vec![value.to_owned()],
        ..Answer::default()
    }
}

#[async_trait]
impl Reviewer for Decider {
    async fn answer(
        &self,
        question: &Question,
        _: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answer.lock().unwrap().clone();
        answer
            .map(Outcome::Completed)
            .ok_or(ReviewError::NobodyThere)
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume::default()))
    }
}

/// A stage whose first ticket worker asks for tools, and the calls of its model.
pub(crate) fn stage(
    asking: Asking,
    done: &Arc<Done>,
    permissions: Value,
    reviewer: Arc<dyn Reviewer>,
) -> (Stage, Arc<Mutex<Vec<ModelCall>>>) {
    let mut stage = Stage::new();
    stage.tools = Some(tools(&stage, done, permissions));
    stage.reviewer = Some(reviewer);
    let model = Playing::new(asking, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    (stage.played_by(model), calls)
}

/// The same run, in another process: another model, the same store.
pub(crate) fn resumed(before: Stage, asking: Asking) -> (Stage, Arc<Mutex<Vec<ModelCall>>>) {
    let model = Playing::new(asking, before.rehearsal());
    let calls = Arc::clone(&model.calls);
    let mut stage = before.played_by(model);
    stage.log = Arc::default();
    (stage, calls)
}

/// What the calls of the worker said of tools: the results, in order.
pub(crate) fn results(calls: &Mutex<Vec<ModelCall>>, node: &str) -> Vec<String> {
    let calls = calls.lock().unwrap();
    let last = calls
        .iter()
        .rfind(|call| call.caller.node.as_str().ends_with(node));
    let messages = last.map(|call| call.messages.clone()).unwrap_or_default();
    let results = messages
        .into_iter()
        .filter(|message| message.role == Role::Tool);
    results.map(|message| message.text.to_string()).collect()
}
