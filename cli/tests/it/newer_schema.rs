//! A server that goes on while a newer program has changed the schema of its store.

use serde_json::Value;

use crate::place::Place;
use crate::served::Served;

/// What a server answers to a request without a token.
fn asked(served: &Served, path: &str) -> (u16, Value) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let told = tls::get(format!("{}{path}", served.url)).await.unwrap();
        let status = told.status().as_u16();
        let text = told.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    })
}

#[test]
fn a_server_whose_store_belongs_to_a_newer_program_is_not_ready_and_says_what_helps() {
    let place = Place::new();
    let served = Served::paced(&place.store(), "150");
    assert_eq!(asked(&served, "/readyz").0, 200);
    let store = rusqlite::Connection::open(place.store()).unwrap();
    let known: i64 = store
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .unwrap();
    store
        .pragma_update(None, "user_version", known + 1)
        .unwrap();

    let (status, told) = asked(&served, "/readyz");
    assert_eq!(status, 503, "{told}");
    let helps = "start the newer program in place of this one";
    assert!(told.to_string().contains(helps), "{told}");
    let refused = served.end(&["run", "Describe the bakery", "--detach"]);
    assert_ne!(refused.code, Some(0), "{refused:#?}");
    assert!(refused.error_output.contains(helps), "{refused:#?}");

    // What can be read is read all the same, and the older schema is taken up again where it comes back.
    served.end(&["ps"]).exits_with(0);
    store.pragma_update(None, "user_version", known).unwrap();
    assert_eq!(asked(&served, "/readyz").0, 200);
}
