//! Who asks for a stop: each for himself, and the stop stands as long as one of them does.

use interrupt_router::{DecisionId, InterruptId, InterruptType, StopMode, StopSource};
use interrupts::ActorName;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, MOST_ASKINGS, NewAsking, Refusal, Role,
    State, Verdict, WithdrawCause,
};
use interrupts::store::{AuditSubject, ChangeError, Run, Store};

use crate::joining::stop;
use crate::scene::{ALL, Scene, delivery, shown};

const WITHDRAWN: WithdrawCause = WithdrawCause::Withdrawn;

fn named(name: &str, role: Role) -> Actor {
    Actor {
        name: ActorName::new(name).unwrap(),
        role,
    }
}

fn agent() -> Actor {
    named("agent-7", Role::Requester)
}

fn limit() -> Actor {
    named("limit", Role::System)
}

fn person(name: &str) -> Actor {
    named(name, Role::Supervisor)
}

/// What somebody asks of a stop, in words of his own.
fn asks(by: &Actor, mode: StopMode) -> NewAsking {
    NewAsking {
        by: by.clone(),
        source: match by.role {
            Role::Requester => StopSource::Programmatic,
            Role::System => StopSource::System,
            _ => StopSource::User,
        },
        mode,
        reason: format!("as {} wants it", by.name),
        content: String::new(),
    }
}

/// A stop of an agent's.
async fn of_agent<S: Store>(
    scene: &Scene<S>,
    run: &Run,
    interrupt_type: InterruptType,
) -> Interrupt {
    let asked = Admission {
        interrupt_type,
        requested_by: agent(),
        reason: "as agent-7 wants it".to_owned(),
        ..stop(
            run,
            &InterruptId::generate().to_string(),
            StopMode::Graceful,
        )
    };
    scene.admitted(asked).await
}

async fn pause<S: Store>(scene: &Scene<S>) -> Interrupt {
    let run = scene.run().await;
    of_agent(scene, &run, InterruptType::Pause).await
}

/// What the audit says of an interrupt: who, what, and in which words.
async fn written<S: Store>(scene: &Scene<S>, id: InterruptId) -> Vec<String> {
    let mut written = Vec::new();
    for row in scene.store.audit(ALL).await.unwrap() {
        if let AuditSubject::Interrupt {
            interrupt, audited, ..
        } = row.read().unwrap().subject
            && interrupt == id
        {
            let who = audited
                .actor
                .map_or(String::new(), |it| it.name.to_string());
            let words = audited.detail.unwrap_or_default();
            written.push(format!("{who} {}: {words}", audited.event));
        }
    }
    written
}

/// The names of those who still ask for a stop.
fn status(stop: &Interrupt) -> Vec<String> {
    let askings = stop.askings();
    let status = askings.iter().filter(|asking| asking.is_in_force());
    status.map(|asking| asking.by.name.to_string()).collect()
}

async fn waits<S: Store>(scene: &Scene<S>, stop: &Interrupt) -> Interrupt {
    let (store, id) = (&scene.store, stop.id);
    let taken = store.deliver(id, delivery("worker", 60)).await.unwrap();
    let held = store.acknowledge(id, taken.epoch, Evidence::Cancelled);
    let epoch = held.await.unwrap().epoch;
    store.require_review(id, epoch, shown()).await.unwrap()
}

