//! People who decide what agents ask, over REST at either server, and remember what they were told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::installation::Installation;

/// How often they look for questions.
const LOOK: Duration = Duration::from_millis(60);

/// How many they decide at once.
const AT_ONCE: usize = 8;

/// What people were told: the words of each decision that was accepted, by its interrupt.
#[derive(Default)]
pub(crate) struct Told {
    accepted: Mutex<BTreeMap<String, String>>,
}

impl Told {
    pub(crate) fn accepted(&self) -> BTreeMap<String, String> {
        self.accepted.lock().unwrap().clone()
    }
}

/// Decides whatever waits for a person, until it is aborted.
pub(crate) fn decide_all(
    installation: &Arc<Installation>,
) -> (tokio::task::JoinHandle<()>, Arc<Told>) {
    let (installation, told) = (Arc::clone(installation), Arc::new(Told::default()));
    let remembered = Arc::clone(&told);
    let deciding = tokio::spawn(async move {
        let path = "/v1/interrupts?status=awaiting_review&limit=200";
        loop {
            if let Some((_status, _version, page)) = installation.get(path).await {
                let open = page["interrupts"].as_array().cloned().unwrap_or_default();
                let ids: BTreeSet<String> = open
                    .iter()
                    .filter_map(|it| Some(it["id"].as_str()?.to_owned()))
                    .collect();
                futures_util::stream::iter(ids)
                    .for_each_concurrent(AT_ONCE, |id| decide(&installation, &remembered, id))
                    .await;
            }
            tokio::time::sleep(LOOK).await;
        }
    });
    (deciding, told)
}

/// The words for a question: the same for the same one, however often it is decided.
fn words(interrupt: &Value) -> String {
    format!("Decided for {}.", interrupt["id"].as_str().unwrap())
}

async fn decide(installation: &Installation, told: &Told, id: String) {
    let path = format!("/v1/interrupts/{id}");
    let Some((status, Some(version), shown)) = installation.get(&path).await else {
        return;
    };
    if !status.is_success() || shown["state"] != "awaiting_review" {
        return;
    }
    let words = words(&shown);
    let decision = json!({"decision": "respond", "payload": {"text": words}});
    let key = format!("decision-{id}");
    let headers = [
        ("Content-Type", "application/json"),
        ("If-Match", &*version),
        ("Idempotency-Key", &*key),
    ];
    let path = format!("{path}/decisions");
    // Not told, they look again.
    let Some((status, answer)) = installation.post(&path, &headers, &decision).await else {
        return;
    };
    match status.as_u16() {
        200..300 => {
            told.accepted.lock().unwrap().insert(id, words);
        }
        // It changed in between, has ended, or the store is away.
        409 | 410 | 412 | 429 | 500.. => {}
        _ => panic!("{status}: {answer} to {shown}"),
    }
}
