//! A server somewhere else.

mod address;
mod client;
mod decision;
mod feed;
mod refusal;
mod rows;
mod runs;
mod tokens;

use std::time::Duration;

use async_trait::async_trait;
use control::{RunProgress, StopOrder};
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Family, Interrupt, RunState, State};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditRow, Checkpoint, CheckpointId, Filter, JournalEntry, NodeRow, Page, Run, StoredMessage,
    Verification,
};
use interrupts::{Digest, IdempotencyKey};
use jiff::Timestamp;
use planning::{PlanReading, StoredPlan};
use reqwest::{Method, StatusCode};
use routing_core::{InterruptId, NodeId, RuleId, RunId, StopMode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use server::PlanWish;

use super::{
    Installation, NewDecision, NewText, RefusedDecisions, Requested, SentText, ServerPlace,
    Verified,
};
use crate::address::full;
use crate::exit::{Exit, Failure};
use crate::plan;
use crate::refused::{no_interrupt, no_rule};
use crate::request::{self, Addressee, Wish};
use crate::workflows;

pub(crate) use address::Token;
pub(crate) use client::{Client, WhoAmI};
pub(crate) use feed::{FeedItem, RemoteFeed};
pub(crate) use runs::{NewRun, Resumption};
pub(crate) use tokens::{MadeToken, TokenLine};

use client::Ask;
use decision::decision_body;
use rows::{rows, states};

/// How often a server is looked at while something is waited for.
const PACE: Duration = Duration::from_millis(250);
/// For how many seconds a claim holds.
const CLAIM_SECONDS: u32 = 300;

/// A server, as what commands work on.
pub(crate) struct Remote {
    client: Client,
}

/// What a server says of a message that it accepted.
#[derive(Debug, Deserialize)]
struct Accepted {
    message: u64,
    at: Timestamp,
}

/// The part of a view that says which interrupt it is of.
#[derive(Debug, Deserialize)]
struct InterruptReference {
    id: InterruptId,
}

/// The plan of a run.
#[derive(Debug, Deserialize)]
struct PlanRecord {
    reading: Option<PlanReading>,
}

/// The part of a changed plan that says where it is.
#[derive(Debug, Deserialize)]
struct Saved {
    checkpoint: u64,
}

/// The answer to an event.
#[derive(Debug, Deserialize)]
struct Fate {
    interrupt: InterruptReference,
}

impl Remote {
    /// The server at a place. Nothing is asked of it yet.
    ///
    /// # Errors
    ///
    /// Where the address or the token's file cannot be read.
    pub(crate) fn at(place: &ServerPlace) -> Result<Self, Failure> {
        Client::at(place).map(Self::over)
    }

    /// The server that a client speaks to.
    pub(crate) const fn over(client: Client) -> Self {
        Self { client }
    }

    /// Has the catalogue at hand that something names: the server says which it is.
    async fn learn(&self, of: [&str; 2], catalogue: Option<Digest>) -> Result<(), Failure> {
        let book = workflows::book();
        let is_new = catalogue.is_some_and(|digest| book.at_hand(digest).is_none());
        if is_new {
            let [kind, id] = of;
            let parts = ["v1", "records", kind, id, "catalogue"];
            let found: Option<Catalogue> = self.client.find(&parts).await?;
            if let Some(found) = found {
                book.keep(&SharedCatalogue::new(found));
            }
        }
        Ok(())
    }

    async fn learn_of(&self, interrupt: Option<&Interrupt>) -> Result<(), Failure> {
        let Some(interrupt) = interrupt else {
            return Ok(());
        };
        let id = interrupt.id.to_string();
        self.learn(["interrupts", &id], interrupt.catalogue).await
    }

    /// An interrupt that was just changed, as it stands now.
    async fn now(&self, id: InterruptId) -> Result<Interrupt, Failure> {
        self.interrupt(id).await?.ok_or_else(|| no_interrupt(id))
    }
}

#[async_trait(?Send)]
impl Installation for Remote {
    fn pace(&self) -> Duration {
        PACE
    }

    fn page(&self) -> Option<String> {
        Some(self.client.address().to_string())
    }

    async fn sweep(&self) -> Result<(), Failure> {
        // The server does it.
        Ok(())
    }

    async fn run(&self, id: RunId) -> Result<Option<Run>, Failure> {
        self.run_of(&id.to_string()).await
    }

    async fn run_of(&self, alias: &str) -> Result<Option<Run>, Failure> {
        let found: Option<Run> = self.client.find(&["v1", "records", "runs", alias]).await?;
        if let Some(run) = &found {
            self.learn(["runs", alias], run.catalogue).await?;
        }
        Ok(found)
    }

    async fn runs(&self, wanted: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, Failure> {
        self.page(&["v1", "records", "runs"], states(wanted), page)
            .await
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, Failure> {
        let run = run.to_string();
        let query = vec![("node_id", node.to_string())];
        let page = Page { after: 0, limit: 1 };
        let found = self
            .page(&["v1", "records", "runs", &run, "agents"], query, page)
            .await?;
        Ok(rows(found).pop())
    }

    async fn nodes(&self, run: RunId, page: Page) -> Result<Vec<(u64, NodeRow)>, Failure> {
        self.of_run(run, "agents", page).await
    }

    async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, Failure> {
        let id = id.to_string();
        let parts = ["v1", "records", "interrupts", &id];
        let found: Option<Interrupt> = self.client.find(&parts).await?;
        self.learn_of(found.as_ref()).await?;
        Ok(found)
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, Failure> {
        let query = vec![("key", key.as_str().to_owned())];
        let page = Page { after: 0, limit: 1 };
        let found = self
            .page(&["v1", "records", "interrupts"], query, page)
            .await?;
        let found = rows(found).pop();
        self.learn_of(found.as_ref()).await?;
        Ok(found)
    }

    async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, Failure> {
        let mut query = states(&filter.states);
        if let Some(run) = filter.run {
            query.push(("run_id", run.to_string()));
        }
        if let Some(node) = &filter.node {
            query.push(("node_id", node.to_string()));
        }
        let parts = ["v1", "records", "interrupts"];
        let found: Vec<(u64, Interrupt)> = self.page(&parts, query, page).await?;
        for (_position, interrupt) in &found {
            self.learn_of(Some(interrupt)).await?;
        }
        Ok(found)
    }

    async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, Failure> {
        self.of_run(run, "journal", page).await.map(rows)
    }

    async fn messages(&self, run: RunId, page: Page) -> Result<Vec<StoredMessage>, Failure> {
        self.of_run(run, "messages", page).await.map(rows)
    }

    async fn checkpoints(&self, run: RunId, page: Page) -> Result<Vec<Checkpoint>, Failure> {
        self.of_run(run, "checkpoints", page).await.map(rows)
    }

    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, Failure> {
        self.page(&["v1", "records", "audit"], Vec::new(), page)
            .await
            .map(rows)
    }

    async fn verify_audit(&self) -> Result<Verified, Failure> {
        let parts = ["v1", "history", "verify"];
        let found: Result<Verification, Failure> = self.client.read(&parts, &[]).await;
        match found {
            Ok(found) => Ok(Verified::Whole(found)),
            // The one refusal of a request without parameters: the audit does not hold together.
            Err(failure) if failure.exit == Exit::Conflict => {
                Ok(Verified::Broken(failure.to_string()))
            }
            Err(failure) => Err(failure),
        }
    }

    async fn progress(&self, run: RunId) -> Result<Option<RunProgress>, Failure> {
        let run = run.to_string();
        self.client
            .find(&["v1", "records", "runs", &run, "progress"])
            .await
    }

    fn has_appeared(&self) -> bool {
        // One that is not there is an error each time, and is asked again each time.
        false
    }

    async fn plan(&self, run: &Run) -> Result<Option<PlanReading>, Failure> {
        let run = run.id.to_string();
        let parts = ["v1", "records", "runs", &run, "plan"];
        let told: PlanRecord = self.client.read(&parts, &[]).await?;
        Ok(told.reading)
    }

    async fn change_plan(
        &self,
        run: &Run,
        wish: PlanWish,
        if_version: Option<usize>,
    ) -> Result<StoredPlan, Failure> {
        let id = run.id.to_string();
        let parts = ["v1", "runs", &id, "plan", "changes"];
        let mut body = match wish {
            PlanWish::Propose { tasks } => json!({"change": "propose", "tasks": tasks}),
            PlanWish::Suggest { request } => json!({"change": "suggest", "request": request}),
            PlanWish::Undo => json!({"change": "undo"}),
            PlanWish::Redo => json!({"change": "redo"}),
        };
        body["if_version"] = json!(if_version);
        // A model may think for longer than an answer may take.
        let ask = Ask::to_change(Method::POST, &parts).with(body).once();
        let changed = self.client.ask::<Saved>(ask.patiently()).await?;
        let saved = CheckpointId {
            run: run.id,
            number: changed.body.checkpoint,
        };
        let plan = plan::saved_at(self, saved).await?;
        plan.ok_or_else(|| plan::no_plan(run.id))
    }

    async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, Failure> {
        self.page(&["v1", "records", "rules"], Vec::new(), page)
            .await
    }

    async fn revoke_rule(&self, id: RuleId) -> Result<StandingRule, Failure> {
        let text = id.to_string();
        let found: Option<StandingRule> =
            self.client.find(&["v1", "records", "rules", &text]).await?;
        if found.is_none() {
            return Err(no_rule(&text));
        }
        let rule = ["v1", "rules", &text];
        let ask = Ask::to_change(Method::DELETE, &rule);
        self.client.ask::<IgnoredAny>(ask).await?;
        let parts = ["v1", "records", "rules", &text];
        self.client.read(&parts, &[]).await
    }

    async fn decide(&self, decision: NewDecision) -> Result<Interrupt, Failure> {
        let id = decision.interrupt.to_string();
        let parts = ["v1", "interrupts", &id, "decisions"];
        let ask = Ask::to_change(Method::POST, &parts)
            .with(decision_body(&decision)?)
            .of_version(decision.version)
            .once();
        self.client.ask::<IgnoredAny>(ask).await?;
        self.now(decision.interrupt).await
    }

    async fn decide_together(
        &self,
        decisions: Vec<NewDecision>,
    ) -> Result<Result<Vec<Interrupt>, RefusedDecisions>, Failure> {
        let mut items = Vec::with_capacity(decisions.len());
        for decision in &decisions {
            let mut item = decision_body(decision)?;
            item["interrupt_id"] = json!(decision.interrupt);
            item["version"] = json!(decision.version);
            items.push(item);
        }
        let parts = ["v1", "interrupts:decide"];
        let ask = Ask::to_change(Method::POST, &parts)
            .with(json!({"decisions": items, "all_or_nothing": true}))
            .once();
        if let Some(refused) = self.client.ask_for_all(ask).await? {
            let place = |id: &str| {
                decisions
                    .iter()
                    .position(|decision| decision.interrupt.to_string() == id)
            };
            let told = refused
                .into_iter()
                .map(|(id, failure)| (place(&id).unwrap_or_default(), failure));
            return Ok(Err(told.collect()));
        }
        let mut decided = Vec::with_capacity(decisions.len());
        for decision in decisions {
            decided.push(self.now(decision.interrupt).await?);
        }
        Ok(Ok(decided))
    }

    async fn claim(&self, id: InterruptId, version: u64, take: bool) -> Result<Interrupt, Failure> {
        let text = id.to_string();
        let parts = ["v1", "interrupts", &text, "claim"];
        let ask = if take {
            Ask::to_change(Method::PUT, &parts).with(json!({"ttl_s": CLAIM_SECONDS}))
        } else {
            Ask::to_change(Method::DELETE, &parts)
        };
        self.client
            .ask::<IgnoredAny>(ask.of_version(version))
            .await?;
        self.now(id).await
    }

    async fn stop(&self, to: &Addressee, stop: &StopOrder) -> Result<Requested, Failure> {
        let address = full(to.run.id, &to.node);
        let parts = ["v1", "agents", &address, "interrupts"];
        let mode = match stop.mode {
            StopMode::Graceful => "graceful",
            StopMode::Immediate => "immediate",
        };
        let ask = Ask::to_change(Method::POST, &parts).once().with(json!({
            "type": stop.interrupt_type,
            "mode": mode,
            "scope": stop.scope,
            "reason": stop.reason,
        }));
        let answer = self.client.ask::<InterruptReference>(ask).await?;
        Ok(Requested {
            already: answer.status == StatusCode::OK,
            interrupt: self.now(answer.body.id).await?,
        })
    }

    async fn see_to(&self, _stop: &Interrupt) -> Result<(), Failure> {
        // The server does.
        Ok(())
    }

    async fn harden(&self, id: InterruptId) -> Result<(), Failure> {
        let stop = self.now(id).await?;
        match (stop.family(), stop.state) {
            (Family::Stop, State::Requested | State::Delivered) => {}
            // It has stopped already.
            (Family::Stop, State::AwaitingReview) => return Ok(()),
            (_, state) => {
                let text = format!("{id} is {state}, and cannot be made harder");
                return Err(Failure::new(Exit::Conflict, text));
            }
        }
        let run = self.run(stop.run).await?.ok_or_else(|| no_interrupt(id))?;
        let to = Addressee {
            run,
            node: stop.node,
            kind: stop.kind,
        };
        // The same stop again, and harder: the server makes the one that is under way immediate.
        let harder = StopOrder::new(
            stop.interrupt_type,
            StopMode::Immediate,
            stop.scope,
            stop.reason,
        );
        self.stop(&to, &harder).await.map(|_requested| ())
    }

    async fn publish(
        &self,
        to: &Addressee,
        wish: Wish,
        known: Option<&Interrupt>,
    ) -> Result<Requested, Failure> {
        let (mut event, _target) = request::wished(to, &wish)?;
        let address = full(to.run.id, &to.node);
        event.node_id =
            NodeId::new(address).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let body = serde_json::to_value(&event)
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let parts = ["v1", "interrupt-requests"];
        // The event's own id makes it one event.
        let ask = Ask::to_change(Method::POST, &parts).with(body).once();
        let answer = self.client.ask::<Fate>(ask).await?;
        Ok(Requested {
            already: known.is_some() || answer.status == StatusCode::OK,
            interrupt: self.now(answer.body.interrupt.id).await?,
        })
    }

    async fn send(&self, message: NewText) -> Result<SentText, Failure> {
        let address = full(message.run, &message.node);
        let parts = ["v1", "agents", &address, "messages"];
        let ask = Ask::to_change(Method::POST, &parts)
            .with(json!({"text": message.text}))
            .keyed(message.key.as_str());
        let answer = self.client.ask::<Accepted>(ask).await?;
        Ok(SentText {
            position: answer.body.message,
            at: answer.body.at,
        })
    }

    async fn take_back(&self, message: &StoredMessage) -> Result<(), Failure> {
        let address = full(message.message.run, &message.message.node);
        let number = message.position.to_string();
        let parts = ["v1", "agents", &address, "messages", &number];
        let ask = Ask::to_change(Method::DELETE, &parts);
        self.client.ask::<IgnoredAny>(ask).await?;
        Ok(())
    }

    async fn my_name(&self) -> Result<String, Failure> {
        Ok(self.client.whoami().await?.name)
    }

    async fn withdraw(&self, id: InterruptId, asking: Option<u32>) -> Result<Interrupt, Failure> {
        let text = match asking {
            Some(number) => format!("{id}.{number}"),
            None => id.to_string(),
        };
        let parts = ["v1", "interrupts", &text];
        let ask = Ask::to_change(Method::DELETE, &parts);
        self.client.ask::<IgnoredAny>(ask).await?;
        self.now(id).await
    }

    async fn redrive(&self, id: InterruptId) -> Result<Interrupt, Failure> {
        let text = id.to_string();
        let parts = ["v1", "interrupts", &text, "redrive"];
        let ask = Ask::to_change(Method::POST, &parts);
        self.client.ask::<IgnoredAny>(ask).await?;
        self.now(id).await
    }
}
