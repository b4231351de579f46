//! Catalogues: versions, and what runs and interrupts are raised under.

use interrupt_router::{DecisionId, RunId};
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Admission, Choosing, Judge, Refusal, Role, Verdict};
use interrupts::store::{
    AuditSubject, ChangeError, CheckpointDraft, FollowError, NewRun, Run, RunError, Store,
};
use interrupts::{KindName, RouteName};
use serde_json::{Value, json};

use crate::scene::{ALL, Scene, actor, question};

/// What is changed of a catalogue.
type Change = fn(&mut Value);

/// A desk with one route, whose request has a topic of a type.
fn desk(topic: &Value) -> Value {
    json!({
        "name": "desk",
        "record": "DeskRouting",
        "kinds": [
            {"name": "ORCHESTRATOR", "origin": "ORCHESTRATOR", "asks": ["HUMAN_REVIEW"]},
            {"name": "CLERK", "origin": "ORCHESTRATOR"},
        ],
        "routes": [route("ORCHESTRATOR", topic)],
    })
}

fn route(name: &str, topic: &Value) -> Value {
    let field = name.to_lowercase();
    json!({
        "name": name, "field": field, "request": "Matter", "description": "Whatever it is.",
        "schema": {"type": "object", "required": [field], "properties": {
            (&*field): {"type": "object", "properties": {"description": topic}}}},
    })
}

fn catalogue(value: Value) -> SharedCatalogue {
    SharedCatalogue::new(serde_json::from_value::<Catalogue>(value).unwrap())
}

fn usual() -> SharedCatalogue {
    catalogue(desk(&json!({"type": "string"})))
}

pub(crate) async fn a_catalogue_that_says_the_same_is_the_same_version<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let first = store.keep_catalogue(usual()).await.unwrap();
    let again = store.keep_catalogue(usual()).await.unwrap();
    assert_eq!((first.version, &again), (1, &first));
    let mut other = desk(&json!({"type": "string"}));
    other["name"] = "another".into();
    let of_another = store.keep_catalogue(catalogue(other)).await.unwrap();
    assert_eq!(
        of_another.version, 1,
        "each workflow has versions of its own"
    );
    let changed = catalogue(desk(&json!({"type": "integer"})));
    let second = store
        .keep_catalogue(SharedCatalogue::clone(&changed))
        .await
        .unwrap();
    assert_eq!(second.version, 2);
    let read = store.catalogue(second.digest).await.unwrap().unwrap();
    assert_eq!(read, changed);
    let all = store.catalogues().await.unwrap();
    assert_eq!(all, [first, of_another, second]);
    let unknown = interrupts::Digest::of(b"nothing");
    assert_eq!(store.catalogue(unknown).await.unwrap(), None);
    store.verify_audit().await.unwrap();
}

async fn follow<S: Store>(
    scene: &Scene<S>,
    run: &Run,
    catalogue: &SharedCatalogue,
) -> Result<Run, FollowError> {
    let catalogue = SharedCatalogue::clone(catalogue);
    scene
        .store
        .follow_catalogue(run.id, run.epoch, catalogue, None)
        .await
}

pub(crate) async fn what_a_run_raises_names_the_catalogue_that_it_went_on_under<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let before = scene.admitted(question(&run, "before")).await;
    assert_eq!(before.catalogue, None);
    let first = usual();
    let followed = follow(&scene, &run, &first).await.unwrap();
    assert_eq!(followed.catalogue, Some(first.digest()));
    assert_eq!(
        scene.store.run(run.id).await.unwrap(),
        Some(followed.clone())
    );
    let asked = scene.admitted(question(&run, "asked")).await;
    assert_eq!(asked.catalogue, Some(first.digest()));
    let raised = scene.awaiting(question(&run, "raised")).await;
    let again = follow(&scene, &run, &first).await.unwrap();
    assert_eq!(again, followed, "nothing has changed");
    let mut more = desk(&json!({"type": "string"}));
    more["routes"][0]["description"] = "In other words.".into();
    let more = catalogue(more);
    follow(&scene, &run, &more).await.unwrap();
    let later = scene.awaiting(question(&run, "later")).await;
    assert_eq!(later.catalogue, Some(more.digest()));
    assert_eq!(
        scene.interrupt(raised.id).await.catalogue,
        Some(first.digest())
    );
    scene.store.verify_audit().await.unwrap();
}

