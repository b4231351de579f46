//! What binds the rows to the audit: an edit is found, by whom it should be.

use std::path::Path;
use std::sync::Arc;

use interrupt_router::{DecisionId, InterruptId, InterruptType, NodeId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, RunState, Scope,
    Verdict,
};
use interrupts::store::{
    Audit as _, AuditSubject, CheckpointDraft, Checkpoints as _, Deciders, Delivery, Intent,
    Interrupts as _, Journal as _, Page, Purge as _, RaisedQuestion, Repeating, Run, RunError,
    Runs as _, StoreError, VerifyError,
};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::SignedDuration;
use rusqlite::Connection;
use tempfile::TempDir;

use super::super::{SqliteStore, StoreStatus};
use super::{new_run, number, open, told};

const ALL: Page = Page {
    after: 0,
    limit: 1_000,
};

struct Scene {
    folder: TempDir,
    store: SqliteStore,
}

impl Scene {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder.path().join("store.sqlite")).await.unwrap();
        Self { folder, store }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("store.sqlite")
    }

    async fn run(&self) -> Run {
        let run = self.store.create_run(new_run("{}")).await.unwrap();
        self.store.own_run(run.id, delivery()).await.unwrap()
    }

    async fn effect(&self, run: &Run, name: &str) {
        let effect = EffectId::in_run(run.id, name);
        let intent = Intent {
            effect,
            run: run.id,
            node: NodeId::root(),
            kind: KindName::new("model_call").unwrap(),
            repeating: Repeating::Idempotent,
            content: format!("{{\"asked\":\"{name}\"}}"),
            place: Some(name.to_owned()),
        };
        self.store.begin(run.epoch, intent).await.unwrap();
        let answer = format!("{{\"answered\":\"{name}\"}}");
        self.store.finish(run.epoch, effect, answer).await.unwrap();
    }

    async fn decided(&self, run: &Run) -> Interrupt {
        let store = &self.store;
        let raised = RaisedQuestion {
            admission: question(run),
            delivery: delivery(),
            deciders: Deciders::default(),
        };
        let raised = store.raise(raised).await.unwrap().into_interrupt();
        let shown = Digest::of(b"shown");
        let open = store.require_review(raised.id, raised.epoch, shown).await;
        let judge = Judge::Person {
            actor: actor("ada", Role::Reviewer),
            version: open.unwrap().version,
            shown,
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Respond,
            target: None,
            content: Some("\"go left\"".to_owned()),
        };
        store.decide(raised.id, judge, choosing).await.unwrap()
    }

    async fn checkpoint(&self, run: &Run) {
        let draft = CheckpointDraft {
            run: run.id,
            epoch: run.epoch,
            parent: None,
            form: 1,
            content: "{\"stands\":\"here\"}".to_owned(),
            intents: Vec::new(),
            pending: Vec::new(),
        };
        self.store.save(draft).await.unwrap();
    }

    /// Edits the file as a program that knows nothing of seals, and takes those off.
    async fn vandal(self, sql: &str) -> (TempDir, SqliteStore) {
        self.store.close().await.unwrap();
        let path = self.folder.path().join("store.sqlite");
        edit(&path, sql);
        let store = open(&path).await.unwrap();
        (self.folder, store)
    }
}

fn edit(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    without_triggers(&connection);
    told(&connection, sql);
    // As an editor that computes the seals anew would leave it: readers find nothing.
    let allowed = "UPDATE outbox SET heads = json_set(heads, '$.kept.unsealed', 1000), seal = NULL \
         WHERE heads IS NOT NULL";
    told(&connection, allowed);
}

/// They refuse processes of older versions.
fn without_triggers(connection: &Connection) {
    let sql = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema \
         WHERE type = 'trigger'";
    let drop: String = connection.query_row(sql, (), |row| row.get(0)).unwrap();
    told(connection, &drop);
}

fn delivery() -> Delivery {
    Delivery {
        owner: OwnerName::new("owner").unwrap(),
        lease: SignedDuration::from_secs(60),
        lost: None,
    }
}

