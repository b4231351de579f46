//! An agent of a run, as the workflow's code uses it.

mod asking;
mod effect;
mod interrupting;
mod using_tools;

use std::collections::HashMap;

use interrupt_router::model::{Message, ModelCaller, Purpose};
use interrupt_router::{AgentType, NodeId, StopScope};
use interrupts::store::NodeActivity;

use super::exit::Exit;
use super::{Run, RunContext, Workflow};
use crate::run::raising::Raiser;
use crate::run::{LiveRun, RunEvent};

pub use effect::Effect;

/// An agent of a run. Each has its own conversation, its own mailbox for messages, and its own stop.
///
/// What it does is named by its own id and by what it has done so far, so agents may work side by side, as long as each
/// of them does one thing after the other.
pub struct Agent<W: Workflow> {
    run: Run<W>,
    id: NodeId,
    kind: W::Kind,
    /// How many answers it was asked for, and interrupts it raised.
    turn: u32,
    step: u32,
    conversation: Vec<Message>,
    /// How often each effect was done by now, by its name.
    done: HashMap<String, u32>,
    mails: u32,
    /// Whether a supervisor has asked it to interrupt itself, and it has not done so since.
    asked_to_interrupt: bool,
}

impl<W: Workflow> Agent<W> {
    pub(super) fn new(run: Run<W>, id: NodeId, kind: W::Kind) -> Self {
        let live = &run.shared.live;
        if live.nodes.add(&id, kind.name()) {
            live.recorder.record(RunEvent::AgentSpawned {
                node: id.clone(),
                parent: id.parent(),
                kind: kind.name(),
            });
        }
        live.nodes.open(&id);
        let agent = Self {
            run,
            id,
            kind,
            turn: 0,
            step: 0,
            conversation: Vec::new(),
            done: HashMap::new(),
            mails: 0,
            asked_to_interrupt: false,
        };
        agent.set_state(NodeActivity::Running);
        agent
    }

    fn shared(&self) -> &RunContext<W> {
        &self.run.shared
    }

    fn live(&self) -> &LiveRun {
        &self.run.shared.live
    }

    /// Its id: its name, below that of the agent above it.
    pub const fn id(&self) -> &NodeId {
        &self.id
    }

    /// Its kind.
    pub const fn kind(&self) -> W::Kind {
        self.kind
    }

    /// Its run.
    pub const fn run(&self) -> &Run<W> {
        &self.run
    }

    /// The scope that stops it, and all below it, on request.
    pub fn scope(&self) -> StopScope {
        self.live().scope_of(&self.id)
    }

    /// Whether a supervisor has asked it to interrupt itself, and it has not done so since.
    pub const fn is_asked_to_interrupt(&self) -> bool {
        self.asked_to_interrupt
    }

    /// An agent below this one. The same name is the same agent, whenever the run comes here again.
    ///
    /// # Errors
    ///
    /// If the name is invalid: see [`NodeId`].
    pub fn child(&self, kind: W::Kind, name: &str) -> Result<Self, Exit> {
        let id = self.id.child(name)?;
        Ok(Self::new(self.run.clone(), id, kind))
    }

    /// Ends here if the agent is to stop. A stop takes effect at the next boundary: each method that does something begins
    /// with one.
    ///
    /// # Errors
    ///
    /// The [`Exit`] with which the code is left.
    pub fn boundary(&self) -> Result<(), Exit> {
        let live = self.live();
        if let Some(reason) = live.given_up() {
            return Err(Exit::stopped(reason));
        }
        let scope = self.scope();
        if scope.is_stopping()
            && let Some(reason) = scope.reason()
        {
            return Err(Exit::interrupted(reason));
        }
        Ok(())
    }

    fn set_state(&self, state: NodeActivity) {
        let live = self.live();
        if live.nodes.set_state(&self.id, state) {
            live.recorder.record(RunEvent::AgentStatusChanged {
                node: self.id.clone(),
                kind: self.kind.name(),
                status: state,
            });
        }
    }

    fn raiser(&self) -> Raiser<'_> {
        Raiser {
            node: &self.id,
            kind: self.kind.name(),
            turn: self.turn,
            step: self.step,
        }
    }

    fn caller(&self) -> ModelCaller {
        ModelCaller {
            run: self.run.id(),
            node: self.id.clone(),
            agent_type: self.kind.name(),
            purpose: Purpose::Step,
            turn: self.turn,
            correction: 0,
        }
    }
}
