//! Starting and resuming runs on a server.

use control::ResumeOrder;
use interrupt_router::RunId;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::request::Request;
use crate::{Client, ClientError};

/// A run that shall be started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewRun {
    /// Its goal.
    pub goal: String,
    /// Other options; the server has its own values for the rest.
    pub options: Map<String, Value>,
}

impl NewRun {
    /// A run with this goal and no other options.
    pub fn new(goal: impl Into<String>) -> Self {
        Self {
            goal: goal.into(),
            options: Map::new(),
        }
    }
}

#[derive(Debug, Deserialize)]
struct RunReference {
    run_id: RunId,
}

impl Client {
    /// Starts a run on the server. If the answer is lost, the request is not repeated: the run may have begun.
    ///
    /// # Errors
    ///
    /// What the server refuses; if it cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was started or not: list the runs to see.
    pub async fn start(&self, new: NewRun) -> Result<RunId, ClientError> {
        let parts = ["v1", "runs"];
        let body = json!({"goal": new.goal, "options": new.options});
        let ask = Request::to_change(Method::POST, &parts).with(body);
        let answer = self.answer::<RunReference>(ask).await?;
        Ok(answer.run_id)
    }

    /// Resumes a run on the server. Returns the run that continues: another one if a checkpoint is named.
    ///
    /// # Errors
    ///
    /// As [`Client::start`].
    ///
    /// # Cancel safety
    ///
    /// As [`Client::start`].
    pub async fn resume(&self, run: RunId, how: &ResumeOrder) -> Result<RunId, ClientError> {
        let run = run.to_string();
        let parts = ["v1", "runs", &run, "resume"];
        let ask = Request::to_change(Method::POST, &parts).with(json!(how));
        let answer = self.answer::<RunReference>(ask).await?;
        Ok(answer.run_id)
    }
}