/// What the audit says of the catalogues of runs.
async fn told<S: Store>(scene: &Scene<S>) -> Vec<String> {
    let rows = scene.store.audit(ALL).await.unwrap();
    let told = rows
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Run { event, reason, .. } if event == "catalogue" => reason,
            _ => None,
        });
    told.collect()
}

pub(crate) async fn a_run_goes_on_under_a_catalogue_with_more_in_it_and_the_audit_says_what<
    S: Store,
>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let text = json!({"type": "string", "title": "topic"});
    let first = catalogue(desk(&text));
    follow(&scene, &run, &first).await.unwrap();
    let mut other_words =
        desk(&json!({"type": "string", "title": "matter", "description": "What."}));
    let words = catalogue(other_words.clone());
    follow(&scene, &run, &words).await.unwrap();
    other_words["kinds"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "LEGAL", "origin": "LEGAL"}));
    other_words["routes"]
        .as_array_mut()
        .unwrap()
        .push(route("LEGAL", &text));
    let more = catalogue(other_words);
    follow(&scene, &run, &more).await.unwrap();
    let expected = [
        format!("desk version 1, {}", first.digest()),
        format!(
            "desk version 2, {}; only texts are new in it",
            words.digest()
        ),
        format!(
            "desk version 3, {}; new in it: a kind LEGAL, a route LEGAL",
            more.digest()
        ),
    ];
    assert_eq!(told(&scene).await, expected);
}

pub(crate) async fn a_run_does_not_go_on_under_a_catalogue_that_says_something_else<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = usual();
    follow(&scene, &run, &first).await.unwrap();
    let topic = "/routes/0/schema/properties/orchestrator/properties/description";
    let changes: [(Change, &str); 6] = [
        (
            |it| it["kinds"][1]["origin"] = "CLERK".into(),
            "/kinds/1/origin",
        ),
        (|it| it["kinds"][1]["name"] = "CLERKS".into(), "/kinds/1"),
        (
            |it| it["kinds"][0]["asks"] = json!(["STOP"]),
            "/kinds/0/asks",
        ),
        (|it| it["record"] = "Other".into(), "/record"),
        (|it| it["name"] = "office".into(), "/name"),
        (
            |it| {
                it["routes"][0] = route("ORCHESTRATOR", &json!({"type": "string", "maxLength": 9}))
            },
            "",
        ),
    ];
    for (change, pointer) in changes {
        let mut changed = desk(&json!({"type": "string"}));
        change(&mut changed);
        let pointer = if pointer.is_empty() { topic } else { pointer };
        let refused = follow(&scene, &run, &catalogue(changed)).await.unwrap_err();
        let FollowError::Changed(change) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(change.pointer, pointer, "{change}");
    }
    // A property is none of the texts of a schema, whatever it is called.
    let number = catalogue(desk(&json!({"type": "integer"})));
    let refused = follow(&scene, &run, &number).await.unwrap_err();
    assert!(
        refused.to_string().contains(&format!("{topic}/type")),
        "{refused}"
    );
    let kept = scene.store.run(run.id).await.unwrap().unwrap();
    assert_eq!(kept.catalogue, Some(first.digest()));
    assert_eq!(scene.store.catalogues().await.unwrap().len(), 1);
}

pub(crate) async fn only_the_owner_of_a_run_says_what_it_goes_on_under<S: Store>(scene: Scene<S>) {
    let mut run = scene.run().await;
    run.epoch -= 1;
    let refused = follow(&scene, &run, &usual()).await.unwrap_err();
    let fenced = RunError::Fenced {
        given: 0,
        current: 1,
    };
    assert_eq!(refused, FollowError::Run(fenced));
    run.id = RunId::generate();
    let refused = follow(&scene, &run, &usual()).await.unwrap_err();
    assert_eq!(refused, FollowError::Run(RunError::Unknown { run: run.id }));
}

pub(crate) async fn a_fork_goes_on_under_the_catalogue_of_the_run_that_it_leaves<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = usual();
    follow(&scene, &run, &first).await.unwrap();
    let draft = CheckpointDraft {
        run: run.id,
        epoch: run.epoch,
        parent: None,
        form: 1,
        content: "{}".to_owned(),
        intents: Vec::new(),
        pending: Vec::new(),
    };
    let saved = scene.store.save(draft).await.unwrap();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let fork = scene.store.fork_run(saved.id, new).await.unwrap();
    assert_eq!(fork.catalogue, Some(first.digest()));
}

