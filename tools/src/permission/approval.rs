//! An approval: of one exact call, and used up by it.

use journal::tool::CallDigest;

/// The permission for one exact call. It cannot be copied: using it uses it up.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an approval that is not used allows nothing"]
pub struct Approval {
    digest: CallDigest,
}

/// An approval of something else than what was about to start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the approval was for call {approved}, and this is call {given}; ask again")]
pub struct VoidApproval {
    approved: CallDigest,
    given: CallDigest,
}

impl Approval {
    /// The approval of the call with this digest, by the person who was shown it.
    pub fn of(digest: CallDigest) -> Self {
        Self { digest }
    }

    /// Uses it up for a call.
    ///
    /// # Errors
    ///
    /// [`VoidApproval`] where the call is not the approved one. The approval is used up all the same.
    pub fn redeem(self, call: CallDigest) -> Result<(), VoidApproval> {
        if self.digest == call {
            Ok(())
        } else {
            Err(VoidApproval {
                approved: self.digest,
                given: call,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use interrupts::store::Repeating;
    use serde_json::json;

    use super::{Approval, CallDigest};
    use crate::tool::{CallId, Interruption, ToolCall, ToolName, ToolSpec};

    #[test]
    fn a_call_recurs_under_another_id_and_not_with_anything_else_changed() {
        let spec = ToolSpec {
            name: ToolName::new("shell").unwrap(),
            description: "runs a command".to_owned(),
            arguments: json!({"type": "object"}),
            interruption: Interruption::Stops,
            repeating: Repeating::AskPerson,
        };
        let call = |id: &str, arguments: serde_json::Value| ToolCall {
            id: CallId::new(id),
            tool: spec.name.clone(),
            arguments,
        };
        let (first, here) = (
            call("a", json!({"command": "ls", "in": "b"})),
            Path::new("/a"),
        );
        let of = |call: &ToolCall| CallDigest::recurring(&spec, call, here, None);
        let reordered = call("b", json!({"in": "b", "command": "ls"}));
        assert_eq!(of(&first), of(&reordered));
        let described = ToolSpec {
            description: "runs anything".to_owned(),
            ..spec.clone()
        };
        let widened = ToolSpec {
            arguments: json!({}),
            ..spec.clone()
        };
        for changed in [
            of(&call("a", json!({"command": "ls ", "in": "b"}))),
            CallDigest::recurring(&described, &first, here, None),
            CallDigest::recurring(&widened, &first, here, None),
            CallDigest::recurring(&spec, &first, Path::new("/b"), None),
            CallDigest::recurring(&spec, &first, here, Some("")),
            CallDigest::recurring(&spec, &first, here, Some("+a line")),
        ] {
            assert_ne!(of(&first), changed);
        }
        let changing = |preview| CallDigest::recurring(&spec, &first, here, Some(preview));
        assert_ne!(changing("+a line"), changing("+another line"));
    }

    #[test]
    fn an_approval_is_void_when_anything_about_the_call_has_changed() {
        let spec = ToolSpec {
            name: ToolName::new("shell").unwrap(),
            description: "runs a command".to_owned(),
            arguments: json!({"type": "object"}),
            interruption: Interruption::Stops,
            repeating: Repeating::AskPerson,
        };
        let call = ToolCall {
            id: CallId::new("a"),
            tool: spec.name.clone(),
            arguments: json!({"command": "ls", "timeout": 3}),
        };
        let here = Path::new("/home/ada/a");
        let digest = CallDigest::of(&spec, &call, here, Some("+a line"));
        let reordered = ToolCall {
            arguments: json!({"timeout": 3, "command": "ls"}),
            ..call.clone()
        };
        assert_eq!(
            Approval::of(digest).redeem(CallDigest::of(&spec, &reordered, here, Some("+a line"))),
            Ok(())
        );

        let described = ToolSpec {
            description: "runs anything".to_owned(),
            ..spec.clone()
        };
        let widened = ToolSpec {
            arguments: json!({}),
            ..spec.clone()
        };
        let other = ToolCall {
            arguments: json!({"command": "ls ", "timeout": 3}),
            ..call.clone()
        };
        let again = ToolCall {
            id: CallId::new("b"),
            ..call.clone()
        };
        for changed in [
            CallDigest::of(&described, &call, here, Some("+a line")),
            CallDigest::of(&widened, &call, here, Some("+a line")),
            CallDigest::of(&spec, &other, here, Some("+a line")),
            CallDigest::of(&spec, &again, here, Some("+a line")),
            CallDigest::of(&spec, &call, Path::new("/home/ada/b"), Some("+a line")),
            CallDigest::of(&spec, &call, here, Some("+another line")),
            CallDigest::of(&spec, &call, here, None),
        ] {
            assert!(Approval::of(digest).redeem(changed).is_err());
        }
    }
}
