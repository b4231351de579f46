//! Journals of earlier versions, which kept nothing of an answer that was rejected before it had arrived whole.

use std::sync::Arc;

use interrupt_router::model::ModelCall;
use interrupt_router::{RunId, StopScope};
use interrupts::store::{Delivery, Intent, JournalEntry, NewRun, Store};
use interrupts::{EffectId, OwnerName};
use jiff::SignedDuration;
use serde_json::Value;
use store::{MemoryStore, StoreSettings};

use crate::lives::{ALL, place};
use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed};

const FIRST: &str = "orchestrator#1/step/0";
const CORRECTED: &str = "orchestrator#1/step/1";

/// Says what it is asked for.
struct Places(Arc<std::sync::Mutex<Vec<String>>>);

#[async_trait::async_trait]
impl Part for Places {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        self.0.lock().unwrap().push(place(call));
        None
    }
}

/// The first entry of the journal of a run that nothing disturbs.
async fn first_call(run: RunId) -> JournalEntry {
    let mut stage = Stage::new();
    stage.run = run;
    assert_completed(&stage.execute().await);
    let journal = stage.store.journal(run, ALL).await.unwrap();
    let is_first = |entry: &JournalEntry| entry.intent.place.as_deref() == Some(FIRST);
    journal.into_iter().find(is_first).unwrap()
}

/// The same call, asked for again after this many corrections.
fn corrected(entry: &JournalEntry, place: &str, correction: u32) -> Intent {
    let mut content: Value = serde_json::from_str(&entry.intent.content).unwrap();
    content["correction"] = correction.into();
    if correction > 0 {
        content.as_object_mut().unwrap().remove("start");
    }
    Intent {
        effect: EffectId::in_run(entry.intent.run, place),
        content: content.to_string(),
        place: Some(place.to_owned()),
        ..entry.intent.clone()
    }
}

#[tokio::test]
async fn an_answer_that_was_rejected_early_and_not_kept_is_not_asked_for_again() {
    let run = RunId::generate();
    let call = first_call(run).await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(StoreSettings::default()));
    let new = NewRun {
        root: None,
        id: run,
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await.unwrap();
    let delivery = Delivery {
        owner: OwnerName::new("test").unwrap(),
        lease: SignedDuration::from_secs(30),
        lost: None,
    };
    let epoch = store.own_run(run, delivery).await.unwrap().epoch;
    store
        .begin(epoch, corrected(&call, FIRST, 0))
        .await
        .unwrap();
    let second = corrected(&call, CORRECTED, 1);
    let (effect, answer) = (second.effect, call.result.unwrap().content);
    store.begin(epoch, second).await.unwrap();
    store.finish(epoch, effect, answer).await.unwrap();

    let mut stage = Stage::new();
    stage.run = run;
    stage.store = store;
    let asked = Arc::default();
    let model = Playing::new(Places(Arc::clone(&asked)), stage.rehearsal());
    assert_completed(&stage.played_by(model).execute().await);
    let asked = asked.lock().unwrap();
    assert!(!asked.is_empty());
    let is_again = |place: &String| [FIRST, CORRECTED].contains(&place.as_str());
    assert!(!asked.iter().any(is_again), "{asked:#?}");
}
