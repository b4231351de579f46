//! Runs whose process dies right after a file was changed, before that is recorded.

use std::sync::Arc;

use engine::run::RunEvent;
use interrupts::store::{Filter, Page, Store};
use journal::tool::{ToolQuestionContent, ToolQuestionKind};
use routing_core::{RunId, StopScope};
use serde_json::json;

use super::bench::*;
use crate::mortal::{Death, Mortal};
use crate::stage::{Stage, assert_completed};

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
    // The first death that finds the file changed is the one before that is recorded.
    for at in 0.. {
        let bakery = Bakery::new();
        let is_over = bakery.dies_before(at).await;
        assert!(!is_over, "the file was never changed");
        if bakery.dough() == "flour\n" {
            continue;
        }
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
        return;
    }
}

#[tokio::test]
async fn a_file_that_is_anything_else_is_asked_about() {
    for at in 0.. {
        let bakery = Bakery::new();
        assert!(!bakery.dies_before(at).await, "the file was never changed");
        if bakery.dough() == "flour\n" {
            continue;
        }
        std::fs::write(bakery.folder.path().join("dough.txt"), "barley\n").unwrap();
        let last = bakery.life(Arc::clone(&bakery.store));
        let _waits = last.execute().await;
        assert_eq!(bakery.asked().await, [ToolQuestionKind::UnknownOutcome]);
        assert_eq!(bakery.dough(), "barley\n");
        return;
    }
}
