//! Models of real providers.
//!
//! Every call is streamed, even if no one listens to the pieces: a server that can stop generating does so when the
//! stream's connection is closed, which is what an interrupt does.
//!
//! The four forms that nearly all providers speak are written and read here, once each; the client library knows the
//! providers' addresses, and speaks the forms of a few others.
//!
//! The schema goes out as the call has it, byte for byte, in the field in which the provider takes
//! it. What bounds an answer: its length by [`CallLimits::answer`], the time by the other limits. A line of the stream is kept until
//! it ends, and so is the body of a refusal; both are bounded by how often the connection is read for them, by
//! [`CallLimits::line_reads`].

mod answer;
mod background;
mod cause;
mod ending;
mod endpoint;
mod error;
mod event_stream;
mod exchange;
mod failure;
mod fitting;
mod io_thread;
mod limits;
mod model_id;
mod probe;
mod request;
mod retry_after;
mod secret;
mod signature;
mod telemetry;
mod transport;
mod unreached;
mod usage;
mod wire;

use std::env;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, PartialReply, TurnForm,
};
use interrupt_router::{Outcome, StopScope};
use tracing::Instrument;

use crate::Ended;
use crate::profile::ModelProfile;

use answer::Answer;
use background::{Background, CancelOnDrop, ResponseWatch};
use endpoint::BaseUrl;
use exchange::Exchange;
use failure::FailureContext;
use io_thread::{IoThread, Sending};
use telemetry::CallSpan;
use transport::Transport;
use wire::Wire;

pub use background::{CancelObserver, CancelOutcome, CancelReport};
pub use error::ProviderError;
pub use limits::CallLimits;
pub use model_id::{ModelId, ParseModelIdError, Provider};
pub use probe::{ServerFacts, ServerKind};
pub use secret::Secret;
pub(crate) use unreached::Unreached;

/// What is sent where a server wants no key and the client library insists on one.
const NO_KEY: &str = "none";

/// Models of a plan of Z.ai's that has an address of its own.
const ZAI_CODING: &str = "zai_coding::";
const ZAI_CODING_URL: &str = "https://api.z.ai/api/coding/paas/v4/";

/// Which model to use, and how.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Who serves the model.
    pub provider: Provider,
    /// What the provider calls it.
    pub model: String,
    /// Where it is served; the provider's own address where it is left out. Without a path, the path
    /// that is usual for the provider is added: `/v1/` for OpenAI.
    pub base_url: Option<String>,
    /// The key; taken from the provider's environment variable where it is left out.
    pub key: Option<Secret>,
    /// What bounds a call.
    pub limits: CallLimits,
}

/// A model that a provider serves.
#[derive(Debug, Clone)]
pub struct ProviderModel {
    name: String,
    provider: Provider,
    model: String,
    base_url: Option<BaseUrl>,
    key: Secret,
    limits: CallLimits,
    /// What was said of it.
    profile: ModelProfile,
    /// What applies if neither that nor its server says anything.
    built_in: ModelProfile,
    transport: Transport,
    http: reqwest::Client,
    client: Client,
    io_thread: IoThread,
    background: Option<Background>,
    /// What its server is, once it was asked; `None` if it is never asked.
    probe: Option<Arc<OnceLock<ServerFacts>>>,
}

impl ProviderModel {
    /// Prepares a model; sends nothing.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] where no request could be made: a missing key, a bad base URL.
    pub fn new(config: ProviderConfig) -> Result<Self, ProviderError> {
        Self::with_environment(config, |name| env::var(name).ok())
    }

    fn with_environment(
        config: ProviderConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let variable_name = config.provider.key_variable();
        Self::with_key_from(config, variable_name, variable)
    }

    /// Prepares the model of a profile: its own settings, and below them the built-in ones of its provider. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] where no request could be made, or the certificates of the profile are none.
    pub fn of_profile(id: &ModelId, profile: &ModelProfile) -> Result<Self, ProviderError> {
        let is_own = profile.base_url.is_some() || id.provider.is_local();
        let mut built_in = if is_own {
            ModelProfile::of(id.provider)
        } else {
            ModelProfile::of_model(id)
        };
        let known = profile.clone().or(built_in.clone());
        let config = ProviderConfig {
            provider: id.provider,
            model: id.model.clone(),
            base_url: profile.base_url.clone(),
            key: None,
            limits: known.limits(),
        };
        let key_variable = known.key_variable.as_deref();
        let made = Self::with_key_from(config, key_variable, |name| env::var(name).ok())?;
        if made.transport.local {
            built_in = built_in.or(ModelProfile::of_local_server());
        }
        let made = match &profile.ca_certificate {
            Some(file) => {
                let pem = std::fs::read(file).map_err(|source| ProviderError::CertificateFile {
                    file: file.clone(),
                    source,
                })?;
                made.trusting(&pem)?
            }
            None => made,
        };
        let made = if profile.background == Some(true) {
            made.in_background(Arc::new(()))
        } else {
            made
        };
        Ok(Self {
            limits: profile.clone().or(built_in.clone()).limits(),
            profile: profile.clone(),
            built_in,
            probe: is_own.then(Arc::default),
            ..made
        })
    }

