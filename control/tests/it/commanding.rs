//! Commands and questions over a store in memory: who may give them, and how far they reach.

use control::{
    Ask as _, AskInterrupt, AskRuns, Caller, ChangeClaim, Code, Control, Credential, MakeToken,
    NotDone, Reach, Reading, Redrive, RevokeRule, RevokeToken, TokenView, Withdraw,
};
use interrupt_router::{RuleId, RunId};
use interrupts::ActorName;
use interrupts::catalogue::CatalogueBook;
use interrupts::life::{Actor, Role};
use interrupts::policy::Policy;
use interrupts::store::{Page, TokenScope};
use jiff::{SignedDuration, Timestamp};
use store::{MemoryStore, StoreSettings};
use tests::saying::asked;

pub(crate) fn caller(role: Role, bound: Option<RunId>) -> Caller {
    let name = ActorName::new(control::role_name(role)).unwrap();
    let scope = bound.map(|run| TokenScope::Run { run, node: None });
    Caller {
        actor: Actor { name, role },
        reach: Reach(scope),
        is_hook: false,
    }
}

fn code<T>(done: Result<T, NotDone>) -> Option<Code> {
    match done {
        Ok(_done) => None,
        Err(NotDone::Refused(refusal)) => Some(refusal.code()),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_command_takes_its_right_and_reaches_what_its_caller_reaches() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, None).await;
    let (policy, now) = (Policy::default(), Timestamp::now());
    let book = CatalogueBook::new([]);
    let at = Control {
        store: &store,
        catalogues: &book,
        policy: &policy,
        now,
    };
    let (interrupt, run) = (asked.id, asked.run);
    let claim = ChangeClaim {
        interrupt,
        version: None,
        lasting: Some(SignedDuration::ZERO),
    };
    let withdraw = Withdraw {
        interrupt,
        asking: None,
    };
    let revoke = RevokeRule {
        rule: RuleId::generate(),
    };
    let by = |role| caller(role, None);
    let bound = |run| caller(Role::Requester, Some(run));
    let viewed = at.carry_out(&by(Role::Observer), claim.clone()).await;
    let reviewed = at.carry_out(&by(Role::Reviewer), withdraw.clone()).await;
    let directed = at
        .carry_out(&by(Role::Supervisor), Redrive { interrupt })
        .await;
    // An agent's token that is bound to no run would reach every one.
    let unbound = at.carry_out(&by(Role::Requester), withdraw.clone()).await;
    for refused in [viewed, reviewed, directed, unbound] {
        assert_eq!(code(refused), Some(Code::Forbidden));
    }
    let beyond = at
        .carry_out(&bound(RunId::generate()), withdraw.clone())
        .await;
    assert_eq!(code(beyond), Some(Code::InterruptNotFound));
    let unknown = at.carry_out(&by(Role::Reviewer), revoke).await;
    assert_eq!(code(unknown), Some(Code::RuleNotFound));
    let claimed = at.carry_out(&by(Role::Reviewer), claim).await;
    assert!(claimed.unwrap().version > asked.version);
    let of_another = at.carry_out(&bound(run), withdraw.clone()).await;
    assert_eq!(code(of_another), Some(Code::Forbidden));
    let withdrawn = at.carry_out(&by(Role::Supervisor), withdraw).await;
    assert_eq!(code(withdrawn), None);
}

#[tokio::test]
async fn a_question_finds_nothing_beyond_reach_and_no_part_is_too_long() {
    let store = MemoryStore::new(StoreSettings::default());
    let asked = asked(&store, None).await;
    for (run, is_there) in [(asked.run, true), (RunId::generate(), false)] {
        let from = Reading {
            store: &store,
            catalogues: &CatalogueBook::default(),
            is_executed: &|_run| false,
            reach: &Reach(Some(TokenScope::Run { run, node: None })),
            now: Timestamp::UNIX_EPOCH,
        };
        let found = AskInterrupt { id: asked.id }.answer(&from).await;
        assert_eq!(found.unwrap().is_some(), is_there);
        let states = Vec::new();
        let page = Page {
            after: 0,
            limit: 501,
        };
        let too_long = AskRuns { states, page }.answer(&from).await;
        assert_eq!(code(too_long), Some(Code::Parameter));
    }
}

#[tokio::test]
async fn operators_alone_make_tokens_which_reach_no_more_than_their_role_and_hold_until_revoked() {
    let store = MemoryStore::new(StoreSettings::default());
    let (policy, book) = (Policy::default(), CatalogueBook::new([]));
    let control = Control {
        store: &store,
        catalogues: &book,
        policy: &policy,
        now: Timestamp::now(),
    };
    let make = |role, scope| MakeToken {
        name: ActorName::new("ada").unwrap(),
        role,
        lifetime: None,
        scope,
    };
    let (supervisor, admin) = (caller(Role::Supervisor, None), caller(Role::Operator, None));
    let refused = control
        .carry_out(&supervisor, make(Role::Reviewer, None))
        .await;
    assert_eq!(code(refused), Some(Code::Forbidden));
    let run = TokenScope::Run {
        run: RunId::generate(),
        node: None,
    };
    for (role, scope) in [
        (Role::Requester, None),
        (Role::Worker, Some(run.clone())),
        (Role::Reviewer, Some(run)),
        (Role::System, None),
    ] {
        let refused = control.carry_out(&admin, make(role, scope)).await;
        assert_eq!(code(refused), Some(Code::Shape), "{role:?}");
    }
    let made = control.carry_out(&admin, make(Role::Reviewer, None)).await;
    let made = made.unwrap();
    assert!(Credential::Bearer.digest_of(&made.secret).is_some());
    let held = TokenView::all(&store, control.now).await.unwrap();
    assert_eq!(held, std::slice::from_ref(&made.token));
    let revoke = |id: &str| RevokeToken { id: id.to_owned() };
    assert_eq!(
        code(control.carry_out(&supervisor, revoke(&made.token.id)).await),
        Some(Code::Forbidden)
    );
    control
        .carry_out(&admin, revoke(&made.token.id))
        .await
        .unwrap();
    assert!(!TokenView::all(&store, control.now).await.unwrap()[0].holds);
    let unknown = control.carry_out(&admin, revoke("nothing")).await;
    assert_eq!(code(unknown), Some(Code::NotFound));
}
