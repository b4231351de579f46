//! What callers do to agents, their interrupts and their plans.

use control::{Command, NewDecision};
use interrupt_router::{InterruptId, RunId};
use interrupts::store::CheckpointId;
use planning::PlanChangeRequest;
use reqwest::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::decision::body;
use crate::request::Request;
use crate::{Client, ClientError, ProblemDocument};

/// The part of a changed plan that says where it is.
#[derive(Debug, Deserialize)]
struct Saved {
    checkpoint: u64,
}

impl Client {
    /// Carries out a command, such as [`control::Withdraw`] or [`control::SendMessage`].
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the caller may not, or a rule refuses it; [`ClientError::Uncertain`] if the answer is
    /// lost and the command was not repeated, since it would be another one ([`Command::is_repeatable`]).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was carried out or not. Repeated, it changes nothing more, except that another token is made and that a
    /// message without a key is another one.
    pub async fn carry_out<C: Command>(&self, command: C) -> Result<C::Done, ClientError> {
        let of = serde_json::to_value(&command).map_err(|error| ClientError::Unsendable {
            problem: error.to_string(),
        })?;
        let parts = ["v1", "commands", C::NAME];
        let ask = Request::to_change(Method::POST, &parts).with(of);
        // The command says by itself that it is the same one: the key only lets it be sent again.
        let ask = if command.is_repeatable() {
            ask.once()
        } else {
            ask
        };
        self.answer(ask).await
    }

    /// Decides. If several callers try, one wins, and the others get the decision that won and who made it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if it changed since, was decided, or cannot be decided so.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was decided or not: read the interrupt to see.
    pub async fn decide(
        &self,
        interrupt: InterruptId,
        decision: &NewDecision,
    ) -> Result<(), ClientError> {
        let id = interrupt.to_string();
        let parts = ["v1", "interrupts", &id, "decisions"];
        let ask = Request::to_change(Method::POST, &parts)
            .with(body(decision))
            .of_version(decision.version)
            .once();
        self.done(ask).await
    }

    /// Decides all of these in one transaction, or none: then it returns why each one that was refused was, with its
    /// id.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the whole request was refused.
    ///
    /// # Cancel safety
    ///
    /// Dropped, all were decided or none: read one of them to see.
    pub async fn decide_together(
        &self,
        decisions: &[(InterruptId, NewDecision)],
    ) -> Result<Option<Vec<(String, ProblemDocument)>>, ClientError> {
        let mut items = Vec::with_capacity(decisions.len());
        for (interrupt, decision) in decisions {
            let mut item = body(decision);
            item["interrupt_id"] = json!(interrupt);
            item["version"] = json!(decision.version);
            items.push(item);
        }
        let parts = ["v1", "interrupts:decide"];
        let ask = Request::to_change(Method::POST, &parts)
            .with(json!({"decisions": items, "all_or_nothing": true}))
            .once();
        self.ask_for_all(ask).await
    }

    /// Changes a held plan. The run stays as it is. Returns where the plan is saved now.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the plan is not held, or has another version.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was changed or not: read the plan to see.
    pub async fn change_plan(
        &self,
        run: RunId,
        wish: PlanChangeRequest,
        if_version: Option<usize>,
    ) -> Result<CheckpointId, ClientError> {
        let id = run.to_string();
        let parts = ["v1", "runs", &id, "plan", "changes"];
        let mut body = match wish {
            PlanChangeRequest::Propose { tasks } => json!({"change": "propose", "tasks": tasks}),
            PlanChangeRequest::Suggest { request } => {
                json!({"change": "suggest", "request": request})
            }
            PlanChangeRequest::Undo => json!({"change": "undo"}),
            PlanChangeRequest::Redo => json!({"change": "redo"}),
        };
        body["if_version"] = json!(if_version);
        // A model may take longer than an answer may.
        let ask = Request::to_change(Method::POST, &parts).with(body).once();
        let changed = self.answer::<Saved>(ask.patiently()).await?;
        Ok(CheckpointId {
            run,
            number: changed.checkpoint,
        })
    }

    async fn done(&self, ask: Request<'_>) -> Result<(), ClientError> {
        self.answer::<IgnoredAny>(ask).await.map(|_answer| ())
    }
}
