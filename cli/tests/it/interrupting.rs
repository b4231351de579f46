//! `irq interrupt`, `irq send`, `irq withdraw`, `irq redrive`: acting on runs of other processes.

use std::time::Duration;

use expect_test::expect_file;
use interrupt_router::{InterruptId, InterruptType, NodeId, StopMode};
use interrupts::life::{Evidence, RunState, Scope, State, Verdict};
use interrupts::store::{Filter, Interrupts, Messages, Nodes, Page, Runs};
use store::{StoreLocation, notifier_at};

use crate::program::{lines, spawn, until, without_ids};
use crate::seed::{Seed, delivery};

const ALL: Page = Page {
    after: 0,
    limit: 100,
};

fn id_of(value: &serde_json::Value) -> InterruptId {
    value["id"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_run_is_paused_through_the_store() {
    let seed = Seed::new();
    let run = seed.run();
    let id = run.id.to_string();
    let made = seed.json(&["interrupt", &id, "--reason", "lunch", "--json"]);
    let stop = seed.interrupt(id_of(&made));
    assert_eq!(stop.interrupt_type, InterruptType::Pause);
    assert_eq!((stop.mode, stop.scope), (StopMode::Graceful, Scope::Run));
    assert_eq!(stop.reason, "lunch");
    assert_eq!(stop.requested_by.name.as_str(), "ada");
    assert_eq!(stop.node.as_str(), "orchestrator");
    let shape = serde_json::to_string_pretty(&without_ids(&made)).unwrap();
    expect_file!["shapes/stop.json"].assert_eq(&shape);
}

#[test]
fn equal_stops_of_several_processes_at_once_are_one_and_as_hard_as_the_hardest() {
    let seed = Seed::new();
    for stop_type in ["PAUSE", "BRANCH", "STOP", "PAUSE", "BRANCH", "STOP"] {
        // Its owner takes none of them.
        let run = seed.run();
        let id = run.id.to_string();
        let asked: Vec<_> = ["graceful", "graceful", "graceful", "immediate"]
            .into_iter()
            .cycle()
            .take(8)
            .map(|mode| {
                let stop = ["interrupt", &id, "--type", stop_type, "--mode", mode];
                spawn(&mut seed.irq(&stop))
            })
            .collect();
        for process in asked {
            let ended = process.wait_with_output().unwrap();
            assert!(ended.status.success(), "{ended:?}");
        }
        let filter = Filter {
            run: Some(run.id),
            ..Filter::default()
        };
        let made = seed.wait(seed.store.interrupts(&filter, ALL)).unwrap();
        let modes: Vec<_> = made.iter().map(|(_position, stop)| stop.mode).collect();
        assert_eq!(modes, [StopMode::Immediate], "{stop_type}");
    }
}

#[test]
fn all_are_asked_before_any_of_them_is_waited_for() {
    let seed = Seed::new();
    for _run in 0..3 {
        seed.run();
    }
    let all = ["interrupt", "--all", "--yes", "--type", "STOP", "--wait"];
    // None of them stops: the process that has them is none.
    let stop = [&all[..], &["--timeout", "60s"]].concat();
    let mut waits = spawn(&mut seed.irq(&stop));
    until("all are asked", || {
        let asked = seed.wait(seed.store.interrupts(&Filter::default(), ALL));
        asked.unwrap().len() == 3
    });
    waits.kill().unwrap();
    waits.wait().unwrap();
    let stop = [&all[..], &["--timeout", "100ms"]].concat();
    let waited = seed.end(&stop).exits_with(9);
    let words = "3 of 3 did not come as far as was waited for";
    assert!(waited.error_output.contains(words), "{waited:#?}");
}

#[test]
fn whoever_waits_in_vain_for_a_pause_to_be_decided_is_told_that_it_has_taken_hold() {
    let seed = Seed::new();
    let run = seed.run();
    let id = run.id.to_string();
    seed.abandon(&run);
    let wait = ["--wait=resolved", "--timeout", "100ms"];
    let waited = seed.end(&[&["interrupt", &id][..], &wait].concat());
    let waited = waited.exits_with(7);
    assert!(
        waited.error_output.contains("its agent has stopped"),
        "{waited:#?}"
    );
}

#[test]
fn an_agents_scope_is_the_agent_and_what_it_started() {
    let seed = Seed::new();
    let run = seed.run().id;
    let agent = format!("{run}/orchestrator/discovery");
    let made = seed.json(&["interrupt", &agent, "--type", "PRUNE", "--json"]);
    assert_eq!(made["scope"], "agent");
    assert_eq!(made["affected"], serde_json::json!([agent]));
    let whole = seed.json(&["interrupt", &agent, "--scope", "run", "--json"]);
    assert_eq!(whole["scope"], "run");
    assert_eq!(whole["affected"].as_array().unwrap().len(), 2);
}

#[test]
fn a_dry_run_says_who_would_be_affected_and_does_nothing() {
    let seed = Seed::new();
    let run = seed.run();
    let id = run.id.to_string();
    let shown = seed
        .end(&["interrupt", &id, "--dry-run"])
        .exits_with(0)
        .output;
    assert!(
        shown.contains(&format!("{id}/orchestrator/discovery")),
        "{shown}"
    );
    assert!(!shown.contains("orchestrator/old"), "{shown}");
    seed.end(&["interrupt", "--all", "--dry-run"]).exits_with(0);
    let made = seed.wait(seed.store.interrupts(&Default::default(), ALL));
    assert_eq!(made.unwrap(), []);
}

#[test]
fn all_live_runs_are_interrupted_once_that_is_confirmed() {
    let seed = Seed::new();
    let (first, second) = (seed.run(), seed.run());
    let ended = seed.run();
    seed.change(&ended, RunState::Completed);
    seed.end(&["interrupt", "--all"])
        .exits_with(2)
        .says("this would interrupt 2 runs");
    let made = seed
        .end(&["interrupt", "--all", "--yes", "--json"])
        .exits_with(0);
    let runs: Vec<_> = lines(&made.output)
        .iter()
        .map(|made| made["run_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(runs, [first.id.to_string(), second.id.to_string()]);
}

#[test]
fn what_has_ended_cannot_be_interrupted() {
    let seed = Seed::new();
    let run = seed.run();
    let old = format!("{}/orchestrator/old", run.id);
    seed.end(&["interrupt", &old])
        .exits_with(4)
        .says("is completed");
    seed.end(&["reroute", &old, "--to", "ORCHESTRATOR"])
        .exits_with(4)
        .says("is completed");
    seed.change(&run, RunState::Cancelled);
    let id = run.id.to_string();
    seed.end(&["interrupt", &id])
        .exits_with(4)
        .says("is cancelled");
    let agent = format!("{id}/orchestrator");
    seed.end(&["interrupt", &agent])
        .exits_with(4)
        .says("is cancelled");
    seed.end(&["send", &agent, "hello"])
        .exits_with(4)
        .says("cancelled");
}

#[test]
fn what_concerns_an_agent_alone_is_not_asked_of_a_run() {
    let seed = Seed::new();
    let id = seed.run().id.to_string();
    for kind in ["PRUNE", "HUMAN_REVIEW", "AGENT_REVIEW"] {
        seed.end(&["interrupt", &id, "--type", kind])
            .exits_with(2)
            .says("concerns an agent");
    }
    seed.end(&["interrupt", &id, "--scope", "agent"])
        .exits_with(2)
        .says("is a run");
    seed.end(&["reroute", &id, "--to", "ORCHESTRATOR"])
        .exits_with(2)
        .says("is a run");
}

#[test]
fn an_agent_is_asked_to_raise_a_question() {
    let seed = Seed::new();
    let run = seed.run();
    let agent = format!("{}/orchestrator", run.id);
    let arguments = ["interrupt", &agent, "--type", "human-review", "--json"];
    let made = seed.json(&arguments);
    let asked = seed.interrupt(id_of(&made));
    assert_eq!(asked.interrupt_type, InterruptType::HumanReview);
    assert_eq!(made["content"]["eventId"], asked.key.as_str());
    assert_eq!(made["content"]["nodeId"], "orchestrator");
    assert_eq!(made["content"]["sourceAgentType"], "ORCHESTRATOR");
}

#[test]
fn waiting_ends_when_the_owner_has_acknowledged() {
    let seed = Seed::new();
    let run = seed.run();
    let id = run.id.to_string();
    let made = seed.json(&["interrupt", &id, "--json"]);
    let stop = seed.interrupt(id_of(&made));
    let waiting = spawn(&mut seed.irq(&["interrupt", &id, "--wait", "--json"]));
    let applied = seed.wait(async {
        let taken = seed.store.deliver(stop.id, delivery("process-1", 60)).await;
        let epoch = taken.unwrap().epoch;
        seed.store
            .acknowledge(stop.id, epoch, Evidence::Cancelled)
            .await
            .unwrap()
    });
    assert_eq!(applied.state, State::Acknowledged);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn waiting_gives_up_in_time_and_when_there_is_nothing_to_wait_for() {
    let seed = Seed::new();
    let id = seed.run().id.to_string();
    let wait = [
        "interrupt",
        &id,
        "--wait=acknowledged",
        "--timeout",
        "100ms",
    ];
    let ended = seed.end(&wait).exits_with(7).says("was not acknowledged");
    let stop: InterruptId = ended.output.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(seed.interrupt(stop).state, State::Requested);
    let withdrawn = spawn(&mut seed.irq(&["interrupt", &id, "--wait"]));
    seed.end(&["withdraw", &stop.to_string()]).exits_with(0);
    let output = withdrawn.wait_with_output().unwrap();
    // It either joined the withdrawn one, or came after it and waited in vain.
    assert!(matches!(output.status.code(), Some(4 | 7)), "{output:?}");
}

#[test]
fn a_run_that_nobody_runs_is_stopped_at_once() {
    let seed = Seed::new();
    let run = seed.run();
    seed.question(&run);
    seed.abandon(&run);
    let id = run.id.to_string();
    let made = seed.json(&["interrupt", &id, "--type", "stop", "--json"]);
    assert_eq!(made["state"], "resolved");
    assert_eq!(made["decision"]["decision"], "applied");
    let stored = seed.wait(seed.store.run(run.id)).unwrap().unwrap();
    assert_eq!(stored.state, RunState::Cancelled);
    let node = NodeId::new("orchestrator").unwrap();
    let node = seed.wait(seed.store.node(run.id, &node)).unwrap().unwrap();
    assert!(node.activity.is_final(), "{node:?}");
    // Who owned it for a moment has let go.
    assert_eq!(stored.lease, None);
}

#[test]
fn a_run_that_nobody_runs_is_paused_at_once_and_can_be_resumed() {
    let seed = Seed::new();
    let run = seed.run();
    seed.abandon(&run);
    let id = run.id.to_string();
    let made = seed.json(&["interrupt", &id, "--json"]);
    assert_eq!(made["state"], "awaiting_review");
    let stored = seed.wait(seed.store.run(run.id)).unwrap().unwrap();
    assert_eq!(stored.state, RunState::Paused);
    let stop = made["id"].as_str().unwrap();
    let decision = [
        "review",
        stop,
        "--decision",
        "respond",
        "--message",
        "go left",
    ];
    let told = seed.end(&decision).exits_with(0).output;
    let way = format!("irq resume --store {} {id}", seed.path().display());
    assert!(told.contains(&way), "{told}");
    let decision = seed.interrupt(id_of(&made)).decision.unwrap();
    assert_eq!(decision.verdict, Verdict::Respond);
    assert_eq!(decision.content.as_deref(), Some(r#"{"input":"go left"}"#));
}

#[test]
fn a_message_is_kept_for_the_agent() {
    let seed = Seed::new();
    let run = seed.run();
    let agent = format!("{}/orchestrator", run.id);
    let key = ["send", &agent, "look at the oven", "--key", "k1", "--json"];
    let sent = seed.json(&key);
    assert_eq!(seed.json(&key)["message"], sent["message"]);
    let messages = seed.wait(seed.store.messages(run.id, ALL)).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].message.text, "look at the oven");
    assert_eq!(messages[0].message.from.name.as_str(), "ada");
    seed.end(&["send", &agent, "other", "--key", "k1"])
        .exits_with(4)
        .says("belongs to another message");
    seed.end(&["send", &agent, " "]).exits_with(2).says("empty");
    let old = format!("{}/orchestrator/old", run.id);
    seed.end(&["send", &old, "hello"])
        .exits_with(4)
        .says("ended");
    seed.end(&["send", &run.id.to_string(), "hello"])
        .exits_with(2)
        .says("is a run, not an agent");
}

#[test]
fn what_is_not_wanted_any_more_is_withdrawn_once() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let told = seed.json(&["withdraw", &id, "--json"]);
    assert_eq!(told["state"], "cancelled");
    seed.end(&["withdraw", &id])
        .exits_with(4)
        .says("is cancelled");
}

#[test]
fn what_could_not_be_delivered_is_tried_again() {
    let seed = Seed::new();
    let id = seed.run().id.to_string();
    let made = seed.json(&["interrupt", &id, "--json"]);
    let stop = id_of(&made);
    let id = stop.to_string();
    seed.end(&["redrive", &id])
        .exits_with(4)
        .says("takes no redrive");
    seed.wait(async {
        for _attempt in 0..8 {
            let failed = seed.store.fail_delivery(stop, None, "no way".to_owned());
            failed.await.unwrap();
        }
    });
    assert_eq!(seed.interrupt(stop).state, State::DeadLettered);
    let shown = seed.end(&["review", &id]).exits_with(0).output;
    assert!(
        shown.contains("no way") && shown.contains("irq redrive"),
        "{shown}"
    );
    let told = seed.end(&["redrive", &id]).exits_with(0).output;
    assert!(
        told.contains("was undeliverable and is requested"),
        "{told}"
    );
}

#[test]
fn the_owner_of_the_run_is_woken_by_each_request() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run).id.to_string();
    let id = run.id.to_string();
    let agent = format!("{id}/orchestrator");
    let location = StoreLocation::File(seed.path());
    let notifier = seed.wait(async { notifier_at(&location, &delivery("process-1", 1).owner) });
    for arguments in [
        &["send", &agent, "hello"][..],
        &["reroute", &agent, "--to", "ORCHESTRATOR"],
        &[
            "review",
            &question,
            "--decision",
            "approve",
            "--message",
            "yes",
        ],
        &["interrupt", &id],
        &["interrupt", &id, "--mode", "immediate"],
    ] {
        seed.end(arguments).exits_with(0);
        let heard = seed.wait(async {
            // What was rung before the wait is heard; where nothing was, the test fails instead of hanging.
            tokio::time::timeout(Duration::from_secs(20), notifier.heard()).await
        });
        assert!(heard.is_ok(), "{arguments:?}");
    }
}
