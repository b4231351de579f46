//! The planner: one set component of any routing goes to the action that takes it, or there is an error.

use std::sync::Mutex;

use interrupt_router::DispatchError;
use interrupt_router::planner::{ActionInfo, BlackboardRoutingPlanner, Next, Step};
use interrupt_router::{InterruptType, OneRouteError};

use crate::domain::{
    AfterInterrupt, Draft, Edit, EditorInterrupt, EditorRouting, Interrupt, details,
};

type Log = Mutex<Vec<String>>;
type Planner = BlackboardRoutingPlanner<Log, &'static str, std::fmt::Error>;

const fn action(name: &'static str) -> ActionInfo {
    ActionInfo {
        name,
        rerunnable: true,
        cost: 1,
    }
}

fn planner() -> Planner {
    let mut planner = Planner::new();
    planner
        .add(action("write"), |draft: Draft, log: &Log| {
            Box::pin(async move {
                log.lock().unwrap().push(format!("write {}", draft.topic));
                Ok(Next::routing(AfterInterrupt {
                    draft: None,
                    edit: Some(Edit {
                        text: draft.topic,
                        notes: Vec::new(),
                    }),
                    publish: None,
                }))
            })
        })
        .unwrap();
    planner
        .add(action("edit"), |edit: Edit, log: &Log| {
            Box::pin(async move {
                log.lock().unwrap().push(format!("edit {}", edit.text));
                if edit.text.is_empty() {
                    Err(std::fmt::Error)
                } else {
                    Ok(Next::Finished("done"))
                }
            })
        })
        .unwrap();
    planner
        .add_sealed(action("interrupt"), |request: Interrupt, log: &Log| {
            Box::pin(async move {
                use interrupt_router::SealedInterrupt;
                log.lock()
                    .unwrap()
                    .push(format!("interrupt of {}", request.kind()));
                Ok(Next::Finished("asked"))
            })
        })
        .unwrap();
    planner
}

fn draft(topic: &str) -> AfterInterrupt {
    AfterInterrupt {
        draft: Some(Draft {
            topic: topic.to_owned(),
        }),
        edit: None,
        publish: None,
    }
}

#[tokio::test]
async fn a_routing_goes_to_the_action_that_takes_its_one_component() {
    let (planner, log) = (planner(), Log::default());
    let mut next = Next::routing(draft("law"));
    let end = loop {
        match next {
            Next::Routing(routing) => next = planner.dispatch(routing, &log).await.unwrap(),
            Next::Finished(end) => break end,
        }
    };
    assert_eq!(end, "done");
    assert_eq!(*log.lock().unwrap(), ["write law", "edit law"]);
}

#[tokio::test]
async fn every_payload_of_the_sealed_interrupt_goes_to_the_one_handler() {
    let (planner, log) = (planner(), Log::default());
    let asks = EditorInterrupt {
        details: details(InterruptType::HumanReview),
        paragraph: "1".to_owned(),
    };
    let routing = EditorRouting {
        interrupt_request: Some(asks),
        draft: None,
        publish: None,
    };
    assert!(matches!(
        planner.dispatch(Step::of(routing), &log).await,
        Ok(Next::Finished("asked"))
    ));
    assert_eq!(*log.lock().unwrap(), ["interrupt of EDITOR"]);
}

#[tokio::test]
async fn none_two_and_no_action_are_errors_that_name_the_fields() {
    let (planner, log) = (planner(), Log::default());
    let none = AfterInterrupt {
        draft: None,
        edit: None,
        publish: None,
    };
    let error = planner.dispatch(Step::of(none), &log).await.err().unwrap();
    assert!(matches!(
        &error,
        DispatchError::Route(OneRouteError::NoneSet { .. })
    ));
    assert!(
        error.to_string().contains("draft, edit, publish"),
        "{error}"
    );

    let mut two = draft("law");
    two.edit = Some(Edit {
        text: String::new(),
        notes: Vec::new(),
    });
    let error = planner.dispatch(Step::of(two), &log).await.err().unwrap();
    assert!(
        error
            .to_string()
            .contains("2 fields of `AfterInterrupt` are set, draft, edit"),
        "{error}"
    );

    let lost = AfterInterrupt {
        draft: None,
        edit: None,
        publish: Some(crate::domain::Publish { text: "x".into() }),
    };
    let error = planner.dispatch(Step::of(lost), &log).await.err().unwrap();
    assert!(
        error
            .to_string()
            .contains("`AfterInterrupt.publish` is set and no action takes `Publish`"),
        "{error}"
    );
    assert!(log.lock().unwrap().is_empty(), "an action ran all the same");
}

#[tokio::test]
async fn an_actions_failure_names_the_action() {
    let (planner, log) = (planner(), Log::default());
    let routing = AfterInterrupt {
        draft: None,
        edit: Some(Edit {
            text: String::new(),
            notes: Vec::new(),
        }),
        publish: None,
    };
    let error = planner
        .dispatch(Step::of(routing), &log)
        .await
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "the action `edit` failed");
}

#[test]
fn a_request_has_one_action() {
    let mut planner = planner();
    let taken = planner
        .add(action("write again"), |_: Draft, _: &Log| {
            Box::pin(async { Ok(Next::Finished("no")) })
        })
        .unwrap_err();
    assert!(
        taken
            .to_string()
            .contains("`write` and `write again` both take"),
        "{taken}"
    );
    assert_eq!(planner.action_of::<Draft>(), Some(action("write")));
}
