//! What arrives for a run: requests of this process to be recorded, interrupts and messages in the store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{InterruptId, StopReason};
use tokio::time::Instant;

use super::asking::scope_reason;
use super::deliveries::Undeliverable;
use super::lanes::Lanes;
use super::owned_run_state::{KeepError, OwnedRunState, longest};
use super::registry::ActiveStop;
use super::request::{StopKind, StopNote, StopRequest, Target};
use super::tree::Reach;
use crate::hooks::HookTrigger;
use crate::life::{Family, Interrupt, Scope, State};
use crate::store::{ChangeError, Delivery, Filter, MessageState, Pages};

const PAGE: u32 = 200;

/// What has been dealt with so far.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// Nothing has been read yet: what the last owner left is taken over.
    first: bool,
    /// What was delivered to the run since this process took it.
    given: HashMap<InterruptId, Given>,
    /// Messages up to this position were delivered.
    messages_after: u64,
    /// No agent runs that could take questions and messages: they stay where they are.
    stops_only: bool,
}

#[derive(Debug, Clone, Copy)]
enum Given {
    Delivered,
    Failed { failures: u32, again: Instant },
}

impl Inbox {
    pub(crate) fn new(messages_after: u64) -> Self {
        Self {
            first: true,
            given: HashMap::new(),
            messages_after,
            stops_only: false,
        }
    }

    /// The inbox of a run that no process runs.
    pub(crate) fn for_stops() -> Self {
        Self {
            stops_only: true,
            ..Self::new(0)
        }
    }

    /// When the next failed delivery is due for a retry.
    fn next(&self) -> Option<Instant> {
        let again = self.given.values().filter_map(|given| match given {
            Given::Failed { again, .. } => Some(*again),
            Given::Delivered => None,
        });
        again.min()
    }

    /// Whether an interrupt is to be delivered to the run now.
    fn wants(&self, interrupt: &Interrupt, owner: &crate::OwnerName) -> bool {
        let again = match self.given.get(&interrupt.id) {
            Some(Given::Delivered) => interrupt.state == State::Requested,
            Some(Given::Failed { again, .. }) => *again <= Instant::now(),
            None => true,
        };
        let ours = interrupt
            .lease
            .as_ref()
            .is_some_and(|lease| lease.owner == *owner);
        let for_somebody = !self.stops_only || interrupt.family() == Family::Stop;
        again
            && for_somebody
            && match interrupt.state {
                State::Requested => true,
                State::Delivered => self.first || !ours,
                State::Acknowledged => self.first,
                State::AwaitingReview => self.first && interrupt.family() == Family::Stop,
                State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered => false,
            }
    }
}

impl OwnedRunState {
    /// Handles everything in the inbox. Returns when the next retry is due.
    pub(crate) async fn look(self: &Arc<Self>) -> Result<Option<Instant>, KeepError> {
        let mut inbox = self.inbox.lock().await;
        self.check_owned()?;
        self.record_all().await?;
        let live = self.live().await?;
        let owner = &self.shared.settings.owner;
        let mut lanes = Lanes::default();
        for interrupt in &live {
            if inbox.wants(interrupt, owner) {
                lanes.push(interrupt.lane(), interrupt.clone());
            } else if interrupt.family() == Family::Stop && inbox.given.contains_key(&interrupt.id)
            {
                // A harder stop may have been requested.
                self.stand(interrupt, false);
            }
        }
        while let Some(interrupt) = lanes.pop() {
            self.check_owned()?;
            self.give(interrupt, &mut inbox).await?;
        }
        inbox.first = false;
        inbox
            .given
            .retain(|id, _given| live.iter().any(|interrupt| interrupt.id == *id));
        self.tell_stopping().await?;
        self.settle_clashes(&live).await?;
        self.deliver_messages(&mut inbox).await?;
        self.shared.beat();
        Ok(inbox.next())
    }

    /// The live interrupts of the run.
    async fn live(&self) -> Result<Vec<Interrupt>, KeepError> {
        let settings = &self.shared.settings;
        let filter = &Filter {
            run: Some(self.run),
            states: vec![
                State::Requested,
                State::Delivered,
                State::Acknowledged,
                State::AwaitingReview,
            ],
            ..Filter::default()
        };
        let mut live = Vec::new();
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages
            .next(|page| async move { self.read(|| settings.store.interrupts(filter, page)).await })
            .await?
        {
            live.extend(found.into_iter().map(|(_position, interrupt)| interrupt));
        }
        Ok(live)
    }

    /// Takes an interrupt and delivers it to the run.
    async fn give(
        self: &Arc<Self>,
        interrupt: Interrupt,
        inbox: &mut Inbox,
    ) -> Result<(), KeepError> {
        if interrupt.state == State::AwaitingReview {
            inbox.given.insert(interrupt.id, Given::Delivered);
            self.stand(&interrupt, true);
            return Ok(());
        }
        let Some(taken) = self.take_delivery(&interrupt).await? else {
            return Ok(());
        };
        match (taken.family(), taken.state) {
            (_, State::DeadLettered) => {
                tracing::error!(interrupt = %taken.id, "dead-lettered");
                inbox.given.remove(&taken.id);
            }
            (Family::Stop, _) => {
                inbox.given.insert(taken.id, Given::Delivered);
                self.stand(&taken, inbox.first);
                self.withdraw_if_ended(&taken).await?;
            }
            // An agent that has acknowledged a question is not asked again.
            (Family::Question, State::Acknowledged) => {
                inbox.given.insert(taken.id, Given::Delivered);
            }
            (Family::Question, _) => self.ask(&taken, inbox).await?,
        }
        Ok(())
    }

