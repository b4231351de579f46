//! Interrupts of a server that generates for real: `llm/tests/real-model` sets one up. Only where `REAL_MODEL` names its
//! address, for it takes minutes; `INTERRUPTS` says how many.

use std::time::{Duration, Instant};

use interrupt_router::model::{LanguageModel, Message};
use interrupt_router::{Outcome, StopScope};
use llm::{ModelId, ModelProfile, ProviderModel};
use serde_json::Value;

use crate::calls::{stop_now, talk};

/// How long a server may generate on, at the median.
const STOPPED_WITHIN: Duration = Duration::from_millis(50);

/// Whether any of its slots generates.
async fn generates(http: &reqwest::Client, slots: &str) -> bool {
    let slots: Value = http.get(slots).send().await.unwrap().json().await.unwrap();
    let slots = slots.as_array().unwrap();
    slots.iter().any(|slot| slot["is_processing"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_server_stops_generating() {
    let Ok(base) = std::env::var("REAL_MODEL") else {
        return;
    };
    let count: usize = std::env::var("INTERRUPTS").map_or(100, |count| count.parse().unwrap());
    let slots = format!("{}/slots", base.trim_end_matches("/v1"));
    let http = tls::client().build().unwrap();
    let id: ModelId = "openai:local".parse().unwrap();
    let profile = ModelProfile {
        base_url: Some(base),
        max_tokens: Some(2_000),
        ..ModelProfile::default()
    };
    let model = ProviderModel::of_profile(&id, &profile).unwrap();
    let mut took = Vec::new();
    for number in 0..count {
        let scope = StopScope::new();
        let story = format!("Tell a long story, number {number}.");
        let call = talk(vec![Message::user(story)]);
        // Spread over the beginning of an answer, in no order.
        let wait = Duration::from_millis((number as u64 * 7_919) % 400);
        let (ended, stopped) = tokio::join!(model.call(call, &scope), async {
            tokio::time::sleep(wait).await;
            stop_now(&scope);
            Instant::now()
        });
        match ended.unwrap() {
            Outcome::Interrupted { .. } => {}
            // It was over before.
            Outcome::Completed(_) => continue,
        }
        while generates(&http, &slots).await {
            assert!(
                stopped.elapsed() < Duration::from_secs(10),
                "{number} generates on"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        took.push(stopped.elapsed());
    }
    took.sort();
    let median = took[took.len() / 2];
    let last = took[took.len() - 1];
    println!(
        "{} interrupts, stopped within {median:?} at the median, {last:?} at most",
        took.len()
    );
    assert!(median <= STOPPED_WITHIN, "{median:?}");
}
