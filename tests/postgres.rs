//! The PostgreSQL server that the tests have: `tests/postgres/with` starts one.

mod server;

use interrupt_router::RunId;

pub use server::Server;

/// The address of a store that no other test has, in a schema of its own; none where the tests have no server.
///
/// # Panics
///
/// Where there is none, and every proof has to be made (`PROVE_ALL`).
pub fn own_store() -> Option<String> {
    let Ok(server) = std::env::var("IRQ_TEST_POSTGRES") else {
        assert!(
            std::env::var_os("PROVE_ALL").is_none(),
            "IRQ_TEST_POSTGRES names no server; `tests/postgres/with` starts one"
        );
        eprintln!("nothing was tested: IRQ_TEST_POSTGRES names no server");
        return None;
    };
    Some(format!("{server}?schema={}", RunId::generate()))
}

/// Whether tests that need a store of any kind have theirs in PostgreSQL: the same proofs, of another store.
pub fn is_asked_for() -> bool {
    std::env::var("IRQ_TEST_IN").is_ok_and(|it| it == "postgres")
}
