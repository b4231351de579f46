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
/// Where it keeps one for too long.
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
    let left =
        "SELECT count(*) FROM pg_stat_activity WHERE client_addr = $1 AND backend_start < $2";
    let end = Instant::now() + PATIENCE;
    loop {
        let row = client.query_one(left, &[&address, &cut_off]).await.unwrap();
        let left: i64 = row.get(0);
        if left == 0 {
            return;
        }
        assert!(
            Instant::now() < end,
            "the database keeps {left} sessions of {}",
            machine.name
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
