//! Stops, messages and resumes reach whichever worker owns the run.

use serde_json::{Value, json};

use super::{Desk, Run};
use crate::program::{end, irq};
use crate::serving::open;

/// A person asks for a stop of an agent.
async fn stop(run: &Run<'_>, agent: &str, body: &Value) {
    let path = format!(
        "/v1/agents/{}%2F{}/interrupts",
        run.id,
        agent.replace('/', "%2F")
    );
    run.desk.directs(&path, body).await.fine();
}

#[tokio::test]
async fn a_pause_takes_hold_when_the_worker_says_so_and_a_person_resumes_it() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    let waits = async { run.get("signals?wait_ms=20000").await.fine() };
    let pause = json!({"type": "PAUSE", "scope": "run", "mode": "graceful", "reason": "lunch"});
    let (told, ()) = tokio::join!(waits, stop(&run, "root", &pause));
    assert_eq!(told["stopping"], true);
    assert_eq!(told["stops"][0]["type"], "PAUSE");
    assert_eq!(told["stops"][0]["reason"], "lunch");
    assert_eq!(
        run.stands().await["state"],
        "stopping",
        "nothing says stopped before"
    );
    assert_eq!(run.put("lease", &json!({})).await.fine()["stopping"], true);
    let stopped = run.post("stopped", &json!({})).await.fine();
    assert_eq!(
        (&stopped["state"], &stopped["worker"]),
        (&json!("paused"), &json!(null))
    );
    run.get("signals").await.refused(409, "lease-lost");
    let lease = format!("/v1/work/{}/lease", run.id);
    let taking = json!({"worker": "second"});
    desk.post(&lease, &taking).await.refused(409, "run-paused");
    let resume = format!("/v1/runs/{}/resume", run.id);
    desk.directs(&resume, &json!({})).await.fine();
    let taken = desk.post(&lease, &taking).await.fine();
    assert_eq!(taken["state"], "running");
    // The question outlived the pause, and can be answered.
    desk.decides(
        &asked["interrupt_id"],
        &json!({"decision": "approve", "message": "yes"}),
    )
    .await
    .fine();
}

#[tokio::test]
async fn a_stop_ends_the_run_once_the_worker_has_stopped_and_no_sooner() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    let cancel = format!("/v1/runs/{}/cancel", run.id);
    desk.directs(
        &cancel,
        &json!({"mode": "immediate", "reason": "wrong order"}),
    )
    .await
    .fine();
    let told = run.get("signals").await.fine();
    assert_eq!(told["stops"][0]["mode"], "immediate");
    let stopped = run.post("stopped", &json!({})).await.fine();
    assert_eq!(stopped["state"], "cancelled");
    assert_eq!(stopped["reason"], "wrong order");
    let open = desk
        .installation
        .json(&format!("/v1/runs/{}", run.id))
        .await;
    assert_eq!(open["open_interrupts"], json!([]));
}

#[tokio::test]
async fn an_agent_that_is_cut_off_leaves_the_run_which_goes_on() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let refunds = run.asks("refund", "REFUNDS").await;
    run.asks("legal", "LEGAL").await;
    stop(
        &run,
        "root/refunds",
        &json!({"type": "PRUNE", "reason": "not this one"}),
    )
    .await;
    let told = run.get("signals?wait_ms=20000").await.fine();
    assert_eq!(told["stops"][0]["agent_id"], "root/refunds");
    assert_eq!(told["stops"][0]["scope"], "agent");
    run.post("stopped", &json!({"agent_id": "root/refunds"}))
        .await
        .fine();
    let stands = run.stands().await;
    assert_eq!(
        (&stands["state"], &stands["epoch"]),
        (&json!("running"), &json!(run.epoch))
    );
    let agents = desk
        .installation
        .json(&format!("/v1/agents/{}%2Froot%2Frefunds", run.id))
        .await;
    assert_eq!(agents["status"], "pruned");
    assert_eq!(run.get("signals").await.fine()["stopping"], false);
    let stop = told["stops"][0]["interrupt_id"].as_str().unwrap();
    let stop = desk
        .installation
        .json(&format!("/v1/interrupts/{stop}"))
        .await;
    assert_eq!(stop["state"], "resolved");
    let question = refunds["key"].as_str().unwrap();
    let question = run.get(&format!("questions/{question}")).await.fine();
    assert_ne!(question["state"], "open", "its agent is gone");
}

