//! Tokens.

use interrupts::life::Role;
use interrupts::store::{NewToken, Store};
use interrupts::{ActorName, Digest};
use jiff::SignedDuration;

use crate::scene::Scene;

pub(crate) fn token(secret: &str) -> NewToken {
    NewToken {
        digest: Digest::of(secret.as_bytes()),
        name: ActorName::new("ada").unwrap(),
        role: Role::Reviewer,
        lifetime: None,
        once: false,
    }
}

pub(crate) async fn a_token_holds_until_its_time_or_until_it_is_revoked<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let mut brief = token("brief");
    brief.lifetime = Some(SignedDuration::from_secs(10));
    let brief = store.put_token(brief).await.unwrap();
    let lasting = store.put_token(token("lasting")).await.unwrap();
    let unknown = Digest::of(b"unknown");
    assert_eq!(store.use_token(unknown).await, Ok(None));
    assert_eq!(store.revoke_token(unknown).await, Ok(None));
    scene.wait(9);
    for row in [&brief, &lasting] {
        assert_eq!(store.use_token(row.digest).await, Ok(Some(row.clone())));
    }
    scene.wait(1);
    assert_eq!(store.use_token(brief.digest).await, Ok(None));
    let still = store.use_token(lasting.digest).await;
    assert_eq!(still, Ok(Some(lasting.clone())));
    let revoked = store.revoke_token(lasting.digest).await.unwrap().unwrap();
    assert!(revoked.revoked_at.is_some());
    scene.wait(1);
    let again = store.revoke_token(lasting.digest).await;
    assert_eq!(again, Ok(Some(revoked.clone())), "the first time stands");
    assert_eq!(store.use_token(lasting.digest).await, Ok(None));
    assert_eq!(store.tokens().await, Ok(vec![brief, revoked]));
}

pub(crate) async fn a_token_that_is_kept_again_stays_as_it_is<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let first = store.put_token(token("secret")).await.unwrap();
    store.revoke_token(first.digest).await.unwrap();
    scene.wait(1);
    let again = store.put_token(token("secret")).await.unwrap();
    assert_eq!(again.created_at, first.created_at);
    assert!(again.revoked_at.is_some(), "keeping it again is no pardon");
    assert_eq!(store.use_token(first.digest).await, Ok(None));
}

pub(crate) async fn a_token_for_one_use_is_void_after_it<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let mut once = token("once");
    once.once = true;
    let once = store.put_token(once).await.unwrap();
    let used = store.use_token(once.digest).await.unwrap().unwrap();
    assert!(used.used_at.is_some());
    assert_eq!(store.use_token(once.digest).await, Ok(None));
    assert_eq!(store.tokens().await, Ok(vec![used]));
}
