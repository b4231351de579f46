//! Runs whose process dies among their tools: what has ended is read, what is unknown is asked about.

use std::sync::Arc;

use async_trait::async_trait;
use engine::run::RunEvent;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, RunId, StopScope};
use journal::tool::{ToolQuestionContent, ToolQuestionKind};

use super::bench::*;
use crate::stage::{Stage, assert_completed};
use engine::testing::{Death, Mortal};

/// Allows what is asked, and leaves alone what nobody knows the outcome of.
struct Careful;

#[async_trait]
impl Reviewer for Careful {
    async fn answer(
        &self,
        question: &Question,
        _: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        let asks = question.payload["asks"].as_str().unwrap_or_default();
        let value = if asks == "permission" {
            "approve"
        } else {
            "reject"
        };
        Ok(Outcome::Completed(chosen(value)))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume::default()))
    }
}

fn script() -> Asking {
    Asking::of(vec![
        vec![
            takes("once", "a", 0),
            takes("work", "b", 0),
            takes("once", "c", 0),
        ],
        vec![takes("work", "d", 0)],
    ])
}

/// The folder that all lives work in: an approval is of a call in it.
fn folder() -> &'static std::path::Path {
    static FOLDER: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path()
}

fn life(done: &Arc<Done>, run: RunId, store: Arc<dyn interrupts::store::Store>) -> Stage {
    let (mut stage, _) = stage(script(), done, careful(), Arc::new(Careful));
    if let Some(settings) = &mut stage.tools {
        settings.workspace = tools::Workspace::open(folder()).unwrap();
    }
    stage.run = run;
    stage.store = store;
    stage
}

/// One life that dies at an operation of its store; how many there were by then.
async fn die(
    done: &Arc<Done>,
    run: RunId,
    store: &Arc<dyn interrupts::store::Store>,
    death: Death,
) -> usize {
    let mortal = Mortal::new(Arc::clone(store), death);
    let stage = life(done, run, Arc::clone(&mortal) as _);
    let (run, scope) = (stage.run(), StopScope::new());
    tokio::select! {
        biased;
        () = mortal.died() => {}
        report = run.execute(&scope) => assert_completed(&report),
    }
    mortal.operations()
}

fn fresh() -> Arc<dyn interrupts::store::Store> {
    Stage::new().store
}

#[tokio::test]
async fn whenever_the_process_dies_no_call_is_repeated_that_must_not_be() {
    let run = RunId::generate();
    let operations = die(&Arc::default(), run, &fresh(), Death::Never).await;
    let every = match std::env::var("SWEEP") {
        Ok(every) => every.parse().unwrap(),
        Err(_) => 7,
    };
    let mut unknown = 0;
    for at in (0..operations).step_by(every) {
        for death in [Death::Before(at), Death::After(at)] {
            let (done, store) = (Arc::<Done>::default(), fresh());
            die(&done, run, &store, death).await;
            let row = store.run(run).await.unwrap();
            if row.is_some_and(|run| run.state.is_final()) {
                continue;
            }
            let last = life(&done, run, Arc::clone(&store));
            assert_completed(&last.execute().await);
            for name in ["a", "c"] {
                let started = done.count(&format!("{name} started"));
                assert!(
                    started <= 1,
                    "{death:?}: {name} was started {started} times"
                );
            }
            // Each call has one message, over all lives, and the journal knows what came of it.
            let ended: Vec<String> = last
                .log
                .events()
                .iter()
                .filter_map(|event| match event {
                    RunEvent::ToolEnded { message, .. } => Some(message.call.to_string()),
                    _ => None,
                })
                .collect();
            let mut sorted = ended.clone();
            sorted.sort();
            assert_eq!(sorted, ["a", "b", "c", "d"], "{death:?}: {ended:?}");
            let page = interrupts::store::Page {
                after: 0,
                limit: 1_000,
            };
            let left = store.unknown_effects(run, page).await.unwrap();
            assert!(left.is_empty(), "{death:?}: {left:#?}");
            let filter = interrupts::store::Filter {
                run: Some(run),
                ..Default::default()
            };
            let rows = store.interrupts(&filter, page).await.unwrap();
            unknown += rows
                .iter()
                .filter_map(|(_, row)| ToolQuestionContent::of(&row.content))
                .filter(|it| it.tool_call.asks == ToolQuestionKind::UnknownOutcome)
                .count();
            store.verify_audit().await.unwrap();
        }
    }
    assert!(
        unknown > 0,
        "some deaths come while a call runs, and a person is asked then"
    );
}
