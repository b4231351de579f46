//! Why a model cannot be used at all.

use std::path::PathBuf;

use super::Provider;

/// Why a model cannot be used at all. Nothing was sent anywhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No key was given, and the provider wants one.
    #[error("{provider} needs a key: set the environment variable {variable}")]
    NoKey {
        /// The provider.
        provider: Provider,
        /// The variable in which the key is looked for.
        variable: String,
    },
    /// The base URL is none.
    #[error("`{given}` is no base URL: {reason}")]
    BaseUrl {
        /// What was given, without any user name or password.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The model has no name.
    #[error("the name of the model is empty")]
    NoModel,
    /// The file with the certificates of authorities cannot be read.
    #[error("cannot read the certificates in {}", file.display())]
    CertificateFile {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What should be certificates of authorities are none.
    #[error("the certificates of authorities cannot be read; expected PEM")]
    Certificate,
    /// The thread that serves the connections cannot be started.
    #[error("no thread can be started for the model's connections")]
    Thread(#[source] std::io::Error),
}
