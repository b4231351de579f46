//! Checkpoints of which the program does not read all, of another version or damaged: nothing goes on from them.

use std::path::Path;

use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::store::{CheckpointDraft, Checkpoints, Delivery, Runs};
use jiff::SignedDuration;
use serde_json::{Value, json};
use store::{SqliteStore, StoreSettings};

use crate::place::Place;
use crate::program::script;
use crate::served::Served;

const CONFLICT: i32 = 4;

/// Gives a run one more checkpoint.
fn save(store: &Path, run: &str, form: u32, content: Option<&str>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(store.to_owned(), StoreSettings::default());
        let store = store.await.unwrap();
        let run: RunId = run.parse().unwrap();
        let last = store.last_checkpoint(run).await.unwrap().unwrap();
        let delivery = Delivery {
            owner: OwnerName::new("another-version").unwrap(),
            lease: SignedDuration::from_secs(30),
            lost: None,
        };
        let owned = store.own_run(run, delivery).await.unwrap();
        let draft = CheckpointDraft {
            run,
            epoch: owned.epoch,
            parent: Some(last.id),
            form,
            content: content.map_or(last.content, str::to_owned),
            intents: Vec::new(),
            pending: Vec::new(),
        };
        store.save(draft).await.unwrap();
        store.release_run(run, owned.epoch).await.unwrap();
    });
}

/// A run that waits for an answer, and the number of its last checkpoint.
pub(crate) fn waiting(place: &Place, workflow: &str) -> (String, u64) {
    let agent = match workflow {
        "agents" => "PLANNING_ORCHESTRATOR",
        _ => "EXECUTOR",
    };
    let turn = if workflow == "agents" { 1 } else { 2 };
    let question = json!([{"agent": agent, "turn": turn, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which way?", "choices": [],
        "confirmationItems": [], "contextForDecision": "two ways"}}]);
    let script = script(place.folder.path(), &question);
    let arguments = ["--workflow", workflow, "--script", script.to_str().unwrap()];
    place.end_of_run(&arguments).exits_with(5);
    let run = place.only_run();
    let numbers = place.end(&["checkpoints", &run, "--json"]).exits_with(0);
    let numbers = crate::program::lines(&numbers.output).into_iter();
    let last = numbers.map(|it| it["number"].as_u64().unwrap()).max();
    (run, last.unwrap())
}

fn stands(place: &Place) -> (Value, Value) {
    let row = place.runs().remove(0);
    (row["state"].clone(), row["reason"].clone())
}

#[test]
fn nothing_goes_on_from_a_checkpoint_of_another_form_or_a_damaged_one() {
    for workflow in ["agents", "plan-execute"] {
        for (form, content, why) in [(99, None, "form 99"), (1, Some("{}"), "missing field")] {
            let place = Place::new();
            let (run, whole) = waiting(&place, workflow);
            save(&place.store(), &run, form, content);
            let before = stands(&place);
            let said = ["--message", "mind the oven"];
            for command in ["fork", "resume"] {
                for words in [&[][..], &said[..]] {
                    let mut command = place.irq(&[command, &run, "--no-input"]);
                    let refused = crate::program::end(command.args(words));
                    refused.exits_with(CONFLICT).says(why).says("--at N");
                }
            }
            assert_eq!(place.runs().len(), 1, "{workflow}: nothing was forked off");
            assert_eq!(stands(&place), before, "{workflow}");
            // Those before it are whole.
            let at = whole.to_string();
            let fork = place.end(&["fork", &run, "--at", &at, "--no-input"]);
            fork.exits_with(5);
            assert_eq!(place.runs().len(), 2);
        }
    }
}

#[test]
fn a_server_forks_nothing_off_at_such_a_checkpoint_and_says_why() {
    let place = Place::new();
    let (run, _whole) = waiting(&place, "agents");
    save(&place.store(), &run, 99, None);
    let served = Served::over(&place.store());
    for command in ["fork", "resume"] {
        let refused = served.end(&[command, &run, "--message", "mind the oven"]);
        refused.exits_with(CONFLICT).says("form 99");
    }
    assert_eq!(place.runs().len(), 1, "nothing was forked off");
    assert_eq!(stands(&place).0, "waiting");
    // Nor is a pause lifted that would have to be asked for again.
    place.end(&["interrupt", &run]).exits_with(0);
    served
        .end(&["resume", &run])
        .exits_with(CONFLICT)
        .says("form 99");
    assert_eq!(stands(&place).0, "paused");
    let open = place.end(&["review", "--json"]).exits_with(0).output;
    assert!(open.contains("\"PAUSE\""), "{open}");
}
