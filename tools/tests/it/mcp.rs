//! MCP servers as an agent uses them: real ones on the SDKs for Python and Node, over both transports, and one that
//! does what no real one would.

/// Makes a test of each combination of SDK and transport.
macro_rules! on_all {
    ($($claim:ident => $body:ident),+ $(,)?) => {
        $(mod $claim {
            use crate::mcp::stage::{Sdk, Way};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn python_stdio() {
                super::$body(Sdk::Python, Way::Stdio).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn python_http() {
                super::$body(Sdk::Python, Way::Http).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn node_stdio() {
                super::$body(Sdk::Node, Way::Stdio).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn node_http() {
                super::$body(Sdk::Node, Way::Http).await;
            }
        })+
    };
}

mod cancelling;
mod configuration;
mod dying;
mod elicitation;
mod everything;
mod guarded;
mod listing;
mod login;
mod login_kept;
mod network;
mod oddities;
mod resources;
mod stage;
mod unreadable;
