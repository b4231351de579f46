//! What may help against a model's failure.

use interrupt_router::model::{Awaited, ModelError};

use crate::provider::Unreached;

/// What may help, in one sentence for the person who chose the model.
pub fn hint(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unreachable { source, .. } => source
            .downcast_ref::<Unreached>()
            .and_then(Unreached::hint)
            .unwrap_or(
                "check --base-url, and that a server listens there; without a server, --model rehearsal needs none",
            ),
        ModelError::Unauthorized { .. } => {
            "check the provider's key in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …)"
        }
        ModelError::Unpaid { .. } => "add credit to the account of the key, or use another key",
        ModelError::ContextFull { .. } => {
            "use a model that reads more, start its server with a larger context, or say its size as `context` of its profile"
        }
        ModelError::Refused { .. } => "say it in other words, or use another model",
        ModelError::Filtered { .. } => {
            "look for what the filter may have met in the goal and in the files, or use another provider"
        }
        ModelError::Rejected {
            status: 300..=399 | 405,
            ..
        }
        | ModelError::ProviderFailed { status: 501, .. }
        | ModelError::Malformed { .. } => {
            "check that --base-url leads to an API of the kind that the model's provider speaks"
        }
        ModelError::Rejected { status, detail } => of_rejected(*status, detail),
        ModelError::RateLimited { .. } => "wait, or use a key with a higher limit",
        ModelError::ProviderFailed { .. } => "the provider has a fault of its own; try again later",
        ModelError::EndedWith { again: true, .. } => {
            "the provider gave the answer up; try again, or use another model"
        }
        ModelError::BrokenOff { .. } => "the connection broke; try again",
        ModelError::TooLong { .. } => "the model does not come to an end; try another one",
        ModelError::LineTooLong { .. } => {
            "what listens at --base-url sends no stream of events; check that it is a model's server"
        }
        ModelError::TimedOut { awaited, .. } => match awaited {
            Awaited::Beginning => {
                "the server may still read the prompt: let it, with a longer `first_s` in the model's profile, or try a smaller model"
            }
            Awaited::Next => {
                "the server may hang; try again, or give it longer with `silence_s` in the model's profile"
            }
            Awaited::Whole => {
                "the model is too slow; try a smaller one, or give it longer with `whole_s` in its profile"
            }
        },
        ModelError::Unrecorded(_) => "see to the store, then resume the run",
        ModelError::EndedWith { .. } | _ => "try another model",
    }
}

/// What may help where a server refuses a request that the others take.
fn of_rejected(status: u16, detail: &str) -> &'static str {
    if status == 404 {
        "check the model's name, and --base-url where it is given"
    } else if takes_no_tools(detail) {
        "use a model that takes tools, start its server so that it gives it some, or leave --tools out"
    } else if is_about_a_tool(detail) {
        "leave the tool out that the provider names: `tools` in the servers' file says which are used"
    } else {
        "check the model's name, and that the model can answer in JSON by a schema"
    }
}

/// Whether a server says that its model is given no tools at all.
///
/// Sources: Ollama, issue 6027 (`… does not support tools`); vLLM, issue 9986 (`"auto" tool choice requires
/// --enable-auto-tool-choice …`).
fn takes_no_tools(detail: &str) -> bool {
    let said = ["does not support tools", "tool choice requires --enable"];
    said.iter().any(|words| detail.contains(words))
}

/// Whether a provider refuses the definition of a tool: each of them names the place where it stands in the request.
fn is_about_a_tool(detail: &str) -> bool {
    let places = [
        "tools.",
        "tools[",
        "input_schema",
        "function_declarations",
        "functionDeclarations",
        "schema for function",
    ];
    places.iter().any(|place| detail.contains(place))
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::ModelError;

    use super::hint;

    #[test]
    fn a_server_without_tools_is_not_asked_for_another_name_of_its_model() {
        let rejected = |detail: &str| ModelError::Rejected {
            status: 400,
            detail: detail.to_owned(),
        };
        for said in [
            "registry.ollama.ai/library/small:latest does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ] {
            assert!(
                hint(&rejected(said)).contains("leave --tools out"),
                "{said}"
            );
        }
        assert!(hint(&rejected("no such model")).contains("the model's name"));
    }
}