    fn with_key_from(
        config: ProviderConfig,
        key_variable: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let ProviderConfig {
            provider,
            model,
            base_url,
            key,
            limits,
        } = config;
        if model.trim().is_empty() {
            return Err(ProviderError::NoModel);
        }
        let base_url = base_url
            .as_deref()
            .or(provider.own_base_url())
            .map(|given| BaseUrl::parse(given, provider))
            .transpose()?;
        let local = base_url.as_ref().is_some_and(BaseUrl::is_loopback);
        let found = key.or_else(|| {
            variable(key_variable?)
                .filter(|key| !key.trim().is_empty())
                .map(|key| Secret::new(key.trim()))
        });
        let key = match (found, key_variable) {
            (Some(key), _) => key,
            (None, Some(variable)) if !local => {
                let variable = variable.to_owned();
                return Err(ProviderError::NoKey { provider, variable });
            }
            (None, _) => Secret::new(NO_KEY),
        };
        let transport = Transport {
            connect: limits.connect,
            local,
            ..Transport::default()
        };
        let http = transport.client()?;
        Ok(Self {
            name: format!("{provider}:{model}"),
            provider,
            model,
            base_url,
            key,
            limits,
            client: client(http.clone())?,
            http,
            transport,
            profile: ModelProfile::default(),
            built_in: ModelProfile::default(),
            probe: None,
            background: None,
            io_thread: IoThread::start().map_err(ProviderError::Thread)?,
        })
    }

    /// Trusts servers that these authorities vouch for, beside those that the system trusts: a company's gateway has a
    /// certificate of the company's own. `pem` may contain several certificates.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Certificate`] where there is no certificate in it, or one that cannot be read.
    pub fn trusting(self, pem: &[u8]) -> Result<Self, ProviderError> {
        let authorities = reqwest::Certificate::from_pem_bundle(pem)
            .ok()
            .filter(|found| !found.is_empty());
        let authorities = authorities.ok_or(ProviderError::Certificate)?;
        self.over(|transport| transport.authorities = authorities)
    }

    /// Tells each read and write of its connections by the facade `log`, keys and all: for debugging.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] where the HTTP client cannot be built.
    pub fn telling_connections(self) -> Result<Self, ProviderError> {
        self.over(|transport| transport.told = true)
    }

    fn over(self, change: impl FnOnce(&mut Transport)) -> Result<Self, ProviderError> {
        let mut transport = self.transport.clone();
        change(&mut transport);
        let http = transport.client()?;
        Ok(Self {
            client: client(http.clone())?,
            http,
            transport,
            ..self
        })
    }

