//! Agents that are cut off, while their run goes on without them.

use interrupt_router::{DecisionId, InterruptType, NodeId};
use interrupts::life::{
    Choosing, Evidence, Family, Interrupt, Scope, State, Verdict, WithdrawCause,
};
use interrupts::store::{ChangeError, NodeActivity};

use crate::agents::ended;
use crate::error::WorkError;
use crate::owned::Owned;

impl Owned<'_> {
    /// An agent, with all below it, has ended because a stop cuts it off: that stop is applied, and all other stops of
    /// the agent are withdrawn.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownAgent`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn cut_off(&self, node: &NodeId) -> Result<(), WorkError> {
        if self.store().node(self.run.id, node).await?.is_none() {
            return Err(WorkError::UnknownAgent { node: node.clone() });
        }
        let stops = self.protocol.under_way(self.run.id).await?;
        let concerned = |it: &&Interrupt| {
            it.family() == Family::Stop && it.scope == Scope::Agent && it.node.is_within(node)
        };
        let stops: Vec<&Interrupt> = stops.iter().filter(concerned).collect();
        let cuts = |it: &&&Interrupt| it.node == *node && cuts_off(it);
        let pruned = stops
            .iter()
            .filter(cuts)
            .any(|it| it.interrupt_type == InterruptType::Prune);
        let activity = if pruned {
            NodeActivity::Pruned
        } else {
            NodeActivity::Cancelled
        };
        let agents = self.all_agents().await?;
        let within = agents.into_iter().filter(|row| row.node.is_within(node));
        let open = within.filter(|row| !row.activity.is_final());
        self.put(open.map(|row| ended(row, activity)).collect())
            .await?;
        for stop in stops.iter().filter(cuts) {
            self.take_hold(stop).await?;
        }
        self.has_ended(node).await
    }

    /// An agent, with all below it, has ended: its questions, and requests to it alone, are withdrawn.
    pub(crate) async fn has_ended(&self, node: &NodeId) -> Result<(), WorkError> {
        let is_of_run = |it: &Interrupt| it.family() == Family::Stop && it.scope == Scope::Run;
        let live = self.protocol.live(self.run.id).await?;
        let within = live.into_iter().filter(|it| it.node.is_within(node));
        for interrupt in within.filter(|it| !is_of_run(it)) {
            self.withdraw_of_ended(&interrupt).await?;
        }
        self.store().node_ended(self.run.id, node).await?;
        Ok(())
    }

    /// Cuts off all agents that have such a stop of their own: the whole run stops, and those agents end with it.
    ///
    /// # Errors
    ///
    /// As of [`Owned::cut_off`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn cut_off_all(&self) -> Result<(), WorkError> {
        for stop in self.protocol.under_way(self.run.id).await? {
            if cuts_off(&stop) {
                self.cut_off(&stop.node).await?;
            }
        }
        Ok(())
    }

    async fn take_hold(&self, stop: &Interrupt) -> Result<(), WorkError> {
        let delivery = self.delivery(stop.lease.as_ref());
        let delivered = self.store().deliver(stop.id, delivery).await;
        let Some(delivered) = not_refused(delivered)? else {
            return Ok(());
        };
        if delivered.state != State::Delivered {
            return Ok(());
        }
        let (id, epoch) = (delivered.id, delivered.epoch);
        let evidence = Evidence::Cancelled;
        let acknowledged = self.store().acknowledge(id, epoch, evidence).await;
        let Some(acknowledged) = not_refused(acknowledged)? else {
            return Ok(());
        };
        let choosing = Choosing {
            // An interrupt has at most one decision, so the decision's id is made of the interrupt's bits.
            id: DecisionId::from_uuid(id.uuid()),
            verdict: Verdict::Applied,
            target: None,
            content: None,
        };
        self.decide(&acknowledged, choosing).await?;
        if let Some(decided) = self.store().interrupt(id).await?
            && let Some(decision) = decided.decision
        {
            self.finished(decision.effect, "{}".to_owned()).await?;
        }
        Ok(())
    }

    async fn withdraw_of_ended(&self, stop: &Interrupt) -> Result<(), WorkError> {
        let by = stop.requested_by.clone();
        let cause = WithdrawCause::NodeEnded;
        not_refused(self.store().withdraw(stop.id, by, cause).await)?;
        Ok(())
    }
}

/// Whether a stop cuts an agent off, and the run goes on without it.
pub(crate) fn cuts_off(stop: &Interrupt) -> bool {
    let leaves_nothing = matches!(
        stop.interrupt_type,
        InterruptType::Prune | InterruptType::Stop
    );
    leaves_nothing && stop.scope == Scope::Agent && stop.node.parent().is_some()
}

/// A refused change means that the interrupt has moved on meanwhile.
fn not_refused(changed: Result<Interrupt, ChangeError>) -> Result<Option<Interrupt>, WorkError> {
    match changed {
        Ok(changed) => Ok(Some(changed)),
        Err(ChangeError::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
