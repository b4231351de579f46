//! A decision over a store in memory: what is said means what the code that asked is told, and what does not fit is
//! refused with its code.

use control::{Code, Control, DecisionParts, NewDecision, NotDone, Refusal, RememberOrder};
use interrupt_router::{DecidedAs, DecisionId, RuleId};
use interrupts::catalogue::CatalogueBook;
use interrupts::life::{Actor, Interrupt, Judge, Role, Verdict};
use interrupts::policy::Policy;
use interrupts::store::{Deciding, Interrupts as _};
use interrupts::{ActorName, Digest};
use jiff::Timestamp;
use serde_json::json;
use store::{MemoryStore, StoreSettings};
use tests::saying::{FORMS, ROUTES, Said, asked};

fn ada() -> Actor {
    Actor {
        name: ActorName::new("ada").unwrap(),
        role: Role::Reviewer,
    }
}

/// What it says, about the question as it is.
fn about(asked: &Interrupt, parts: DecisionParts) -> NewDecision {
    NewDecision {
        version: Some(asked.version),
        shown: None,
        parts,
        remember: None,
    }
}

async fn deciding(
    store: &MemoryStore,
    asked: &Interrupt,
    decision: &NewDecision,
    by: &Actor,
) -> Result<Deciding, Refusal> {
    let id = DecisionId::generate();
    let made = decision.deciding(store, (asked, None), (by, id), Timestamp::now());
    made.await.map_err(|error| match error {
        NotDone::Refused(refusal) => refusal,
        NotDone::Store(error) => panic!("{error}"),
        NotDone::Failed(error) => panic!("{error}"),
    })
}

async fn told(store: &MemoryStore, form: Option<&str>, said: Said) -> Option<DecidedAs> {
    let asked = asked(store, form).await;
    let parts = DecisionParts {
        verdict: serde_json::from_value(said.verdict().into()).unwrap(),
        payload: Some(json!({"selectedChoices": said.choices(form)})),
        message: said.words().map(str::to_owned),
        reroute_to: (said == Said::Elsewhere).then(|| ROUTES[1].to_owned()),
    };
    let decision = about(&asked, parts);
    let one = deciding(store, &asked, &decision, &ada()).await.ok()?;
    let decided = store.decide(asked.id, one.judge, one.choosing).await;
    decided.unwrap().decided_as()
}

#[tokio::test]
async fn what_is_said_means_what_it_says() {
    let store = MemoryStore::new(StoreSettings::default());
    for form in FORMS {
        for said in Said::ALL {
            let told = told(&store, form, said).await;
            assert_eq!(told, said.meaning(form), "{form:?}, {said:?}");
        }
    }
}

#[tokio::test]
async fn what_was_shown_is_bound_and_what_is_remembered_has_the_decisions_id() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, None).await;
    let decision = NewDecision {
        remember: Some(RememberOrder::default()),
        ..about(&asked, DecisionParts::new(Verdict::Approve))
    };
    let one = deciding(&store, &asked, &decision, &ada()).await.unwrap();
    let of_version = Judge::Person {
        actor: ada(),
        version: asked.version,
        shown: asked.review.as_ref().unwrap().shown,
    };
    assert_eq!(one.judge, of_version);
    let rule = one.remember.unwrap().id;
    assert_eq!(rule, RuleId::from_uuid(one.choosing.id.uuid()));
    let named = NewDecision {
        shown: Some(Digest::of(b"something else")),
        ..decision
    };
    let one = deciding(&store, &asked, &named, &ada()).await.unwrap();
    let refused = store.decide(asked.id, one.judge, one.choosing).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_code() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, None).await;
    let approved = || about(&asked, DecisionParts::new(Verdict::Approve));
    let unversioned = NewDecision {
        version: None,
        ..approved()
    };
    let stale = NewDecision {
        version: Some(asked.version + 1),
        ..approved()
    };
    let unfit = about(&asked, DecisionParts::new(Verdict::Resume));
    let steps = DecisionParts {
        payload: Some(json!({"plan": ["one"]})),
        ..DecisionParts::new(Verdict::ModifyPlan)
    };
    let own = Actor {
        name: asked.requested_by.name.clone(),
        role: Role::Reviewer,
    };
    let mut as_a_person = asked.clone();
    as_a_person.requested_by = Actor {
        role: Role::Requester,
        ..ada()
    };
    for (about, decision, by, code) in [
        (&asked, unversioned, ada(), Code::PreconditionRequired),
        (&asked, stale, ada(), Code::StaleVersion),
        (&asked, unfit, ada(), Code::DecisionNotAllowed),
        (
            &asked,
            self::about(&asked, steps),
            ada(),
            Code::ResponseSchema,
        ),
        (&as_a_person, approved(), ada(), Code::Forbidden),
    ] {
        let refused = deciding(&store, about, &decision, &by).await.unwrap_err();
        assert_eq!(refused.code(), code, "{refused:?}");
        assert!(!refused.hint().is_empty(), "{refused:?}");
    }
    // An agent asks under its own id: a person of that name may answer it.
    deciding(&store, &asked, &approved(), &own).await.unwrap();
}

