//! The server of a double.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::behaviour::Ending;
use super::cancellations::Cancellations;
use super::part::{Part, Received, events_of, handle};
use super::transport::{self, Secured};
use super::{Behaviour, HangUps, Said, Transport, WireForm};

/// A local server that plays a provider. It ends when it is dropped.
pub struct ProviderDouble {
    address: String,
    part: Arc<Part>,
    server: JoinHandle<()>,
    authority: Option<String>,
}

impl ProviderDouble {
    /// Starts a double on a free port. It answers each request with the next behaviour, and with the
    /// last one from then on; its answers are `{"answer":"forty-two"}`.
    ///
    /// # Errors
    ///
    /// Where no port can be had.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped before it is ready, there is no server.
    pub async fn start(
        form: WireForm,
        behaviours: impl IntoIterator<Item = Behaviour>,
    ) -> io::Result<Self> {
        let answer = |_: &Received| r#"{"answer":"forty-two"}"#.to_owned();
        Self::answering(form, behaviours, answer).await
    }

    /// As [`ProviderDouble::start`], with answers that depend on the request.
    ///
    /// # Errors
    ///
    /// Where no port can be had.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped before it is ready, there is no server.
    pub async fn answering<S: Into<Said>>(
        form: WireForm,
        behaviours: impl IntoIterator<Item = Behaviour>,
        answering: impl Fn(&Received) -> S + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::over(Transport::Http1, form, behaviours, answering).await
    }

    /// As [`ProviderDouble::answering`], over a transport of choice.
    ///
    /// # Errors
    ///
    /// Where no port can be had, or no certificate be made.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped before it is ready, there is no server.
    pub async fn over<S: Into<Said>>(
        transport: Transport,
        form: WireForm,
        behaviours: impl IntoIterator<Item = Behaviour>,
        answering: impl Fn(&Received) -> S + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let part = Arc::new(Part {
            form,
            behaviours: Mutex::new(behaviours.into_iter().collect()),
            received: Mutex::default(),
            hang_ups: HangUps::new(),
            answering: Box::new(move |received| answering(received).into()),
            blocks_sent: Arc::default(),
            received_count: AtomicUsize::new(0),
            cancellations: Cancellations::default(),
            facts: Mutex::default(),
        });
        let secured = Secured::new(transport)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let address = match &secured {
            None => format!("http://127.0.0.1:{port}"),
            Some(_) => format!("https://localhost:{port}"),
        };
        let authority = secured.as_ref().map(|secured| secured.authority.clone());
        let router = Router::new()
            .fallback(handle)
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&part));
        Ok(Self {
            address,
            part,
            server: tokio::spawn(transport::serve(listener, secured, router)),
            authority,
        })
    }

    /// From now on it lists its models so, as servers of one's own do.
    pub fn lists_models(&self, models: &serde_json::Value) {
        self.says("models", models);
    }

    /// From now on it says this of itself, as llama.cpp does.
    pub fn has_props(&self, props: &serde_json::Value) {
        self.says("props", props);
    }

    fn says(&self, asked: &'static str, said: &serde_json::Value) {
        let facts = self.part.facts.lock();
        let mut facts = facts.unwrap_or_else(PoisonError::into_inner);
        facts.insert(asked, said.to_string());
    }

    /// The certificate by which its own is trusted, where it has one.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// Where it listens, without a path.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it received so far.
    pub fn received(&self) -> Vec<Received> {
        let received = self.part.received.lock();
        received.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests it received so far.
    pub fn received_count(&self) -> usize {
        self.part.received_count.load(Ordering::Relaxed)
    }

    /// Forgets what it received, though not how many requests that were: a long run fills no memory.
    pub fn forget_received(&self) {
        let received = self.part.received.lock();
        *received.unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }

    /// The whole stream of an answer, as it is sent for the first request.
    pub fn recording(form: WireForm, answer: impl Into<Said>) -> String {
        events_of(form, 1, &answer.into(), Ending::Whole).concat()
    }

    /// The responses that it was told to cancel.
    pub fn cancellations(&self) -> &Cancellations {
        &self.part.cancellations
    }

    /// How many blocks of its streams it has handed out: an event each, or a part of one.
    pub fn blocks_sent(&self) -> usize {
        self.part.blocks_sent.load(Ordering::Relaxed)
    }

    /// How often clients hung up before the end of an answer.
    pub fn hang_ups(&self) -> &HangUps {
        &self.part.hang_ups
    }
}

impl Drop for ProviderDouble {
    fn drop(&mut self) {
        self.server.abort();
    }
}