/// A desk with two routes; `topic` is the schema of the first.
fn two_routes(topic: &Value) -> Value {
    let mut desk = desk(topic);
    let legal = json!({"name": "LEGAL", "origin": "LEGAL", "asks": ["HUMAN_REVIEW"]});
    desk["kinds"].as_array_mut().unwrap().push(legal);
    let legal = route("LEGAL", &json!({"type": "string"}));
    desk["routes"].as_array_mut().unwrap().push(legal);
    desk
}

fn of(run: &Run, kind: &str, key: &str) -> Admission {
    let route = RouteName::new(kind).unwrap();
    Admission {
        kind: KindName::new(kind).unwrap(),
        origin: route.clone(),
        routes: vec![route],
        ..question(run, key)
    }
}

async fn accept<S: Store>(
    scene: &Scene<S>,
    run: &Run,
    catalogue: &SharedCatalogue,
    role: Role,
) -> Result<Run, FollowError> {
    let (catalogue, by) = (SharedCatalogue::clone(catalogue), Some(actor(role)));
    let store = &scene.store;
    store
        .follow_catalogue(run.id, run.epoch, catalogue, by)
        .await
}

pub(crate) async fn an_accepted_catalogue_asks_changed_questions_again<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let first = catalogue(two_routes(&json!({"type": "string"})));
    follow(&scene, &run, &first).await.unwrap();
    let asked = scene.awaiting(of(&run, "ORCHESTRATOR", "asked")).await;
    let admitted = scene.admitted(of(&run, "ORCHESTRATOR", "admitted")).await;
    let same = scene.awaiting(of(&run, "LEGAL", "same")).await;
    let other = catalogue(two_routes(&json!({"type": "integer"})));
    let accepted = accept(&scene, &run, &other, Role::Operator).await.unwrap();
    assert_eq!(accepted.catalogue, Some(other.digest()));
    let again = accept(&scene, &run, &other, Role::Operator).await;
    assert_eq!(again, Ok(accepted), "said again, nothing changes");
    for before in [&asked, &admitted] {
        let now = scene.interrupt(before.id).await;
        assert_eq!(now.catalogue, Some(other.digest()));
        assert_eq!((now.state, now.version), (before.state, before.version + 1));
    }
    let as_shown_before = Judge::Person {
        actor: actor(Role::Reviewer),
        version: asked.version + 1,
        shown: asked.review.unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Approve,
        target: None,
        content: None,
    };
    let refused = scene.store.decide(asked.id, as_shown_before, choosing);
    let differs = ChangeError::Refused(Refusal::ShownDiffers);
    assert_eq!(refused.await, Err(differs));
    let now = scene.interrupt(same.id).await;
    assert_eq!(now, same, "it is answered as before");
    let last = told(&scene).await.pop().unwrap();
    let change = "has accepted that /routes/0/schema/properties/orchestrator/properties/description/type has changed";
    assert!(last.contains(change), "{last}");
    scene.store.verify_audit().await.unwrap();
}

pub(crate) async fn a_catalogue_without_the_asker_or_its_origin_is_not_accepted<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = two_routes(&json!({"type": "string"}));
    follow(&scene, &run, &catalogue(first.clone()))
        .await
        .unwrap();
    let asked = scene.awaiting(of(&run, "ORCHESTRATOR", "asked")).await;
    let mut without = first.clone();
    without["kinds"][0]["name"] = "CHIEF".into();
    let refused = accept(&scene, &run, &catalogue(without), Role::Operator).await;
    let by = format!("{} was asked by ORCHESTRATOR", asked.id);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains(&by), "{told}");
    let mut renamed = first;
    renamed["routes"][0]["name"] = "CHIEF".into();
    renamed["kinds"][0]["origin"] = "CHIEF".into();
    renamed["kinds"][1]["origin"] = "CHIEF".into();
    let refused = accept(&scene, &run, &catalogue(renamed), Role::Operator).await;
    let goes = format!("the answer to {} goes to ORCHESTRATOR", asked.id);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains(&goes), "{told}");
    let other = catalogue(two_routes(&json!({"type": "integer"})));
    let refused = accept(&scene, &run, &other, Role::Reviewer).await;
    assert!(
        matches!(refused, Err(FollowError::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(scene.interrupt(asked.id).await, asked);
}
