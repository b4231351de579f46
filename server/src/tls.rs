//! The server's own certificate, for callers on other machines.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// A certificate with its key, ready to be shown.
#[derive(Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsIdentity")
            .finish_non_exhaustive()
    }
}

/// Why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", file.display())]
    Unread {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is not PEM, or does not contain what was wanted.
    #[error("{} holds no {wanted} as PEM", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// What it should contain.
        wanted: &'static str,
    },
    /// The key belongs to another certificate.
    #[error("the key in {} is not that of the certificate in {}", key.display(), certificate.display())]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// They cannot be used for another reason.
    #[error("the certificate in {} cannot be used", certificate.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
}

impl TlsIdentity {
    /// Reads a certificate, followed by those between it and its authority, and its key: both as PEM.
    ///
    /// # Errors
    ///
    /// [`TlsError`]: which file, and what is wrong with it.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unreadable_file(certificate, "certificate", error))?;
        if chain.is_empty() {
            return Err(missing(certificate, "certificate"));
        }
        let own_key = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| unreadable_file(key, "private key without a password", error))?;
        let unusable = |source| {
            if matches!(source, rustls::Error::InconsistentKeys(_)) {
                return TlsError::Mismatch {
                    certificate: certificate.to_owned(),
                    key: key.to_owned(),
                };
            }
            TlsError::Unusable {
                certificate: certificate.to_owned(),
                source,
            }
        };
        let config = ServerConfig::builder_with_provider(::tls::provider())
            .with_safe_default_protocol_versions();
        let config = config.map_err(unusable)?.with_no_client_auth();
        let mut config = config.with_single_cert(chain, own_key).map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// Accepts TLS connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0))
    }
}

fn missing(file: &Path, wanted: &'static str) -> TlsError {
    TlsError::Missing {
        file: file.to_owned(),
        wanted,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else is wrong with a file, it holds nothing as PEM"
)]
fn unreadable_file(file: &Path, wanted: &'static str, error: pem::Error) -> TlsError {
    match error {
        pem::Error::Io(source) => TlsError::Unread {
            file: file.to_owned(),
            source,
        },
        _ => missing(file, wanted),
    }
}
