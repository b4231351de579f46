//! From what a model asked for to what may run: the tool found, the arguments checked, the permission had.

use std::sync::Arc;

use interrupt_router::StopReason;
use serde_json::Value;

use crate::arguments;
use crate::controller::Turn;
use crate::executor::ExecutorConfig;
use crate::permission::{Approval, Permission, PermissionAnswer, PermissionRequest, VoidApproval};
use crate::registry::Registered;
use crate::tool::{RequestedCall, Tool, ToolCall, ToolContext};
use crate::workspace::WorkspaceError;
use journal::tool::{CallDigest, CallEnd};

/// A call that may run, once.
pub(super) struct Permitted {
    pub(super) registered: Arc<Registered>,
    pub(super) call: ToolCall,
    /// Uses itself up when the call starts. Absent where the policy needs none.
    approval: Option<Approval>,
    /// What was shown to the person who allowed it.
    shown: Option<String>,
    /// Whether a person changed the arguments.
    edited: bool,
    /// What the person said who allowed it.
    words: Option<String>,
}

/// What a person had to do with a call that was made.
#[derive(Default)]
pub(super) struct PersonsPart {
    /// The arguments, if a person changed them.
    pub(super) edited: Option<Value>,
    /// What the person said who allowed it.
    pub(super) words: Option<String>,
}

impl Permitted {
    /// Finds the tool, checks the arguments, and asks for permission.
    pub(super) async fn get(
        config: &ExecutorConfig,
        turn: &Turn,
        asked: &RequestedCall,
    ) -> Result<Self, CallEnd> {
        let registered = config
            .registry
            .get(&asked.tool)
            .ok_or_else(|| unknown(config, &asked.tool))?;
        let arguments = arguments::read(&asked.arguments).map_err(|error| failed(&error))?;
        registered
            .check(&arguments)
            .map_err(|error| failed(&error))?;
        let call = ToolCall {
            id: asked.id.clone(),
            tool: registered.tool.spec().name.clone(),
            arguments,
        };
        let permitted = Self {
            registered,
            call,
            approval: None,
            shown: None,
            edited: false,
            words: None,
        };
        permitted.refuse_denied_path(config).map_err(|end| *end)?;
        match config.policy.decide(&permitted.call) {
            (Permission::Allow, _reason) => Ok(permitted),
            (then @ (Permission::Deny | Permission::Pause), reason) => Err(denied(then, reason)),
            (Permission::Ask, _reason) => permitted.ask(config, turn).await,
        }
    }

    /// Asks for permission; once more, if the call would no longer do what the permission was given for.
    pub(super) async fn ask(
        mut self,
        config: &ExecutorConfig,
        turn: &Turn,
    ) -> Result<Self, CallEnd> {
        let context = ToolContext::new(turn.scope().child(), config.workspace.clone());
        let spec = self.registered.tool.spec();
        self.shown = self.registered.tool.preview(&self.call, &context).await;
        let preview = self.shown.as_deref();
        let root = config.workspace.root();
        let request = PermissionRequest {
            digest: self.digest(config),
            recurring: CallDigest::recurring(spec, &self.call, root, preview),
            description: spec.description.clone(),
            preview: preview.map(str::to_owned),
            call: self.call.clone(),
        };
        let answer = tokio::select! {
            biased; // An interrupt wins over an answer that comes with it: nothing starts after it.
            reason = turn.scope().stopping() => return Err(CallEnd::Skipped { reason }),
            answer = config.approver.ask(request, &context.scope) => answer,
        };
        match answer {
            PermissionAnswer::Approve { digest, words } => Ok(Self {
                approval: Some(Approval::of(digest)),
                words,
                ..self
            }),
            PermissionAnswer::Edit { .. } if !self.is_as_shown(config, turn).await => {
                Box::pin(self.ask(config, turn)).await
            }
            PermissionAnswer::Edit { arguments, words } => {
                let mut edited = self.with(arguments, config).map_err(|end| *end)?;
                // The person's arguments are final, and their preview is the change that is made.
                edited.shown = edited.tool().preview(&edited.call, &context).await;
                edited.approval = Some(Approval::of(edited.digest(config)));
                edited.words = words;
                Ok(edited)
            }
            PermissionAnswer::Deny { reason } => Err(CallEnd::denied(reason)),
        }
    }

