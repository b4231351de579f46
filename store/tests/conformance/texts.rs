//! Texts as models, people and tools write them: every write of every store keeps each as it is, or refuses it as the
//! others do, with an error that says so.

use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::life::{Admission, Choosing, Evidence, RunState};
use interrupts::store::{
    CallWait, CheckpointDraft, CheckpointError, CheckpointId, ForkStart, Intent, KnownEffect,
    MessageError, NewMessage, NewRun, NodeActivity, NodeRow, Run, RunError, Store, StoreError,
};
use interrupts::{EffectId, KindName};
use jiff::Timestamp;
use serde_json::json;
use store::MemoryStore;

use crate::joining::stop;
use crate::nodes::{message, node};
use crate::running::{draft, intent};
use crate::scene::{ALL, Scene, choosing, delivery, event, person, question, shown};

/// What goes wrong somewhere in most programs. A lone surrogate can be in a text of Rust only as its escape.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        "plain",
        "a\0b",
        "\0",
        "\\u0000 and \\\\u0000",
        r#"{"run":"run_0","reason":"\u0000"}"#,
        r"\ud800 and \udfff\",
        "\u{ffff}\u{fffe}\u{10ffff}\u{fdd0}",
        "\u{feff}\u{fffd}\u{1}\u{7f}\u{85}\u{2028}\u{2029}\r\n\t",
        "e\u{301}\u{301}\u{301} n\u{303} \u{1f469}\u{200d}\u{1f469}\u{fe0f}",
        "\u{202e}drowssap\u{202c} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{627}",
        r#"'"`'; DROP TABLE runs; -- $1 ? ?1 %s {} \"#,
        r#"null"#,
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("long ".repeat(2_000));
    texts.push("\u{0}\u{10ffff}".repeat(1_500));
    texts
}

/// What became of a write: whether what was read afterwards is what was written, or why nothing was.
type Outcome = Result<bool, StoreError>;

fn text_json(text: &str) -> String {
    json!({ "text": text }).to_string()
}

/// The name of a run, and what it is to do.
async fn names<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (id, store) = (RunId::generate(), &scene.store);
    let new = NewRun {
        id,
        alias: Some(text.to_owned()),
        content: text.to_owned(),
        root: None,
    };
    let found = store.run_of(text).await.unwrap();
    assert_eq!(found, None, "looked for before it is there");
    match store.create_run(new.clone()).await {
        Ok(run) => {
            assert_eq!((run.alias, run.content), (new.alias, new.content));
            Ok(store.run_of(text).await.unwrap().map(|run| run.id) == Some(id))
        }
        Err(RunError::Store(error)) => {
            assert_eq!(store.run(id).await, Ok(None));
            Err(error)
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// What a checkpoint has.
async fn checkpoint<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let run = scene.run().await;
    let draft = CheckpointDraft {
        content: text.to_owned(),
        ..draft(&run, None)
    };
    match scene.store.save(draft).await {
        Ok(saved) => {
            let read = scene.store.checkpoint(saved.id).await.unwrap().unwrap();
            Ok(read.content == text)
        }
        Err(CheckpointError::Store(error)) => Err(error),
        Err(error) => panic!("{error:?}"),
    }
}

/// How a run ends, as it is told to those who follow it.
async fn end<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (run, store) = (scene.run().await, &scene.store);
    let reason = Some(text.to_owned());
    let next = store
        .change_run(run.id, 1, RunState::Running, reason.clone())
        .await;
    next.unwrap();
    let ended = store.change_run(run.id, 1, RunState::Failed, reason.clone());
    let ended = ended.await.unwrap();
    let told = store.outbox_of(run.id, ALL).await.unwrap();
    let is_told = told.iter().any(|row| {
        let told = serde_json::to_value(&row.notification).unwrap();
        told["state"] == "failed" && told["reason"] == text
    });
    let read = store.run(run.id).await.unwrap().unwrap();
    Ok(is_told && ended.reason == reason && read == ended)
}

fn effect(run: &Run, text: &str) -> Intent {
    Intent {
        effect: EffectId::in_run(run.id, text),
        place: Some(text.to_owned()),
        content: text.to_owned(),
        ..intent(run, "effect")
    }
}

/// A place of the journal, what is to be done there, and its result; the same of a fork.
async fn journal<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (run, store) = (scene.run().await, &scene.store);
    let intent = effect(&run, text);
    store.begin(1, intent.clone()).await.unwrap();
    store
        .finish(1, intent.effect, text.to_owned())
        .await
        .unwrap();
    let read = store.effect(intent.effect).await.unwrap().unwrap();
    let checkpoint: CheckpointId = store.save(draft(&run, None)).await.unwrap().id;
    let fork = NewRun {
        id: RunId::generate(),
        alias: None,
        content: text.to_owned(),
        root: None,
    };
    let known = KnownEffect {
        node: NodeId::root(),
        kind: KindName::new("note").unwrap(),
        place: format!("known {text}"),
        content: text.to_owned(),
        result: text.to_owned(),
    };
    let start = ForkStart {
        said: Some(known),
        ..ForkStart::default()
    };
    let fork = store.fork_run_with(checkpoint, fork, start).await;
    let forked = store.journal(fork.unwrap().id, ALL).await.unwrap();
    let results = forked.iter().map(|it| &it.result.as_ref().unwrap().content);
    Ok(read.intent == intent
        && read.result.unwrap().content == text
        && results.collect::<Vec<_>>() == [text, text])
}