#[tokio::test]
async fn a_run_that_no_worker_has_stops_at_once_and_goes_on_when_it_is_resumed() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    desk.delete(&run.path("lease")).await.fine();
    let pause = json!({"type": "PAUSE", "scope": "run", "reason": "lunch"});
    stop(&run, "root", &pause).await;
    let path = format!("/v1/runs/{id}");
    let paused = |run: &Value| (run["status"] == "paused").then_some(());
    desk.installation.until(&path, paused).await;
    desk.dies_and_comes_back();
    let resume = format!("/v1/runs/{id}/resume");
    desk.directs(&resume, &json!({})).await.fine();
    let running = |run: &Value| (run["status"] == "running").then_some(());
    desk.installation.until(&path, running).await;
    desk.takes(&id, "second").await;
}

#[tokio::test]
async fn a_message_is_told_until_the_agent_has_read_it() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    let path = format!("/v1/agents/{}%2Froot%2Frefunds/messages", run.id);
    desk.directs(&path, &json!({"text": "Be quick."}))
        .await
        .fine();
    let told = run.get("signals?wait_ms=20000").await.fine();
    let message = &told["messages"][0];
    assert_eq!(message["text"], "Be quick.");
    assert_eq!(message["agent_id"], "root/refunds");
    assert_eq!(
        run.get("signals").await.fine()["messages"],
        told["messages"]
    );
    let read = json!({"positions": [message["position"]]});
    run.post("messages/read", &read).await.fine();
    assert_eq!(run.get("signals").await.fine()["messages"], json!([]));
}

#[tokio::test]
async fn what_was_read_under_a_key_is_there_for_the_worker_that_goes_on() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    run.asks("refund", "REFUNDS").await;
    let path = format!("/v1/agents/{id}%2Froot%2Frefunds/messages");
    let says = async |desk: &Desk, text: &str| {
        let said = desk.directs(&path, &json!({"text": text})).await;
        said.fine();
    };
    let texts = |told: &Value| -> Vec<String> {
        let messages = told["messages"].as_array().unwrap();
        let text = |it: &Value| it["text"].as_str().unwrap().to_owned();
        messages.iter().map(text).collect()
    };
    let refunds = json!({"agent_id": "root/refunds"});
    let none = run.put("readings/early", &refunds).await.fine();
    assert_eq!(none["messages"], json!([]));
    says(&desk, "Be quick.").await;
    says(&desk, "Be kind.").await;
    let read = run.put("readings/first", &refunds).await.fine();
    assert_eq!(texts(&read), ["Be quick.", "Be kind."]);
    assert_eq!(read["messages"][0]["from"], "script");
    assert_eq!(read["messages"][0]["agent_id"], "root/refunds");
    says(&desk, "Be brief.").await;
    // The worker dies with what it has read.
    desk.delete(&run.path("lease")).await.fine();
    desk.dies_and_comes_back();
    let run = desk.takes(&id, "second").await;
    assert_eq!(run.put("readings/first", &refunds).await.fine(), read);
    assert_eq!(run.put("readings/early", &refunds).await.fine(), none);
    assert_eq!(texts(&run.get("signals").await.fine()), ["Be brief."]);
    let later = run.put("readings/second", &refunds).await.fine();
    assert_eq!(texts(&later), ["Be brief."]);
    assert_eq!(run.get("signals").await.fine()["messages"], json!([]));
    let other = json!({"agent_id": "root"});
    run.put("readings/first", &other)
        .await
        .refused(422, "idempotency-conflict");
    run.put("readings/x", &json!({"agent_id": "root/nobody"}))
        .await
        .refused(404, "agent-not-found");
    let old = format!("/v1/work/{id}/readings/x?epoch=1");
    desk.put(&old, &refunds).await.refused(409, "lease-lost");
}

#[tokio::test]
async fn what_an_agent_asked_that_has_ended_is_withdrawn() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    let ended = json!({"agent_id": "root/refunds", "kind": "REFUNDS", "status": "failed"});
    run.put("agents", &json!({"agents": [ended]})).await.fine();
    // Code that runs again tells that it works, and is told how it stands.
    let works = json!({"agent_id": "root/refunds", "kind": "REFUNDS", "status": "running"});
    let told = run.put("agents", &json!({"agents": [works]})).await.fine();
    assert_eq!(
        told["agents"],
        json!([{"agent_id": "root/refunds", "status": "failed"}])
    );
    let question = run.get("questions/refund").await.fine();
    assert_eq!(question["state"], "withdrawn");
    run.put("questions/again", &super::question("REFUNDS"))
        .await
        .refused(409, "agent-ended");
}

