//! Performing a step: the interrupt and all its effects, in the tables.

use interrupt_router::reroute::{CancelCause, RerouteChange, RerouteState};
use interrupt_router::{DecisionId, EventId, InterruptId, NodeId, RunId};
use interrupts::life::{
    Actor, BoundReroute, Effect, Event, FIRST_ASKING, Family, Interrupt, Notice, Role, State, Step,
    WithdrawCause,
};
use interrupts::store::{AuditSubject, Intent, JournalEntry, Notification, Repeating, RerouteRow};
use interrupts::{ActorName, EffectId, IdempotencyKey, KindName, RouteName};

use super::row::{InterruptRow, Slot};
use super::{Failed, Tables, damaged};

/// The actor for ends that no one has asked for.
const STORE: &str = "store";

impl Tables {
    /// Writes the interrupt of a step and performs its effects.
    pub(crate) fn perform(&mut self, step: Step) -> Result<Interrupt, Failed> {
        let Step {
            interrupt,
            transition: _,
            effects,
        } = step;
        let before = self.interrupts.get(&interrupt.id)?;
        let was_raised = before.is_some_and(|row| {
            !matches!(
                row.interrupt.state,
                State::Requested | State::Delivered | State::DeadLettered
            )
        });
        let position = match self.interrupts.get(&interrupt.id)? {
            Some(row) => row.position,
            None => {
                let mut heads = self.heads()?;
                heads.interrupts += 1;
                let position = heads.interrupts;
                self.heads.put((), heads);
                position
            }
        };
        for effect in effects {
            self.perform_effect(&interrupt, effect)?;
        }
        let row = InterruptRow {
            position,
            interrupt: interrupt.clone(),
        };
        self.interrupts.put(interrupt.id, row);
        if !was_raised && matches!(interrupt.state, State::Cancelled | State::Expired) {
            self.end_reroute_of(&interrupt)?;
        }
        Ok(interrupt)
    }

    /// A reroute that still waits ends with the interrupt that it was published with, if no node has raised that: it
    /// must not apply to another one of its node.
    fn end_reroute_of(&mut self, interrupt: &Interrupt) -> Result<(), Failed> {
        let Ok(event) = EventId::try_from(interrupt.key.as_str().to_owned()) else {
            // Published with no event.
            return Ok(());
        };
        let waits = self
            .reroutes
            .get(&event)?
            .is_some_and(|row| row.state == RerouteState::Pending && row.run == interrupt.run);
        if waits {
            let cause = CancelCause::InterruptEnded;
            self.change_reroute(&event, RerouteChange::Cancel(cause))?;
        }
        Ok(())
    }

