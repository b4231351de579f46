//! Servers of MCP that die at random moments.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Bench;
use crate::damage::Numbers;
use crate::program::askers_gone;

/// Within how many milliseconds a server dies: it has asked long before.
const MOMENTS: usize = 300;

#[tokio::test]
async fn what_waits_after_the_death_of_a_server_is_what_its_successor_waits_for() {
    let mut numbers = Numbers::of_environment("ASKERS_GONE_SEED");
    let mut left = 0;
    for death in 0..askers_gone() {
        let bench = Bench::new();
        let client = bench.client().await;
        let call = client
            .begins("ask_human", json!({"question": "Deploy?"}))
            .await;
        let after = numbers.below(MOMENTS);
        tokio::time::sleep(Duration::from_millis(after as u64)).await;
        client.dies().await;
        drop(call);
        println!("{death}: after {after} ms");
        let successor = bench.client().await;
        let listed = successor.calls("list_open", json!({})).await.fine();
        let listed = listed["questions"].as_array().unwrap().clone();
        let waiting = bench.waiting();
        let of = |all: &[Value], name: &str| -> Vec<Value> {
            all.iter().map(|it| it[name].clone()).collect()
        };
        assert_eq!(of(&waiting, "reason"), of(&listed, "question"));
        left += waiting.len();
        for question in &listed {
            let ticket = json!({"ticket": question["ticket"]});
            successor.calls("withdraw", ticket).await.fine();
        }
        bench.questions(0).await;
        assert_eq!(successor.leaves().await, Some(0));
        assert_eq!(bench.run_states(), ["completed"]);
    }
    println!("{left} servers left a question");
}
