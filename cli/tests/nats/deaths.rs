//! Brokers and servers that die.

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};

use crate::scene::{Scene, positions};

#[tokio::test]
async fn a_broker_that_is_killed_and_wiped_gets_all_that_it_had_not_acknowledged() {
    let Some(mut scene) = Scene::new() else {
        return;
    };
    let address = format!("nats://{}", scene.nats.address());
    // What the broker has before it dies, heard by a supervisor and not said by the server.
    let supervisor = scene.supervisor().await;
    let mut events = supervisor.subscribe("irq.v1.local.*.*.*.*").await.unwrap();
    supervisor.flush().await.unwrap();
    let server = scene.serve_at(&address, &["--pace", "400"]);
    let first = scene.start(&server).await;
    scene
        .until(&server, &format!("/v1/runs/{first}/events"), |page| {
            (page["events"].as_array().unwrap().len() > 8).then_some(())
        })
        .await;
    assert!(scene.is_under_way(&server, &first).await);
    scene.nats.is_killed();
    scene.nats.is_wiped();
    // The server goes on, and says how many events wait.
    let said = scene.says(&server, "bus: away").await;
    assert!(said.starts_with("ready\n"), "{said}");
    let second = scene.start(&server).await;
    scene.ends(&server, &first).await;
    scene.ends(&server, &second).await;
    let acknowledged = scene.acknowledged().await;
    let mut heard_by_then = 0;
    while let Some(Some(_event)) = events.next().now_or_never() {
        heard_by_then += 1;
    }
    // The last ones may have been cut off on their way to the supervisor.
    assert!(
        (heard_by_then..heard_by_then + 8).contains(&acknowledged)
            || acknowledged + 1 == heard_by_then,
        "{heard_by_then} were heard, {acknowledged} acknowledged"
    );
    let metrics = scene.text(&server, "/metrics").await;
    assert!(metrics.contains("irq_bus_connected 0"), "{metrics}");
    assert!(!metrics.contains("irq_bus_lag_events 0"), "{metrics}");
    scene.nats.comes_back();
    let third = scene.start(&server).await;
    scene.ends(&server, &third).await;
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    // The one that was on its way when the broker died may have been acknowledged in vain.
    let expected: Vec<u64> = (acknowledged + 1..=through).collect();
    assert_eq!(positions(&heard), expected);
    let last = heard.last().unwrap();
    assert!(
        acknowledged > 0 && last.subject.contains(&third),
        "{last:?}"
    );
    scene.says(&server, "bus: there, 0 events wait").await;
}

#[tokio::test]
async fn a_broker_that_is_wiped_while_nothing_happens_has_a_stream_again() {
    let Some(mut scene) = Scene::new() else {
        return;
    };
    let server = scene.serve();
    scene.nats.is_killed();
    scene.nats.is_wiped();
    scene.says(&server, "bus: away").await;
    scene.nats.comes_back();
    scene.says(&server, "bus: there").await;
    assert!(scene.heard().await.is_empty());
}

#[tokio::test]
async fn a_broker_that_is_killed_again_and_again_has_each_event_once_and_in_order() {
    let Some(mut scene) = Scene::new() else {
        return;
    };
    let address = format!("nats://{}", scene.nats.address());
    let server = scene.serve_at(&address, &["--pace", "150"]);
    let runs = [scene.start(&server).await, scene.start(&server).await];
    for _death in 0..3 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert!(scene.is_under_way(&server, &runs[1]).await);
        scene.nats.is_killed();
        tokio::time::sleep(Duration::from_millis(300)).await;
        scene.nats.comes_back();
    }
    for run in &runs {
        scene.ends(&server, run).await;
    }
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
}

#[tokio::test]
async fn servers_that_are_killed_lose_and_double_no_event() {
    let Some(scene) = Scene::new() else { return };
    // One that knows no event again.
    scene.has_stream(Duration::from_millis(100)).await;
    let address = format!("nats://{}", scene.nats.address());
    let mut server = scene.serve_at(&address, &["--pace", "150"]);
    let run = scene.start(&server).await;
    for _death in 0..3 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(scene.is_under_way(&server, &run).await);
        server.dies();
        server = scene.serve_at(&address, &["--pace", "150"]);
    }
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
}
