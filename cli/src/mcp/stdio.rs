//! MCP over standard input and output, where nothing but the protocol is written.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::ServiceExt as _;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::server::AskServer;
use super::sessions::Sessions;
use crate::exit::{Exit, Failure};

/// Serves the client that has started this process, until it closes standard input.
///
/// # Errors
///
/// If the client speaks something else than MCP.
///
/// # Cancel safety
///
/// Dropped, the client is not served any more.
pub(super) async fn serve(sessions: &Arc<Sessions>) -> Result<(), Failure> {
    let (input, output) = stdio_pipes();
    let input = WatchedInput {
        input,
        closing: sessions.closing.clone(),
    };
    let server = AskServer::new(Arc::clone(sessions));
    let begun = tokio::select! {
        begun = server.serve_with_ct((input, output), sessions.closing.child_token()) => begun,
        () = sessions.closing.cancelled() => return Ok(()),
    };
    let serving = begun.map_err(|error| {
        let text = format!("the client did not begin a session: {error}");
        Failure::new(Exit::Failure, text)
            .hint("an MCP client starts `irq mcp`; see `irq mcp --help`")
    })?;
    let ended = serving.waiting().await;
    ended.map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    Ok(())
}

/// Standard input, which reports its end: calls that wait for people then give up, and their questions stay open.
struct WatchedInput<R> {
    input: R,
    closing: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for WatchedInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let has_room = buffer.remaining() > 0;
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        let has_ended = match &read {
            Poll::Pending => false,
            Poll::Ready(Ok(())) => has_room && buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
        };
        if has_ended {
            self.closing.cancel();
        }
        read
    }
}
