//! Tickets of a queue of the desk's own, worked on by processes of its own.

use std::fs;
use std::process::{Child, Command};

use interrupt_router::RunId;

use crate::program::{PAID, Place, TICKET, open_question};

/// A process that takes tickets. It dies with the test.
struct Worker(Child);

impl Worker {
    fn start(place: &Place, log: &str) -> Self {
        let log = fs::File::create(place.path(log)).unwrap();
        let worker = Command::new(env!("CARGO_BIN_EXE_desk-queue"))
            .args([place.store.as_ref(), place.path("tickets").as_os_str()])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        Self(worker.unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_ticket_leaves_the_queue_once_it_is_done_however_its_workers_die() {
    let place = Place::new();
    let (run, tickets) = (RunId::generate(), place.path("tickets"));
    let ticket = tickets.join(format!("{run}.json"));
    fs::create_dir(&tickets).unwrap();
    fs::write(&ticket, TICKET).unwrap();

    let first = Worker::start(&place, "first.log");
    place.once(|run| run["state"] == "running");
    drop(first);
    let second = Worker::start(&place, "second.log");
    let row = place.once(|run| open_question(run).is_some());
    assert_eq!(row["id"], run.to_string());
    place.send_to_refunds(open_question(&row).unwrap());
    place.once(|run| run["state"] == "completed");
    place.until("the ticket is gone", || !ticket.exists());
    drop(second);
    let told = fs::read_to_string(place.path("second.log")).unwrap();
    assert_eq!(told.matches(PAID).count(), 1, "{told}");
    assert!(told.contains("paid back 1700 cents"), "{told}");
}
