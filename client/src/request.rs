//! One request.

use reqwest::Method;
use serde_json::Value;
use uuid::Uuid;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) parts: &'a [&'a str],
    pub(crate) query: &'a [(&'a str, String)],
    pub(crate) body: Option<Value>,
    pub(crate) version: Option<u64>,
    pub(crate) key: Option<String>,
    pub(crate) is_patient: bool,
}

impl<'a> Request<'a> {
    /// A request that only reads.
    pub(crate) fn to_read(parts: &'a [&'a str], query: &'a [(&'a str, String)]) -> Self {
        Self {
            query,
            ..Self::to_change(Method::GET, parts)
        }
    }

    /// A request that changes something.
    pub(crate) const fn to_change(method: Method, parts: &'a [&'a str]) -> Self {
        Self {
            method,
            parts,
            query: &[],
            body: None,
            version: None,
            key: None,
            is_patient: false,
        }
    }

    /// With a body.
    pub(crate) fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Only if the interrupt still has the version that was seen.
    pub(crate) fn of_version(mut self, version: impl Into<Option<u64>>) -> Self {
        self.version = version.into();
        self
    }

    /// With a key, so that repeated sends are one request.
    pub(crate) fn once(mut self) -> Self {
        self.key = Some(format!("irq-{}", Uuid::now_v7().simple()));
        self
    }

    /// Waits longer than one answer may take: sent again with its key, the request gets the result of the first time.
    pub(crate) const fn patiently(mut self) -> Self {
        self.is_patient = true;
        self
    }

    /// Whether sending it twice has the same effect as sending it once.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.key.is_some() || matches!(self.method, Method::GET | Method::PUT)
    }
}
