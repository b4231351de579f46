//! An agent of a run, as the workflow's code uses it.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use interrupts::EffectId;
use interrupts::store::Repeating;
use routing_core::answer::read_within;
use routing_core::ask::{AskError, Asked};
use routing_core::context::{DecoratorChain, LlmCallContext, RouteSnapshot};
use routing_core::event::INTERRUPT_REQUEST_MARK;
use routing_core::model::{Caller, Message, PartialReply, Purpose, ToolRequest};
use routing_core::{
    AgentType, InterruptId, InterruptRoutes, NodeId, Outcome, RouteId, RouteSet, Routing,
    SealedInterrupt, StopScope,
};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{Value, json};
use tools::ToolMessage;
use tracing::Instrument as _;

use super::decided::{Decided, Routed};
use super::exit::Exit;
use super::ground::OfRun;
use super::{Run, Shared, Workflow};
use crate::durable::entry::{FlowPlace, InterruptEnd, InterruptOutcome, TurnStart};
use crate::durable::error::KeepError;
use crate::durable::journal::MAIL;
use crate::durable::letter::{Letter, Mail};
use crate::durable::model::end_of_what_was_recorded;
use crate::durable::place;
use crate::run::raising::{Around, Handled, Raiser};
use crate::run::recorder::{AnswerChunks, Corrections};
use crate::run::spans::failed;
use crate::run::{InterruptResult, LiveRun, NodeState, RunError, RunEvent};
use crate::tools::{Parked, Round, RoundEnd, Tooling};

/// The kind of the journal's entries for what a workflow's code does itself.
const EFFECT: &str = "effect";

/// An agent of a run. Each has its own conversation, its own box for messages, and its own stop.
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

/// An effect that is about to happen.
#[derive(Debug, Clone)]
pub struct Effect {
    id: EffectId,
    is_repeated: bool,
    scope: StopScope,
}

impl Effect {
    /// Names it: the same one whenever it is tried, in whatever process. Pass it on as an idempotency key.
    pub const fn id(&self) -> EffectId {
        self.id
    }

