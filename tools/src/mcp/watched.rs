//! Sits between the protocol library and the wire, and shows the book every message.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, ReadBuf};

use super::book::Book;

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

/// A stream of lines that fails at one that is too long, instead of dropping it without a word.
pub(super) struct Bounded<R> {
    inner: R,
    limit: usize,
    /// The length of the line so far.
    length: usize,
    /// Learns of a line that is too long.
    book: Arc<Book>,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, limit: usize, book: Arc<Book>) -> Self {
        Self {
            inner,
            limit,
            length: 0,
            book,
        }
    }

    /// Whether all lines in these bytes are short enough.
    fn fits(&mut self, bytes: &[u8]) -> bool {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.length += piece.len();
            if self.length > self.limit {
                return false;
            }
            if piece.ends_with(b"\n") {
                self.length = 0;
            }
        }
        true
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        if self.fits(new) {
            read
        } else {
            self.book.refuse(format!(
                "it sent a message of more than {} bytes; raise `limits.message_bytes` if it needs more",
                self.limit
            ));
            Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
        }
    }
}
