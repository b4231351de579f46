//! What supervisors hear.

use std::time::Duration;

use serde_json::Value;

use crate::program::{end, irq, run_in};
use crate::scene::{Scene, positions};

#[tokio::test]
async fn every_event_of_a_run_arrives_once_and_in_order() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    let runs = [scene.start(&server).await, scene.start(&server).await];
    for run in &runs {
        scene.ends(&server, run).await;
    }
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
    for run in &runs {
        let told = scene
            .text(&server, &format!("/v1/runs/{run}/events?limit=500"))
            .await;
        let told: Value = serde_json::from_str(&told).unwrap();
        let of_run = heard
            .iter()
            .filter(|one| one.subject.split('.').nth(3) == Some(run));
        let of_run: Vec<Value> = of_run.map(|one| one.event.clone()).collect();
        assert!(of_run.len() > 10);
        assert_eq!(Value::from(of_run), told["events"]);
    }
    for one in &heard {
        assert_eq!(one.media_type, "application/cloudevents+json");
        let name = one.event["type"].as_str().unwrap();
        let name = name
            .strip_prefix("dev.irq.")
            .unwrap()
            .strip_suffix(".v1")
            .unwrap();
        let subject: Vec<&str> = one.subject.splitn(6, '.').collect();
        assert_eq!(subject[..3], ["irq", "v1", "local"]);
        assert_eq!(subject[5], name);
        let agent = one.event["subject"].as_str().unwrap_or_default();
        let agent = agent.split("/interrupts/").next().unwrap();
        let of_run = format!("agents/{}/", subject[3]);
        assert_eq!(
            subject[4],
            agent.strip_prefix(&of_run).unwrap_or("-"),
            "{agent}"
        );
    }
    assert!(
        scene
            .says(&server, "bus: there, 0 events wait")
            .await
            .starts_with("ready\n")
    );
    let metrics = scene.text(&server, "/metrics").await;
    for line in ["irq_bus_connected 1", "irq_bus_lag_events 0"] {
        assert!(metrics.contains(line), "no `{line}` in {metrics}");
    }
    assert!(
        metrics.contains(&format!("irq_bus_published_total {through}")),
        "{metrics}"
    );
    assert_eq!(server.stops(), Some(0));
}

#[tokio::test]
async fn several_servers_over_one_store_publish_each_event_once() {
    let Some(scene) = Scene::new() else { return };
    let servers = [scene.serve(), scene.serve(), scene.serve()];
    let mut runs = Vec::new();
    for server in &servers {
        runs.push(scene.start(server).await);
    }
    for run in &runs {
        scene.ends(&servers[0], run).await;
    }
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
}

#[tokio::test]
async fn stores_with_tenants_of_their_own_share_a_broker() {
    let Some(scene) = Scene::new() else { return };
    let address = scene.nats.address();
    let server = scene.serve_at(&format!("nats://{address}?tenant=acme"), &[]);
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    assert_eq!(server.stops(), Some(0));
    // A new name for the cursor publishes everything anew; with a tenant of its own none of it is known.
    let server = scene.serve_at(&format!("nats://{address}?tenant=other&cursor=again"), &[]);
    scene.says(&server, "bus: there, 0 events wait").await;
    let heard = scene.heard().await;
    let of = |tenant: &str| {
        let is_of = |subject: &str| subject.split('.').nth(2) == Some(tenant);
        heard.iter().filter(|one| is_of(&one.subject)).count() as u64
    };
    assert_eq!((of("acme"), of("other")), (through, through));
}

#[tokio::test]
async fn a_new_stream_gets_everything_under_a_new_name_for_the_place() {
    let Some(scene) = Scene::new() else { return };
    let address = scene.nats.address();
    let server = scene.serve();
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    assert_eq!(server.stops(), Some(0));
    let jetstream = async_nats::jetstream::new(scene.supervisor().await);
    jetstream.delete_stream("IRQ_EVENTS").await.unwrap();
    let server = scene.serve_at(&format!("nats://{address}?cursor=second"), &[]);
    scene.says(&server, "bus: there, 0 events wait").await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
}

#[tokio::test]
async fn events_that_were_purged_before_they_were_published_are_told_as_missing() {
    let Some(scene) = Scene::new() else { return };
    let here = || {
        let mut run = run_in(scene.workspace());
        run.arg("--no-input").env("IRQ_STORE", scene.store());
        run
    };
    end(&mut here()).exits_with(0);
    // The youngest age that can be said.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let mut purge = irq();
    purge.args(["purge", "--older-than", "1s", "--yes"]);
    end(purge.env("IRQ_STORE", scene.store())).exits_with(0);
    end(&mut here()).exits_with(0);
    let _server = scene.serve();
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert!(
        heard[0].subject.ends_with(".-.-.stream.reset"),
        "{}",
        heard[0].subject
    );
    let gone = &heard[0].event["data"];
    assert_eq!(gone["from_seq"], "0000000000000001");
    assert_eq!(gone["reason"], "retention");
    let last_gone = gone["to_seq"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(last_gone > 10, "{gone}");
    let expected: Vec<u64> = (last_gone..=through).collect();
    assert_eq!(positions(&heard), expected);
}
