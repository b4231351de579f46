//! Stops of an agent whose model works for the last time, or which has come to its end by then.

use std::collections::BTreeSet;
use std::process::Child;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use agents::catalogue;
use interrupt_router::model::Dialect;
use llm::{Pace, RehearsalConfig, RehearsalModel, Script};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, WireForm};

use crate::place::Place;
use crate::program::{Ended, end, lines, spawn};
use crate::wire_brain;

/// What is done once, and the program that it leaves.
type Act = dyn Fn(&Place) -> Option<Child> + Send + Sync;

/// What somebody does once, while the model of an agent works.
struct Meanwhile {
    place: Place,
    /// The record that the agent is asked for, and words of what it is told.
    during: (&'static str, &'static str),
    act: Box<Act>,
    acted: OnceLock<()>,
    /// Hears of the program that is left, once all is done.
    left: Mutex<Sender<Option<Child>>>,
}

impl Meanwhile {
    fn looks_at(&self, request: &Received) {
        let (record, words) = self.during;
        let asked = &request.body["response_format"]["json_schema"]["name"];
        if asked == record && request.text.contains(words) && self.acted.set(()).is_ok() {
            let left = (self.act)(&self.place);
            self.left.lock().unwrap().send(left).unwrap();
        }
    }
}

/// A run, while the model of one of its agents somebody does something; how it ended, and the program that was left.
async fn run(
    during: (&'static str, &'static str),
    act: impl Fn(&Place) -> Option<Child> + Send + Sync + 'static,
) -> (Arc<Meanwhile>, Ended, Option<Child>) {
    let script = Script::parse(
        r#"{"version": 1, "steps": []}"#,
        &catalogue::script_vocabulary(),
    );
    let model = RehearsalModel::new(RehearsalConfig {
        seed: 3,
        pace: Pace::Unlimited,
        facts: Vec::new(),
        script: Some(script.unwrap()),
    })
    .with_dialect(Dialect::OpenAiStrict);
    let (leaving, leaves) = channel();
    let meanwhile = Arc::new(Meanwhile {
        place: Place::new(),
        during,
        act: Box::new(act),
        acted: OnceLock::new(),
        left: Mutex::new(leaving),
    });
    let watching = Arc::clone(&meanwhile);
    let answering = move |request: &Received| {
        watching.looks_at(request);
        wire_brain::answer(&model, request)
    };
    let double = ProviderDouble::answering(WireForm::OpenAi, [Behaviour::Answers], answering);
    let double = double.await.unwrap();
    let mut command = meanwhile
        .place
        .run(&["--model", "openai:gpt-5-mini", "--base-url"]);
    command
        .arg(format!("{}/v1", double.address()))
        .env("OPENAI_API_KEY", RIGHT_KEY);
    let ending = tokio::task::spawn_blocking(move || {
        let ended = end(&mut command);
        (ended, leaves.recv_timeout(Duration::from_secs(60)))
    });
    let (ended, left) = ending.await.unwrap();
    let left = left.unwrap();
    (meanwhile, ended, left)
}

