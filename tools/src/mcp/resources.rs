//! Tools that read the resources of a server. They only read: the protocol knows nothing else of resources.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/resources>

use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, ServerResult,
};
use serde_json::{Value, json};

use super::content;

/// What is read of a server's resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceRequest {
    /// Which there are.
    List,
    /// Which there may be, by the form of their addresses.
    Templates,
    /// One of them.
    Resource,
}

impl ResourceRequest {
    pub(super) const ALL: [Self; 3] = [Self::List, Self::Templates, Self::Resource];

    /// The name of the tool, among those of the server.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::List => "list_resources",
            Self::Templates => "list_resource_templates",
            Self::Resource => "read_resource",
        }
    }

    /// What the tool does, for the model that chooses.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::List => "Lists the resources that can be read: their addresses, names and kinds.",
            Self::Templates => {
                "Lists the forms of the addresses of resources that are not listed one by one (RFC 6570)."
            }
            Self::Resource => {
                "Reads a resource. What is no text is described with its kind and size."
            }
        }
    }

    /// The schema of the tool's arguments.
    pub(super) fn arguments(self) -> Value {
        let (name, words) = match self {
            Self::List | Self::Templates => {
                ("cursor", "Where an answer before said that there is more")
            }
            Self::Resource => ("uri", "The address of the resource"),
        };
        let required: &[&str] = match self {
            Self::List | Self::Templates => &[],
            Self::Resource => &["uri"],
        };
        json!({
            "type": "object",
            "properties": {name: {"type": "string", "description": words}},
            "required": required,
            "additionalProperties": false
        })
    }

    /// What the server is asked.
    pub(super) fn request(self, arguments: &Value) -> ClientRequest {
        let text = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let page = PaginatedRequestParams::default().with_cursor(text("cursor"));
        match self {
            Self::List => {
                ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page))
            }
            Self::Templates => ClientRequest::ListResourceTemplatesRequest(
                ListResourceTemplatesRequest::with_param(page),
            ),
            Self::Resource => {
                let uri = text("uri").unwrap_or_default();
                let params = ReadResourceRequestParams::new(uri);
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            }
        }
    }
}

/// The answer to a reading in words, where it is one.
pub(super) fn words(answer: &ServerResult) -> Option<String> {
    if let ServerResult::ListResourcesResult(page) = answer {
        let lines = page.resources.iter().map(|it| {
            let (kind, words) = (it.mime_type.as_deref(), it.description.as_deref());
            line(&it.uri, &it.name, kind, words)
        });
        return Some(listing(lines.collect(), page.next_cursor.as_deref()));
    }
    if let ServerResult::ListResourceTemplatesResult(page) = answer {
        let lines = page.resource_templates.iter().map(|it| {
            let (kind, words) = (it.mime_type.as_deref(), it.description.as_deref());
            line(&it.uri_template, &it.name, kind, words)
        });
        return Some(listing(lines.collect(), page.next_cursor.as_deref()));
    }
    if let ServerResult::ReadResourceResult(read) = answer {
        let texts: Vec<String> = read.contents.iter().map(content::resource).collect();
        return Some(texts.join("\n"));
    }
    // Some of it is of a kind that the library does not know; the rest is read all the same.
    if let ServerResult::CustomResult(other) = answer {
        let contents = other.0.get("contents").and_then(Value::as_array)?;
        let texts: Vec<String> = contents.iter().map(any_content).collect();
        return Some(texts.join("\n"));
    }
    None
}

fn any_content(value: &Value) -> String {
    match serde_json::from_value(value.clone()) {
        Ok(known) => content::resource(&known),
        Err(_unknown) => {
            let size = value.to_string().len();
            format!("[a resource of {size} bytes, of a kind that is not known here]")
        }
    }
}

fn listing(mut lines: Vec<String>, cursor: Option<&str>) -> String {
    if lines.is_empty() {
        lines.push("There are none.".to_owned());
    }
    if let Some(cursor) = cursor {
        lines.push(format!(
            "[There are more: ask again with the cursor {}.]",
            json!(cursor)
        ));
    }
    lines.join("\n")
}

fn line(address: &str, name: &str, kind: Option<&str>, description: Option<&str>) -> String {
    let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
    let description = description
        .map(|words| format!(": {words}"))
        .unwrap_or_default();
    format!("{address} ({name}{kind}){description}")
}
