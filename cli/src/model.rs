//! Which model plays the agents.

mod watched;

use std::path::PathBuf;
use std::sync::Arc;

use interrupt_router::model::LanguageModel;
use llm::{
    Fallback, ModelId, ModelProfile, ParseModelIdError, Provider, ProviderError, ProviderModel,
    RehearsalConfig, RehearsalModel, RetryPolicy, Retrying,
};

use crate::authority;
use crate::exit::{Exit, Failure, causes};
use crate::http_log;
use crate::settings::Profiles;
use crate::spending::paying;
use interrupts::money::Budget;
use interrupts::nearest;

pub(crate) use watched::{ModelTrouble, ModelWatch, Unanswered, UnansweredCall};

/// The name of the model that needs no provider.
const REHEARSAL: &str = "rehearsal";

/// What the command line says about the model, before anything is opened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelChoice {
    /// The rehearsal.
    Rehearsal,
    /// A provider's model.
    Provider {
        /// Which.
        id: ModelId,
        /// Its profile.
        profile: Box<ModelProfile>,
    },
}

/// How a model's server is spoken to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manner {
    /// Certificates of authorities to trust beside the system's.
    pub(crate) ca_certificate: Option<PathBuf>,
    /// Whether answers are made in the background.
    pub(crate) background: bool,
    /// Whether tools are offered.
    pub(crate) tools: bool,
}

impl Manner {
    fn of(&self, model: ProviderModel) -> Result<ProviderModel, Failure> {
        if self.tools {
            must_take_tools(&model)?;
        }
        let model = match &self.ca_certificate {
            None => model,
            Some(file) => {
                let pem = authority::read(file)?;
                let trusting = model.trusting(&pem);
                trusting.map_err(|error| authority::none_in(file, &causes(&error)))?
            }
        };
        Ok(if self.background {
            model.in_background(Arc::new(()))
        } else {
            model
        })
    }
}

impl ModelChoice {
    /// Reads `rehearsal`, `PROVIDER:NAME`, or the name of a profile in the file of settings.
    ///
    /// # Errors
    ///
    /// A usage failure that lists what is known.
    pub(crate) fn parse(text: &str, base_url: Option<String>) -> Result<Self, Failure> {
        if text == REHEARSAL {
            if base_url.is_some() {
                let message = "the rehearsal model has no server, so --base-url says nothing";
                let hint = "name a model too: --model openai:NAME --base-url URL";
                return Err(Failure::new(Exit::Usage, message).hint(hint));
            }
            return Ok(Self::Rehearsal);
        }
        let said = ModelProfile {
            base_url,
            ..ModelProfile::default()
        };
        // A name with a colon is a provider's; names of profiles have none.
        let kept = if text.contains(':') {
            None
        } else {
            Profiles::read()?.models.remove(text)
        };
        let (text, profile) = match kept {
            Some(profile) => match profile.model.clone() {
                Some(model) => (model, said.or(profile)),
                None => {
                    let message = format!("the profile `{text}` does not say which model it is");
                    let hint = "add a line such as: model = \"openai:NAME\"";
                    return Err(Failure::new(Exit::Usage, message).hint(hint));
                }
            },
            None => (text.to_owned(), said),
        };
        match text.parse::<ModelId>() {
            Ok(id) => Ok(Self::Provider {
                id,
                profile: Box::new(profile),
            }),
            Err(error) => Err(unknown_model(&text, &error)),
        }
    }

    /// The provider's model itself, without what wraps it; `None` for the rehearsal. Nothing is sent.
    ///
    /// # Errors
    ///
    /// A failure if a key is missing or the base URL is no URL.
    pub(crate) fn provider(&self) -> Result<Option<ProviderModel>, Failure> {
        match self {
            Self::Rehearsal => Ok(None),
            Self::Provider { id, profile } => untried_model(id, profile).map(Some),
        }
    }

