//! One login: from what a server demands to a token.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationMetadata, OAuthClientConfig,
};

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
pub(super) struct Flow {
    pub(super) server: ServerName,
    pub(super) url: String,
    pub(super) terms: LoginTerms,
    pub(super) keep: Arc<Keep>,
}

impl Flow {
    async fn manager(&self, login: StoredLogin) -> Result<AuthorizationManager, AuthError> {
        // The library makes its own clients.
        let _installed = tls::provider();
        let url = self.url.as_str();
        let mut manager = if self.terms.private_network {
            AuthorizationManager::new_allowing_private_addresses(url).await?
        } else {
            AuthorizationManager::new(url).await?
        };
        manager.set_credential_store(self.kept_for(login));
        Ok(manager)
    }

    fn kept_for(&self, login: StoredLogin) -> ClientLogin {
        ClientLogin {
            keep: Arc::clone(&self.keep),
            login,
        }
    }

    /// What was kept, made ready: with the tokens of a login before, where there was one.
    pub(super) async fn restored(&self) -> Result<AuthorizationManager, FlowError> {
        let kept = self.keep.read().map_err(FlowError::Keep)?;
        let kept = kept.unwrap_or_default();
        let mut manager = self.manager(kept.clone()).await?;
        let Some(credentials) = kept.credentials else {
            return Ok(manager);
        };
        // Metadata may be found through the challenge alone.
        let found = manager.resolve_metadata_from_challenge(kept.challenge.as_deref());
        let found = found.await?.metadata;
        manager.set_metadata(found);
        // A token of another issuer than there is now is not sent.
        if manager.initialize_from_store().await?
            && let Some(secret) = kept.client_secret
        {
            let client = OAuthClientConfig::new(credentials.client_id, &self.url);
            manager.configure_client(client.with_client_secret(secret))?;
        }
        Ok(manager)
    }

    /// A person allows us what the configuration says, else what the server names; and `more`.
    pub(super) async fn by_person(
        &self,
        challenge: Option<String>,
        more: &[String],
        guide: &dyn LoginGuide,
    ) -> Result<AuthorizationManager, FlowError> {
        let landing = Landing::open(self.terms.port).await;
        let landing = landing.map_err(FlowError::Landing)?;
        let mut login = StoredLogin {
            challenge,
            ..StoredLogin::default()
        };
        let mut manager = self.manager(login.clone()).await?;
        let found = manager.resolve_metadata_from_challenge(login.challenge.as_deref());
        let found = found.await?.metadata;
        manager.set_metadata(found.clone());
        let mut scopes = self.terms.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let more = more.iter().filter(|scope| !scopes.contains(scope));
        let more: Vec<String> = more.cloned().collect();
        scopes.extend(more);
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = self.client(&mut manager, &found, &scopes, &landing).await?;
        login.client_secret.clone_from(&client.client_secret);
        manager.set_credential_store(self.kept_for(login));
        manager.configure_client(client)?;
        let page = manager.get_authorization_url(&scopes).await?;
        let answered = tokio::time::timeout(LONGEST, self.answered(landing, page, guide)).await;
        let callback = answered.map_err(|_late| FlowError::Late)??;
        let (state, issuer) = (&callback.csrf_token, callback.issuer.as_deref());
        manager
            .exchange_code_for_token_with_issuer(&callback.code, state, issuer)
            .await?;
        Ok(manager)
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
            let mut client = OAuthClientConfig::new(id, address);
            client.client_secret.clone_from(&self.terms.client_secret);
            return Ok(client);
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
        landing: Landing,
        page: String,
        guide: &dyn LoginGuide,
    ) -> Result<AuthorizationCallback, FlowError> {
        let url = Url::parse(&page).map_err(AuthError::from)?;
        let mut pairs = url.query_pairs();
        let state = pairs.find(|(name, _value)| name == "state");
        let state = state.map_or_else(String::new, |(_name, value)| value.into_owned());
        let answer = landing.answer(state);
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
