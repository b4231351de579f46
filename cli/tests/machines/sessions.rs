//! What the database still keeps of a machine that was cut off from it.

use std::time::{Duration, Instant, SystemTime};

use tokio_postgres::NoTls;

use crate::installation::Installation;
use crate::machine::Machine;

/// How long the database may keep a session of which it hears nothing, beside the time that its machine was cut off.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the database has ended all sessions that a machine had before it was cut off. The machine has given them up
/// without a word that arrived, and each of them takes the place of another one.
///
/// # Panics
///
/// Where the database keeps one for too long.
pub(crate) async fn no_session_is_left(
    installation: &Installation,
    machine: &Machine,
    cut_off: SystemTime,
) {
    // Where machines share an address, their links end the sessions.
    let Some(address) = installation.ways.address_of(machine.number) else {
        return;
    };
    let location = installation.database.lock().unwrap().address();
    let (client, connection) = tokio_postgres::connect(&location, NoTls).await.unwrap();
    let _connected = tokio::spawn(connection);
    let left = "SELECT concat_ws(' ', state, wait_event, state_change, query) \
                FROM pg_stat_activity WHERE client_addr = $1 AND backend_start < $2";
    let end = Instant::now() + PATIENCE;
    loop {
        let rows = client.query(left, &[&address, &cut_off]).await.unwrap();
        if rows.is_empty() {
            return;
        }
        let left: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(
            Instant::now() < end,
            "the database keeps sessions of {}: {left:#?}",
            machine.name
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
