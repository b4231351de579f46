//! A server over the store of a world, which dies where it is told to.

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::life::Life;
use crate::world::World;

/// How often it is looked whether a server listens.
const LOOK: Duration = Duration::from_millis(20);

/// Where the servers of a test listen, and who asks them.
pub(crate) struct Service {
    world: Arc<World>,
    port: u16,
    token: String,
    client: Client,
}

impl Service {
    pub(crate) async fn of(world: &Arc<World>) -> Self {
        let create = ["token", "create", "--name", "script", "--role", "admin"];
        let mut made = Life::start(world, world.irq(&create), "token");
        let made = tokio::task::block_in_place(|| (made.end(), made));
        assert_eq!(made.0, Some(0));
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            world: Arc::clone(world),
            port: free.local_addr().unwrap().port(),
            token: made.1.output(world).trim().to_owned(),
            // A connection to a server that has died must not be used for the next one.
            client: tls::client().pool_max_idle_per_host(0).build().unwrap(),
        }
    }

    /// A server that lives.
    pub(crate) async fn serve(&self, name: &str) -> Life {
        self.listens(self.command(), name).await
    }

    /// A server that dies at this moment.
    pub(crate) async fn serve_until(&self, moment: &str, name: &str) -> Life {
        let mut command = self.command();
        command.env("IRQ_DIE_AT", moment);
        self.listens(command, name).await
    }

    fn command(&self) -> Command {
        let mut command = self.world.irq(&["serve", "--model", "openai:gpt-5-mini"]);
        command
            .args(["--listen", &format!("127.0.0.1:{}", self.port)])
            .args(["--base-url", &format!("{}/v1", self.world.brain.address())])
            .arg("--workspace")
            .arg(self.world.file("workspace"));
        command
    }

    async fn listens(&self, command: Command, name: &str) -> Life {
        let mut life = Life::start(&self.world, command, name);
        let address = format!("http://127.0.0.1:{}/livez", self.port);
        while self.client.get(&address).send().await.is_err() {
            let ended = life.child.try_wait().unwrap();
            assert_eq!(ended, None, "{}", life.errors(&self.world));
            tokio::time::sleep(LOOK).await;
        }
        life
    }

    /// What is answered; `None` where the server died before.
    pub(crate) async fn send(
        &self,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Option<(StatusCode, Value)> {
        let address = format!("http://127.0.0.1:{}{path}", self.port);
        let request = self.client.post(address).bearer_auth(&self.token);
        let request = request.header("Idempotency-Key", key).json(body);
        let response = request.send().await.ok()?;
        Some((response.status(), response.json().await.ok()?))
    }

    /// Starts a run. Returns its id.
    pub(crate) async fn start(&self, goal: &str) -> String {
        let order = json!({"goal": goal});
        let (status, run) = self.send("/v1/runs", &order, "start").await.unwrap();
        assert_eq!(status, StatusCode::CREATED, "{run}");
        run["run_id"].as_str().unwrap().to_owned()
    }
}