    /// Whether it was begun before, and nobody knows what came of it: its process died, or it failed.
    pub const fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// Stops it, where its agent is stopped.
    pub const fn scope(&self) -> &StopScope {
        &self.scope
    }
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
        agent.set_state(NodeState::Running);
        agent
    }

    fn shared(&self) -> &Shared<W> {
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

    /// Stops it, and all below it, where somebody asks for that.
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
    /// Where the name is none: see [`NodeId`].
    pub fn child(&self, kind: W::Kind, name: &str) -> Result<Self, Exit> {
        let id = self.id.child(name)?;
        Ok(Self::new(self.run.clone(), id, kind))
    }

    /// The agent has done its work.
    ///
    /// # Errors
    ///
    /// Where that cannot be recorded.
    ///
    /// # Cancel safety
    ///
    /// Safe: it is done again when the run goes on.
    pub async fn finish(self) -> Result<(), Exit> {
        self.run
            .end(&self.id, self.kind.name(), NodeState::Completed)
            .await?;
        Ok(())
    }

    /// Ends here where the agent is to stop, or nothing more was recorded of a run that is only shown. A stop takes hold
    /// at the next of these: each method that does something begins with it.
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
        if live.journal.record.is_watched_only() {
            return Err(Exit::interrupted(end_of_what_was_recorded()));
        }
        Ok(())
    }

    /// Does something once, whatever becomes of the process: what came of it is recorded, and read when the run comes
    /// here again. Name it by what it does; the same name again is the next one.
    ///
    /// A process that dies between the effect and its record has done it, and nobody knows: it is done again, and
    /// [`Effect::is_repeated`] says so. [`Effect::id`] is then the same, for a system that knows what it has done.
    ///
    /// # Errors
    ///
    /// Where the work fails, the run is paused, and the effect is tried again when it goes on. What shall not be tried
    /// again is a result: return it as one.
    ///
    /// # Cancel safety
    ///
    /// An immediate stop drops the work where it is; it is done again when the run goes on.
    pub async fn effect<T, E, F>(
        &mut self,
        name: &str,
        work: impl FnOnce(Effect) -> F + Send,
    ) -> Result<T, Exit>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send,
    {
        let number = self.done.entry(name.to_owned()).or_default();
        *number += 1;
        let place = format!("{}#effect/{name}/{number}", self.id);
        let journal = &self.live().journal;
        if let Some(result) = journal.result(&place, &self.id)? {
            return Ok(result);
        }
        self.boundary()?;
        let effect = Effect {
            id: EffectId::in_run(self.run.id(), &place),
            is_repeated: journal.at(&place)?.is_some(),
            scope: self.scope(),
        };
        let intent = json!({ "name": name }).to_string();
        journal
            .begin_once(&self.id, EFFECT, &place, &intent, Repeating::Idempotent)
            .await?;
        let scope = effect.scope.clone();
        let done = tokio::select! {
            biased; // What has happened has happened.
            done = work(effect) => done,
            reason = scope.stopped_now() => return Err(Exit::interrupted(reason)),
        };
        let result = done.map_err(|error| {
            Exit::paused_by(
                EffectFailed {
                    name: name.to_owned(),
                    source: error.into(),
                },
                "see to what failed; it is tried again when the run is resumed",
            )
        })?;
        journal
            .finish(&self.id, &place, serde_json::to_string(&result)?)
            .await?;
        Ok(result)
    }

    /// Tells the agent something that its model reads in its next turn.
    pub fn tell(&mut self, text: impl Into<String>) {
        self.push(Message::user(text.into()));
    }

    fn push(&mut self, message: Message) {
        self.live().recorder.record(RunEvent::MessageAdded {
            node: self.id.clone(),
            text: message.text.to_string(),
        });
        self.conversation.push(message);
    }

    /// What people and supervisors have sent the agent since it was asked last, as its model would read it. Its next turn
    /// reads it too.
    ///
    /// # Errors
    ///
    /// Where it cannot be recorded, or the agent is to stop.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was taken and not recorded is still there when the run goes on.
    pub async fn mail(&mut self) -> Result<Vec<String>, Exit> {
        self.mails += 1;
        let place = format!("{}#mail/{}", self.id, self.mails);
        let recorded = self.live().journal.intent::<Mail>(&place)?;
        let mail = match recorded {
            Some(mail) => mail,
            None => {
                self.boundary()?;
                let mail = Mail {
                    letters: self.take_letters().await?,
                };
                let content = serde_json::to_string(&mail)?;
                let journal = &self.live().journal;
                journal.begin(&self.id, MAIL, &place, &content).await?;
                journal.finish(&self.id, &place, "{}".to_owned()).await?;
                mail
            }
        };
        self.read(&mail.letters);
        Ok(mail.letters.into_iter().map(|letter| letter.text).collect())
    }

    async fn take_letters(&self) -> Result<Vec<Letter>, RunError> {
        let live = self.live();
        live.journal.go_live();
        let expired = live.reroutes.expire().await?;
        live.tell_ended(expired).await?;
        live.nodes.restore_letters(&self.id);
        let mut letters = {
            let _held = live.reroute_log.hold().await;
            live.nodes.take_letters(&self.id)
        };
        live.leave_out_withdrawn(&mut letters).await?;
        letters.extend(live.take_inputs());
        Ok(letters)
    }

    fn read(&mut self, letters: &[Letter]) {
        for letter in letters {
            if letter.text.starts_with(INTERRUPT_REQUEST_MARK) {
                self.asked_to_interrupt = true;
            }
            self.push(letter.message());
        }
    }

    /// Asks the agent's model for one way out of a routing record, until its answer fits. What came for the agent since
    /// its last turn is read first.
    ///
    /// # Errors
    ///
    /// Where the model fails, the run is paused and the model is asked again when it goes on. Where no answer fits and
    /// the corrections are spent, the run fails.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not recorded is asked again when the run goes on.
    pub async fn ask<R: Routing>(&mut self) -> Result<R, Exit> {
        let turn = self.turn + 1;
        let is_answered = self
            .live()
            .journal
            .is_answered(&place::turn(&self.id, turn))?;
        if !is_answered {
            self.boundary()?;
        }
        let start = match self.live().journal.start_of(&self.id, turn) {
            Some(start) => start,
            None => TurnStart {
                step: self.live().next_step()?,
                place: FlowPlace {
                    worker: Some(self.id.clone()),
                    main: 0,
                    own: u64::from(turn),
                },
                again: false,
                reminder: None,
                letters: self.take_letters().await?,
            },
        };
        self.read(&start.letters);
        (self.turn, self.step) = (turn, start.step);
        let live = &self.run.shared.live;
        self.set_state(NodeState::Running);
        live.nodes.takes_turn(&self.id, turn, self.step);
        live.journal.turn_begins(&self.id, start);
        if !is_answered {
            live.keep_nodes().await?;
        }
        live.recorder.record(RunEvent::StepStarted {
            node: self.id.clone(),
            kind: self.kind.name(),
            step: self.step,
            turn,
        });
        self.stand();
        match self.asked::<R>().await {
            Ok(Outcome::Completed(asked)) => Ok(self.answered(asked)?),
            Ok(Outcome::Interrupted { reason, .. }) => {
                let parked = live
                    .tooling
                    .as_ref()
                    .and_then(|tooling| tooling.take_parked(&self.id));
                Err(self.parked(parked).unwrap_or(Exit::interrupted(reason)))
            }
            Err(source) => Err(RunError::Model {
                node: self.id.to_string(),
                source,
            }
            .into()),
        }
    }

    fn caller(&self) -> Caller {
        Caller {
            run: self.run.id(),
            node: self.id.clone(),
            agent_type: self.kind.name(),
            purpose: Purpose::Step,
            turn: self.turn,
            correction: 0,
        }
    }

    async fn asked<R: Routing>(&self) -> Result<Outcome<Asked<R>, PartialReply>, AskError> {
        let live = self.live();
        let (caller, messages) = (self.caller(), self.conversation.clone());
        let mut context = LlmCallContext::new(caller, messages, RouteSnapshot::default());
        context.form = live.asker.model.turn_form(&context.caller);
        context.chunks = Some(Arc::new(AnswerChunks {
            recorder: Arc::clone(&live.recorder),
            node: self.id.clone(),
        }));
        let context = DecoratorChain::default().decorate(context);
        let corrections = Corrections {
            recorder: Arc::clone(&live.recorder),
            node: self.id.clone(),
        };
        let scope = self.scope();
        let span = live.spans.turn(&self.id, self.kind.name(), self.turn);
        let asked = live.asker.ask(&context, &corrections, &scope);
        let asked = asked.instrument(span.clone()).await;
        if let Err(error) = &asked {
            failed(&span, error);
        }
        asked
    }

    fn answered<R: Routing>(&mut self, asked: Asked<R>) -> Result<R, RunError> {
        let field = asked.routing.set_routes().single().map(RouteId::field);
        let field = field.ok_or(RunError::Lost {
            detail: "an answer was read that has not exactly one route",
        })?;
        let exchanged = self
            .live()
            .tooling
            .as_ref()
            .map(|tooling| tooling.take_exchanged(&self.id));
        self.conversation.extend(exchanged.into_iter().flatten());
        self.live().recorder.record(RunEvent::StepFinished {
            node: self.id.clone(),
            kind: self.kind.name(),
            step: self.step,
            field,
            summary: String::new(),
            usage: asked.usage,
            corrections: asked.corrections,
        });
        self.conversation.push(Message::assistant(asked.text));
        Ok(asked.routing)
    }

    /// Why the step ended within its tools, where it did.
    fn parked(&self, parked: Option<Parked>) -> Option<Exit> {
        match parked? {
            Parked::Waiting(questions) => {
                for question in questions {
                    self.live().ledger.unanswered(question);
                }
                Some(Exit::waiting())
            }
            Parked::Launched => None,
        }
    }

    fn stand(&self) -> Option<&Arc<Tooling>> {
        let live = &self.run.shared.live;
        let tooling = live.tooling.as_ref()?;
        tooling.stand(&self.id, Arc::new(OfRun(Arc::downgrade(live))));
        Some(tooling)
    }

    /// Uses a tool of the run's, under its permissions: once, and what came of it is recorded. Where nobody knows what
    /// came of a call whose process died, a person is asked, unless it may be made again.
    ///
    /// # Errors
    ///
    /// Where the run has no tools, or the call waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Safe: the call ends with its run, and what was not recorded is settled when the run goes on.
    pub async fn tool(&mut self, name: &str, arguments: &Value) -> Result<ToolMessage, Exit> {
        self.turn += 1;
        let Some(tooling) = self.stand() else {
            return Err(RunError::of_workflow(NoTools).into());
        };
        let caller = self.caller();
        let request = ToolRequest::new("call", name, arguments.to_string());
        let scope = self.scope();
        let round = Round {
            caller: &caller,
            number: 0,
            requests: &[request],
            scope: &scope,
        };
        let ended = tooling.round(round).await.map_err(|source| RunError::Model {
            node: self.id.to_string(),
            source: AskError::Model(source),
        })?;
        match ended {
            RoundEnd::Done(mut messages) => Ok(messages.pop().ok_or(RunError::Lost {
                detail: "a call of a tool has no message",
            })?),
            RoundEnd::Ends(reason) => {
                let parked = tooling.take_parked(&self.id);
                Err(self.parked(parked).unwrap_or(Exit::interrupted(reason)))
            }
        }
    }

    /// Raises an interrupt, and waits for its decision: asked once, whoever restarts, and decided once, whoever answers.
    /// Its answer's route is the only one left, and the request of that route is filled in.
    ///
    /// # Errors
    ///
    /// An [`Exit`] where the run stands still until somebody has answered, or where the interrupt was a STOP or a PRUNE
    /// that was granted.
    ///
    /// # Cancel safety
    ///
    /// Safe: the interrupt stays as it is, and is waited for when the run goes on.
    pub async fn interrupt(
        &mut self,
        request: impl Into<W::Request>,
    ) -> Result<Decided<W::Routing>, Exit> {
        self.turn += 1;
        self.asked_to_interrupt = false;
        let recorded = self.live().recorded_interrupt::<W::Request>(self.raiser())?;
        let (interrupt, request, outcome) = match recorded {
            Some((interrupt, request, outcome)) => (Some(interrupt), request, outcome),
            None => (None, request.into(), None),
        };
        let outcome = outcome.filter(|outcome| !outcome.is_left_out());
        match (interrupt, outcome) {
            (Some(interrupt), Some(outcome)) => {
                self.live().raised(self.raiser(), interrupt, &request)?;
                self.live().told_again(&self.id, interrupt, &outcome);
                self.follow(interrupt, &request, outcome).await
            }
            (begun, _) => self.resolve(begun, request).await,
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

    async fn resolve(
        &mut self,
        begun: Option<InterruptId>,
        request: W::Request,
    ) -> Result<Decided<W::Routing>, Exit> {
        let live = self.live();
        if let Some(reason) = live.given_up() {
            return Err(Exit::stopped(reason));
        }
        if live.journal.record.is_watched_only() {
            return Err(Exit::interrupted(end_of_what_was_recorded()));
        }
        live.journal.go_live();
        let interrupt = live
            .record_interrupt(self.raiser(), &request, begun)
            .await?;
        live.raised(self.raiser(), interrupt, &request)?;
        live.keep_nodes().await?;
        let around = Around {
            conversation: &self.conversation,
            blackboard: &self.shared().blackboard,
        };
        let handled = live
            .resolve_interrupt(
                &self.shared().handler,
                self.raiser(),
                around,
                (interrupt, request.clone()),
            )
            .await?;
        match handled {
            Handled::Resolved(outcome) => self.follow(interrupt, &request, outcome).await,
            Handled::Interrupted(reason) => Err(Exit::interrupted(reason)),
            Handled::Waiting => Err(Exit::waiting()),
        }
    }

    /// Goes on as the interrupt ended.
    async fn follow(
        &mut self,
        interrupt: InterruptId,
        request: &W::Request,
        outcome: InterruptOutcome,
    ) -> Result<Decided<W::Routing>, Exit> {
        let ledger = Arc::clone(&self.live().ledger);
        match outcome.end {
            InterruptEnd::Stopped { reason } => {
                ledger.ended(interrupt, InterruptResult::Stopped);
                Err(Exit::stopped(reason))
            }
            InterruptEnd::Pruned { reason } => {
                ledger.ended(interrupt, InterruptResult::Pruned);
                self.run
                    .end(&self.id, self.kind.name(), NodeState::Pruned)
                    .await?;
                Err(Exit::pruned(reason))
            }
            InterruptEnd::Refused { reason } => {
                self.live().recorder.record(RunEvent::InterruptRefused {
                    interrupt,
                    reason: reason.clone(),
                });
                let refused = InterruptResult::Refused {
                    reason: reason.clone(),
                };
                ledger.ended(interrupt, refused);
                Ok(Decided::Refused { reason })
            }
            routed @ InterruptEnd::Routed { .. } => {
                let routed = self.routed(interrupt, request, routed)?;
                Ok(Decided::Routed(Box::new(routed)))
            }
            InterruptEnd::Branched { .. } | InterruptEnd::LeftOut { .. } => {
                Err(self.diverged("interrupt that was carried out").into())
            }
        }
    }

    fn diverged(&self, what: &'static str) -> KeepError {
        KeepError::Diverged {
            place: place::interrupt(&self.id, self.turn),
            what,
        }
    }

    fn routed(
        &mut self,
        interrupt: InterruptId,
        request: &W::Request,
        routed: InterruptEnd,
    ) -> Result<Routed<W::Routing>, KeepError> {
        let InterruptEnd::Routed {
            routing,
            target: name,
            decided_by,
            filled_by,
            answer,
            reroute,
            ..
        } = routed
        else {
            return Err(self.diverged("interrupt that was routed"));
        };
        let target = name.parse().map_err(|_unknown| self.diverged("target"))?;
        let only = RouteSet::<W::Routing>::only(W::Routing::route_to(target));
        let routing = read_within(routing.to_string().as_bytes(), only);
        let routing = routing.map_err(|_unfitting| self.diverged("request"))?;
        let details = request.details();
        let decision = json!({
            "type": details.r#type,
            "reason": details.reason,
            "answer": answer,
            "decidedBy": decided_by,
            "goesOnAt": name,
        });
        let result = InterruptResult::Routed {
            target: name,
            decided_by,
            filled_by,
            answer: answer.clone(),
            reroute: reroute.clone(),
        };
        self.live().ledger.ended(interrupt, result);
        self.set_state(NodeState::Running);
        self.tell(format!(
            "[decision]\nYour interrupt was decided:\n{decision:#}"
        ));
        Ok(Routed {
            routing,
            target,
            decided_by,
            filled_by,
            answer,
            reroute,
        })
    }

    fn set_state(&self, state: NodeState) {
        let live = self.live();
        if live.nodes.set_state(&self.id, state) {
            live.recorder.record(RunEvent::AgentStatusChanged {
                node: self.id.clone(),
                kind: self.kind.name(),
                status: state,
            });
        }
    }
}

/// An effect of the workflow's own failed.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` failed")]
struct EffectFailed {
    name: String,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

/// The run was given no tools.
#[derive(Debug, thiserror::Error)]
#[error("the run has no tools; give its settings some")]
struct NoTools;
