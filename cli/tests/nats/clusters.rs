//! A broker of several servers, of which one dies.

use tests::nats::NatsServer;
use tests::place::Place;

use crate::scene::{Scene, positions};

#[tokio::test]
async fn a_cluster_that_loses_a_server_and_its_files_loses_and_doubles_no_event() {
    let Some(mut servers) = NatsServer::cluster(&<[Place; 3]>::default(), &[]) else {
        return;
    };
    let hosts: Vec<String> = servers.iter().map(NatsServer::address).collect();
    let nats = servers.remove(0);
    let Some(scene) = Scene::with(nats) else {
        return;
    };
    let address = format!("nats://{}?replicas=3", hosts.join(","));
    let server = scene.serve_at(&address, &["--pace", "150"]);
    // A cluster agrees on who leads it before it takes anything.
    scene.says(&server, "bus: there").await;
    let run = scene.start(&server).await;
    scene
        .until(&server, &format!("/v1/runs/{run}/events"), |page| {
            (page["events"].as_array().unwrap().len() > 8).then_some(())
        })
        .await;
    assert!(scene.is_under_way(&server, &run).await);
    servers[0].is_killed();
    servers[0].is_wiped();
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    let heard = scene.heard().await;
    assert_eq!(positions(&heard), (1..=through).collect::<Vec<_>>());
}
