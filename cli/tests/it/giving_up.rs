//! What a person decides about a run that is paused happens: it ends, it reads what was said, or the decision is
//! refused.

use std::process::Command;

use interrupt_router::DecisionId;
use interrupts::Digest;
use interrupts::life::{Choosing, Interrupt, Judge, ReviewChange, State, Verdict};
use interrupts::store::{Filter, Interrupts, Page};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::{SqliteStore, StoreSettings};
use tokio::runtime::Runtime;

use crate::place::Place;
use crate::program::{end, interrupt, lines, script, spawn};
use crate::seed::actor;

/// A run that was stopped after its first step by Ctrl+C, and the id of its pause.
fn paused(place: &Place, workflow: &[&str]) -> (String, String) {
    let child = spawn(place.run(&["--pace", "100"]).args(workflow));
    place.wait_for_steps(1);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{stopped:?}");
    (place.only_run(), only_open(place))
}

/// A run that waits on the pause of its first agent, and the id of that.
fn paused_by_its_agent(place: &Place) -> (String, String) {
    let script = script(place.keeping.path(), &json!([interrupt("PAUSE")]));
    let mut command: Command = place.run(&["--script"]);
    end(command.arg(script)).exits_with(5);
    (place.only_run(), only_open(place))
}

fn only_open(place: &Place) -> String {
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open.len(), 1, "{open:#?}");
    open[0]["id"].as_str().unwrap().to_owned()
}

/// Decides as a process does that ends right after it: nothing but the decision is there.
fn only_decide(place: &Place, pause: &str, verdict: Verdict) {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(place.store(), StoreSettings::default())
            .await
            .unwrap();
        let filter = Filter::default();
        let page = Page {
            after: 0,
            limit: 10,
        };
        let all = store.interrupts(&filter, page).await.unwrap();
        let shown: Interrupt = all
            .into_iter()
            .map(|(_position, it)| it)
            .find(|it| it.id.to_string() == pause)
            .unwrap();
        let judge = Judge::Person {
            actor: actor("ada"),
            version: shown.version,
            shown: shown.review.as_ref().map_or(Digest::ZERO, |it| it.shown),
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict,
            target: None,
            content: None,
        };
        let decided = store.decide(shown.id, judge, choosing).await.unwrap();
        assert_eq!(decided.state, State::Resolved);
        store.close().await.unwrap();
    });
}

/// Somebody else claims a pause for some minutes, and is gone.
fn claimed_by_bob(place: &Place, pause: &str) {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(place.store(), StoreSettings::default())
            .await
            .unwrap();
        let shown = store.interrupt(pause.parse().unwrap()).await.unwrap();
        let shown = shown.unwrap();
        let until = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
        let claim = ReviewChange::Claim { until };
        let claimed = store.review(shown.id, actor("bob"), shown.version, claim);
        claimed.await.unwrap();
        store.close().await.unwrap();
    });
}

#[test]
fn a_run_whose_pause_somebody_has_claimed_is_left_to_him() {
    let place = Place::new();
    let (run, pause) = paused(&place, &[]);
    claimed_by_bob(&place, &pause);
    let left = place.end(&["resume", &run, "--no-input"]).exits_with(4);
    let words = format!("bob has claimed what holds {run} until");
    assert!(left.error_output.contains(&words), "{left:#?}");
    let way = format!("irq review --run {run}");
    assert!(left.error_output.contains(&way), "{left:#?}");
}

/// The dispatches of decisions in the journal: how many were begun, and how many have happened.
fn dispatches(place: &Place, run: &str) -> (usize, usize) {
    let journal = place.journal(run);
    let count = |what: &str| {
        let is_it = |it: &&Value| it["kind"] == "dispatch" && it["what"] == what;
        journal.iter().filter(is_it).count()
    };
    (count("effect_begun"), count("effect_finished"))
}

fn is_over(place: &Place, run: &str) {
    let shown = &place.runs()[0];
    assert_eq!(shown["state"], "cancelled", "{shown:#}");
    for agent in shown["agents"].as_array().unwrap() {
        let status = agent["status"].as_str().unwrap();
        assert!(["cancelled", "completed"].contains(&status), "{shown:#}");
    }
    assert_eq!(dispatches(place, run), (1, 1));
    assert_eq!(place.end(&["review", "--json"]).exits_with(0).output, "");
    place.end(&["history", "--verify"]).exits_with(0);
    place.end(&["resume", run]).exits_with(4).says("has ended");
}

/// A paused run with its pause, which its agent has asked for or a person.
fn paused_by(place: &Place, its_agent: bool) -> (String, String) {
    if its_agent {
        paused_by_its_agent(place)
    } else {
        paused(place, &[])
    }
}