    /// The call with a person's arguments: they must fit as the model's must, and a rule may still deny them.
    fn with(mut self, arguments: Value, config: &ExecutorConfig) -> Result<Self, Box<CallEnd>> {
        self.registered.check(&arguments).map_err(|error| {
            let reason = "a person changed the arguments, and they cannot be used";
            Box::new(CallEnd::denied(format!("{reason}: {error}")))
        })?;
        self.call.arguments = arguments;
        let (then, reason) = config.policy.decide(&self.call);
        if then >= Permission::Deny {
            return Err(Box::new(denied(then, reason)));
        }
        self.refuse_denied_path(config)?;
        self.edited = true;
        Ok(self)
    }

    /// A path that a rule denies is refused without asking a person.
    fn refuse_denied_path(&self, config: &ExecutorConfig) -> Result<(), Box<CallEnd>> {
        let tool = &self.registered.tool;
        let Some(path) = tool.path(&self.call, &config.workspace) else {
            return Ok(());
        };
        match config.workspace.refuse_denied(&path) {
            Err(error @ WorkspaceError::Denied { .. }) => {
                Err(Box::new(CallEnd::denied(error.to_string())))
            }
            // The tool itself reports what else is wrong with it.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn digest(&self, config: &ExecutorConfig) -> CallDigest {
        CallDigest::of(
            self.registered.tool.spec(),
            &self.call,
            config.workspace.root(),
            self.shown.as_deref(),
        )
    }

    /// Whether the call would still do what was shown of it.
    pub(super) async fn is_as_shown(&self, config: &ExecutorConfig, turn: &Turn) -> bool {
        let Some(shown) = &self.shown else {
            return true;
        };
        let context = ToolContext::new(turn.scope().child(), config.workspace.clone());
        let now = self.registered.tool.preview(&self.call, &context).await;
        now.as_ref() == Some(shown)
    }

    /// What a person had to do with it.
    pub(super) fn persons_part(&self) -> PersonsPart {
        PersonsPart {
            edited: self.edited.then(|| self.call.arguments.clone()),
            words: self.words.clone(),
        }
    }

    /// What was shown to the person who allowed it.
    pub(super) fn shown(&self) -> Option<String> {
        self.shown.clone()
    }

    /// Uses the approval up for exactly what is about to start.
    pub(super) fn redeem(&mut self, config: &ExecutorConfig) -> Result<(), VoidApproval> {
        let Some(approval) = self.approval.take() else {
            return Ok(());
        };
        approval.redeem(self.digest(config))
    }

    pub(super) fn tool(&self) -> Arc<dyn Tool> {
        Arc::clone(&self.registered.tool)
    }
}

fn failed(error: &crate::ArgumentsError) -> CallEnd {
    CallEnd::Failed {
        reason: error.to_string(),
    }
}

fn denied(then: Permission, reason: Option<&str>) -> CallEnd {
    CallEnd::Denied {
        reason: reason.unwrap_or("a rule forbids it").to_owned(),
        pauses: then == Permission::Pause,
    }
}

fn unknown(config: &ExecutorConfig, name: &str) -> CallEnd {
    let specs = config.registry.specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    CallEnd::Failed {
        reason: format!("there is no tool `{name}`; there are: {}", names.join(", ")),
    }
}

/// What a stop of the turn makes of a call that has not started.
pub(super) fn skipped(reason: StopReason) -> CallEnd {
    CallEnd::Skipped { reason }
}
