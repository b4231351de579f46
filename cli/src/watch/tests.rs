//! What is said with keys means to the code that asked what it means over every other way in: the same table.

use control::{DecisionParts, NewDecision};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use interrupt_router::{DecidedAs, DecisionId};
use interrupts::ActorName;
use interrupts::life::{Actor, Interrupt, Role};
use interrupts::store::{Deciding, Interrupts as _};
use jiff::{SignedDuration, Timestamp};
use store::{MemoryStore, StoreSettings};
use tests::saying::{FORMS, Said, asked};

use super::action::Action;
use super::key::pressed;
use super::seen::DecisionSubject;
use super::snapshot::Snapshot;
use super::state::{Screen, ScreenState};

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
    let decision = NewDecision {
        version: Some(version),
        shown: Some(shown),
        parts: DecisionParts::with_answer(verdict, &answer).unwrap(),
        remember: None,
    };
    let (by, id) = (actor(Role::Operator), DecisionId::generate());
    let deciding = decision.deciding(store, (asked, None), (&by, id), Timestamp::now());
    let Deciding {
        judge, choosing, ..
    } = deciding.await.ok()?;
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
