//! What a server needs of memory while many read its longest lists at once.

use serde_json::{Value, json};

use crate::seed::Seed;
use crate::served::Served;

/// How many runs wait for an answer: as many as the longest part of a list has.
const WAITING: usize = 500;

/// How many read at once.
const READERS: usize = 16;

/// The most that it may ever have had, in KiB.
const MOST: u64 = 300 << 10;

/// The lists that are as long as runs wait.
const LISTS: [&str; 6] = [
    "/v1/interrupts?status=open&limit=500",
    "/v1/runs?limit=500",
    "/v1/agents?limit=500",
    "/v1/history?limit=500",
    "/v1/records/interrupts?of=[{},{%22after%22:0,%22limit%22:500}]",
    "/v1/records/runs?of=[[],{%22after%22:0,%22limit%22:500}]",
];

/// What an agent asks that has much to say.
fn much() -> String {
    json!({
        "type": "HUMAN_REVIEW",
        "reason": "which way?",
        "choices": [{"label": "Left", "value": "left", "description": "the short way"}],
        "confirmationItems": [],
        "contextForDecision": "both lead there. ".repeat(500),
    })
    .to_string()
}

#[test]
fn many_who_read_long_lists_at_once_do_not_fill_the_memory_of_a_server() {
    let seed = Seed::new();
    for _run in 0..WAITING {
        let run = seed.run();
        seed.asked(&run, much(), Vec::new());
    }
    let served = Served::over(&seed.path());
    let tokens: Vec<String> = (0..READERS)
        .map(|reader| served.token(&format!("reader-{reader}"), "viewer"))
        .map(|file| std::fs::read_to_string(file).unwrap().trim().to_owned())
        .collect();
    let client = tls::client().build().unwrap();
    let read = async |token: &str, path: &str| {
        let request = client.get(format!("{}{path}", served.url));
        let answer = request.bearer_auth(token).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {answer:?}");
        let length = answer.bytes().await.unwrap().len();
        assert!(length > 10_000, "{path}: {length}");
    };
    seed.wait(async {
        let first = client.get(format!("{}{}", served.url, LISTS[0]));
        let first = first.bearer_auth(&tokens[0]).send().await.unwrap();
        let first: Value = first.json().await.unwrap();
        assert_eq!(first["interrupts"].as_array().unwrap().len(), 500);
        for path in LISTS {
            let readers = tokens.iter().map(|token| read(token, path));
            futures_util::future::join_all(readers).await;
        }
    });
    let most = served.most_memory();
    assert!(most < MOST, "{most} KiB");
}
