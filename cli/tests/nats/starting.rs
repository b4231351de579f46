//! How a server begins that publishes.

use crate::program::{end, irq};
use crate::scene::Scene;

#[tokio::test]
async fn a_broker_that_is_not_there_yet_holds_nothing_up() {
    let Some(mut scene) = Scene::new() else {
        return;
    };
    scene.nats.is_killed();
    let address = format!("nats://ada:secret@{}", scene.nats.address());
    let server = scene.serve_at(&address, &[]);
    let place = format!("nats://ada@{}?tenant=local", scene.nats.address());
    assert!(server.said.contains(&place), "{}", server.said);
    assert!(server.said.contains("as soon as"), "{}", server.said);
    assert!(!server.said.contains("secret"), "{}", server.said);
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    scene.nats.comes_back();
    scene.says(&server, "bus: there, 0 events wait").await;
    assert!(!scene.heard().await.is_empty());
    assert_eq!(server.stops(), Some(0));
}

#[test]
fn an_address_that_is_none_is_refused_without_its_password() {
    for address in ["http://ada:secret@host", "nats://ada:secret@host?no_such=1"] {
        let mut serve = irq();
        serve.args(["serve", "--listen", "127.0.0.1:0"]);
        let ended = end(serve.env("IRQ_BUS", address)).exits_with(2);
        assert!(!ended.error_output.contains("secret"), "{ended:?}");
        ended.says("--bus");
    }
}
