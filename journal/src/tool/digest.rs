//! The digest of one exact call.

use std::fmt::{self, Display};
use std::path::Path;

use interrupts::{Digest, canonical_json};
use serde::{Deserialize, Serialize};

use super::call::ToolCall;
use super::spec::ToolSpec;

/// Identifies one exact call: the tool's description of itself, its arguments, the call's id, its working folder, and
/// the preview of its changes. If any of them changes, so does the digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallDigest(Digest);

impl CallDigest {
    /// The digest of a call.
    pub fn of(spec: &ToolSpec, call: &ToolCall, workspace: &Path, preview: Option<&str>) -> Self {
        let (schema, arguments) = (
            canonical_json(&spec.arguments),
            canonical_json(&call.arguments),
        );
        Self(Digest::of_parts([
            b"tool call".as_slice(),
            spec.name.as_str().as_bytes(),
            spec.description.as_bytes(),
            schema.as_bytes(),
            call.id.as_str().as_bytes(),
            arguments.as_bytes(),
            workspace.as_os_str().as_encoded_bytes(),
            &[u8::from(preview.is_some())],
            preview.unwrap_or_default().as_bytes(),
        ]))
    }

    /// The digest that repeated requests for the same call share: of everything but the call's id, including what it
    /// would change. It allows nothing by itself; it shows whether a person has seen such a call before.
    pub fn recurring(
        spec: &ToolSpec,
        call: &ToolCall,
        workspace: &Path,
        preview: Option<&str>,
    ) -> Digest {
        let (schema, arguments) = (
            canonical_json(&spec.arguments),
            canonical_json(&call.arguments),
        );
        let has_preview = [u8::from(preview.is_some())];
        Digest::of_parts([
            b"recurring tool call".as_slice(),
            spec.name.as_str().as_bytes(),
            spec.description.as_bytes(),
            schema.as_bytes(),
            arguments.as_bytes(),
            workspace.as_os_str().as_encoded_bytes(),
            &has_preview,
            preview.unwrap_or_default().as_bytes(),
        ])
    }
}

impl Display for CallDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, formatter)
    }
}
