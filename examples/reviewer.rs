//! A reviewer in code: it answers what it may, and refuses to guess the rest.
//!
//! A script lets two agents ask. The first question has a choice that costs nothing, which the reviewer
//! takes; the second one has none, so it stays open and the run waits.
//!
//! Run it with `cargo run -p interrupt-router-agents --example reviewer`.

use std::error::Error;
use std::sync::Arc;

use agents::catalogue::script_vocabulary;
use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use async_trait::async_trait;
use engine::run::{RunSettings, RunStore};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, RunId, StopScope};
use interrupts::OwnerName;
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel, Script};
use store::{MemoryStore, StoreSettings};

const SCRIPT: &str = r#"{"version": 1, "steps": [
  {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "interrupt": {
    "type": "HUMAN_REVIEW", "reason": "How much of the folder shall I read?",
    "choices": [
      {"label": "All", "value": "all", "description": "Every file."},
      {"label": "A sample", "value": "free: sample", "description": "The first file of each folder."}],
    "confirmationItems": [], "contextForDecision": "There are many files.", "answerForm": "one_of"}},
  {"agent": "PLANNING_ORCHESTRATOR", "turn": 1, "interrupt": {
    "type": "HUMAN_REVIEW", "reason": "Whose budget pays for this?",
    "choices": [], "confirmationItems": [], "contextForDecision": "Nobody has said.", "answerForm": "words"}}
]}"#;

/// Takes a choice that is marked as free, and leaves everything else to people.
struct Thrifty;

#[async_trait]
impl Reviewer for Thrifty {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        println!("{} asks: {}", question.agent_type, question.details.reason);
        let free = question
            .details
            .choices
            .iter()
            .find(|choice| choice.value.starts_with("free"));
        // Never an invented answer: an open question is a result, too.
        let free = free.ok_or(ReviewError::NobodyThere)?;
        println!("  taken: {}", free.label);
        Ok(Outcome::Completed(Answer {
            selected_choices: vec![free.value.clone()],
            text: Some("It costs nothing.".to_owned()),
            ..Answer::default()
        }))
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::open(".")?;
    let model = RehearsalModel::new(RehearsalConfig {
        seed: 7,
        pace: Pace::Unlimited,
        facts: workspace.facts(),
        script: Some(Script::parse(SCRIPT, &script_vocabulary())?),
    });
    let store = RunStore::new(
        Arc::new(MemoryStore::new(StoreSettings::default())),
        OwnerName::new("example")?,
        "{}",
    );
    let mut settings = RunSettings::new(RunId::generate(), Arc::new(model), store);
    settings.constraints = Arc::new(JsonSchemaConstraints::new());
    settings.reviewer = Arc::new(Thrifty);
    let agents = AgentsWorkflow::new(Goal::new("Describe this project")?, workspace);
    let report = agents.run(settings).execute(&StopScope::new()).await;
    for record in &report.interrupts {
        println!(
            "{} {}: {:?}",
            record.origin, record.interrupt_type, record.outcome
        );
    }
    Ok(())
}
