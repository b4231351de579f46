//! The public client in Rust against a real server: what a program on another machine does.

use client::{Address, Client, ClientError, ClientSettings, Feed, FeedItem, Token};
use control::{
    AskAgents, AskInterrupt, AskInterrupts, AskRun, AskRuns, DecisionParts, NewDecision,
    RequestStop, StopOrder, Withdraw,
};
use interrupt_router::{InterruptId, InterruptType, RunId, StopMode};
use interrupts::life::{Decider, Interrupt, RunState, Scope, State, Verdict};
use interrupts::store::{Admitted, Filter, Page, Pages};
use serde_json::Value;

use crate::seed::Seed;
use crate::served::Served;

const FIRST: Page = Page {
    after: 0,
    limit: 10,
};

fn client_of(served: &Served) -> Client {
    let token = Token::read(&served.token("grace", "supervisor")).unwrap();
    let settings = ClientSettings::new(Address::parse(&served.url).unwrap());
    settings.token(token).build().unwrap()
}

/// The types of the events that come until one of this type does.
async fn until(feed: &mut Feed, wanted: &str) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        match feed.next().await.unwrap() {
            FeedItem::Event(event) => {
                let event: Value = serde_json::from_str(&event.json).unwrap();
                seen.push(event["type"].as_str().unwrap().to_owned());
            }
            FeedItem::Away => seen.push("away".to_owned()),
            FeedItem::Back => seen.push("back".to_owned()),
            FeedItem::End => panic!("the feed of all runs does not end: {seen:?}"),
        }
        if seen.last().unwrap() == wanted {
            return seen;
        }
    }
}

/// What waits is found page by page, and decided; a decision about another version is refused with its code.
async fn decides(client: &Client, question: &Interrupt) {
    let waiting = Filter {
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    let found = Pages::of(1).values(|page| {
        let filter = waiting.clone();
        client.ask(AskInterrupts { filter, page })
    });
    let [found] = &found.await.unwrap()[..] else {
        panic!("one question waits");
    };
    assert_eq!(found.id, question.id);
    let decision = NewDecision {
        version: Some(found.version + 1),
        shown: found.review.as_ref().map(|review| review.shown),
        parts: DecisionParts {
            message: Some("Go on.".to_owned()),
            ..DecisionParts::new(Verdict::Respond)
        },
        remember: None,
    };
    let refused = client.decide(found.id, &decision).await.unwrap_err();
    let problem = refused.problem().expect("a refusal");
    assert_eq!(
        (problem.status, problem.code.as_str()),
        (412, "stale-version")
    );
    assert!(problem.advice().is_some());
    let decision = NewDecision {
        version: Some(found.version),
        ..decision
    };
    client.decide(found.id, &decision).await.unwrap();
    let decided = client
        .ask(AskInterrupt { id: found.id })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(decided.state, State::Resolved);
    let by = decided.decision.unwrap().by;
    assert!(
        matches!(&by, Decider::Person { name } if name.as_str() == "grace"),
        "{by:?}"
    );
}

/// The same stop twice is one.
async fn stops(client: &Client, run: RunId) -> InterruptId {
    let first = AskAgents { run, page: FIRST };
    let root = client.ask(first).await.unwrap().remove(0).1.node;
    let reason = "enough for today".to_owned();
    let stop = RequestStop {
        run,
        node: root,
        order: StopOrder::new(InterruptType::Pause, StopMode::Graceful, Scope::Run, reason),
        key: None,
    };
    let Admitted::New(first) = client.carry_out(stop.clone()).await.unwrap() else {
        panic!("it is new");
    };
    let Admitted::Known(again) = client.carry_out(stop).await.unwrap() else {
        panic!("it is under way");
    };
    assert_eq!(first.id, again.id);
    first.id
}

#[test]
fn a_program_in_rust_reads_decides_and_follows_from_elsewhere() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut served = Served::over(&seed.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = client_of(&served);
    let (mut feed, interrupt) = runtime.block_on(async {
        let me = client.whoami().await.unwrap();
        assert_eq!(
            (me.name.as_str(), me.role.as_str()),
            ("grace", "supervisor")
        );
        let mut feed = Feed::of(client.clone(), None, me.seq);
        let all = AskRuns {
            states: Vec::new(),
            page: FIRST,
        };
        assert_eq!(client.ask(all).await.unwrap().len(), 1);
        decides(&client, &question).await;
        until(&mut feed, "dev.irq.interrupt.resolved.v1").await;
        let stop = stops(&client, run.id).await;
        until(&mut feed, "dev.irq.interrupt.requested.v1").await;
        (feed, stop)
    });

    // The reader goes on where it was: what happens from then on is told once.
    served.is_killed_and_comes_back();
    runtime.block_on(async {
        let asking = None;
        client
            .carry_out(Withdraw { interrupt, asking })
            .await
            .unwrap();
        let told = until(&mut feed, "dev.irq.interrupt.cancelled.v1").await;
        let expected = [
            "dev.irq.interrupt.taken_back.v1",
            "dev.irq.interrupt.cancelled.v1",
        ];
        assert_eq!(told, expected);
        let run = client
            .ask(AskRun {
                name: run.id.to_string(),
            })
            .await
            .unwrap()
            .unwrap();
        assert_eq!(run.state, RunState::Running);
        client.verify_audit().await.unwrap();
    });
}

#[test]
fn what_hinders_a_program_in_rust_has_a_type() {
    let seed = Seed::new();
    let served = Served::over(&seed.path());
    let at = |url: &str| ClientSettings::new(Address::parse(url).unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let nameless = at(&served.url).build().unwrap();
        let refused = nameless.whoami().await.unwrap_err();
        assert!(
            matches!(
                refused,
                ClientError::Unknown {
                    has_token: false,
                    ..
                }
            ),
            "{refused:?}"
        );
        let closed = at("http://127.0.0.1:9").build().unwrap();
        let away = closed.whoami().await.unwrap_err();
        assert!(matches!(away, ClientError::Unreachable { .. }), "{away:?}");
        assert!(away.is_away());
    });
    assert!(matches!(
        Address::parse("ftp://irq.example"),
        Err(ClientError::Address { .. })
    ));
    assert!(matches!(
        Token::new("two words"),
        Err(ClientError::Token { .. })
    ));
    let authorities = at(&served.url).authorities(b"none".to_vec()).build();
    assert!(matches!(authorities, Err(ClientError::NoAuthority)));
}
