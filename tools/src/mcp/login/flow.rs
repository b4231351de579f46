//! One login: from what a server demands to a token.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationMetadata, OAuthClientConfig,
};

use super::challenge::Challenge;
use super::guide::{LoginGuide, LoginPage};
use super::landing::Landing;
use super::stored_login::{ClientLogin, Keep, StoredLogin};
use super::terms::LoginTerms;
use crate::mcp::name::ServerName;

/// What a client calls itself where it registers.
const CLIENT_NAME: &str = "Interrupt Router";

/// How long a person may take.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(super) enum FlowError {
    #[error(transparent)]
    Protocol(#[from] AuthError),
    #[error("what is kept of it cannot be read or written")]
    Keep(#[source] io::Error),
    #[error(
        "no page can be opened on 127.0.0.1 for the answer; give another `login.port`, or none"
    )]
    Landing(#[source] io::Error),
    #[error("it was refused: {0}")]
    Refused(String),
    #[error("no answer came within ten minutes")]
    Late,
}

/// What all logins to one server have in common.
pub(super) struct Flow<'gate> {
    pub(super) server: &'gate ServerName,
    pub(super) url: &'gate str,
    pub(super) terms: &'gate LoginTerms,
    pub(super) keep: &'gate Arc<Keep>,
}

impl Flow<'_> {
    async fn manager(&self, kept_for: ClientLogin) -> Result<AuthorizationManager, AuthError> {
        // The library makes its own clients.
        let _installed = tls::provider();
        let mut manager = if self.terms.private_network {
            AuthorizationManager::new_allowing_private_addresses(self.url).await?
        } else {
            AuthorizationManager::new(self.url).await?
        };
        manager.set_credential_store(kept_for);
        Ok(manager)
    }

    /// What is kept of a login that begins now.
    fn kept_for(&self, client_secret: Option<String>, challenge: Option<String>) -> ClientLogin {
        ClientLogin {
            keep: Arc::clone(self.keep),
            client_secret,
            challenge,
            logged_in_at: Timestamp::now().as_microsecond(),
        }
    }

    /// What was kept, made ready: with the tokens of a login before, where there was one.
    pub(super) async fn restored(&self) -> Result<AuthorizationManager, FlowError> {
        let kept = self.keep.read().map_err(FlowError::Keep)?;
        let StoredLogin {
            credentials,
            client_secret,
            challenge,
            logged_in_at,
            ..
        } = kept.unwrap_or_default();
        let kept_for = ClientLogin {
            logged_in_at,
            ..self.kept_for(client_secret.clone(), challenge.clone())
        };
        let mut manager = self.manager(kept_for).await?;
        let Some(credentials) = credentials else {
            return Ok(manager);
        };
        // Metadata may be found through the challenge alone.
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref());
        let found = found.await?.metadata;
        manager.set_metadata(found);
        // A token of another issuer than there is now is not sent.
        if manager.initialize_from_store().await?
            && let Some(secret) = client_secret
        {
            let client = OAuthClientConfig::new(credentials.client_id, self.url);
            manager.configure_client(client.with_client_secret(secret))?;
        }
        Ok(manager)
    }

    /// A person allows us.
    pub(super) async fn by_person(
        &self,
        challenge: &Challenge,
        guide: &dyn LoginGuide,
    ) -> Result<AuthorizationManager, FlowError> {
        let landing = Landing::open(self.terms.port).await;
        let landing = landing.map_err(FlowError::Landing)?;
        let unsaved = self.kept_for(None, challenge.header.clone());
        let mut manager = self.manager(unsaved).await?;
        let found = manager.resolve_metadata_from_challenge(challenge.header.as_deref());
        let found = found.await?.metadata;
        manager.set_metadata(found.clone());
        let scopes = self.scopes(&manager, challenge).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = self.client(&mut manager, &found, &scopes, &landing).await?;
        manager.set_credential_store(
            self.kept_for(client.client_secret.clone(), challenge.header.clone()),
        );
        manager.configure_client(client)?;
        let page = manager.get_authorization_url(&scopes).await?;
        let answered = tokio::time::timeout(LONGEST, self.answered(&landing, page, guide)).await;
        let callback = answered.map_err(|_late| FlowError::Late)??;
        let (state, issuer) = (&callback.csrf_token, callback.issuer.as_deref());
        manager
            .exchange_code_for_token_with_issuer(&callback.code, state, issuer)
            .await?;
        Ok(manager)
    }

    /// What is asked for: what the configuration says, else what the server names; and, where a token is not enough,
    /// what it has granted by now, so that nothing is lost.
    async fn scopes(
        &self,
        manager: &AuthorizationManager,
        challenge: &Challenge,
    ) -> Result<Vec<String>, FlowError> {
        let mut scopes = if self.terms.scopes.is_empty() {
            manager.select_initial_scopes(&[]).await
        } else {
            self.terms.scopes.clone()
        };
        if challenge.wants_more {
            let kept = self.keep.read().map_err(FlowError::Keep)?;
            let kept = kept.unwrap_or_default();
            let granted = kept
                .credentials
                .map(|credentials| credentials.granted_scopes);
            let more = granted.into_iter().flatten().chain(kept.wanted);
            for scope in more.chain(challenge.scopes(self.url)) {
                // A server that grants none may say so with an empty one.
                if !scope.is_empty() && !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        Ok(scopes)
    }

    /// Who we are there, in the order of the protocol: registered beforehand, described by a document, registered now.
    async fn client(
        &self,
        manager: &mut AuthorizationManager,
        found: &AuthorizationMetadata,
        scopes: &[&str],
        landing: &Landing,
    ) -> Result<OAuthClientConfig, AuthError> {
        let address = landing.address.as_str();
        if let Some(id) = &self.terms.client_id {
            let client = OAuthClientConfig::new(id, address);
            return Ok(match &self.terms.client_secret {
                Some(secret) => client.with_client_secret(secret),
                None => client,
            });
        }
        let takes_documents = found
            .additional_fields
            .get("client_id_metadata_document_supported");
        match &self.terms.client_metadata {
            Some(document) if takes_documents == Some(&true.into()) => {
                Ok(OAuthClientConfig::new(document, address))
            }
            Some(_) | None => manager.register_client(CLIENT_NAME, address, scopes).await,
        }
    }

    async fn answered(
        &self,
        landing: &Landing,
        page: String,
        guide: &dyn LoginGuide,
    ) -> Result<AuthorizationCallback, FlowError> {
        let state = Url::parse(&page).ok().and_then(|url| {
            let mut pairs = url.query_pairs();
            pairs
                .find(|(name, _)| name == "state")
                .map(|(_, value)| value.into_owned())
        });
        let state = state.unwrap_or_default();
        let answer = landing.answer(&state);
        tokio::pin!(answer);
        let page = LoginPage {
            server: self.server.clone(),
            url: page,
        };
        let answer = tokio::select! {
            answer = &mut answer => answer,
            () = guide.show(page) => answer.await,
        };
        answer
            .map_err(FlowError::Landing)?
            .map_err(FlowError::Refused)
    }
}
