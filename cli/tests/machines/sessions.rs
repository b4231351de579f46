//! What the database still keeps of a machine that was cut off from it.

use std::time::{Duration, Instant, SystemTime};

use tokio_postgres::NoTls;

use crate::installation::Installation;
use crate::machine::Machine;

/// How long the database may keep a session of which it hears nothing, beside the time that its machine was cut off.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the database has ended all sessions that a machine had before it was cut off, and has given up since. It
/// gave them up without a word that arrived, and each of them takes the place of another one. One that nothing was sent
/// on meanwhile may have lived through it: the machine still has its end of that.
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
    let kept = "SELECT client_port, concat_ws(' ', state, wait_event_type, wait_event, state_change, query) \
                FROM pg_stat_activity WHERE client_addr = $1 AND backend_start < $2";
    let end = Instant::now() + PATIENCE;
    loop {
        let rows = client.query(kept, &[&address, &cut_off]).await.unwrap();
        let sessions = rows.iter().map(|row| (row.get(0), row.get(1)));
        let has = machine.connected_ports();
        let left: Vec<(i32, String)> = sessions
            .filter(|(port, _)| !u16::try_from(*port).is_ok_and(|port| has.contains(&port)))
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(
            Instant::now() < end,
            "the database keeps sessions that {} has given up, at its ports {left:#?}; it has {has:?}",
            machine.name
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