    /// How it is asked.
    fn manner(&self) -> request::Manner<'_> {
        request::Manner {
            provider: self.provider,
            dialect: self.dialect(),
            model: &self.model,
            limits: &self.limits,
            max_tokens: self.known(|profile| profile.max_tokens),
            temperature: self.known(|profile| profile.temperature),
        }
    }

    /// One thing of its profile: as it was said, else as its server says, else as it is built in.
    fn known<T>(&self, part: impl Fn(&ModelProfile) -> Option<T>) -> Option<T> {
        part(&self.profile)
            .or_else(|| part(&self.facts()?.profile()))
            .or_else(|| part(&self.built_in))
    }

    /// Its effective profile: what was said, what its server says of itself, and what is built in.
    pub fn profile(&self) -> ModelProfile {
        let found = self.facts().map(ServerFacts::profile).unwrap_or_default();
        self.profile.clone().or(found).or(self.built_in.clone())
    }

    /// What its server says of itself; `None` where it is not one's own, or cannot be reached now.
    ///
    /// Blocks this thread for a moment, the first time.
    pub fn server_facts(&self) -> Option<&ServerFacts> {
        self.facts()
    }

    /// Asks for answers that are made in the background, where the provider makes such answers (OpenAI's
    /// Responses API): they are stored there, outlive their connection, and are cancelled by request
    /// when a call ends before its answer does. Elsewhere nothing changes.
    ///
    /// The observer gets the outcome of each cancellation. Use `Arc::new(())` to ignore it.
    #[must_use]
    pub fn in_background(self, observer: Arc<dyn CancelObserver>) -> Self {
        let background = match self.provider.wire() {
            Wire::OpenAiResponses => Some(Background(observer)),
            Wire::OpenAi
            | Wire::ChatCompletions
            | Wire::JsonObject
            | Wire::Anthropic
            | Wire::Gemini
            | Wire::Instructions => None,
        };
        Self { background, ..self }
    }

    /// Sends the request of a call, and reads its answer.
    async fn exchange(&self, span: CallSpan, call: ModelCall, scope: &StopScope) -> Ended {
        let watch = Arc::new(ResponseWatch::default());
        let mut context = FailureContext {
            endpoint: self.name.clone(),
            limits: self.limits,
            key: self.key.clone(),
        };
        let target = tokio::select! {
            biased; // A call that is stopped before it begins sends nothing.
            reason = scope.stopped_now() => {
                let partial = PartialReply::never_made();
                return Ok(Outcome::Interrupted { reason, partial });
            }
            target = self.target() => target.map_err(|error| failure::of(error, &context, 0))?,
        };
        context.endpoint = target.endpoint.base_url().to_owned();
        span.sent_to(&context.endpoint);
        let cancel = self.background.as_ref().map(|background| CancelOnDrop {
            watch: Arc::clone(&watch),
            http: self.http.clone(),
            io_thread: self.io_thread.clone(),
            base_url: context.endpoint.clone(),
            key: self.key.clone(),
            model: self.name.clone(),
            observer: Arc::clone(&background.0),
        });
        let (request, options) = request::of(&call, &self.manner());
        let options = match cancel {
            Some(_) => request::in_background(options),
            None => options,
        };
        let posted = request::body::of(
            self.provider.form_and_kind(),
            &self.model,
            &request,
            &options,
        );
        let sending = match posted {
            Some(posted) => {
                let form = self.provider.form();
                let url = format!("{}{}", context.endpoint, posted.path);
                let mut request = self.http.post(url).json(&posted.body);
                for (name, value) in request::body::headers(form, &self.key) {
                    request = request.header(name, value);
                }
                let request = Box::new(request);
                Sending::Own { request, watch }
            }
            None => Sending::Library {
                client: Box::new(self.client.clone()),
                target: Box::new(target),
                call: Box::new((request, options)),
            },
        };
        let items = self.io_thread.stream(sending, self.limits.line_reads);
        let answer = Answer::new(self.provider.form());
        let exchange = Exchange::new(answer, call.tools, call.chunks, context, cancel, span);
        exchange.run(items, scope).await
    }

    /// The address and the key for one call.
    async fn target(&self) -> Result<genai::ServiceTarget, genai::Error> {
        let model = ModelIden::new(self.provider.adapter(), self.model.clone());
        let mut target = self.client.resolve_service_target(model).await?;
        if let Some(base_url) = &self.base_url {
            target.endpoint = Endpoint::from_owned(base_url.as_str());
        } else if self.model.starts_with(ZAI_CODING) {
            target.endpoint = Endpoint::from_static(ZAI_CODING_URL);
        }
        target.auth = AuthData::from_single(self.key.reveal());
        Ok(target)
    }
}

fn client(http: reqwest::Client) -> Result<Client, ProviderError> {
    Client::builder()
        .with_reqwest(http)
        .build()
        .map_err(|error| ProviderError::Client(Box::new(error)))
}

#[async_trait]
impl LanguageModel for ProviderModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        let known = self.known(|profile| profile.dialect);
        known.unwrap_or_else(|| self.provider.dialect())
    }

    fn turn_form(&self, _caller: &ModelCaller) -> TurnForm {
        let by_dialect = || match self.dialect() {
            Dialect::Grammar => TurnForm::RouteFirst,
            Dialect::JsonSchema | Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Gemini => {
                TurnForm::OneStep
            }
        };
        let known = self.known(|profile| profile.turn);
        known.unwrap_or_else(by_dialect)
    }

    async fn call(&self, call: ModelCall, scope: &StopScope) -> Ended {
        let manner = self.manner();
        let context = self.known(|profile| profile.context);
        let call = fitting::fit(call, context, manner.max_tokens)?;
        let span = CallSpan::open(self.provider, &self.model, call.schema.is_some());
        let exchanging = self.exchange(span.clone(), call, scope);
        let ended = exchanging.instrument(span.span()).await;
        match &ended {
            Ok(outcome) => span.ended(outcome),
            Err(error) => span.failed(error),
        }
        ended
    }
}

#[cfg(test)]
mod tests;