    /// Prepares the model, and those that its profile has for where it gives no answer; nothing is sent.
    ///
    /// # Errors
    ///
    /// A failure if a key is missing, the base URL is no URL, a model cannot use tools, or one call does not fit them all.
    pub(crate) fn open(
        self,
        rehearsal: RehearsalConfig,
        manner: &Manner,
    ) -> Result<OpenedModel, Failure> {
        let Self::Provider { id, profile } = self else {
            return Ok(OpenedModel {
                first: Member {
                    model: Arc::new(RehearsalModel::new(rehearsal)),
                    retries: None,
                },
                others: Vec::new(),
            });
        };
        let first = Member::open(&id, &profile, manner)?;
        let other = |name: &String| match Self::parse(name, None)? {
            Self::Provider { id, profile } => Member::open(&id, &profile, manner),
            Self::Rehearsal => {
                let text = "the rehearsal is no model, so it stands in for none";
                Err(Failure::new(Exit::Usage, text)
                    .hint("name models: fallback = [\"openai:NAME\"]"))
            }
        };
        let others: Result<_, Failure> = profile.fallback.iter().map(other).collect();
        let others = others.map_err(|failure| of_fallback(&failure))?;
        let opened = OpenedModel { first, others };
        opened.paid(None)?;
        Ok(opened)
    }
}

/// Models that are ready to be called, the first one before the others: nothing was sent.
pub(crate) struct OpenedModel {
    first: Member,
    others: Vec<Member>,
}

struct Member {
    model: Arc<dyn LanguageModel>,
    retries: Option<RetryPolicy>,
}

impl OpenedModel {
    /// Their names, in the order in which they are asked.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let members = std::iter::once(&self.first).chain(&self.others);
        members.map(|member| member.model.name())
    }

    /// The model as it is called: what fails is tried again, at the next model where that does not help, and each try
    /// is paid for by itself.
    ///
    /// # Errors
    ///
    /// A usage failure if a model has no price, or one call does not fit them all.
    pub(crate) fn paid(&self, budget: Option<&Budget>) -> Result<Arc<dyn LanguageModel>, Failure> {
        let first = self.first.paid(budget)?;
        if self.others.is_empty() {
            return Ok(first);
        }
        let others: Result<_, Failure> = self.others.iter().map(|it| it.paid(budget)).collect();
        let chain = Fallback::new(first, others?).map_err(|mixed| {
            let failure = Failure::new(Exit::Usage, mixed.to_string())
                .hint("give them one `dialect` in their profiles, or leave `fallback` out");
            of_fallback(&failure)
        });
        Ok(Arc::new(chain?))
    }
}

impl Member {
    fn open(id: &ModelId, profile: &ModelProfile, manner: &Manner) -> Result<Self, Failure> {
        Ok(Self {
            model: Arc::new(manner.of(untried_model(id, profile)?)?),
            retries: Some(profile.retries()),
        })
    }

    fn paid(&self, budget: Option<&Budget>) -> Result<Arc<dyn LanguageModel>, Failure> {
        let model = Arc::clone(&self.model);
        let paid = match budget {
            Some(budget) => paying(model, budget.clone())?,
            None => model,
        };
        Ok(match self.retries {
            Some(retries) => Arc::new(Retrying::new(paid, retries)),
            None => paid,
        })
    }
}

fn of_fallback(failure: &Failure) -> Failure {
    let named = Failure::new(failure.exit, format!("`fallback`: {failure}"));
    match failure.advice() {
        Some(hint) => named.hint(hint),
        None => named,
    }
}

/// What is said of a server that drops tools.
pub(crate) const NO_TOOLS: &str = "its server gives its model no tools";

/// What helps there.
pub(crate) const FOR_TOOLS: &str =
    "start llama.cpp with --jinja and a chat template that knows tools, or leave --tools out";

