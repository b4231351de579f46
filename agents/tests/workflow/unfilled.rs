//! Requests that no model could fill in, and a person has written.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::review::{
    Answer, Pause, Question, QuestionKind, Resume, ReviewError, Reviewer,
};
use interrupt_router::{Outcome, RunId, StopScope};
use serde_json::json;

use crate::lives::{ALL, Lives};
use crate::stage::Stage;
use engine::testing::Death;

/// Says something to agents, and writes what no model could.
struct Writing;

#[async_trait]
impl Reviewer for Writing {
    async fn answer(
        &self,
        question: &Question,
        _: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        Ok(Outcome::Completed(match question.kind {
            QuestionKind::UnfilledRequest { .. } => Answer {
                edited_request: Some(json!({"goal": "bake the left one"})),
                ..Answer::default()
            },
            _ => Answer {
                text: Some("the left one".to_owned()),
                ..Answer::default()
            },
        }))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume::default()))
    }
}

fn unfilled(stage: Stage) -> Stage {
    let wrong = |correction: u8| {
        json!({
            "agent": "ORCHESTRATOR", "turn": 1, "purpose": "resolution",
            "correction": correction, "answer": {},
        })
    };
    let asking = stage.interrupts("ORCHESTRATOR", 1, "HUMAN_REVIEW");
    (0..4).map(wrong).fold(asking, Stage::scripted)
}

/// Whether the answer is carried out, and not all of its decisions are said to be.
async fn is_half_recorded(lives: &Lives) -> bool {
    let journal = lives.store.journal(lives.run, ALL).await.unwrap();
    let of = |kind: &str, is_done: bool| {
        let mut entries = journal.iter();
        entries.any(|it| it.intent.kind.as_str() == kind && it.result.is_some() == is_done)
    };
    of("interrupt", true) && of("dispatch", false)
}

#[tokio::test]
async fn a_death_among_the_decisions_of_one_answer_leaves_none_of_them_open() {
    let run = RunId::generate();
    let lives = || {
        let mut lives = Lives::of(unfilled, run);
        lives.reviewer = Arc::new(Writing);
        lives
    };
    let undisturbed = lives();
    let (_report, operations) = undisturbed.die(Death::Never).await;
    undisturbed.check(&"undisturbed").await;
    let mut half_recorded = 0;
    for at in 0..operations {
        let lives = lives();
        let death = Death::After(at);
        let (ended, _operations) = lives.die(death).await;
        if is_half_recorded(&lives).await {
            half_recorded += 1;
            assert!(ended.is_none());
            lives.go_on().await;
            lives.check(&death).await;
        } else if half_recorded > 0 {
            break;
        }
    }
    assert!(half_recorded >= 2, "one after each of the two decisions");
}
