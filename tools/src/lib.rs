//! Tools that die when told to.
//!
//! A [`Tool`] is something that an agent can have done. An [`Executor`] runs the calls that a model asked for at once:
//! each is checked, permitted, run under an [`InterruptController`], and answered by exactly one [`ToolMessage`] that
//! says what really happened. Programs run under a keeper ([`Containment`]) which ends every process that they
//! started, and says whether that was verified.
//!
//! Owns tools, their calls and their processes. Knows nothing of models, of stores, or of where a person is asked.

mod arguments;
mod builtin;
mod call_log;
mod callbacks;
mod containment;
mod controller;
mod counts;
mod executor;
mod keeper;
mod limit;
#[cfg_attr(
    not(feature = "mcp"),
    expect(
        dead_code,
        reason = "a configuration is read only where there are servers"
    )
)]
mod mcp;
mod permission;
mod registry;
mod tool;
mod workspace;

pub use arguments::{ArgumentsError, check_arguments};
pub use builtin::{
    LaunchAgent, LaunchRequest, LaunchedAgent, Launcher, LauncherError, ProgramConfig, Python,
    Shell, built_in_tools, edit_tools,
};
pub use call_log::{BegunCall, CallLog, CallLogError, CallPosition, NoCallLog};
pub use callbacks::{NoCallbacks, ToolCallbacks};
pub use containment::{
    ALLOWED_VARIABLES, BoundedOutput, ContainedCommand, ContainedEnd, ContainedTalk, Containment,
    ContainmentConfig, ContainmentError, ToolEnvironment,
};
pub use controller::{
    CallStop, Cancellation, Cleanup, ControllerConfig, Driven, Fenced, InterruptController,
    NonInterruptible, Registration, Requested, RunningCall, StoppedCall, Turn,
};
pub use counts::{ToolCounter, ToolCounts, reason_label};
pub use executor::{Executor, ExecutorConfig, TurnEnd};
pub use interrupts::SchemaError;
pub use journal::tool::{
    CallDigest, CallEnd, ContainmentReport, Mechanism, ProcessKey, ToolMessage, wording,
};
pub use keeper::{ProcessExit, WantedMechanism, main_if_keeper, probe_control_groups};
pub use limit::{CallLimit, CallLimits, LimitPause};
pub use mcp::{
    ElicitationAnswer, ElicitationForm, ElicitationRequest, Elicitor, FieldChoice, FieldKind,
    FormField, HttpServer, LoginGuide, LoginPage, LoginTerms, McpConfig, McpConfigError, McpError,
    McpFailure, McpLimits, McpServerConfig, McpServers, McpServersConfig, ProcessServer,
    ServerName, ServerNameError, ServerTransport,
};
pub use permission::{
    Approval, Approver, NoApprover, PathRuleConfig, PathRules, Permission, PermissionAnswer,
    PermissionPolicy, PermissionRequest, PolicyConfig, PolicyError, RuleConfig, VoidApproval,
};
pub use registry::{RegisterError, ToolRegistry};
pub use tool::{
    CallId, Interruption, NoProgress, PartialOutput, Progress, ProgressSink, RequestedCall,
    Stopped, Stream, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolNameError, ToolOutput,
    ToolSpec, Verdict,
};
pub use workspace::{Workspace, WorkspaceError};
