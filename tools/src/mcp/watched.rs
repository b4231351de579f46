//! Sits between the protocol library and the wire, and shows the book every message.

use std::io::{self, Cursor};
use std::sync::Arc;

use futures_util::stream;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio_util::io::StreamReader;

use super::book::Book;
use super::reply;

/// A transport whose messages the book sees first, in their order.
pub(super) struct WatchedTransport<T> {
    inner: T,
    book: Arc<Book>,
}

impl<T> WatchedTransport<T> {
    pub(super) fn new(inner: T, book: Arc<Book>) -> Self {
        Self { inner, book }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for WatchedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sending = self.book.sends(&item).then(|| self.inner.send(item));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await?;
        self.book.receives(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// A server's output, line by line: a line that is too long is a failure, and a reply that cannot be read is replaced.
/// The library would drop both without a word.
pub(super) fn message_lines(
    output: impl AsyncRead + Unpin + Send + 'static,
    limit: usize,
    book: Arc<Book>,
) -> impl AsyncRead + Unpin + Send + 'static {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let begin = (BufReader::new(output), book);
    let lines = stream::try_unfold(
        begin,
        move |(mut output, book): (BufReader<_>, Arc<Book>)| async move {
            let mut line = Vec::new();
            (&mut output)
                .take(most)
                .read_until(b'\n', &mut line)
                .await?;
            if line.len() > limit {
                book.refuse(format!(
                "it sent a message of more than {limit} bytes; raise `limits.message_bytes` if it needs more"
            ));
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            if !line.ends_with(b"\n") {
                return Ok(None);
            }
            if let Some(errors) = reply::in_place_of(&line, book.only_request()) {
                line.clear();
                for error in errors {
                    serde_json::to_writer(&mut line, &error)?;
                    line.push(b'\n');
                }
            }
            Ok(Some((Cursor::new(line), (output, book))))
        },
    );
    StreamReader::new(Box::pin(lines))
}
