//! Who may have what done: rules for each tool and its arguments, and approvals of one exact call.

mod approval;
mod approver;
mod paths;
mod policy;

pub use approval::{Approval, VoidApproval};
pub use approver::{Approver, NoApprover, PermissionAnswer, PermissionRequest};
pub use paths::{PathRuleConfig, PathRules};
pub use policy::{Permission, PermissionPolicy, PolicyConfig, PolicyError, RuleConfig};
