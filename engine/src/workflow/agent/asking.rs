//! What an agent reads, and what it asks its model.

use std::sync::Arc;

use interrupt_router::answer::AnswerError;
use interrupt_router::ask::{AskError, ModelRouting};
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot,
};
use interrupt_router::event::INTERRUPT_REQUEST_MARK;
use interrupt_router::model::{Message, PartialReply};
use interrupt_router::{AgentType, Outcome, RouteId, Routing};
use interrupts::store::NodeActivity;
use tracing::Instrument as _;

use super::Agent;
use crate::run::recorder::AnswerChunks;
use crate::run::spans::failed;
use crate::run::{RunError, RunEvent};
use crate::workflow::Workflow;
use crate::workflow::exit::Exit;
use journal::entry::{FlowPosition, TurnStart};
use journal::kind::MAIL;
use journal::message::{AgentMessage, Mail};
use journal::place;

impl<W: Workflow> Agent<W> {
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
    /// If it cannot be recorded, or the agent is to stop.
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
                let letters = self.take_messages().await?;
                self.keep_mail(&place, letters).await?
            }
        };
        self.read(&mail.letters);
        Ok(mail.letters.into_iter().map(|letter| letter.text).collect())
    }

    /// The agent has done its work, and takes no message any more. Returns the messages that were accepted for it and
    /// not read: none is lost silently.
    ///
    /// # Errors
    ///
    /// If that cannot be recorded, or the agent is to stop.
    ///
    /// # Cancel safety
    ///
    /// Safe: it is done again when the run goes on.
    pub async fn finish(mut self) -> Result<Vec<String>, Exit> {
        let place = format!("{}#mail/last", self.id);
        let mail = match self.live().journal.intent::<Mail>(&place)? {
            Some(mail) => mail,
            None => {
                self.boundary()?;
                let letters = self.last_messages().await?;
                self.keep_mail(&place, letters).await?
            }
        };
        self.read(&mail.letters);
        let kind = self.kind.name();
        self.run
            .end(&self.id, kind, NodeActivity::Completed)
            .await?;
        Ok(mail.letters.into_iter().map(|letter| letter.text).collect())
    }

    /// The messages for the agent up to the moment from which the store accepts nothing for it any more.
    async fn last_messages(&self) -> Result<Vec<AgentMessage>, RunError> {
        let mut letters = self.take_messages().await?;
        let live = self.live();
        live.nodes.close(&self.id);
        live.keep_nodes().await?;
        letters.extend(live.messages_left_for(&self.id).await?);
        Ok(letters)
    }

    async fn keep_mail(&self, place: &str, letters: Vec<AgentMessage>) -> Result<Mail, Exit> {
        let mail = Mail { letters };
        let content = serde_json::to_string(&mail)?;
        let journal = &self.live().journal;
        journal.begin(&self.id, MAIL, place, &content).await?;
        journal.finish(&self.id, place, "{}".to_owned()).await?;
        Ok(mail)
    }

    async fn take_messages(&self) -> Result<Vec<AgentMessage>, RunError> {
        let live = self.live();
        live.journal.go_live();
        let expired = live.reroutes.expire().await?;
        self.run.tell_ended(expired).await?;
        live.nodes.restore_messages(&self.id);
        let mut letters = {
            let _held = live.reroute_log.hold().await;
            live.nodes.take_messages(&self.id)
        };
        live.leave_out_withdrawn(&mut letters).await?;
        letters.extend(live.take_inputs());
        Ok(letters)
    }

    fn read(&mut self, letters: &[AgentMessage]) {
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
    /// If the model fails, the run is paused and the model is asked again when it goes on. If no answer fits and the
    /// corrections are used up, the run fails.
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
                place: FlowPosition {
                    worker: Some(self.id.clone()),
                    main: 0,
                    own: u64::from(turn),
                },
                again: false,
                reminder: None,
                letters: self.take_messages().await?,
            },
        };
        self.read(&start.letters);
        (self.turn, self.step) = (turn, start.step);
        let live = &self.run.shared.live;
        self.set_state(NodeActivity::Running);
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
        match self.ask_model::<R>().await {
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

    async fn ask_model<R: Routing>(
        &self,
    ) -> Result<Outcome<ModelRouting<R>, PartialReply>, AskError> {
        let live = self.live();
        let (caller, messages) = (self.caller(), self.conversation.clone());
        let mut context = LlmCallContext::new(caller, messages, RouteSnapshot::default());
        context.form = live.asker.model.turn_form(&context.caller);
        context.chunks = Some(Arc::new(AnswerChunks {
            recorder: Arc::clone(&live.recorder),
            node: self.id.clone(),
        }));
        let context = FilterPropertiesDecorator.decorate(context);
        let corrected = |correction, error: &AnswerError| {
            live.recorder.corrected(&self.id, correction, error);
        };
        let scope = self.scope();
        let span = live.spans.turn(&self.id, self.kind.name(), self.turn);
        let asked = live.asker.ask(&context, &corrected, &scope);
        let asked = asked.instrument(span.clone()).await;
        if let Err(error) = &asked {
            failed(&span, error);
        }
        asked
    }

    fn answered<R: Routing>(&mut self, asked: ModelRouting<R>) -> Result<R, RunError> {
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
}
