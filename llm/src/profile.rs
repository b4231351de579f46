//! What a model is, beside its name: how it is spoken to, how it is asked, how long everything may take.
//!
//! A profile says what is known; the rest is what the built-in profile of the model's provider says, and after that what
//! is usual. All that speak to models read the same form: a table of settings names them, a probe fills them in.

mod published;

use std::path::PathBuf;
use std::time::Duration;

use interrupt_router::model::TurnForm;
use interrupt_router::schema::Dialect;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::provider::{CallLimits, ModelId, Provider};
use crate::retrying::RetryPolicy;

/// What is known of a model. Everything may be left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelProfile {
    /// Which model it is, as PROVIDER:NAME; for profiles that have a name of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the provider's API is, where that is not the provider's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable in which its key is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The dialect in which it takes schemas.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_dialect",
        deserialize_with = "read_dialect"
    )]
    pub dialect: Option<Dialect>,
    /// How it is asked for an answer that may take several routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnForm>,
    /// The most tokens of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How many tokens it can read and write together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// The sampling temperature: 0 leaves nothing to chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The longest time until a connection is made, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_s: Option<u32>,
    /// The longest time until the first event of an answer, in seconds: a long prompt takes its time to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_s: Option<u32>,
    /// The longest time between two events of an answer, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_s: Option<u32>,
    /// The longest time for a whole answer, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_s: Option<u32>,
    /// How long a call is tried again, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_for_s: Option<u32>,
    /// Certificates of authorities to trust beside the system's: a file in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<PathBuf>,
    /// Whether answers are made in the background, where the provider makes such answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// The models that are asked where this one gives no answer, in this order, each as PROVIDER:NAME or the name of a
    /// profile. They take schemas in the same dialect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for this form"
)]
fn write_dialect<S: Serializer>(
    dialect: &Option<Dialect>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    dialect.map(Dialect::name).serialize(serializer)
}

fn read_dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    let read = name.map(|name| name.parse()).transpose();
    read.map_err(serde::de::Error::custom)
}

impl ModelProfile {
    /// The built-in profile of a provider's models.
    pub fn of(provider: Provider) -> Self {
        let is_local = provider.is_local();
        Self {
            dialect: (!is_local).then(|| provider.dialect()),
            key_variable: provider.key_variable().map(str::to_owned),
            ..if is_local {
                Self::of_local_server()
            } else {
                Self::default()
            }
        }
    }

    /// The built-in profile of a model at its provider's own address: how much it reads is published of some.
    pub fn of_model(id: &ModelId) -> Self {
        Self {
            context: published::context(id.provider, &id.model),
            ..Self::of(id.provider)
        }
    }

    /// What is usual for a server of one's own, whose machine may be slow: it reads a prompt for minutes before it says
    /// a word, and it is not silent for that.
    pub fn of_local_server() -> Self {
        Self {
            first_s: Some(900),
            silence_s: Some(120),
            whole_s: Some(3_600),
            ..Self::default()
        }
    }

    /// What is usual for a model whose server enforces a grammar: small ones choose a route better by itself, and none
    /// may write for ever.
    pub fn of_grammar() -> Self {
        Self {
            dialect: Some(Dialect::Grammar),
            turn: Some(TurnForm::RouteFirst),
            max_tokens: Some(3_072),
            temperature: Some(0.2),
            ..Self::default()
        }
    }

    /// This profile, and what another one says where this one says nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            model: self.model.or(other.model),
            base_url: self.base_url.or(other.base_url),
            key_variable: self.key_variable.or(other.key_variable),
            dialect: self.dialect.or(other.dialect),
            turn: self.turn.or(other.turn),
            max_tokens: self.max_tokens.or(other.max_tokens),
            context: self.context.or(other.context),
            temperature: self.temperature.or(other.temperature),
            connect_s: self.connect_s.or(other.connect_s),
            first_s: self.first_s.or(other.first_s),
            silence_s: self.silence_s.or(other.silence_s),
            whole_s: self.whole_s.or(other.whole_s),
            retry_for_s: self.retry_for_s.or(other.retry_for_s),
            ca_certificate: self.ca_certificate.or(other.ca_certificate),
            background: self.background.or(other.background),
            fallback: match self.fallback.is_empty() {
                true => other.fallback,
                false => self.fallback,
            },
        }
    }

    /// What bounds its calls.
    pub fn limits(&self) -> CallLimits {
        let usual = CallLimits::default();
        let or = |seconds: Option<u32>, usual| seconds.map_or(usual, in_seconds);
        CallLimits {
            connect: or(self.connect_s, usual.connect),
            first: or(self.first_s, usual.first),
            silence: or(self.silence_s, usual.silence),
            whole: or(self.whole_s, usual.whole),
            ..usual
        }
    }

    /// How its calls are tried again.
    pub fn retries(&self) -> RetryPolicy {
        let usual = RetryPolicy::default();
        RetryPolicy {
            budget: self.retry_for_s.map_or(usual.budget, in_seconds),
            ..usual
        }
    }
}

fn in_seconds(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use interrupt_router::model::TurnForm;
    use interrupt_router::schema::Dialect;

    use super::ModelProfile;
    use crate::provider::Provider;

    #[test]
    fn what_is_said_wins_over_what_is_built_in() {
        let said = ModelProfile {
            first_s: Some(7),
            turn: Some(TurnForm::OneStep),
            ..ModelProfile::default()
        };
        let profile = said.or(ModelProfile::of(Provider::OLLAMA));
        assert_eq!(profile.limits().first, Duration::from_secs(7));
        assert_eq!(profile.limits().silence, Duration::from_secs(120));
        assert_eq!(profile.turn, Some(TurnForm::OneStep));
    }

    #[test]
    fn every_provider_has_a_profile_and_those_elsewhere_a_dialect() {
        for provider in Provider::all() {
            let profile = ModelProfile::of(provider);
            assert_eq!(profile.dialect.is_none(), provider.is_local(), "{provider}");
        }
    }

    #[test]
    fn a_profile_is_read_as_it_is_written() {
        let profile = ModelProfile {
            model: Some("openai:local".to_owned()),
            dialect: Some(Dialect::Grammar),
            turn: Some(TurnForm::RouteFirst),
            context: Some(8_192),
            ..ModelProfile::default()
        };
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(
            text,
            r#"{"model":"openai:local","dialect":"grammar","turn":"route_first","context":8192}"#
        );
        assert_eq!(
            serde_json::from_str::<ModelProfile>(&text).unwrap(),
            profile
        );
        assert!(serde_json::from_str::<ModelProfile>(r#"{"contxt":1}"#).is_err());
    }
}