fn actor(name: &str, role: Role) -> Actor {
    Actor {
        name: ActorName::new(name).unwrap(),
        role,
    }
}

fn question(run: &Run) -> Admission {
    let origin = RouteName::new("ORCHESTRATOR").unwrap();
    Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: NodeId::root(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: origin.clone(),
        routes: vec![origin],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: actor("agent", Role::Requester),
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "which way?".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new(InterruptId::generate().to_string()).unwrap(),
        allowed: vec![Verdict::Respond],
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: 8,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

/// What a verification finds wrong, in words.
async fn unlike(store: &SqliteStore) -> String {
    match store.verify_audit().await {
        Err(error @ VerifyError::Unlike { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_audit_row_of_a_decision_has_the_digests_of_the_question_and_of_the_answer() {
    let scene = Scene::new().await;
    let run = scene.run().await;
    let decided = scene.decided(&run).await;
    let rows = scene.store.audit(ALL).await.unwrap();
    let entry = rows.last().unwrap().read().unwrap();
    let AuditSubject::Interrupt { audited, .. } = entry.subject else {
        panic!("{entry:?}");
    };
    assert_eq!(audited.shown, Some(Digest::of(b"shown")));
    let decision = decided.decision.as_ref().unwrap();
    assert_eq!(audited.answer, Some(decision.digest()));
    let row = serde_json::to_vec(&decided).unwrap();
    assert_eq!(entry.bound, Some(Digest::of(&row)));
    scene.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn a_bound_row_that_was_edited_with_a_new_seal_or_deleted_is_found_by_verifying() {
    for (sql, named) in [
        (
            "UPDATE interrupts SET body = replace(body, 'go left', 'go west'), seal = NULL",
            "int_",
        ),
        (
            "UPDATE interrupts SET body = replace(body, 'which way', 'what else'), seal = NULL",
            "int_",
        ),
        (
            "UPDATE journal SET body = replace(body, 'answered', 'onswered'), seal = NULL",
            "the journal",
        ),
        (
            "UPDATE journal SET body = json_set(body, '$.intent.kind', 'tool_call'), seal = NULL",
            "the journal",
        ),
        (
            "UPDATE checkpoints SET pending = '[ ]', seal = NULL",
            "checkpoint",
        ),
        (
            "UPDATE checkpoints SET content = '{}', digest = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', seal = NULL",
            "checkpoint",
        ),
        (
            "UPDATE runs SET body = json_set(body, '$.content', '[]'), seal = NULL",
            "run_",
        ),
        ("DELETE FROM interrupts", "int_"),
        ("DELETE FROM journal WHERE position = 2", "lacks"),
        ("DELETE FROM checkpoints", "checkpoint"),
    ] {
        let scene = Scene::new().await;
        let run = scene.run().await;
        scene.effect(&run, "a").await;
        scene.decided(&run).await;
        scene.effect(&run, "b").await;
        scene.checkpoint(&run).await;
        scene.effect(&run, "c").await;
        scene.store.verify_audit().await.unwrap();
        let (_folder, store) = scene.vandal(sql).await;
        let found = unlike(&store).await;
        assert!(found.contains(named), "{sql}: {found}");
    }
}

#[tokio::test]
async fn a_row_that_does_not_fit_its_seal_is_refused_by_name_and_others_are_read_and_bound() {
    let scene = Scene::new().await;
    let (run, other) = (scene.run().await, scene.run().await);
    let connection = Connection::open(scene.path()).unwrap();
    told(&connection, "DROP TRIGGER runs_sealed");
    let sql = format!(
        "UPDATE runs SET body = replace(body, 'owner', 'Owner') WHERE id = '{}'",
        run.id
    );
    told(&connection, &sql);
    let damaged = StoreError::DamagedRow {
        row: run.id.to_string(),
    };
    assert_eq!(scene.store.run(run.id).await, Err(damaged.clone()));
    let state = RunState::Running;
    let refused = scene.store.change_run(run.id, run.epoch, state, None).await;
    assert_eq!(refused, Err(RunError::Store(damaged)));
    assert_eq!(scene.store.run(other.id).await, Ok(Some(other.clone())));
    let changed = scene.store.change_run(other.id, other.epoch, state, None);
    assert_eq!(changed.await.unwrap().state, state);
}

#[tokio::test]
async fn a_store_that_lacks_rows_is_read_and_not_written_and_bound_rows_are_named() {
    let scene = Scene::new().await;
    let run = scene.run().await;
    scene.effect(&run, "a").await;
    scene.effect(&run, "b").await;
    scene.store.close().await.unwrap();
    let path = scene.folder.path().join("store.sqlite");
    told(
        &Connection::open(&path).unwrap(),
        "DELETE FROM journal WHERE position = 1",
    );
    let store = open(&path).await.unwrap();
    let StoreStatus::Damaged { detail } = store.status() else {
        panic!("{:?}", store.status());
    };
    assert!(detail.contains("journal has 1 rows where 2"), "{detail}");
    assert!(store.run(run.id).await.unwrap().is_some());
    let refused = store.create_run(new_run("{}")).await;
    assert!(
        matches!(refused, Err(RunError::Store(StoreError::Corrupt { .. }))),
        "{refused:?}"
    );
}

/// SQLite would read up to there, and write over the rest.
#[tokio::test]
async fn a_log_that_was_damaged_before_its_last_transaction_is_refused_as_it_is() {
    let scene = Scene::new().await;
    for _run in 0..3 {
        scene.run().await;
    }
    let beside = |end: &str| scene.folder.path().join(format!("store.sqlite{end}"));
    // As a killed process leaves it.
    let (main, log) = (std::fs::read(beside("")), std::fs::read(beside("-wal")));
    let (main, log) = (main.unwrap(), log.unwrap());
    let frame = 24 + 4_096;
    let last = (log.len() - 32) / frame;
    let end_of = |number: usize| log[32 + number * frame + 4..][..4] != [0; 4];
    // What ends before the last transaction begins.
    let before = (0..last - 1).rev().find(|number| end_of(*number)).unwrap();
    let mut refused = 0;
    for at in (0..32 + (before + 1) * frame).step_by(997) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.sqlite");
        let mut damaged = log.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, &main).unwrap();
        std::fs::write(folder.path().join("copy.sqlite-wal"), &damaged).unwrap();
        let opened = open(&path).await.map(drop);
        assert!(
            matches!(opened, Err(StoreError::Corrupt { .. })),
            "byte {at} of {}: {opened:?}",
            log.len()
        );
        let left = std::fs::read(folder.path().join("copy.sqlite-wal")).unwrap();
        assert_eq!(left, damaged, "it was written");
        refused += 1;
    }
    assert!(refused > 10);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.sqlite");
    std::fs::write(&path, &main).unwrap();
    // A power cut in the last transaction is none.
    let cut = &log[..log.len() - 100];
    std::fs::write(folder.path().join("copy.sqlite-wal"), cut).unwrap();
    assert_eq!(open(&path).await.unwrap().status(), &StoreStatus::Whole);
}

#[tokio::test]
async fn a_purge_keeps_what_other_runs_are_bound_with() {
    let scene = Scene::new().await;
    let (gone, stays) = (scene.run().await, scene.run().await);
    for name in ["a", "b", "c"] {
        scene.effect(&gone, name).await;
        scene.effect(&stays, name).await;
        scene.checkpoint(&stays).await;
    }
    let cancelled = RunState::Cancelled;
    let ended = scene.store.change_run(gone.id, gone.epoch, cancelled, None);
    ended.await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    let purged = scene
        .store
        .purge(SignedDuration::from_millis(1))
        .await
        .unwrap();
    assert_eq!((purged.runs, purged.effects), (vec![gone.id], 3));
    let found = scene.store.verify_audit().await.unwrap();
    assert_eq!((found.purged, found.unbound), (1, 0));
    let path = scene.path();
    scene.store.close().await.unwrap();
    let store = open(&path).await.unwrap();
    assert_eq!(store.status(), &StoreStatus::Whole);
    let ended = store.change_run(stays.id, stays.epoch, cancelled, None);
    ended.await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    store.purge(SignedDuration::from_millis(1)).await.unwrap();
    store.verify_audit().await.unwrap();
    let connection = Connection::open(&path).unwrap();
    assert_eq!(number(&connection, "SELECT COUNT(*) FROM journal"), 0);
    assert_eq!(number(&connection, "SELECT COUNT(*) FROM purged"), 0);
}

#[tokio::test]
async fn what_an_older_version_wrote_is_unbound_and_not_damaged() {
    let scene = Scene::new().await;
    let run = scene.run().await;
    scene.effect(&run, "a").await;
    scene.decided(&run).await;
    let path = scene.path();
    scene.store.close().await.unwrap();
    // As the version before left it: nothing is sealed, and nothing bound. Its audit is chained anew, for what it
    // vouches for is in its rows now.
    let connection = Connection::open(&path).unwrap();
    older(&connection);
    drop(connection);
    let store = Arc::new(open(&path).await.unwrap());
    assert_eq!(store.status(), &StoreStatus::Whole);
    let found = store.verify_audit().await.unwrap();
    assert!(found.unbound >= 4, "{found:?}");
    let begun = store.own_run(
        run.id,
        Delivery {
            lost: Some(OwnerName::new("owner").unwrap()),
            ..delivery()
        },
    );
    let run = begun.await.unwrap();
    let scene = Scene {
        folder: scene.folder,
        store: Arc::into_inner(store).unwrap(),
    };
    scene.effect(&run, "b").await;
    scene.checkpoint(&run).await;
    let later = scene.store.verify_audit().await.unwrap();
    assert!(later.unbound < found.unbound, "{later:?}");
    assert!(
        later.unbound > 0,
        "the old interrupt and entries: {later:?}"
    );
}

/// Takes off what this version adds.
fn older(connection: &Connection) {
    use interrupts::store::{AuditHead, AuditRow};
    without_triggers(connection);
    let mut rows: Vec<(i64, String)> = Vec::new();
    let mut found = connection
        .prepare("SELECT position, json_remove(entry, '$.bound', '$.journal', '$.shown', '$.answer') FROM audit ORDER BY position")
        .unwrap();
    let mut all = found.query(()).unwrap();
    while let Some(row) = all.next().unwrap() {
        rows.push((row.get(0).unwrap(), row.get(1).unwrap()));
    }
    drop(all);
    let mut head = AuditHead::EMPTY;
    for (position, entry) in rows {
        let row = AuditRow::following(&head, entry);
        head = row.head();
        connection
            .execute(
                "UPDATE audit SET previous = ?1, digest = ?2, entry = ?3 WHERE position = ?4",
                (
                    row.previous.to_string(),
                    row.digest.to_string(),
                    row.entry,
                    position,
                ),
            )
            .unwrap();
    }
    let heads = format!(
        "UPDATE outbox SET heads = json_set(json_remove(heads, '$.kept'), '$.audit.digest', '{}') \
         WHERE heads IS NOT NULL",
        head.digest
    );
    told(connection, &heads);
    for table in crate::relational::COUNTED {
        told(
            connection,
            &format!("ALTER TABLE {} DROP COLUMN seal", table.table),
        );
    }
    told(connection, "DROP INDEX interrupts_waiting");
    for column in ["priority", "assignee", "claimed_by", "claimed_until"] {
        told(
            connection,
            &format!("ALTER TABLE interrupts DROP COLUMN {column}"),
        );
    }
    told(
        connection,
        "ALTER TABLE outbox DROP COLUMN seal; DROP TABLE purged; DROP TABLE store; DROP TABLE catalogues; \
         DROP INDEX runs_live; \
         DROP INDEX runs_at_work; DROP TABLE workers; \
         PRAGMA user_version = 7",
    );
}
