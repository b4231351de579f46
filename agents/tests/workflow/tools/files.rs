//! Runs whose process dies right after a file was changed, before that is recorded.

use std::sync::Arc;

use engine::run::RunEvent;
use interrupt_router::{RunId, StopScope};
use interrupts::store::{Filter, Page, Store};
use journal::tool::{ToolQuestionContent, ToolQuestionKind};
use serde_json::json;

use super::bench::*;
use crate::stage::{Stage, assert_completed};
use engine::testing::{Death, Mortal};

/// Made twice, the change would be another one.
fn script() -> Asking {
    let change = json!({"path": "dough.txt", "old": "flour", "new": "flour and flour"});
    Asking::of(vec![vec![asks("a", "edit_file", &change)]])
}

/// A folder to work in, and a store that outlives the processes of a run.
struct Bakery {
    folder: tempfile::TempDir,
    store: Arc<dyn Store>,
    run: RunId,
}

impl Bakery {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("dough.txt"), "flour\n").unwrap();
        Self {
            folder,
            store: Stage::new().store,
            run: RunId::generate(),
        }
    }

    fn dough(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("dough.txt")).unwrap()
    }

    fn life(&self, store: Arc<dyn Store>) -> Stage {
        let allowed = json!({"otherwise": "allow"});
        let (done, nobody) = (Arc::default(), Arc::new(Decider::default()));
        let (mut stage, _) = stage(script(), &done, allowed, nobody);
        let settings = stage.tools.as_mut().unwrap();
        settings.workspace = tools::Workspace::open(self.folder.path()).unwrap();
        for tool in tools::edit_tools() {
            settings.registry.register(tool).unwrap();
        }
        stage.run = self.run;
        stage.store = store;
        stage
    }

    /// A process that dies right before it records what is the n-th thing. Whether it lived to its end.
    async fn dies_before(&self, at: usize) -> bool {
        let mortal = Mortal::new(Arc::clone(&self.store), Death::Before(at));
        let stage = self.life(Arc::clone(&mortal) as _);
        let (run, scope) = (stage.run(), StopScope::new());
        tokio::select! {
            biased;
            () = mortal.died() => false,
            _report = run.execute(&scope) => true,
        }
    }

    /// One whose process has died after the file was changed and before that was recorded. What else is recorded, and when,
    /// depends on how busy the machine is, so one sweep may miss that moment.
    async fn died_at_the_change() -> Self {
        for _sweep in 0..20 {
            for at in 0.. {
                let bakery = Self::new();
                if bakery.dies_before(at).await {
                    break;
                }
                if bakery.dough() != "flour\n" && bakery.has_an_open_call().await {
                    return bakery;
                }
            }
        }
        panic!("no process died between the change and its record")
    }

    async fn has_an_open_call(&self) -> bool {
        let page = Page {
            after: 0,
            limit: 1_000,
        };
        let open = self.store.unknown_effects(self.run, page).await.unwrap();
        open.iter()
            .any(|entry| entry.intent.kind.as_str() == journal::kind::TOOL_CALL)
    }

    async fn asked(&self) -> Vec<ToolQuestionKind> {
        let filter = Filter {
            run: Some(self.run),
            ..Filter::default()
        };
        let page = Page {
            after: 0,
            limit: 1_000,
        };
        let rows = self.store.interrupts(&filter, page).await.unwrap();
        let matters = rows
            .iter()
            .filter_map(|(_, row)| ToolQuestionContent::of(&row.content));
        matters.map(|matter| matter.tool_call.asks).collect()
    }
}

#[tokio::test]
async fn a_file_that_is_as_the_call_was_to_leave_it_counts_as_done() {
    let bakery = Bakery::died_at_the_change().await;
    let last = bakery.life(Arc::clone(&bakery.store));
    assert_completed(&last.execute().await);
    assert_eq!(bakery.dough(), "flour and flour\n");
    assert!(bakery.asked().await.is_empty());
    let ends = last
        .log
        .events()
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::ToolEnded { message, .. } => Some(message.text()),
            _ => None,
        });
    let ends: Vec<String> = ends.collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
    assert!(ends[0].contains("made before the process died"), "{ends:?}");
}

#[tokio::test]
async fn a_file_that_is_anything_else_is_asked_about() {
    let bakery = Bakery::died_at_the_change().await;
    std::fs::write(bakery.folder.path().join("dough.txt"), "barley\n").unwrap();
    let last = bakery.life(Arc::clone(&bakery.store));
    let _waits = last.execute().await;
    assert_eq!(bakery.asked().await, [ToolQuestionKind::UnknownOutcome]);
    assert_eq!(bakery.dough(), "barley\n");
}
