//! Tokens of a server, for those who run it.

use control::{MadeToken, MakeToken, TokenView, role_name};
use interrupts::WorkflowName;
use reqwest::Method;
use serde_json::json;

use crate::request::Request;
use crate::{Client, ClientError};

impl Client {
    /// Makes a token. The request is not repeated if the answer is lost, for the secret is lost with it.
    ///
    /// # Errors
    ///
    /// What the server refuses; if it cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropped, a token may be kept whose secret is lost: it cannot be used. Revoke it.
    pub async fn make_token(&self, token: &MakeToken) -> Result<MadeToken, ClientError> {
        let mut body = json!({"name": token.name, "role": role_name(token.role)});
        if let Some(scope) = &token.scope {
            body["run_id"] = json!(scope.run().map(|run| run.to_string()));
            body["agent_id"] = json!(scope.agent());
            body["workflow"] = json!(scope.workflow().map(WorkflowName::as_str));
        }
        if let Some(lifetime) = token.lifetime {
            body["lifetime_s"] = json!(lifetime.as_secs());
        }
        let ask = Request::to_change(Method::POST, &["v1", "tokens"]).with(body);
        Ok(self.answer(ask).await?.body)
    }

    /// Makes a token void, by its whole id.
    ///
    /// # Errors
    ///
    /// What the server refuses; if it cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn revoke_token(&self, id: &str) -> Result<TokenView, ClientError> {
        let parts = ["v1", "tokens", id];
        let ask = Request::to_change(Method::DELETE, &parts);
        Ok(self.answer(ask).await?.body)
    }
}