/// Asks for a stop and waits for it, in a program that is left to itself as soon as the run's owner has the request.
fn asks(place: &Place, agent: &str, kind: &str, mode: &str) -> Child {
    let address = format!("{}/{agent}", place.only_run());
    let child = spawn(&mut place.irq(&[
        "interrupt",
        &address,
        "--type",
        kind,
        "--mode",
        mode,
        "--wait",
        "--timeout",
        "10m",
    ]));
    // It is the only interrupt of the run, so what was taken is this one.
    let is_taken = || {
        let history = place.end(&["history", "--format", "ndjson"]).exits_with(0);
        history.output.contains("\"take\"")
    };
    let began = Instant::now();
    while !is_taken() {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody takes it");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

const WORKER: &str = "orchestrator/discovery/dispatch/worker-1";
const COLLECTOR: &str = "orchestrator/discovery/collector";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_stops_an_agent_gracefully_at_its_last_step_is_told_when_it_leaves() {
    for (agent, during) in [
        (WORKER, ("DiscoveryAgentRouting", WORKER)),
        (COLLECTOR, ("DiscoveryCollectorRouting", "")),
    ] {
        for kind in ["PAUSE", "STOP", "BRANCH"] {
            let asking = move |place: &Place| Some(asks(place, agent, kind, "graceful"));
            let (meanwhile, ended, left) = run(during, asking).await;
            ended.exits_with(0);
            let told: Ended = left.unwrap().wait_with_output().unwrap().into();
            let told = told
                .exits_with(4)
                .says("came too late")
                .says("`--mode immediate` stops within a step")
                .says("is completed");
            let id = told.output.split(' ').next().unwrap().to_owned();
            let place = &meanwhile.place;
            let row = lines(&place.end(&["review", &id, "--json"]).exits_with(0).output).remove(0);
            assert_eq!(row["state"], "cancelled", "{kind} of {agent}: {row:#}");
            // It was told when the agent left, and not with the end of the run.
            let history = place.end(&["history", "--interrupt", &id]).exits_with(0);
            assert!(
                history.output.contains("its node has ended"),
                "{history:#?}"
            );
            assert_eq!(place.runs().len(), 1, "nothing was forked off");
            place.end(&["history", "--verify"]).exits_with(0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_that_does_not_wait_for_the_last_step_takes_hold_in_it() {
    // A stop that cuts the agent off leaves a run that goes on.
    for (kind, mode, ends) in [
        ("PAUSE", "immediate", 0),
        ("BRANCH", "immediate", 0),
        ("STOP", "immediate", 0),
        ("PRUNE", "graceful", 0),
    ] {
        let asking = move |place: &Place| Some(asks(place, COLLECTOR, kind, mode));
        let (meanwhile, _ended, left) = run(("DiscoveryCollectorRouting", ""), asking).await;
        let told: Ended = left.unwrap().wait_with_output().unwrap().into();
        let told = told.exits_with(ends);
        let id = told.output.split(' ').next().unwrap().to_owned();
        let place = &meanwhile.place;
        let row = lines(&place.end(&["review", &id, "--json"]).exits_with(0).output).remove(0);
        assert_ne!(row["state"], "cancelled", "{kind} {mode}: {row:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_call_of_an_agent_that_is_cut_off_has_a_result_that_says_so() {
    for kind in ["STOP", "PRUNE"] {
        let asking = move |place: &Place| Some(asks(place, COLLECTOR, kind, "immediate"));
        let (meanwhile, ended, left) = run(("DiscoveryCollectorRouting", ""), asking).await;
        ended.exits_with(0);
        let told: Ended = left.unwrap().wait_with_output().unwrap().into();
        told.exits_with(0);
        let place = &meanwhile.place;
        let journal = place.journal(&place.only_run());
        let all = |what: &str| {
            let found = journal.iter().filter(|moment| moment["what"] == what);
            let places = found.map(|moment| moment["place"].to_string());
            places.collect::<BTreeSet<_>>()
        };
        let (begun, finished) = (all("effect_begun"), all("effect_finished"));
        let open: Vec<_> = begun.difference(&finished).collect();
        assert!(open.is_empty(), "{kind}: {open:#?}");
        let call = format!("{COLLECTOR}#1/step/0");
        let calls = place.told(&place.only_run(), "model_call");
        let left_out = calls.iter().find(|it| it["place"] == call.as_str());
        let said = left_out.unwrap()["content"]["left_out"].as_str().unwrap();
        assert!(said.contains("cut off"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stop_of_an_agent_that_has_left_is_refused_with_words() {
    let refused = |place: &Place| {
        for kind in ["PAUSE", "STOP", "PRUNE", "BRANCH"] {
            let address = format!("{}/{COLLECTOR}", place.only_run());
            place
                .end(&["interrupt", &address, "--type", kind])
                .exits_with(4)
                .says("is completed");
        }
        None
    };
    let (meanwhile, ended, _none) = run(("PlanningOrchestratorRouting", ""), refused).await;
    ended.exits_with(0);
    let history = meanwhile.place.end(&["history"]).exits_with(0);
    assert!(!history.output.contains("int_"), "{history:#?}");
}
