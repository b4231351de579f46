//! How a server is logged in to, as it is written.

use serde::Deserialize;

use super::written::{Fault, checked_url};
use crate::mcp::login::{LoginGrant, LoginTerms};
use crate::mcp::value::{Value, Variables};

/// The table `login` of a server.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    grant: Option<String>,
    client_id: Option<String>,
    client_secret: Option<Value>,
    client_metadata: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    port: Option<u16>,
    #[serde(default)]
    private_network: bool,
}

impl Login {
    /// The terms with all of their values.
    pub(super) fn checked(self, variables: Variables<'_>) -> Result<LoginTerms, Fault> {
        let grant = match self.grant.as_deref() {
            None | Some("authorization_code") => LoginGrant::Person,
            Some("client_credentials") => LoginGrant::Client,
            Some(_other) => {
                let problem = "there is no such grant here";
                let remedy = "write `authorization_code` or `client_credentials`";
                return Err(Fault::new("login.grant", problem, remedy));
            }
        };
        if self.client_id.is_none() && (self.client_secret.is_some() || grant == LoginGrant::Client)
        {
            let remedy = "give the id of the client that the secret belongs to";
            return Err(Fault::new("login.client_id", "it is missing", remedy));
        }
        let field = "login.client_secret";
        let secret = self.client_secret.map(|value| value.resolve(variables));
        let secret = secret
            .transpose()
            .map_err(|missing| Fault::missing(field.to_owned(), missing))?;
        let secret = secret.map(|value| value.into_string()).transpose();
        let client_secret = secret
            .map_err(|_bytes| Fault::new(field, "it is no text in UTF-8", "give it as a text"))?;
        if grant == LoginGrant::Client && client_secret.is_none() {
            let remedy = "take it from a variable: `{ from = \"VARIABLE\" }`";
            return Err(Fault::new(field, "it is missing", remedy));
        }
        let client_metadata = self.client_metadata.map(checked_document).transpose()?;
        Ok(LoginTerms {
            grant,
            client_id: self.client_id,
            client_secret,
            client_metadata,
            scopes: self.scopes,
            port: self.port,
            private_network: self.private_network,
        })
    }
}

/// The address of a document that describes a client is its id, and so has to be one that others can read.
fn checked_document(text: String) -> Result<String, Fault> {
    let fault = |problem: &str| {
        let remedy = "write it as `https://host/client.json`";
        Fault::new("login.client_metadata", problem, remedy)
    };
    let url = checked_url(text).map_err(|_invalid| fault("it is no address"))?;
    let is_document =
        url.starts_with("https://") && reqwest::Url::parse(&url).is_ok_and(|url| url.path() != "/");
    is_document
        .then_some(url)
        .ok_or_else(|| fault("it is no document that is reached by https"))
}
