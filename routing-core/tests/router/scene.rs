//! An interrupt of the editor, handled.

use interrupt_router::handler::{HandleError, OperationContext, Resolution, Routed};
use interrupt_router::model::Message;
use interrupt_router::review::Answer;
use interrupt_router::{Blackboard, InterruptId, Outcome, RunId, StopScope};

use crate::domain::{AfterInterrupt, Desks, Interrupt, RUN, node};

/// One interrupt of the editor, and where it was raised.
pub(crate) struct Scene {
    pub(crate) run: RunId,
    pub(crate) interrupt: InterruptId,
    pub(crate) board: Blackboard,
    pub(crate) scope: StopScope,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let (run, interrupt) = (RUN, InterruptId::generate());
        Self {
            run,
            interrupt,
            board: Blackboard::new(),
            scope: StopScope::new(),
        }
    }

    pub(crate) async fn handle(
        &self,
        desks: &Desks,
        request: Interrupt,
    ) -> Result<Outcome<Resolution<AfterInterrupt>>, HandleError> {
        let context = OperationContext {
            interrupt: self.interrupt,
            run: self.run,
            node: &node("root/editor"),
            turn: 1,
            blackboard: &self.board,
            conversation: &[
                Message::system("You edit."),
                Message::user("Edit the article on figures."),
            ],
            scope: &self.scope,
        };
        desks
            .handler
            .handle_unified_interrupt(request, context)
            .await
    }

    pub(crate) async fn routed(&self, desks: &Desks, request: Interrupt) -> Routed<AfterInterrupt> {
        match self.handle(desks, request).await.unwrap() {
            Outcome::Completed(Resolution::Routed(routed)) => *routed,
            other => panic!("{other:?}"),
        }
    }
}

/// The choice of this value, with a word to the agent.
pub(crate) fn chose(value: &str) -> Answer {
    Answer {
        selected_choices: vec![value.to_owned()],
        text: Some("check it twice".to_owned()),
        ..Answer::default()
    }
}
