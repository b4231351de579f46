//! What asks the same, where whoever raises a question says so: other words are the same question, the same words
//! are not, and some are never asked again.

use interrupts::Digest;
use interrupts::life::{Admission, Recurrence, Role, State};
use interrupts::rules::{Reach, RuleRefusal};
use interrupts::store::{ChangeError, Deciding, NewRule, RuleError, Run, Store, TogetherError};

use crate::rules::{deciding, is_answered, remember};
use crate::scene::{Scene, actor, choosing, question, shown};

/// A question with words of its own, of which its raiser says which ones ask the same.
fn recurring(run: &Run, key: &str, recurrence: Recurrence) -> Admission {
    Admission {
        recurrence,
        reason: format!("may it, {key}?"),
        content: format!(r#"{{"question":"{key}"}}"#),
        ..question(run, key)
    }
}

pub(crate) async fn a_rule_answers_what_its_raiser_says_is_the_same_whatever_its_words<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let same = Recurrence::Same(Digest::of(b"this call"));
    let open = scene.awaiting(recurring(&run, "first", same)).await;
    assert_eq!(open.recurrence, same, "it is kept");
    let decision = deciding(&open, Some(remember(Reach::Run)));
    scene.store.decide_together(vec![decision]).await.unwrap();
    assert!(is_answered(&scene, recurring(&run, "second", same)).await);
    let other = Recurrence::Same(Digest::of(b"another call"));
    assert!(!is_answered(&scene, recurring(&run, "third", other)).await);
    let words_of_the_first = Admission {
        recurrence: other,
        key: question(&run, "fourth").key,
        ..recurring(&run, "first", other)
    };
    assert!(!is_answered(&scene, words_of_the_first).await);
    let claimed_by_words = Admission {
        content: format!(
            r#"{{"recurrence":{:?}}}"#,
            Digest::of(b"this call").to_string()
        ),
        ..recurring(&run, "fifth", Recurrence::Verbatim)
    };
    assert!(
        !is_answered(&scene, claimed_by_words).await,
        "what a question says of itself counts for nothing"
    );
}

pub(crate) async fn what_is_never_asked_again_is_not_remembered<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let open = scene
        .awaiting(recurring(&run, "once", Recurrence::Once))
        .await;
    let remembering: Deciding = deciding(&open, Some(remember(Reach::Run)));
    let refused = scene.store.decide_together(vec![remembering]).await;
    let Err(TogetherError::Refused(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        refused[0].error,
        ChangeError::NotRemembered(RuleRefusal::Once)
    );
    let still = scene.interrupt(open.id).await;
    assert_eq!(still.state, State::AwaitingReview, "nothing was decided");
    let new = NewRule {
        interrupt: open.id,
        shown: shown(),
        choosing: choosing(None),
        remember: remember(Reach::Run),
        by: actor(Role::Supervisor),
    };
    let refused = scene.store.put_rule(new).await;
    assert_eq!(refused, Err(RuleError::Refused(RuleRefusal::Once)));
}