/// A server that drops tools leaves its model to invent what they return.
fn must_take_tools(model: &ProviderModel) -> Result<(), Failure> {
    let facts = model.server_facts();
    if facts.and_then(|facts| facts.takes_tools) == Some(false) {
        let text = format!("--tools: the model cannot use any, for {NO_TOOLS}");
        return Err(Failure::new(Exit::Usage, text).hint(FOR_TOOLS));
    }
    Ok(())
}

fn untried_model(id: &ModelId, profile: &ModelProfile) -> Result<ProviderModel, Failure> {
    let made = ProviderModel::of_profile(id, profile).and_then(|model| {
        if http_log::is_on() {
            model.telling_connections()
        } else {
            Ok(model)
        }
    });
    made.map_err(|error| unusable_model(&error))
}

fn unknown_model(given: &str, error: &ParseModelIdError) -> Failure {
    let providers: Vec<String> = Provider::all().map(|known| known.to_string()).collect();
    let mut known: Vec<&str> = providers.iter().map(String::as_str).collect();
    known.push(REHEARSAL);
    let profiles: Vec<String> = Profiles::read()
        .map(|profiles| profiles.models.into_keys().collect())
        .unwrap_or_default();
    let provider = given
        .split_once(':')
        .map_or(given, |(provider, _)| provider);
    let message = if let ParseModelIdError::UnknownProvider { given, .. } = error {
        format!("unknown provider `{given}`")
    } else {
        format!("unknown model `{given}`; expected `{REHEARSAL}` or PROVIDER:NAME")
    };
    let own = profiles.iter().map(String::as_str);
    let guess = match nearest(provider, known.iter().copied().chain(own)) {
        Some(near) if near == REHEARSAL || profiles.iter().any(|name| name == near) => {
            format!("did you mean {near}? ")
        }
        Some(near) => format!("did you mean {near}:NAME? "),
        None => String::new(),
    };
    let own = match profiles.as_slice() {
        [] => String::new(),
        some => format!("; profiles of your own: {}", some.join(", ")),
    };
    let hint = format!(
        "{guess}known are {REHEARSAL} and, as PROVIDER:NAME, {}{own}",
        providers.join(", ")
    );
    Failure::new(Exit::Usage, message).hint(hint)
}

fn unusable_model(error: &ProviderError) -> Failure {
    let failure = |exit| Failure::new(exit, causes(error));
    if let ProviderError::NoKey { .. } = error {
        failure(Exit::NotAuthorised).hint("or run without a key: --model rehearsal")
    } else if let ProviderError::BaseUrl { .. } = error {
        failure(Exit::Usage).hint("give a whole URL, such as http://127.0.0.1:8080/v1")
    } else if let ProviderError::CertificateFile { .. } = error {
        failure(Exit::NotFound)
    } else if let ProviderError::NoModel = error {
        failure(Exit::Usage).hint("write PROVIDER:NAME")
    } else {
        // The machine refuses something.
        failure(Exit::Failure)
    }
}

#[cfg(test)]
mod tests {
    use super::ModelChoice;
    use crate::exit::Exit;

    #[test]
    fn a_misspelt_provider_is_explained_with_what_was_meant() {
        let failure = ModelChoice::parse("opnai:gpt", None).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(failure.to_string(), "unknown provider `opnai`");
        let hint = failure.advice().unwrap();
        assert!(
            hint.starts_with("did you mean openai:NAME? known are rehearsal and"),
            "{hint}"
        );
        assert!(hint.contains("anthropic"), "{hint}");
    }

    #[test]
    fn a_model_without_a_provider_is_explained() {
        let failure = ModelChoice::parse("rehearsel", None).unwrap_err();
        let hint = failure.advice().unwrap();
        assert!(hint.starts_with("did you mean rehearsal?"), "{hint}");
    }

    #[test]
    fn a_base_url_for_the_rehearsal_is_a_mistake() {
        let url = Some("http://127.0.0.1:1".to_owned());
        assert!(ModelChoice::parse("rehearsal", url).is_err());
    }
}
