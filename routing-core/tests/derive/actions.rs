//! Dispatch of the one set field to its action.

use interrupt_router::{DispatchError, InterruptDetails, OneRouteError, Route};

use super::workflow::{
    Batch, GoalRequest, InterruptRouting, InterruptRoutingActions, Orchestrate, OrchestratorRoute,
    OrchestratorRouting, OrchestratorRoutingFinalRoute, Ticket, TicketRoute, goal,
};

/// Says what it was given, and in which context.
struct Echo;

impl InterruptRoutingActions<str> for Echo {
    type Output = String;
    type Error = String;

    async fn orchestrator_request(
        &self,
        request: GoalRequest,
        run: &str,
    ) -> Result<String, String> {
        Ok(format!("{run}: orchestrate {}", request.goal))
    }

    async fn review_request(&self, request: GoalRequest, run: &str) -> Result<String, String> {
        Err(format!("{run}: no reviewer for {}", request.goal))
    }

    async fn ticket_agent_requests(
        &self,
        request: Batch<Ticket>,
        run: &str,
    ) -> Result<String, String> {
        Ok(format!("{run}: {} tickets", request.items.len()))
    }
}

impl Orchestrate<u32> for Echo {
    type Output = u32;
    type Error = std::convert::Infallible;

    async fn interrupt_request(&self, _: InterruptDetails, run: &u32) -> Result<u32, Self::Error> {
        Ok(*run)
    }

    async fn review_request(&self, _: GoalRequest, run: &u32) -> Result<u32, Self::Error> {
        Ok(run + 1)
    }

    async fn r#final(&self, _: Ticket, run: &u32) -> Result<u32, Self::Error> {
        Ok(run + 2)
    }
}

fn sent<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::test]
async fn the_set_field_goes_to_its_action() {
    let given = sent(OrchestratorRoute::wrap(goal("ship")).dispatch(&Echo, "run 1")).await;
    assert_eq!(given, Ok("run 1: orchestrate ship".to_owned()));
    let given = TicketRoute::wrap(Batch { items: Vec::new() })
        .dispatch(&Echo, "run 2")
        .await;
    assert_eq!(given, Ok("run 2: 0 tickets".to_owned()));
    let ticket = Ticket {
        title: "end".to_owned(),
    };
    let given = OrchestratorRoutingFinalRoute::wrap(ticket)
        .dispatch(&Echo, &40)
        .await;
    assert_eq!(given, Ok(42));
}

#[tokio::test]
async fn a_failed_action_is_the_error() {
    let review = InterruptRouting {
        orchestrator_request: None,
        review_request: Some(goal("ship")),
        ticket_agent_requests: None,
    };
    assert_eq!(
        review.dispatch(&Echo, "run").await,
        Err(DispatchError::Action {
            action: "review_request",
            source: "run: no reviewer for ship".to_owned()
        })
    );
}

#[tokio::test]
async fn no_field_or_two_call_no_action() {
    let none = OrchestratorRouting {
        interrupt_request: None,
        review_request: None,
        r#final: None,
    };
    assert_eq!(
        none.dispatch(&Echo, &1).await,
        Err(DispatchError::Route(OneRouteError::NoneSet {
            record: "Orchestration",
            known: vec!["interrupt_request", "review_request", "final"],
        }))
    );
    let two = InterruptRouting {
        review_request: Some(goal("two")),
        ..OrchestratorRoute::wrap(goal("one"))
    };
    let Err(DispatchError::Route(error)) = two.dispatch(&Echo, "run").await else {
        panic!("two set fields were dispatched");
    };
    assert_eq!(
        error.to_string(),
        "2 fields of `InterruptRouting` are set, orchestratorRequest, review; set exactly one"
    );
}
