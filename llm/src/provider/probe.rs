//! Asking a server of one's own what it is: which dialect it takes, and how much its model reads.
//!
//! Sources: llama.cpp, `tools/server/README.md` (`GET /v1/models` with `owned_by: llamacpp`, `GET /props` with `n_ctx` and
//! `chat_template_caps`); vLLM,
//! "OpenAI-compatible server" (`max_model_len`); Ollama, `docs/openai.md` (`owned_by: library`); as of November 2026.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::{ModelProfile, ProviderModel};

/// How long a server may take to say what it is. It says so from memory.
const WITHIN: Duration = Duration::from_secs(1);

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerKind {
    /// llama.cpp's own.
    LlamaCpp,
    /// Ollama.
    Ollama,
    /// vLLM.
    Vllm,
    /// LM Studio.
    LmStudio,
    /// Another one.
    Other,
}

impl ServerKind {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Ollama => "Ollama",
            Self::Vllm => "vLLM",
            Self::LmStudio => "LM Studio",
            Self::Other => "a server that does not say what it is",
        }
    }
}

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// What it is.
    pub kind: ServerKind,
    /// How many tokens its model reads and writes together, where it said.
    pub context: Option<u64>,
    /// The models that it has.
    pub models: Vec<String>,
    /// Whether its model is given tools, where it said: a server that gives it none drops them without a word.
    pub takes_tools: Option<bool>,
}

impl ServerFacts {
    /// What is not known of a server that says nothing.
    const UNKNOWN: Self = Self {
        kind: ServerKind::Other,
        context: None,
        models: Vec::new(),
        takes_tools: None,
    };

    /// The profile that follows. A server that does not say what it is may be a gateway to any provider.
    pub fn profile(&self) -> ModelProfile {
        match self.kind {
            ServerKind::Other => ModelProfile {
                context: self.context,
                ..ModelProfile::default()
            },
            ServerKind::LlamaCpp | ServerKind::Ollama | ServerKind::Vllm | ServerKind::LmStudio => {
                ModelProfile {
                    context: self.context,
                    ..ModelProfile::of_grammar()
                }
            }
        }
    }

    /// From what a server says of its models, and of itself.
    fn read(model: &str, models: &Value, props: &Value) -> Self {
        let listed = models.get("data").and_then(Value::as_array);
        let listed = listed.map(Vec::as_slice).unwrap_or_default();
        let text = |entry: &Value, name: &str| {
            let said = entry.get(name).and_then(Value::as_str);
            said.unwrap_or_default().to_ascii_lowercase()
        };
        let named = |entry: &&Value| text(entry, "id") == model.to_ascii_lowercase();
        let own = listed.iter().find(named).or(listed.first());
        let owner = own.map(|entry| text(entry, "owned_by")).unwrap_or_default();
        let kind = match owner.as_str() {
            "llamacpp" => ServerKind::LlamaCpp,
            "vllm" => ServerKind::Vllm,
            "library" => ServerKind::Ollama,
            "organization_owner" | "lmstudio" => ServerKind::LmStudio,
            _ => ServerKind::Other,
        };
        let number = |entry: &Value, pointer: &str| entry.pointer(pointer).and_then(Value::as_u64);
        let context = number(props, "/default_generation_settings/n_ctx")
            .or_else(|| own.and_then(|entry| number(entry, "/max_model_len")))
            .or_else(|| own.and_then(|entry| number(entry, "/meta/n_ctx")));
        let says = |pointer: &str| props.pointer(pointer).and_then(Value::as_bool);
        let takes_tools =
            says("/chat_template_caps/supports_tools").or_else(|| says("/supports_tools"));
        Self {
            kind,
            context,
            takes_tools,
            models: listed
                .iter()
                .filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned))
                .collect(),
        }
    }
}