#[tokio::test]
async fn a_person_beside_the_store_resumes_it_and_nothing_else_executes_it() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    run.post("checkpoints", &json!({"state": 1})).await.fine();
    desk.delete(&run.path("lease")).await.fine();
    let pause = json!({"type": "PAUSE", "scope": "run", "reason": "lunch"});
    stop(&run, "root", &pause).await;
    let paused = |run: &Value| (run["status"] == "paused").then_some(());
    desk.installation
        .until(&format!("/v1/runs/{id}"), paused)
        .await;
    desk.server.take().unwrap().kill();
    let store = desk.installation.store();
    let beside = |arguments: &[&str]| end(irq().args(arguments).env("IRQ_STORE", &store));
    let forked = beside(&["fork", &id]).exits_with(4);
    assert!(
        forked
            .error_output
            .contains("executed by a worker of `support-desk`"),
        "{forked:?}"
    );
    let resumed = beside(&["resume", &id]).exits_with(0);
    assert!(
        resumed
            .error_output
            .contains("as soon as a worker takes it"),
        "{resumed:?}"
    );
    let again = beside(&["resume", &id]).exits_with(0);
    assert!(
        again.error_output.contains("its worker goes on"),
        "{again:?}"
    );
    desk.server = Some(desk.installation.serve());
    assert_eq!(
        desk.takes(&id, "second").await.stands().await["state"],
        "running"
    );
}

#[tokio::test]
async fn a_run_whose_worker_dies_while_it_stops_is_stopped_by_the_next_server() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let id = run.id.clone();
    let pause = json!({"type": "PAUSE", "scope": "run", "reason": "lunch"});
    stop(&run, "root", &pause).await;
    run.get("signals").await.fine();
    assert_eq!(run.stands().await["state"], "stopping");
    let epoch = run.epoch;
    desk.server.take().unwrap().kill();
    // As a server leaves it that dies after the worker has let go, and before the stop has taken hold.
    let store = open(&desk.installation.store()).await;
    let run_id = id.parse().unwrap();
    store.release_run(run_id, epoch).await.unwrap();
    drop(store);
    desk.server = Some(desk.installation.serve());
    let paused = |run: &Value| (run["status"] == "paused").then_some(());
    desk.installation
        .until(&format!("/v1/runs/{id}"), paused)
        .await;
}

#[tokio::test]
async fn a_run_that_went_on_without_an_agent_is_paused_like_any_other() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    let prune = json!({"type": "PRUNE", "reason": "not this one"});
    stop(&run, "root/refunds", &prune).await;
    run.get("signals?wait_ms=20000").await.fine();
    let cut = json!({"agent_id": "root/refunds"});
    run.post("stopped", &cut).await.fine();
    let pause = json!({"type": "PAUSE", "scope": "run", "reason": "lunch"});
    stop(&run, "root", &pause).await;
    run.get("signals?wait_ms=20000").await.fine();
    let stopped = run.post("stopped", &json!({})).await.fine();
    assert_eq!(stopped["state"], "paused");
}

#[tokio::test]
async fn a_run_whose_pause_was_withdrawn_while_it_stopped_goes_on() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let pause = json!({"type": "PAUSE", "scope": "run", "mode": "graceful", "reason": "lunch"});
    stop(&run, "root", &pause).await;
    let told = run.get("signals?wait_ms=20000").await.fine();
    desk.withdraws(&told["stops"][0]["interrupt_id"]).await;
    assert_eq!(run.stands().await["state"], "stopping");
    run.post("stopped", &json!({})).await.fine();
    let next = desk.takes(&run.id, "second").await;
    assert_eq!(next.stands().await["state"], "running");
}

#[tokio::test]
async fn an_agent_is_told_of_once_in_a_request_and_is_root_or_below_it() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let agent = |id: &str, status: &str| json!({"agent_id": id, "kind": "LEGAL", "status": status});
    let twice = [
        agent("root/legal", "completed"),
        agent("root/legal", "running"),
    ];
    for agents in [json!(twice), json!([agent("legal", "running")])] {
        run.put("agents", &json!({"agents": agents}))
            .await
            .refused(422, "invalid-body");
    }
    let agents = desk
        .installation
        .json(&format!("/v1/agents?run_id={}", run.id))
        .await;
    assert!(!agents.to_string().contains("legal"), "{agents}");
}