    async fn take_delivery(&self, interrupt: &Interrupt) -> Result<Option<Interrupt>, KeepError> {
        let settings = &self.shared.settings;
        let delivery = Delivery {
            owner: settings.owner.clone(),
            lease: settings.lease(),
            // This process owns the run, so the last owner of the interrupt has lost it.
            lost: interrupt.lease.as_ref().map(|lease| lease.owner.clone()),
        };
        let taken = self
            .write(|| settings.store.deliver(interrupt.id, delivery.clone()))
            .await;
        match taken {
            Ok(taken) => Ok(Some(taken)),
            Err(ChangeError::Refused(refusal)) => {
                tracing::debug!(interrupt = %interrupt.id, %refusal, "not delivered");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a stop from the store in force.
    fn stand(self: &Arc<Self>, interrupt: &Interrupt, found: bool) {
        let reach = match interrupt.scope {
            Scope::Run => Reach::Run,
            Scope::Agent => Reach::Node(interrupt.node.clone()),
        };
        let reason = StopReason {
            source: interrupt.source,
            mode: interrupt.mode,
            message: interrupt.reason.clone(),
            timestamp: interrupt.requested_at,
        };
        let new = self.shared.registry.stand(
            self.run,
            ActiveStop {
                id: interrupt.id,
                reach: reach.clone(),
                interrupt_type: interrupt.interrupt_type,
                reason: scope_reason(interrupt.interrupt_type, &reason),
                settled: false,
                found,
            },
        );
        let Some(request) = request_of(interrupt, reach).filter(|_request| new) else {
            return;
        };
        if !found {
            // Another process has requested it: this one learns of it now.
            self.shared.spawn_hooks(HookTrigger::BeforeInterrupt {
                request: request.clone(),
            });
        }
        if let Some(limit) = request.limit {
            let request = StopRequest {
                limit: None,
                ..request
            };
            self.shared
                .harden_after(limit, request, self.shared.settings.actor());
        }
    }

    /// Puts a question into its node's mailbox.
    async fn ask(&self, question: &Interrupt, inbox: &mut Inbox) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let (deliveries, asked) = (Arc::clone(&self.deliveries), question.clone());
        let bounds = self.shared.bounds(settings.times.delivery);
        let delivered = bounds
            .isolate(async move { deliveries.question(&asked).await })
            .await;
        let error = match delivered {
            Ok(Ok(())) => {
                inbox.given.insert(question.id, Given::Delivered);
                return Ok(());
            }
            Ok(Err(Undeliverable::NodeEnded)) => {
                self.withdraw_of_ended(question.id).await?;
                return Ok(());
            }
            Ok(Err(Undeliverable::NotNow { reason })) => reason,
            Err(broken) => format!("the delivery broke: {broken}"),
        };
        let failures = match inbox.given.get(&question.id) {
            Some(Given::Failed { failures, .. }) => failures + 1,
            Some(Given::Delivered) | None => 1,
        };
        let wait = settings.backoff.wait(failures);
        let again = Instant::now() + wait.unwrap_or_else(|| longest(&self.shared));
        let failed = Given::Failed { failures, again };
        inbox.given.insert(question.id, failed);
        let (id, epoch) = (question.id, Some(question.epoch));
        let counted = self
            .write(|| settings.store.fail_delivery(id, epoch, error.clone()))
            .await;
        passed_over(counted)
    }

    async fn deliver_messages(&self, inbox: &mut Inbox) -> Result<(), KeepError> {
        if inbox.stops_only {
            return Ok(());
        }
        let settings = &self.shared.settings;
        let mut pages = Pages::after(inbox.messages_after, PAGE);
        while let Some(messages) = pages
            .next(|page| async move { self.read(|| settings.store.messages(self.run, page)).await })
            .await?
        {
            for message in messages {
                inbox.messages_after = message.position;
                if matches!(message.state, MessageState::Withdrawn { .. }) {
                    continue;
                }
                let deliveries = Arc::clone(&self.deliveries);
                let bounds = self.shared.bounds(settings.times.delivery);
                bounds
                    .run("delivery of a message".to_owned(), async move {
                        deliveries.message(&message).await;
                        Ok(())
                    })
                    .await;
            }
        }
        Ok(())
    }
}

/// Ignores a refusal: the interrupt has changed meanwhile, and is checked again when it is due.
fn passed_over(changed: Result<Interrupt, ChangeError>) -> Result<(), KeepError> {
    match changed {
        Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The request for a stop that was read from the store.
fn request_of(interrupt: &Interrupt, reach: Reach) -> Option<StopRequest> {
    let note: StopNote = serde_json::from_str(&interrupt.content).ok()?;
    let target = match reach {
        Reach::Run => Target::Run(interrupt.run),
        Reach::Node(node) => Target::Node(interrupt.run, node),
    };
    Some(StopRequest {
        target,
        kind: StopKind::of(interrupt.interrupt_type)?,
        mode: interrupt.mode,
        source: interrupt.source,
        cause: note.cause,
        message: interrupt.reason.clone(),
        by: interrupt.requested_by.clone(),
        key: None,
        limit: note.limit_ms.map(Duration::from_millis),
        metadata: note.metadata,
    })
}