impl ProviderModel {
    /// What the model's server says of itself; `None` where it is not asked, or cannot be reached now. It is asked once.
    ///
    /// Blocks this thread for as long as that takes, which is a moment: the server is one's own, and says it from memory.
    pub(super) fn facts(&self) -> Option<&ServerFacts> {
        let probe = self.probe.as_ref()?;
        if let Some(known) = probe.get() {
            return Some(known);
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let asking = self.clone();
        self.io_thread.run(async move {
            // The receiver is gone where that has taken too long.
            let _gone = sender.send(asking.ask_server().await);
        });
        match receiver.recv_timeout(2 * WITHIN) {
            Ok(Some(facts)) => Some(probe.get_or_init(|| facts)),
            // It is not there. The call itself fails and says so, and the next one asks again.
            Ok(None) => None,
            Err(_too_late) => Some(probe.get_or_init(|| ServerFacts::UNKNOWN)),
        }
    }

    /// Asks the server what it is; `None` where it cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, the questions are given up.
    async fn ask_server(&self) -> Option<ServerFacts> {
        let base = self.base_url.as_ref()?.as_str();
        let models = match self.get(&format!("{base}models")).await {
            Ok(said) => said,
            Err(error) if error.is_connect() => return None,
            Err(_) => Value::Null,
        };
        let facts = ServerFacts::read(&self.model, &models, &Value::Null);
        if facts.kind != ServerKind::LlamaCpp {
            return Some(facts);
        }
        let root = base.trim_end_matches('/').trim_end_matches("/v1");
        let props = self.get(&format!("{root}/props")).await.unwrap_or_default();
        Some(ServerFacts::read(&self.model, &models, &props))
    }

    async fn get(&self, url: &str) -> Result<Value, reqwest::Error> {
        let request = self.http.get(url).timeout(WITHIN);
        let answer = request.bearer_auth(self.key.reveal()).send().await?;
        answer.error_for_status()?.json().await
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::TurnForm;
    use interrupt_router::schema::Dialect;
    use serde_json::{Value, json};

    use super::{ServerFacts, ServerKind};

    #[test]
    fn a_server_is_known_by_what_it_says_of_its_models() {
        for (owner, kind) in [
            ("llamacpp", ServerKind::LlamaCpp),
            ("vllm", ServerKind::Vllm),
            ("library", ServerKind::Ollama),
            ("organization_owner", ServerKind::LmStudio),
            ("openai", ServerKind::Other),
        ] {
            let models = json!({"data": [{"id": "m", "owned_by": owner}]});
            assert_eq!(ServerFacts::read("m", &models, &Value::Null).kind, kind);
        }
        assert_eq!(
            ServerFacts::read("m", &Value::Null, &Value::Null),
            ServerFacts::UNKNOWN
        );
    }

    #[test]
    fn how_much_a_model_reads_is_taken_from_where_it_is_said() {
        let llama =
            json!({"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]});
        let props = json!({"default_generation_settings": {"n_ctx": 8192}});
        let facts = ServerFacts::read("m", &llama, &props);
        assert_eq!(facts.context, Some(8_192));
        assert_eq!(facts.profile().dialect, Some(Dialect::Grammar));
        assert_eq!(facts.profile().turn, Some(TurnForm::RouteFirst));
        assert_eq!(facts.takes_tools, None);
        for (props, takes_tools) in [
            (
                json!({"chat_template_caps": {"supports_tools": false}}),
                false,
            ),
            (
                json!({"chat_template_caps": {"supports_tools": true}}),
                true,
            ),
            (json!({"supports_tools": false}), false),
        ] {
            let facts = ServerFacts::read("m", &llama, &props);
            assert_eq!(facts.takes_tools, Some(takes_tools));
        }
        let vllm = json!({"data": [{"id": "other", "owned_by": "vllm", "max_model_len": 1},
            {"id": "M", "owned_by": "vllm", "max_model_len": 4096}]});
        assert_eq!(
            ServerFacts::read("m", &vllm, &Value::Null).context,
            Some(4_096)
        );
    }
}
