//! A broker of several servers, of which one dies.

use std::net::TcpListener;

use tests::nats::NatsServer;

use crate::scene::{Scene, positions};

/// Three servers that know each other.
fn cluster() -> Option<Vec<NatsServer>> {
    let free: Vec<TcpListener> = (0..3)
        .map(|_server| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let route = |at: &TcpListener| format!("nats://{}", at.local_addr().unwrap());
    let routes: Vec<String> = free.iter().map(route).collect();
    drop(free);
    let all = routes.join(",");
    let start = |(number, route): (usize, &String)| {
        let name = format!("n{number}");
        let cluster = [
            "--cluster_name",
            "irq",
            "--cluster",
            route,
            "--routes",
            &all,
        ];
        NatsServer::start_with(&[&cluster[..], &["--server_name", &name]].concat())
    };
    routes.iter().enumerate().map(start).collect()
}

#[tokio::test]
async fn a_cluster_that_loses_a_server_and_its_files_loses_and_doubles_no_event() {
    let Some(mut servers) = cluster() else { return };
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