#[test]
fn a_paused_run_that_is_cancelled_has_ended_at_once() {
    for by_its_agent in [false, true] {
        let place = Place::new();
        let (run, pause) = paused_by(&place, by_its_agent);
        let calls = place.told(&run, "model_call").len();
        let cancel = [
            "review",
            &pause,
            "--decision",
            "cancel",
            "--message",
            "no more bread",
        ];
        let told = place.end(&cancel).exits_with(0).output;
        assert!(told.contains(&format!("{run} is cancelled.")), "{told}");
        is_over(&place, &run);
        assert_eq!(place.told(&run, "model_call").len(), calls);
        let why = place.runs()[0]["reason"].to_string();
        assert!(why.contains("no more bread"), "{why}");
    }
}

#[test]
fn whoever_goes_on_with_a_run_that_was_cancelled_ends_it_before_any_step() {
    for by_its_agent in [false, true] {
        let place = Place::new();
        let (run, pause) = paused_by(&place, by_its_agent);
        let calls = place.told(&run, "model_call").len();
        only_decide(&place, &pause, Verdict::Cancel);
        let resumed = place.end(&["resume", &run, "--no-input"]).exits_with(6);
        assert!(
            resumed.error_output.contains("ada cancelled it"),
            "{resumed:#?}"
        );
        is_over(&place, &run);
        assert_eq!(place.told(&run, "model_call").len(), calls);
    }
}

#[test]
fn a_plan_that_is_cancelled_is_recorded_as_cancelled_once_it_is() {
    let place = Place::new();
    let (run, pause) = paused(&place, &["--workflow", "plan-execute"]);
    let cancel = ["review", &pause, "--decision", "cancel"];
    let told = place.end(&cancel).exits_with(0).output;
    assert!(
        told.contains(&format!("It ends with: irq resume {run}")),
        "{told}"
    );
    assert_eq!(dispatches(&place, &run), (1, 0), "nobody has done it yet");
    place.end(&["resume", &run, "--no-input"]).exits_with(6);
    assert_eq!(place.runs()[0]["state"], "cancelled");
    assert_eq!(dispatches(&place, &run), (1, 1));
}

#[test]
fn the_words_of_a_changed_plan_reach_the_agent_that_has_the_turn() {
    let place = Place::new();
    let (run, pause) = paused(&place, &[]);
    let modify = [
        "review",
        &pause,
        "--decision",
        "modify_plan",
        "--message",
        "Bake rye first",
    ];
    place.end(&modify).exits_with(0);
    let resumed = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    let told = resumed.events().into_iter().filter(|event| {
        event["type"] == "dev.irq.llm.call_started.v1"
            && event["data"]["reads"]
                .to_string()
                .contains("Bake rye first")
    });
    assert_eq!(told.count(), 1, "{resumed:#?}");
    let replayed = place.end(&["replay", &run, "--json"]).exits_with(0).output;
    assert!(replayed.contains("Bake rye first"), "{replayed}");
}

#[test]
fn a_pause_is_not_sent_elsewhere_and_says_how_its_agent_is() {
    for by_its_agent in [false, true] {
        let place = Place::new();
        let (_run, pause) = paused_by(&place, by_its_agent);
        let to = ["--to", "TICKET_ORCHESTRATOR"];
        for command in [
            &["review", &pause, "--decision", "reroute"][..],
            &["reroute", &pause],
        ] {
            let refused = place.end(&[command, &to].concat()).exits_with(2);
            let refused = refused.says("does not take `reroute`");
            assert!(
                refused.error_output.contains("irq reroute AGENT --to"),
                "{refused:#?}"
            );
        }
        let shown = place.end(&["review", &pause, "--json"]).exits_with(0);
        let shown: Value = serde_json::from_str(&shown.output).unwrap();
        assert_eq!(shown["state"], "awaiting_review");
        assert!(!shown["allowed_decisions"].to_string().contains("reroute"));
    }
}

/// What was begun in a run and has no result, with its kind.
fn unfinished(place: &Place, run: &str) -> Vec<Value> {
    let journal = place.journal(run);
    let effects = |what: &str| -> Vec<Value> {
        let of_it = journal.iter().filter(|it| it["what"] == what);
        of_it.cloned().collect()
    };
    let ended = effects("effect_finished");
    let has_ended = |begun: &Value| ended.iter().any(|it| it["effect"] == begun["effect"]);
    let mut begun = effects("effect_begun");
    begun.retain(|it| !has_ended(it));
    begun
}

#[test]
fn what_a_run_had_begun_is_left_out_where_a_command_ends_it_and_waits_where_one_pauses_it() {
    for workflow in [&[][..], &["--workflow", "plan-execute"]] {
        let place = Place::new();
        let mut child = spawn(place.run(&["--pace", "60"]).args(workflow));
        place.wait_for_call();
        child.kill().unwrap();
        child.wait().unwrap();
        let run = place.only_run();
        place.end(&["interrupt", &run, "--wait"]).exits_with(0);
        assert!(!unfinished(&place, &run).is_empty(), "it can go on");
        place
            .end(&["interrupt", &run, "--type", "STOP", "--wait"])
            .exits_with(0);
        assert_eq!(place.runs()[0]["state"], "cancelled");
        let left = unfinished(&place, &run);
        assert!(left.is_empty(), "{workflow:?}: {left:#?}");
    }
}
