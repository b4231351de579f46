//! What a person can say to a question of each form, and what it means to the code that asked.

use interrupt_router::{
    DecidedAs, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::life::{Actor, Admission, ExpiryOutcome, Interrupt, Recurrence, Role, Scope};
use interrupts::store::{Deciders, Delivery, NewRun, RaisedQuestion, Store};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// The forms of an answer, and a question that says none.
pub const FORMS: [Option<&str>; 5] = [
    None,
    Some("yes_or_no"),
    Some("words"),
    Some("one_of"),
    Some("any_of"),
];

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// An approval.
    Yes,
    /// One of the choices.
    Chosen,
    /// All choices.
    BothChosen,
    /// Words that sound like a yes.
    Words,
    /// An answer that says nothing.
    Nothing,
    /// That it goes elsewhere.
    Elsewhere,
    /// A no, with its reason.
    Rejected,
    /// That it is skipped.
    Ignored,
    /// That the agent drops it.
    Cancelled,
}

impl Said {
    /// All of it.
    pub const ALL: [Self; 9] = [
        Self::Yes,
        Self::Chosen,
        Self::BothChosen,
        Self::Words,
        Self::Nothing,
        Self::Elsewhere,
        Self::Rejected,
        Self::Ignored,
        Self::Cancelled,
    ];

    /// The decision that it comes with.
    pub const fn verdict(self) -> &'static str {
        match self {
            Self::Yes => "approve",
            Self::Chosen | Self::BothChosen | Self::Words | Self::Nothing => "respond",
            Self::Elsewhere => "reroute",
            Self::Rejected => "reject",
            Self::Ignored => "ignore",
            Self::Cancelled => "cancel",
        }
    }

    /// What is marked with it.
    pub fn choices(self, form: Option<&str>) -> &'static [&'static str] {
        match self {
            Self::Chosen => &["expand"],
            Self::BothChosen => &["expand", "narrow"],
            // A choice that is left marked beside a no is none.
            Self::Rejected if offers(form) => &["narrow"],
            Self::Yes
            | Self::Rejected
            | Self::Words
            | Self::Nothing
            | Self::Elsewhere
            | Self::Ignored
            | Self::Cancelled => &[],
        }
    }

    /// The words with it.
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::Words => Some("Yes, of course!"),
            Self::Rejected | Self::Ignored | Self::Cancelled => Some("too dear"),
            Self::Yes | Self::Chosen | Self::BothChosen | Self::Nothing | Self::Elsewhere => None,
        }
    }

    /// What the code that asked is told; `None` where it is no answer to a question of this form.
    pub fn meaning(self, form: Option<&str>) -> Option<DecidedAs> {
        match self {
            Self::Rejected | Self::Ignored | Self::Cancelled => Some(DecidedAs::Declined),
            Self::Elsewhere => Some(DecidedAs::Rerouted),
            Self::Nothing => None,
            Self::Yes => matches!(form, None | Some("yes_or_no")).then_some(DecidedAs::Approved),
            Self::Words => {
                matches!(form, None | Some("words" | "any_of")).then_some(DecidedAs::Answered)
            }
            Self::Chosen => {
                matches!(form, Some("one_of" | "any_of")).then_some(DecidedAs::Answered)
            }
            Self::BothChosen => matches!(form, Some("any_of")).then_some(DecidedAs::Answered),
        }
    }
}

/// Whether a question of this form has choices.
fn offers(form: Option<&str>) -> bool {
    matches!(form, Some("one_of" | "any_of"))
}

/// The content of a question of this form; with choices where there is something to choose.
pub fn in_form(mut content: Value, form: Option<&str>) -> Value {
    if let Some(form) = form {
        content["answerForm"] = form.into();
    }
    if offers(form) {
        let choice = |value: &str| json!({"label": value, "value": value, "description": ""});
        content["choices"] = json!([choice("expand"), choice("narrow")]);
    }
    content
}

/// The routes of the question, its origin first.
pub const ROUTES: [&str; 2] = ["DISCOVERY_ORCHESTRATOR", "TICKET_ORCHESTRATOR"];

/// A question of this form in a run of its own that waits for a person.
#[expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]
pub async fn asked(store: &dyn Store, form: Option<&str>) -> Interrupt {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let run = store.create_run(new).await.unwrap().id;
    let content = json!({"type": "HUMAN_REVIEW", "reason": "shall it be done?", "choices": [],
        "confirmationItems": [], "contextForDecision": ""});
    let route = |name: &str| RouteName::new(name).unwrap();
    let admission = Admission {
        id: InterruptId::generate(),
        run,
        node: NodeId::new("orchestrator/discovery").unwrap(),
        kind: KindName::new("DISCOVERY_ORCHESTRATOR").unwrap(),
        origin: route(ROUTES[0]),
        routes: ROUTES.map(route).to_vec(),
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("orchestrator/discovery").unwrap(),
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "shall it be done?".to_owned(),
        content: in_form(content, form).to_string(),
        key: IdempotencyKey::new(InterruptId::generate().to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 3,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    };
    let delivery = Delivery {
        owner: OwnerName::new("owner").unwrap(),
        lease: SignedDuration::from_secs(600),
        lost: None,
    };
    let raised = RaisedQuestion {
        admission,
        delivery,
        deciders: Deciders::default(),
    };
    let raised = store.raise(raised).await.unwrap().into_interrupt();
    let shown = Digest::of(raised.content.as_bytes());
    let waits = store.require_review(raised.id, raised.epoch, shown);
    waits.await.unwrap()
}
