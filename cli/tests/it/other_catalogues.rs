//! Resuming runs that another version of the workflow began: refused, and with `--accept-catalogue` continued with open
//! questions asked again.

use std::path::Path;

use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Actor, Role};
use interrupts::store::{Catalogues, Delivery, Interrupts, Runs};
use jiff::SignedDuration;
use serde_json::{Value, json};
use store::{SqliteStore, StoreSettings};

use crate::other_forms::waiting;
use crate::place::Place;
use crate::seed::actor;
use crate::served::Served;

/// Changes the run as if another program had begun it, with other schemas.
fn as_begun_by_another(store: &Path, run: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(store.to_owned(), StoreSettings::default());
        let store = store.await.unwrap();
        let run: RunId = run.parse().unwrap();
        let delivery = Delivery {
            owner: OwnerName::new("another-program").unwrap(),
            lease: SignedDuration::from_secs(30),
            lost: None,
        };
        let owned = store.own_run(run, delivery).await.unwrap();
        let ours = store.catalogue(owned.catalogue.unwrap()).await.unwrap();
        let mut theirs = serde_json::to_value(&*ours.unwrap()).unwrap();
        for kind in theirs["kinds"].as_array_mut().unwrap() {
            kind["asks"] = json!([
                "HUMAN_REVIEW",
                "AGENT_REVIEW",
                "PAUSE",
                "STOP",
                "BRANCH",
                "PRUNE"
            ]);
            kind["request"] =
                json!({"type": "object", "required": ["reason"], "maxProperties": 90});
        }
        for route in theirs["routes"].as_array_mut().unwrap() {
            route["schema"]["maxProperties"] = 90.into();
        }
        let theirs: Catalogue = serde_json::from_value(theirs).unwrap();
        let theirs = SharedCatalogue::new(theirs);
        let by = Actor {
            role: Role::Supervisor,
            ..actor("ann")
        };
        let follow = store.follow_catalogue(run, owned.epoch, theirs, Some(by));
        follow.await.unwrap();
        store.release_run(run, owned.epoch).await.unwrap();
    });
}

fn open_question(place: &Place, run: &str) -> Value {
    let open = place.end(&["review", "--json"]).exits_with(0);
    let mut open = crate::program::lines(&open.output);
    assert_eq!(open.len(), 1, "{run}: {open:?}");
    open.remove(0)
}

fn catalogue_of(store: &Path, question: &Value) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(store.to_owned(), StoreSettings::default());
        let store = store.await.unwrap();
        let id = question["id"].as_str().unwrap().parse().unwrap();
        let row = store.interrupt(id).await.unwrap().unwrap();
        row.catalogue.unwrap().to_string()
    })
}

#[test]
fn a_run_of_another_program_goes_on_where_that_is_accepted_and_asks_its_question_again() {
    for workflow in ["agents", "plan-execute"] {
        let place = Place::new();
        let (run, _checkpoint) = waiting(&place, workflow);
        let ours = catalogue_of(&place.store(), &open_question(&place, &run));
        as_begun_by_another(&place.store(), &run);
        let before = open_question(&place, &run);
        if workflow == "agents" {
            assert_ne!(catalogue_of(&place.store(), &before), ours);
        }

        let refused = place.end(&["resume", &run, "--no-input"]);
        assert_ne!(refused.code, Some(0));
        let refused = refused.says("has changed at /kinds/");
        refused.says("--accept-catalogue");

        let resume = ["resume", &run, "--accept-catalogue", "--no-input"];
        place.end(&resume).exits_with(5);
        let again = open_question(&place, &run);
        assert_eq!(again["id"], before["id"]);
        assert!(again["version"].as_u64() > before["version"].as_u64());
        assert_eq!(catalogue_of(&place.store(), &again), ours);
        let history = place.end(&["history", "--run", &run]).exits_with(0);
        let accepted = "has accepted that /kinds/0/";
        assert!(history.output.contains(accepted), "{}", history.output);

        let id = again["id"].as_str().unwrap();
        place
            .end(&["review", id, "--decision", "approve", "--message", "yes"])
            .exits_with(0);
        place.end(&["resume", &run, "--no-input"]).exits_with(0);
        assert_eq!(place.runs()[0]["state"], "completed", "{workflow}");
        place.end(&["history", "--verify"]).exits_with(0);
    }
}

#[test]
fn a_server_lets_it_go_on_too_and_has_the_question_answered() {
    let place = Place::new();
    let (run, _checkpoint) = waiting(&place, "agents");
    let ours = catalogue_of(&place.store(), &open_question(&place, &run));
    as_begun_by_another(&place.store(), &run);
    let served = Served::over(&place.store());
    let resume = ["resume", &run, "--accept-catalogue", "--detach"];
    served.end(&resume).exits_with(0);
    let again = open_question(&place, &run);
    assert_eq!(catalogue_of(&place.store(), &again), ours);
    let id = again["id"].as_str().unwrap();
    served
        .end(&["review", id, "--decision", "approve", "--message", "yes"])
        .exits_with(0);
    crate::program::until("the run completes", || {
        place.runs()[0]["state"] == "completed"
    });
}

#[test]
fn nothing_is_accepted_for_a_run_that_is_executed() {
    let place = Place::new();
    let mut child = crate::program::spawn(&mut place.run(&["--pace", "200"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    let resume = ["resume", &run, "--accept-catalogue", "--no-input"];
    assert_ne!(place.end(&resume).code, Some(0));
    child.kill().unwrap();
    child.wait().unwrap();
}