#[tokio::test]
async fn who_is_late_is_told_who_was_first() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, None).await;
    let decision = about(&asked, DecisionParts::new(Verdict::Approve));
    let first = deciding(&store, &asked, &decision, &ada()).await.unwrap();
    let decided = store.decide(asked.id, first.judge, first.choosing).await;
    let decided = decided.unwrap();
    let late = deciding(&store, &decided, &decision, &ada()).await;
    let late = late.unwrap_err();
    assert_eq!(late.code(), Code::AlreadyResolved);
    assert!(late.text().starts_with("ada decided `approve`"), "{late:?}");
    assert_eq!(late.members()["resolved_by"], "ada");
    assert_eq!(late.members()["current_version"], decided.version);
}

#[tokio::test]
async fn of_two_who_read_the_same_the_later_is_told_what_the_first_decided_and_none_of_his_is_made()
{
    let store = MemoryStore::new(StoreSettings::default());
    let (policy, book) = (Policy::default(), CatalogueBook::new([]));
    let control = Control {
        store: &store,
        catalogues: &book,
        policy: &policy,
        now: Timestamp::now(),
    };
    let (asked, other) = (asked(&store, None).await, asked(&store, None).await);
    let as_shown = async |asked: &Interrupt, verdict| {
        let decision = about(asked, DecisionParts::new(verdict));
        deciding(&store, asked, &decision, &ada()).await.unwrap()
    };
    let first = vec![as_shown(&asked, Verdict::Approve).await];
    let later = vec![
        as_shown(&other, Verdict::Reject).await,
        as_shown(&asked, Verdict::Reject).await,
    ];
    control.decide(first).await.unwrap().unwrap();
    let refused = control.decide(later).await.unwrap().unwrap_err();
    let [(1, NotDone::Refused(refusal))] = &refused[..] else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.code(), Code::AlreadyResolved);
    assert_eq!(refusal.members()["decision"], "approve");
    let other = store.interrupt(other.id).await.unwrap().unwrap();
    assert_eq!(other.decision, None);
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_refused_at_its_place() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, Some("any_of")).await;
    let mut unfit: Vec<(DecisionParts, Code)> = Vec::new();
    for payload in [
        json!({"selectedChoices": ["all"]}),
        json!({"selectedChoices": ["narrow", "narrow"]}),
        json!({"confirmations": {"other": true}}),
        json!({"unknown": 1}),
        json!({"text": " \n"}),
        json!({"editedRequest": {}}),
    ] {
        let parts = DecisionParts {
            payload: Some(payload),
            ..DecisionParts::new(Verdict::Respond)
        };
        unfit.push((parts, Code::ResponseSchema));
    }
    for (verdict, route) in [
        (Verdict::Reroute, None),
        (Verdict::Reroute, Some("MERGER_AGENT")),
        (Verdict::Respond, Some(ROUTES[1])),
    ] {
        let parts = DecisionParts {
            reroute_to: route.map(str::to_owned),
            ..DecisionParts::new(verdict)
        };
        unfit.push((parts, Code::RouteNotAllowed));
    }
    unfit.push((DecisionParts::new(Verdict::Edit), Code::ResponseSchema));
    for (parts, code) in unfit {
        let said = format!("{parts:?}");
        let refused = deciding(&store, &asked, &about(&asked, parts), &ada()).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), code, "{said}: {refused:?}");
        let listed = ["errors", "routes"].map(|name| refused.members().contains_key(name));
        assert!(listed.contains(&true), "{said}: {refused:?}");
    }
}