/// A message, which says something, and what the call to an agent's model waits for.
async fn agents<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (run, store) = (scene.run().await, &scene.store);
    let row = NodeRow {
        waits: Some(CallWait {
            why: text.to_owned(),
            until: Timestamp::UNIX_EPOCH,
        }),
        ..node(&run, "a", NodeActivity::Running)
    };
    store.put_nodes(run.id, 1, vec![row.clone()]).await.unwrap();
    let sent = NewMessage {
        text: text.to_owned(),
        ..message(&row, &run.id.to_string())
    };
    let outcome = store.send_message(sent.clone()).await;
    let messages = store.messages(run.id, ALL).await.unwrap();
    let is_as_sent = if text.is_empty() {
        outcome == Err(MessageError::Empty) && messages.is_empty()
    } else {
        outcome.unwrap();
        messages[0].message == sent
    };
    let read = store.node(run.id, &row.node).await.unwrap().unwrap();
    Ok(read.waits == row.waits && is_as_sent)
}

/// Why an agent shall stop, and why that could not be delivered.
async fn stops<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (run, store) = (scene.run().await, &scene.store);
    let admission = Admission {
        reason: text.to_owned(),
        content: text_json(text),
        ..stop(&run, &run.id.to_string(), StopMode::Graceful)
    };
    let admitted = scene.admitted(admission.clone()).await;
    let failed = store.fail_delivery(admitted.id, None, text.to_owned());
    let failed = failed.await.unwrap();
    let read = scene.interrupt(admitted.id).await;
    assert_eq!(read, failed);
    Ok(read.askings()[0].reason == text && read.content == admission.content)
}

/// What an agent asks, what its request is, and what is answered.
async fn questions<S: Store>(scene: &Scene<S>, text: &str) -> Outcome {
    let (run, store) = (scene.run().await, &scene.store);
    let asked = Admission {
        reason: text.to_owned(),
        content: text_json(text),
        ..question(&run, run.id.to_string())
    };
    let admitted = scene.admitted(asked).await;
    let delivered = store.deliver(admitted.id, delivery("worker", 60)).await;
    let evidence = Evidence::Request {
        content: text_json(text),
        form: None,
    };
    let epoch = delivered.unwrap().epoch;
    let acknowledged = store.acknowledge(admitted.id, epoch, evidence).await;
    acknowledged.unwrap();
    let open = store.require_review(admitted.id, epoch, shown());
    let open = open.await.unwrap();
    let answer = Choosing {
        content: Some(text_json(text)),
        ..choosing(None)
    };
    store.decide(open.id, person(&open), answer).await.unwrap();
    let read = scene.interrupt(open.id).await;
    let decided = read.decision.as_ref().unwrap().content.clone();
    Ok(read.reason == text && read.content == text_json(text) && decided == Some(text_json(text)))
}

/// All writes that carry a text, each by its name.
async fn outcomes<S: Store>(scene: &Scene<S>) -> Vec<(&'static str, usize, Outcome)> {
    let mut found = Vec::new();
    for (number, text) in texts().iter().enumerate() {
        let outcomes = [
            ("names", names(scene, text).await),
            ("checkpoint", checkpoint(scene, text).await),
            ("end", end(scene, text).await),
            ("journal", journal(scene, text).await),
            ("agents", agents(scene, text).await),
            ("stops", stops(scene, text).await),
            ("questions", questions(scene, text).await),
        ];
        let outcomes = outcomes.into_iter();
        found.extend(outcomes.map(|(name, outcome)| (name, number, outcome)));
    }
    found
}

pub(crate) async fn any_text_is_kept_as_it_is_or_refused_as_everywhere<S: Store>(scene: Scene<S>) {
    let found = outcomes(&scene).await;
    for (write, text, outcome) in &found {
        let is_fine = matches!(outcome, Ok(true) | Err(StoreError::InvalidValue { .. }));
        assert!(is_fine, "{write} of {:?}: {outcome:?}", texts()[*text]);
        // A run's own name and a checkpoint are columns of their own; all else is kept whatever it is.
        assert!(
            outcome.is_ok() || ["names", "checkpoint"].contains(write),
            "{write} of {:?}: {outcome:?}",
            texts()[*text]
        );
    }
    let here: Scene<MemoryStore> = Scene::in_memory();
    assert_eq!(found, outcomes(&here).await);
    scene.store.verify_audit().await.unwrap();
}

/// An id of an event may be any text: one that no store has is not there, and nothing has failed.
pub(crate) async fn what_has_any_text_as_its_name_is_looked_for_and_not_found<S: Store>(
    scene: Scene<S>,
) {
    for name in ["a\0b", "\u{ffff}", "'"] {
        assert_eq!(scene.store.reroute(&event(name)).await, Ok(None));
        assert_eq!(scene.store.run_of(name).await, Ok(None));
    }
}
