//! A notifier over PostgreSQL: it notifies when any process has committed something that others may wait for.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupts::{Notifier, OwnerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::tls::TlsStream;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::in_words;
use super::location::{PostgresLocation, SILENCE_AT_SERVER, connected};
use super::session::tls;

/// How long to wait before a connection is made again that was lost.
const PAUSE: Duration = Duration::from_millis(500);

/// A notifier over PostgreSQL. Each commit notifies by itself, so notifying does nothing.
#[derive(Debug)]
pub struct PostgresNotifier {
    notified: Arc<Notify>,
    listener: JoinHandle<()>,
}

impl PostgresNotifier {
    /// Listens, from now on and again after each loss of the connection.
    ///
    /// Must be called within a Tokio runtime.
    pub fn open(location: &PostgresLocation) -> Self {
        let notified = Arc::new(Notify::new());
        let listener = tokio::spawn(listen(location.clone(), Arc::clone(&notified)));
        Self { notified, listener }
    }
}

impl Drop for PostgresNotifier {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

#[async_trait]
impl Notifier for PostgresNotifier {
    async fn notify(&self, _owner: &OwnerName) {}

    async fn heard(&self) {
        self.notified.notified().await;
    }
}

/// Listens for ever.
async fn listen(location: PostgresLocation, notified: Arc<Notify>) {
    loop {
        if let Err(error) = listen_once(&location, &notified).await {
            // The readers and the writer report that the server is away.
            tracing::debug!(error, "the bell cannot hear the store; it is tried again");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Listens until the connection is lost.
async fn listen_once(location: &PostgresLocation, notified: &Arc<Notify>) -> Result<(), String> {
    let configs = location.configs().map_err(|error| error.to_string())?;
    if location.has_tls() {
        let tls = MakeRustlsConnect::new(tls(location).map_err(|error| error.to_string())?);
        let connect = |config: Config| {
            let tls = tls.clone();
            async move { config.connect(tls).await }
        };
        let (client, connection) = first(location, configs, connect).await?;
        listen_with(location, client, connection, notified).await
    } else {
        let connect = |config: Config| async move { config.connect(NoTls).await };
        let (client, connection) = first(location, configs, connect).await?;
        listen_with(location, client, connection, notified).await
    }
}

/// The connection to the first host that takes what is written.
async fn first<T, F>(
    location: &PostgresLocation,
    configs: Vec<Config>,
    connect: impl Fn(Config) -> F,
) -> Result<T, String>
where
    F: Future<Output = Result<T, tokio_postgres::Error>>,
{
    let mut failed = "it has no host".to_owned();
    for config in configs {
        match timeout(location.longest_opening(), connected(&config, &connect)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failed = in_words(&error),
            Err(_elapsed) => failed = "the server says nothing".to_owned(),
        }
    }
    Err(failed)
}

async fn listen_with<S, T>(
    location: &PostgresLocation,
    client: Client,
    mut connection: Connection<S, T>,
    notified: &Arc<Notify>,
) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: TlsStream + Unpin,
{
    let listening = format!("{SILENCE_AT_SERVER}; LISTEN \"irq_{}\"", location.schema());
    let mut listening = Box::pin(client.batch_execute(&listening));
    let mut is_listening = false;
    poll_fn(|context| {
        loop {
            if !is_listening && let std::task::Poll::Ready(done) = listening.as_mut().poll(context)
            {
                if let Err(error) = done {
                    return std::task::Poll::Ready(Err(in_words(&error)));
                }
                is_listening = true;
                // What came before was not heard.
                notified.notify_one();
            }
            match std::task::ready!(connection.poll_message(context)) {
                Some(Ok(AsyncMessage::Notification(_news))) => notified.notify_one(),
                Some(Ok(_other)) => {}
                Some(Err(error)) => return std::task::Poll::Ready(Err(in_words(&error))),
                None => return std::task::Poll::Ready(Err("the server has closed it".to_owned())),
            }
        }
    })
    .await
}
