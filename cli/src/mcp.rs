//! `irq mcp`: an MCP server through which any MCP client asks people.
//!
//! Each session of a client has a run of the workflow `mcp`. Its tools raise questions in that run, and wait for what
//! people decide; see [`crate::asker`].

mod answer;
mod asking;
mod calls;
mod listener;
mod progress;
mod server;
mod sessions;
mod stdio;
mod tools;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::StoreArguments;
use crate::asker::AskerStore;
use crate::exit::Failure;
use sessions::Sessions;

/// The workflow of the runs in which the questions are.
const WORKFLOW: &str = "mcp";

/// The settings of an MCP server.
pub(crate) struct McpOrder {
    /// The address that it listens at; standard input and output if absent.
    pub(crate) listen: Option<SocketAddr>,
    /// The name of the client's session.
    pub(crate) name: Option<String>,
    /// How long a tool waits if its caller does not say.
    pub(crate) wait: Duration,
}

/// Serves MCP until the client has gone, or the process is asked to end.
///
/// # Errors
///
/// If the store cannot be opened, or the address cannot be listened at.
///
/// # Cancel safety
///
/// Dropped, this process owns the runs of sessions until it ends.
pub(crate) async fn serve(order: McpOrder, store: &StoreArguments) -> Result<(), Failure> {
    let store = AskerStore::open(store, WORKFLOW).await?;
    let closing = CancellationToken::new();
    let sessions = Sessions::new(Arc::clone(&store), &order, closing.clone());
    let listen = async {
        match order.listen {
            Some(address) => listener::serve(address, &sessions).await,
            None => stdio::serve(&sessions).await,
        }
    };
    let served = async {
        let served = tokio::select! {
            served = listen => served,
            () = store.hear() => Ok(()),
        };
        closing.cancel();
        served
    };
    let signalled = async {
        tokio::select! {
            () = told_to_end() => closing.cancel(),
            () = closing.cancelled() => {}
        }
    };
    let (served, ()) = tokio::join!(served, signalled);
    sessions.close().await;
    served
}

/// Returns once a signal asks the process to end.
async fn told_to_end() {
    let (Ok(mut interrupted), Ok(mut terminated), Ok(mut hung_up)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _signal = interrupted.recv() => {}
        _signal = terminated.recv() => {}
        _signal = hung_up.recv() => {}
    }
}