fn refusal(answer: Result<Interrupt, ChangeError>) -> Refusal {
    match answer {
        Err(ChangeError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn each_asking_has_its_reason_source_and_time_and_the_most_human_leads<
    S: Store,
>(
    scene: Scene<S>,
) {
    let first = pause(&scene).await;
    let (store, id) = (&scene.store, first.id);
    assert_eq!(status(&first), ["agent-7"]);
    assert_eq!(first.source, StopSource::Programmatic);
    for (by, mode, leads) in [
        (limit(), StopMode::Immediate, "agent-7"),
        (person("bob"), StopMode::Graceful, "bob"),
        (person("ada"), StopMode::Graceful, "bob"),
    ] {
        scene.wait(1);
        let asked = store.ask(id, asks(&by, mode)).await.unwrap();
        assert_eq!(asked.requested_by.name.as_str(), leads);
        assert_eq!(asked.reason, format!("as {leads} wants it"));
        // The mode never falls.
        assert_eq!(asked.mode, StopMode::Immediate);
        let last = asked.askings().last().unwrap().clone();
        assert_eq!((&last.by, last.mode, last.at), (&by, mode, scene.now()));
    }
    let now = scene.interrupt(id).await;
    assert_eq!(now.source, StopSource::User);
    assert_eq!(now.first_source(), StopSource::Programmatic);
    assert_eq!(
        written(&scene, id).await,
        [
            "agent-7 admit: programmatic, graceful: as agent-7 wants it".to_owned(),
            format!("limit ask: {id}.2, system, immediate: as limit wants it"),
            format!("bob ask: {id}.3, user, graceful: as bob wants it"),
            format!("ada ask: {id}.4, user, graceful: as ada wants it"),
        ]
    );
    // Whose stop it is falls back with those who ask for it.
    let back = store.withdraw(id, person("bob"), WITHDRAWN).await.unwrap();
    assert_eq!(back.requested_by.name.as_str(), "ada");
    let back = store.withdraw(id, person("ada"), WITHDRAWN).await.unwrap();
    assert_eq!(back.source, StopSource::Programmatic);
    assert_eq!(back.mode, StopMode::Immediate);
    assert_eq!(
        written(&scene, id).await.last().unwrap(),
        &format!("ada withdraw: {id}.4 of ada, user, graceful: as ada wants it")
    );
}

pub(crate) async fn a_stop_ends_with_the_last_of_its_askings<S: Store>(scene: Scene<S>) {
    for holds in [false, true] {
        let first = pause(&scene).await;
        let (store, id) = (&scene.store, first.id);
        if holds {
            waits(&scene, &first).await;
        }
        let ada = asks(&person("ada"), StopMode::Graceful);
        store.ask(id, ada).await.unwrap();
        let back = store.withdraw(id, agent(), WITHDRAWN).await.unwrap();
        assert!(back.state.is_live(), "a person asks for it");
        assert_eq!(status(&back), ["ada"]);
        let ended = store.withdraw(id, person("ada"), WITHDRAWN).await.unwrap();
        assert_eq!(ended.state, State::Cancelled, "nobody asks for it");
        let late = refusal(store.ask(id, asks(&agent(), StopMode::Graceful)).await);
        assert!(matches!(late, Refusal::Ended { .. }), "{late}");
    }
}

pub(crate) async fn a_stop_that_was_delivered_takes_hold_before_it_ends<S: Store>(scene: Scene<S>) {
    let first = pause(&scene).await;
    let (store, id) = (&scene.store, first.id);
    let taken = store.deliver(id, delivery("worker", 60)).await.unwrap();
    let back = store.withdraw(id, agent(), WITHDRAWN).await.unwrap();
    assert_eq!(back.state, State::Delivered);
    assert!(!back.is_asked_for());
    // Nothing of it is left to take back.
    let again = refusal(store.withdraw(id, agent(), WITHDRAWN).await);
    assert_eq!(again, Refusal::NobodyAsks);
    let held = store.acknowledge(id, taken.epoch, Evidence::Boundary);
    let epoch = held.await.unwrap().epoch;
    let review = refusal(store.require_review(id, epoch, shown()).await);
    assert_eq!(review, Refusal::NobodyAsks);
    // Whoever asks before it has ended keeps it.
    let ada = asks(&person("ada"), StopMode::Graceful);
    store.ask(id, ada).await.unwrap();
    let process = named("process", Role::System);
    let kept = store.withdraw(id, process, WithdrawCause::NobodyAsks);
    assert_eq!(refusal(kept.await), Refusal::StillAsked);
    let ended = store.withdraw(id, person("ada"), WITHDRAWN).await.unwrap();
    assert_eq!(ended.state, State::Cancelled);
}

pub(crate) async fn an_asking_belongs_to_whoever_made_it<S: Store>(scene: Scene<S>) {
    let first = pause(&scene).await;
    let (store, id) = (&scene.store, first.id);
    for by in [person("ada"), limit()] {
        store.ask(id, asks(&by, StopMode::Graceful)).await.unwrap();
    }
    let one = |number| WithdrawCause::Asking { number };
    // An agent takes back its own alone, and the machinery nothing of a person's.
    let by_agent = refusal(store.withdraw(id, agent(), one(2)).await);
    assert!(matches!(by_agent, Refusal::Role { .. }), "{by_agent}");
    let by_limit = refusal(store.withdraw(id, limit(), one(2)).await);
    assert_eq!(by_limit, Refusal::AskedByPerson);
    let none = refusal(store.withdraw(id, person("ada"), one(9)).await);
    assert!(matches!(none, Refusal::NoSuchAsking { .. }), "{none}");
    // Who asks for nothing himself has to say whose.
    let several = refusal(store.withdraw(id, person("bob"), WITHDRAWN).await);
    assert!(
        matches!(&several, Refusal::AskedByOthers { askings } if askings.len() == 3),
        "{several}"
    );
    let back = store.withdraw(id, person("bob"), one(1)).await.unwrap();
    assert_eq!(status(&back), ["ada", "limit"]);
    assert_eq!(
        written(&scene, id).await.last().unwrap(),
        &format!("bob withdraw: {id}.1 of agent-7, programmatic, graceful: as agent-7 wants it")
    );
    let again = refusal(store.withdraw(id, agent(), one(1)).await);
    assert!(matches!(again, Refusal::AlreadyTakenBack { .. }), "{again}");
    // Where one asking is left, nobody else can be meant.
    store.withdraw(id, person("ada"), WITHDRAWN).await.unwrap();
    let ended = store.withdraw(id, person("bob"), WITHDRAWN).await.unwrap();
    assert_eq!(ended.state, State::Cancelled);
}

pub(crate) async fn no_policy_ends_what_a_person_asks_for<S: Store>(scene: Scene<S>) {
    let first = pause(&scene).await;
    let (store, id) = (&scene.store, first.id);
    waits(&scene, &first).await;
    let resumes = |seen: &Interrupt| {
        let judge = Judge::PolicyLater {
            actor: named("policy", Role::Operator),
            version: seen.version,
            shown: shown(),
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Resume,
            target: None,
            content: None,
        };
        store.decide(id, judge, choosing)
    };
    let ada = asks(&person("ada"), StopMode::Graceful);
    let asked = store.ask(id, ada).await.unwrap();
    assert_eq!(refusal(resumes(&asked).await), Refusal::AskedByPerson);
    let free = store.withdraw(id, person("ada"), WITHDRAWN).await.unwrap();
    assert_eq!(resumes(&free).await.unwrap().state, State::Resolved);
}

pub(crate) async fn what_ends_a_run_is_not_taken_back_once_it_was_told<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    for interrupt_type in [InterruptType::Stop, InterruptType::Prune] {
        let early = of_agent(&scene, &run, interrupt_type).await;
        let back = store.withdraw(early.id, agent(), WITHDRAWN).await.unwrap();
        assert_eq!(back.state, State::Cancelled);
        let told = of_agent(&scene, &run, interrupt_type).await;
        let taken = store.deliver(told.id, delivery("worker", 60)).await;
        assert_eq!(taken.unwrap().state, State::Delivered);
        let late = refusal(store.withdraw(told.id, agent(), WITHDRAWN).await);
        assert_eq!(late, Refusal::NotCancelable { interrupt_type });
    }
}

pub(crate) async fn the_same_asked_by_the_same_is_one_asking_and_a_harder_one_raises_it<
    S: Store,
>(
    scene: Scene<S>,
) {
    let first = pause(&scene).await;
    let (store, id) = (&scene.store, first.id);
    let again = store.ask(id, asks(&agent(), StopMode::Graceful)).await;
    assert_eq!(again.unwrap(), first);
    let harder = store.ask(id, asks(&agent(), StopMode::Immediate)).await;
    let harder = harder.unwrap();
    assert_eq!(harder.mode, StopMode::Immediate);
    assert_eq!(harder.askings().len(), 1);
    assert_eq!(scene.audited(id).await, ["admit", "ask"]);
    let otherwise = NewAsking {
        reason: "for another reason".to_owned(),
        content: "much, and often".to_owned(),
        ..asks(&agent(), StopMode::Graceful)
    };
    let otherwise = store.ask(id, otherwise).await.unwrap();
    assert_eq!(otherwise.askings().len(), 2);
    // Beside the reason only the machinery's own is kept.
    assert!(otherwise.askings()[1].content.is_empty());
    // What cannot be kept is refused.
    let long = NewAsking {
        reason: "x".repeat(20 << 10),
        ..asks(&person("ada"), StopMode::Graceful)
    };
    let long = refusal(store.ask(id, long).await);
    assert!(matches!(long, Refusal::ReasonTooLong { .. }), "{long}");
    // Whoever takes the stop back takes back all that he asks.
    let ended = store.withdraw(id, agent(), WITHDRAWN).await.unwrap();
    assert_eq!(ended.state, State::Cancelled);
}

pub(crate) async fn programs_leave_people_their_askings<S: Store>(scene: Scene<S>) {
    let first = pause(&scene).await;
    let (store, id, most) = (&scene.store, first.id, MOST_ASKINGS);
    let in_words = |number: usize| NewAsking {
        reason: format!("reason {number}"),
        ..asks(&agent(), StopMode::Graceful)
    };
    for number in 1..most {
        store.ask(id, in_words(number)).await.unwrap();
    }
    let refused = refusal(store.ask(id, in_words(most)).await);
    assert_eq!(refused, Refusal::TooManyAskings { most });
    let ada = asks(&person("ada"), StopMode::Graceful);
    assert_eq!(store.ask(id, ada).await.unwrap().source, StopSource::User);
    // What was taken back makes room, and its number is not given again.
    let second = WithdrawCause::Asking { number: 2 };
    store.withdraw(id, agent(), second).await.unwrap();
    let asked = store.ask(id, in_words(most)).await.unwrap();
    let numbers: Vec<u32> = asked.askings().iter().map(|it| it.number).collect();
    assert_eq!(numbers.len(), most + 1);
    assert!(!numbers.contains(&2), "{numbers:?}");
    let last = u32::try_from(most).unwrap() + 2;
    assert_eq!(numbers.last(), Some(&last));
}

pub(crate) async fn a_stop_of_an_earlier_version_has_one_asking<S: Store>(scene: Scene<S>) {
    let first = pause(&scene).await;
    let json = serde_json::to_value(&first).unwrap();
    assert!(json.get("asked").is_none(), "written as before: {json}");
    let read: Interrupt = serde_json::from_value(json).unwrap();
    let askings = read.askings();
    assert_eq!(askings.len(), 1);
    assert_eq!((askings[0].number, &askings[0].by), (1, &agent()));
    assert_eq!(askings[0].at, first.requested_at);
}
