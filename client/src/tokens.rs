//! Tokens of a server, for those who run it.

use interrupts::WorkflowName;
use interrupts::store::TokenScope;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use crate::request::Request;
use crate::{Client, ClientError};

/// A token's current state. Neither its secret nor its digest can be read.
#[derive(Debug, Clone, Deserialize)]
pub struct TokenLine {
    /// Names it.
    pub id: String,
    /// Who it speaks for.
    pub name: String,
    /// The role that it gives its holder.
    pub role: String,
    /// The run that it is bound to: an agent's token.
    #[serde(default)]
    pub run_id: Option<String>,
    /// The agent of that run that it is bound to.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The workflow that it is bound to: a worker's token.
    #[serde(default)]
    pub workflow: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Whether it becomes void after its first use.
    pub once: bool,
    /// When it was used, if it can be used once.
    #[serde(default)]
    pub used_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default)]
    pub revoked_at: Option<Timestamp>,
    /// Whether it is accepted now.
    pub holds: bool,
    /// The token that was exchanged for it.
    #[serde(default)]
    pub bought_with: Option<String>,
}

/// A token that was made, and its secret.
#[derive(Deserialize)]
pub struct MadeToken {
    /// The secret; it cannot be shown again.
    pub secret: String,
    /// The token.
    pub token: TokenLine,
}

impl Client {
    /// The tokens of the server, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// What the server refuses; if it cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn tokens(&self) -> Result<Vec<TokenLine>, ClientError> {
        self.read(&["v1", "tokens"], &[]).await
    }

    /// Makes a token. The request is not repeated if the answer is lost, for the secret is lost with it.
    ///
    /// # Errors
    ///
    /// As [`Client::tokens`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, a token may be kept whose secret is lost: it cannot be used. Revoke it.
    pub async fn make_token(
        &self,
        name: &str,
        role: &str,
        scope: Option<&TokenScope>,
        lifetime: Option<SignedDuration>,
    ) -> Result<MadeToken, ClientError> {
        let parts = ["v1", "tokens"];
        let mut body = json!({"name": name, "role": role});
        if let Some(scope) = scope {
            body["run_id"] = json!(scope.run().map(|run| run.to_string()));
            body["agent_id"] = json!(scope.agent());
            body["workflow"] = json!(scope.workflow().map(WorkflowName::as_str));
        }
        if let Some(lifetime) = lifetime {
            body["lifetime_s"] = json!(lifetime.as_secs());
        }
        let ask = Request::to_change(Method::POST, &parts).with(body);
        Ok(self.answer(ask).await?.body)
    }

    /// Makes a token void, by its whole id.
    ///
    /// # Errors
    ///
    /// As [`Client::tokens`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn revoke_token(&self, id: &str) -> Result<TokenLine, ClientError> {
        let parts = ["v1", "tokens", id];
        let ask = Request::to_change(Method::DELETE, &parts);
        Ok(self.answer(ask).await?.body)
    }
}