    /// An interrupt to which another one's reroute was bound takes that one's place: it asks for nothing any more.
    pub(crate) fn supersede(&mut self, raised: &Interrupt) -> Result<(), Failed> {
        match &raised.bound {
            Some(bound) if bound.event.as_str() != raised.key.as_str() => {
                let cause = WithdrawCause::Superseded { by: raised.id };
                self.end_interrupt_of(&bound.event, cause)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The interrupt that an event asked for ends with its reroute, where no node has raised it.
    pub(crate) fn end_interrupt_of(
        &mut self,
        event: &EventId,
        cause: WithdrawCause,
    ) -> Result<(), Failed> {
        let key = IdempotencyKey::new(event.as_str()).map_err(|error| damaged(&error))?;
        let Some(id) = self.keys.get(&key)?.map(|row| row.interrupt) else {
            return Ok(());
        };
        let Some(interrupt) = self.interrupts.get(&id)?.map(|row| row.interrupt.clone()) else {
            return Ok(());
        };
        if !matches!(interrupt.state, State::Requested | State::Delivered) {
            return Ok(());
        }
        let actor = Actor {
            name: ActorName::new(STORE).map_err(|error| damaged(&error))?,
            role: Role::System,
        };
        let is_stop = interrupt.family() == Family::Stop;
        let cause = match cause {
            // What others ask of a stop remains; its first asking is its event's.
            WithdrawCause::Withdrawn | WithdrawCause::Superseded { .. } if is_stop => {
                let number = FIRST_ASKING;
                WithdrawCause::Asking { number }
            }
            other @ (WithdrawCause::Withdrawn
            | WithdrawCause::Asking { .. }
            | WithdrawCause::NobodyAsks
            | WithdrawCause::Superseded { .. }
            | WithdrawCause::RunEnded
            | WithdrawCause::NodeEnded) => other,
        };
        match interrupt.after(&Event::Withdraw { actor, cause }, self.now) {
            Ok(step) => self.perform(step).map(|_ended| ()),
            // It was taken back before, or its run carries it out.
            Err(_) if is_stop => Ok(()),
            Err(refused) => Err(damaged(&refused).into()),
        }
    }

    fn perform_effect(&mut self, interrupt: &Interrupt, effect: Effect) -> Result<(), Failed> {
        match effect {
            Effect::Audit(audited) => self.audit(AuditSubject::Interrupt {
                interrupt: interrupt.id,
                run: interrupt.run,
                audited,
            }),
            Effect::Tell(notice) => Ok(self.tell(about(interrupt, notice))?),
            Effect::StoreReroute { event, target } => self.store_reroute(interrupt, event, target),
            Effect::BindReroute { event } => {
                self.change_reroute(&event, RerouteChange::Bind(interrupt.id))
            }
            Effect::ConsumeReroute { event, decision } => {
                self.change_reroute(&event, RerouteChange::Consume(decision))
            }
            Effect::ReleaseReroute { event } => self.release_reroute(interrupt, &event),
            Effect::ChooseReroute { target, decision } => {
                self.choose_reroute(interrupt, target, decision)
            }
            Effect::Dispatch {
                effect,
                target,
                decision,
            } => {
                self.journal_dispatch(interrupt, effect, &target, decision)?;
                let notice = Notice::Dispatch {
                    effect,
                    target,
                    decision,
                };
                Ok(self.tell(about(interrupt, notice))?)
            }
            // The interrupt, its audit row and its notice contain what these say.
            Effect::NewEpoch { .. } | Effect::OpenReview { .. } | Effect::Alert { .. } => Ok(()),
        }
    }

    fn journal_dispatch(
        &mut self,
        interrupt: &Interrupt,
        effect: EffectId,
        target: &RouteName,
        decision: DecisionId,
    ) -> Result<(), Failed> {
        let kind = KindName::new(JournalEntry::DISPATCH).map_err(|error| damaged(&error))?;
        let content = serde_json::json!({
            "interrupt": interrupt.id,
            "decision": decision,
            "target": target,
        });
        self.journal_intent(Intent {
            effect,
            run: interrupt.run,
            node: interrupt.node.clone(),
            kind,
            // Its target knows the effect id, and ignores a repetition.
            repeating: Repeating::Idempotent,
            content: content.to_string(),
            place: None,
        })?;
        Ok(())
    }

    /// The reroute that waits for an interrupt of a node. There is none while another one is bound: at most one
    /// is bound for each node. One that has waited too long expires here.
    pub(crate) fn pending_reroute(
        &mut self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<BoundReroute>, Failed> {
        let slot = self.slot(run, node)?;
        let (Some(event), None) = (slot.pending, slot.bound) else {
            return Ok(None);
        };
        let row = self.reroute(&event)?;
        if row.expires_at <= self.now {
            self.change_reroute(&event, RerouteChange::Expire)?;
            return Ok(None);
        }
        Ok(Some(BoundReroute {
            event,
            target: row.target,
        }))
    }

    /// The slot of a node.
    pub(crate) fn slot(&mut self, run: RunId, node: &NodeId) -> Result<Slot, Failed> {
        let slot = self.slots.get(&(run, node.clone()))?;
        Ok(slot.cloned().unwrap_or_default())
    }

    /// A reroute that must be there, for a slot or an interrupt names it.
    pub(crate) fn reroute(&mut self, event: &EventId) -> Result<RerouteRow, Failed> {
        let row = self.reroutes.get(event)?.cloned();
        Ok(row.ok_or_else(|| damaged(&format!("there is no reroute of event {event}")))?)
    }

    fn store_reroute(
        &mut self,
        interrupt: &Interrupt,
        event: EventId,
        target: RouteName,
    ) -> Result<(), Failed> {
        let (run, node) = (interrupt.run, interrupt.node.clone());
        if self.reroutes.get(&event)?.is_some() {
            // Its key admitted this interrupt alone, so it can only be there by another way.
            return Err(damaged(&format!("event {event} has a reroute already")).into());
        }
        if let Some(older) = self.slot(run, &node)?.pending {
            self.change_reroute(&older, RerouteChange::Supersede(event.clone()))?;
            let cause = WithdrawCause::Superseded { by: interrupt.id };
            self.end_interrupt_of(&older, cause)?;
        }
        let row = RerouteRow {
            event: event.clone(),
            run,
            node: node.clone(),
            target,
            state: RerouteState::Pending,
            expires_at: self.after(self.settings.reroutes.lifetime),
            ignored_turns: 0,
        };
        let mut slot = self.slot(run, &node)?;
        slot.pending = Some(event);
        self.slots.put((run, node), slot);
        self.write_reroute(row)
    }

    /// Changes a reroute as the core's machine allows, and the slot of its node with it.
    pub(crate) fn change_reroute(
        &mut self,
        event: &EventId,
        change: RerouteChange,
    ) -> Result<(), Failed> {
        let mut row = self.reroute(event)?;
        row.state = after(&row.state, change)?;
        let mut slot = self.slot(row.run, &row.node)?;
        for place in [&mut slot.pending, &mut slot.bound] {
            if place.as_ref() == Some(event) {
                *place = None;
            }
        }
        match row.state {
            RerouteState::Pending => slot.pending = Some(event.clone()),
            RerouteState::Bound { .. } => slot.bound = Some(event.clone()),
            RerouteState::Consumed { .. }
            | RerouteState::Expired
            | RerouteState::Superseded { .. }
            | RerouteState::Cancelled { .. } => {}
        }
        self.slots.put((row.run, row.node.clone()), slot);
        self.write_reroute(row)
    }

    /// The reroute waits again, unless a newer one already waits in its place, or its run has ended.
    fn release_reroute(&mut self, interrupt: &Interrupt, event: &EventId) -> Result<(), Failed> {
        let run = self.runs.get(&interrupt.run)?;
        if run.is_some_and(|row| row.run.state.is_final()) {
            self.change_reroute(event, RerouteChange::Release)?;
            return self.change_reroute(event, RerouteChange::Cancel(CancelCause::NodeEnded));
        }
        let newer = self.slot(interrupt.run, &interrupt.node)?.pending;
        self.change_reroute(event, RerouteChange::Release)?;
        if let Some(newer) = newer {
            self.change_reroute(event, RerouteChange::Supersede(newer.clone()))?;
            let mut slot = self.slot(interrupt.run, &interrupt.node)?;
            slot.pending = Some(newer);
            self.slots
                .put((interrupt.run, interrupt.node.clone()), slot);
        }
        Ok(())
    }

    /// A person's reroute: pending, bound and consumed at once. It never enters the node's slot, where a supervisor's
    /// reroute may continue to wait.
    fn choose_reroute(
        &mut self,
        interrupt: &Interrupt,
        target: RouteName,
        decision: DecisionId,
    ) -> Result<(), Failed> {
        let event = EventId::try_from(decision.to_string()).map_err(|error| damaged(&error))?;
        let consumed = consumed_at_once(interrupt.id, decision)?;
        self.write_reroute(RerouteRow {
            event,
            run: interrupt.run,
            node: interrupt.node.clone(),
            target,
            state: consumed,
            expires_at: self.now,
            ignored_turns: 0,
        })
    }

    /// Writes a reroute whose state has changed, and says so.
    pub(crate) fn write_reroute(&mut self, row: RerouteRow) -> Result<(), Failed> {
        let change = serde_json::to_string(&row.state).map_err(|error| damaged(&error))?;
        self.audit(AuditSubject::Reroute {
            event: row.event.clone(),
            run: row.run,
            change,
        })?;
        self.tell(Notification::Reroute {
            event: row.event.clone(),
            run: row.run,
            reroute: row.state.clone(),
        })?;
        self.reroutes.put(row.event.clone(), row);
        Ok(())
    }
}

fn consumed_at_once(interrupt: InterruptId, decision: DecisionId) -> Result<RerouteState, Failed> {
    let bound = after(&RerouteState::Pending, RerouteChange::Bind(interrupt))?;
    after(&bound, RerouteChange::Consume(decision))
}

fn after(state: &RerouteState, change: RerouteChange) -> Result<RerouteState, Failed> {
    let illegal = || {
        let detail = format!("a reroute that is {state:?} cannot take {change:?}");
        damaged(&detail).into()
    };
    state.after(change.clone()).ok_or_else(illegal)
}

fn about(interrupt: &Interrupt, notice: Notice) -> Notification {
    Notification::Interrupt {
        interrupt: interrupt.id,
        run: interrupt.run,
        state: interrupt.state,
        version: interrupt.version,
        source: interrupt.joined_source(),
        notice,
    }
}
