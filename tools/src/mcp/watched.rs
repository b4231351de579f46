//! Sits between the protocol library and the wire, and shows the book every message.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, ReadBuf};

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

/// How much of a server's output is read at once.
const PIECE: usize = 16 * 1024;

/// A server's output, line by line: a line that is too long is a failure, and a reply that cannot be read is replaced.
/// The library would drop both without a word.
pub(super) struct MessageLines<R> {
    inner: R,
    limit: usize,
    book: Arc<Book>,
    buffer: Box<[u8]>,
    /// The line so far.
    line: Vec<u8>,
    /// Whole lines that have not been handed on.
    ready: VecDeque<u8>,
}

impl<R> MessageLines<R> {
    pub(super) fn new(inner: R, limit: usize, book: Arc<Book>) -> Self {
        Self {
            inner,
            limit,
            book,
            buffer: vec![0; PIECE].into(),
            line: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// Takes up what was read.
    fn take_up(&mut self, length: usize) -> io::Result<()> {
        let bytes = self.buffer.get(..length).unwrap_or_default();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > self.limit {
                self.book.refuse(format!(
                    "it sent a message of more than {} bytes; raise `limits.message_bytes` if it needs more",
                    self.limit
                ));
                return Err(io::ErrorKind::InvalidData.into());
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                match reply::in_place_of(&line, self.book.only_request()) {
                    None => self.ready.extend(line),
                    Some(errors) => {
                        for error in errors {
                            self.ready.extend(serde_json::to_vec(&error)?);
                            self.ready.push_back(b'\n');
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MessageLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.ready.is_empty() {
            let mut read = ReadBuf::new(&mut this.buffer);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut read))?;
            match read.filled().len() {
                0 => return Poll::Ready(Ok(())),
                length => this.take_up(length)?,
            }
        }
        let (first, _) = this.ready.as_slices();
        let length = first.len().min(buffer.remaining());
        buffer.put_slice(first.get(..length).unwrap_or_default());
        this.ready.drain(..length);
        Poll::Ready(Ok(()))
    }
}
