//! What is said with keys means to the code that asked what it means over every other way in: the same table.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use interrupts::life::{
    Actor, Admission, Choosing, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, Scope,
};
use interrupts::store::{Delivery, Interrupts as _, NewRun, RaisedQuestion, Runs as _};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use routing_core::{
    DecidedAs, DecisionId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use serde_json::json;
use store::{MemoryStore, StoreSettings};
use tests::saying::{FORMS, Said, in_form};

use super::action::Action;
use super::key::pressed;
use super::seen::DecisionSubject;
use super::snapshot::Snapshot;
use super::state::{Screen, ScreenState};
use crate::question;
use control::DecisionParts;

const ROUTES: [&str; 2] = ["DISCOVERY_ORCHESTRATOR", "TICKET_ORCHESTRATOR"];

/// A question of this form that waits for a person.
async fn asked(store: &MemoryStore, form: Option<&str>) -> Interrupt {
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
        requested_by: actor(Role::Requester),
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
    };
    let raised = store.raise(raised).await.unwrap().into_interrupt();
    let shown = Digest::of(raised.content.as_bytes());
    let waits = store.require_review(raised.id, raised.epoch, shown);
    waits.await.unwrap()
}

fn actor(role: Role) -> Actor {
    Actor {
        name: ActorName::new("ada").unwrap(),
        role,
    }
}

/// The keys that say it; none where no key does.
fn keys(said: Said) -> Option<&'static str> {
    Some(match said {
        Said::Yes => "a",
        Said::Chosen => "1\n",
        Said::BothChosen => "12\n",
        Said::Words => "rYes, of course!\n",
        Said::Nothing => "r\n",
        Said::Elsewhere => "Rj\n",
        Said::Rejected => "xy",
        Said::Ignored => "iy",
        Said::Cancelled => return None,
    })
}

/// What keys in the review of a question ask for; each is pressed by a person who has read what it decides about.
fn typed(question: &Interrupt, keys: &str) -> Vec<Action> {
    let mut now = Timestamp::now();
    let mut state = ScreenState::new(Screen::Review(question.id), now);
    let _nothing_is_open = state.refresh(Snapshot {
        interrupts: vec![question.clone()],
        ..Snapshot::default()
    });
    let mut actions = Vec::new();
    for key in keys.chars() {
        state.seen.is_on_terminal(DecisionSubject::of(&state), now);
        now += SignedDuration::from_secs(1);
        state.tick(now);
        let code = match key {
            '\n' => KeyCode::Enter,
            letter => KeyCode::Char(letter),
        };
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        actions.extend(pressed(&mut state, &Event::Key(key)));
    }
    actions
}

/// Decides so, as a server or a store would; what the code that asked is told, if it is taken.
async fn decided(store: &MemoryStore, asked: &Interrupt, action: Action) -> Option<DecidedAs> {
    let Action::Decide {
        interrupt,
        version,
        shown,
        verdict,
        answer,
        ..
    } = action
    else {
        panic!("{action:?}");
    };
    let parts = DecisionParts::with_answer(verdict, &answer).unwrap();
    let content = question::content(asked, &parts).ok()?;
    let judge = Judge::Person {
        actor: actor(Role::Operator),
        version,
        shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target: content.target,
        content: Some(content.content),
    };
    let decided = store.decide(interrupt, judge, choosing).await.ok()?;
    decided.decided_as()
}

#[tokio::test]
async fn what_is_said_with_keys_means_what_it_says() {
    let store = MemoryStore::new(StoreSettings::default());
    for form in FORMS {
        for said in Said::ALL {
            let Some(keys) = keys(said) else { continue };
            let asked = asked(&store, form).await;
            let mut actions = typed(&asked, keys).into_iter();
            let told = match actions.next() {
                Some(action) => decided(&store, &asked, action).await,
                None => None,
            };
            // Of exactly one, the second choice takes the place of the first.
            let is_one = said == Said::BothChosen && form == Some("one_of");
            let meant = if is_one { Said::Chosen } else { said };
            assert_eq!(told, meant.meaning(form), "{form:?}, {said:?}");
            assert_eq!(actions.next(), None, "{form:?}, {said:?}");
        }
    }
}
