//! Stores that are opened by where they are.

use interrupt_router::RunId;
use interrupts::store::{NewRun, StoreError};
use store::{LocationError, OpenError, StoreLocation, StoreSettings, open_any};

fn new_run() -> NewRun {
    NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    }
}

#[tokio::test]
async fn a_store_is_made_where_its_location_says_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/irq/irq.db");
    let location = StoreLocation::File(path.clone());
    let new = new_run();
    let store = location.open(StoreSettings::default()).await.unwrap();
    store.create_run(new.clone()).await.unwrap();
    let again = open_any(&location.to_string(), StoreSettings::default()).await;
    assert!(again.unwrap().run(new.id).await.unwrap().is_some());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
}

#[tokio::test]
async fn stores_in_memory_have_nothing_in_common() {
    let new = new_run();
    for _store in 0..2 {
        let store = open_any("memory:", StoreSettings::default()).await.unwrap();
        assert_eq!(store.run(new.id).await, Ok(None));
        store.create_run(new.clone()).await.unwrap();
    }
}

#[tokio::test]
async fn what_cannot_be_opened_says_why() {
    let settings = StoreSettings::default;
    let unknown = open_any("redis://localhost", settings()).await.map(drop);
    assert!(matches!(
        unknown,
        Err(OpenError::Location(LocationError::UnknownKind { .. }))
    ));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let below = StoreLocation::File(file.join("irq.db"));
    let refused = open_any(&below.to_string(), settings()).await.map(drop);
    let Err(OpenError::Store(StoreError::Unavailable { detail })) = refused else {
        panic!("{refused:?}");
    };
    assert!(detail.contains("irq.db"), "{detail}");
}
