//! The server under load: what it answers in a second, what readers of its feed cost, and whether slow and hostile
//! clients slow the others. Two processes: this one asks, the other one serves a store in a file.
//!
//! `cargo bench -p interrupt-router-server --bench load` prints figures; `LOAD=REQUESTS,SUBSCRIBERS` says how many.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement fails where what it stands on fails"
)]

mod asking;
mod figures;
mod hostile;
#[path = "../../tests/it/scene.rs"]
#[expect(dead_code, reason = "the scene has more than a measurement needs")]
mod scene;
mod serving;
mod subscribers;

use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use figures::Figures;
use serving::{Bare, Server};

/// How often a page is opened.
const OPENED: usize = 100;

/// How much is done where nobody says.
const USUAL: (usize, usize) = (5_000, 10_000);

/// As in `irq`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    raise_the_limit_of_files();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(serving::SERVES) {
        let (store, questions) = (arguments.next().unwrap(), arguments.next().unwrap());
        runtime.block_on(serving::serve(store.as_ref(), questions.parse().unwrap()));
        return;
    }
    let (requests, subscribers) = wanted();
    runtime.block_on(measure(requests, subscribers));
}

/// Each reader is an open file on both sides.
fn raise_the_limit_of_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

fn wanted() -> (usize, usize) {
    let Ok(text) = std::env::var("LOAD") else {
        return USUAL;
    };
    let (requests, subscribers) = text.split_once(',').unwrap();
    (requests.parse().unwrap(), subscribers.parse().unwrap())
}

async fn measure(requests: usize, subscribers: usize) {
    // A part of the questions is decided one after the other, the rest at once.
    let alone = (requests / 10).max(20);
    let server = Server::start(alone + requests);
    let questions = server.questions().await;
    assert_eq!(questions.len(), alone + requests);

    println!(
        "{requests} requests of each kind, {} at once",
        asking::AT_ONCE
    );
    let list = |_: usize| server.get("/v1/interrupts?status=open&limit=50");
    asking::at_once(requests, list)
        .await
        .print("list, 50 questions");
    let read = |index: usize| server.get(&format!("/v1/interrupts/{}", questions[index].0));
    asking::at_once(requests, read)
        .await
        .print("read one question");

    // What each part of a decision costs before anything is decided.
    for (what, path) in [
        ("nothing but a request, one after the other", "/livez"),
        ("who asks, one after the other", "/v1/whoami"),
    ] {
        asking::one_by_one(alone, |_| server.get(path))
            .await
            .print(what);
    }
    asking::one_by_one(alone, read)
        .await
        .print("read one question, one after the other");
    pages(&server, &questions[0].0, questions.len()).await;

    let (first, rest) = questions.split_at(alone);
    let (by_rest, bare) = decided_in_turns(&server, first, alone + requests).await;
    by_rest.print_times("decide, one after the other");
    bare.print_times("the bare transaction of the store");
    let ratio = by_rest.at(50).as_secs_f64() / bare.at(50).as_secs_f64();
    println!(
        "  a decision over the network takes {ratio:.2} times the bare transaction at the median"
    );
    let decide = |index: usize| server.decide(&rest[index]);
    asking::at_once(rest.len(), decide)
        .await
        .print("decide, at once");

    live(&server, subscribers).await;
    let read = |_: usize| server.get("/v1/whoami");
    let before = asking::at_once(requests, read).await;
    before.print("read, with nobody in the way");
    let in_the_way = hostile::open(&server, 300).await;
    let during = asking::at_once(requests, read).await;
    during.print("read, beside 900 slow and hostile clients");
    drop(in_the_way);
}

/// What people have open while so many questions wait. The floor is the request above that does nothing.
async fn pages(server: &Server, question: &str, waiting: usize) {
    println!("pages, one after the other, while {waiting} questions wait");
    let review = format!("/review/{question}");
    for (what, path) in [
        ("the inbox", "/"),
        ("the count of the inbox", "/inbox/count"),
        ("the review of a question", &review),
    ] {
        asking::one_by_one(OPENED, |_| server.get(path))
            .await
            .print_times(what);
    }
}

/// Decisions over the network and on a bare store, in turns, so that both meet the same disk and the same neighbours.
async fn decided_in_turns(
    server: &Server,
    decided: &[(String, u64)],
    questions: usize,
) -> (Figures, Figures) {
    let bare = Bare::with(questions).await;
    let (mut by_rest, mut by_store) = (Figures::default(), Figures::default());
    for (index, question) in decided.iter().enumerate() {
        by_store.extend(vec![bare.decide(index).await]);
        by_rest.extend(vec![asking::asked(server.decide(question)).await]);
    }
    (by_rest, by_store)
}

/// So many readers of the feed: what they cost the server, and how soon each is told.
async fn live(server: &Server, count: usize) {
    let before = server.memory();
    let begun = Instant::now();
    let mut readers = subscribers::open(server, count).await;
    let opened = begun.elapsed();
    let after = server.memory();
    println!("{count} live readers of the feed, opened in {opened:.1?}");
    let each = after.saturating_sub(before) / count.max(1);
    println!(
        "  the server's memory: {} MB before, {} MB with them, {} kB each",
        before >> 20,
        after >> 20,
        each >> 10
    );
    let mut delivered = Figures::default();
    for _event in 0..5 {
        delivered.extend(subscribers::tell_all(server, &mut readers).await);
    }
    delivered.print_times("from the request to each reader, five events");
}
