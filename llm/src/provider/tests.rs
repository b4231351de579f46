use super::{CallLimits, ModelId, Provider, ProviderConfig, ProviderError, ProviderModel, Secret};

fn config(provider: Provider) -> ProviderConfig {
    ProviderConfig {
        provider,
        model: "some-model".to_owned(),
        base_url: None,
        key: None,
        limits: CallLimits::default(),
    }
}

fn with_no_environment(config: ProviderConfig) -> Result<ProviderModel, ProviderError> {
    ProviderModel::with_environment(config, |_name| None)
}

#[test]
fn a_missing_key_is_an_error_that_names_the_variable() {
    for (provider, variable) in [
        (Provider::OPENAI, "OPENAI_API_KEY"),
        (Provider::ANTHROPIC, "ANTHROPIC_API_KEY"),
        (Provider::GEMINI, "GEMINI_API_KEY"),
        ("groq".parse().unwrap(), "GROQ_API_KEY"),
        ("open_router".parse().unwrap(), "OPENROUTER_API_KEY"),
    ] {
        let error = with_no_environment(config(provider)).unwrap_err();
        assert!(error.to_string().contains(variable), "{error}");
    }
    with_no_environment(config(Provider::OLLAMA)).expect("Ollama needs no key");
}

#[test]
fn a_key_is_needed_elsewhere_and_not_on_this_machine() {
    let at = |base_url: &str| {
        let base_url = Some(base_url.to_owned());
        with_no_environment(ProviderConfig {
            base_url,
            ..config(Provider::OPENAI)
        })
    };
    at("http://127.0.0.1:9").expect("a local server works without a key");
    assert!(matches!(
        at("http://host.example"),
        Err(ProviderError::NoKey { .. })
    ));
}

#[test]
fn an_empty_variable_is_no_key() {
    let made = ProviderModel::with_environment(config(Provider::OPENAI), |_| Some(" ".to_owned()));
    assert!(matches!(made, Err(ProviderError::NoKey { .. })));
}

#[test]
fn a_key_is_in_no_debug_output() {
    let key = Some(Secret::new("sk-very-secret"));
    let config = ProviderConfig {
        key,
        ..config(Provider::OPENAI)
    };
    assert!(!format!("{config:?}").contains("very-secret"));
    let model = with_no_environment(config).unwrap();
    assert!(!format!("{model:?}").contains("very-secret"));
}

#[test]
fn a_models_name_may_have_colons() {
    let id: ModelId = "ollama:llama3:8b".parse().unwrap();
    assert_eq!(
        (id.provider, id.model.as_str()),
        (Provider::OLLAMA, "llama3:8b")
    );
    assert_eq!(id.to_string(), "ollama:llama3:8b");
}

#[test]
fn a_text_that_names_no_model_is_refused_with_what_is_known() {
    for text in ["", "gpt-4o", "openai:", ":gpt", "openai: "] {
        let error = text.parse::<ModelId>().unwrap_err();
        assert!(
            error.to_string().contains("PROVIDER:NAME"),
            "{text}: {error}"
        );
    }
    let error = "opnai:gpt".parse::<ModelId>().unwrap_err().to_string();
    assert!(
        error.contains("openai, ") && error.contains("anthropic"),
        "{error}"
    );
}
