//! Tokens.

use interrupts::life::Role;
use interrupts::store::{AuditSubject, NewToken, Store};
use interrupts::{ActorName, Digest};
use jiff::SignedDuration;

use crate::scene::{ALL, Scene, actor};

pub(crate) fn token(secret: &str) -> NewToken {
    NewToken {
        digest: Digest::of(secret.as_bytes()),
        name: ActorName::new("ada").unwrap(),
        role: Role::Reviewer,
        lifetime: None,
        once: false,
        of: None,
        scope: None,
        by: None,
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
    assert_eq!(store.revoke_token(unknown, None).await, Ok(None));
    scene.wait(9);
    for row in [&brief, &lasting] {
        assert_eq!(store.use_token(row.digest).await, Ok(Some(row.clone())));
    }
    scene.wait(1);
    assert_eq!(store.use_token(brief.digest).await, Ok(None));
    let still = store.use_token(lasting.digest).await;
    assert_eq!(still, Ok(Some(lasting.clone())));
    let revoked = store
        .revoke_token(lasting.digest, None)
        .await
        .unwrap()
        .unwrap();
    assert!(revoked.revoked_at.is_some());
    scene.wait(1);
    let again = store.revoke_token(lasting.digest, None).await;
    assert_eq!(again, Ok(Some(revoked.clone())), "the first time stands");
    assert_eq!(store.use_token(lasting.digest).await, Ok(None));
    assert_eq!(store.tokens().await, Ok(vec![brief, revoked]));
}

pub(crate) async fn a_token_that_is_kept_again_stays_as_it_is<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let first = store.put_token(token("secret")).await.unwrap();
    store.revoke_token(first.digest, None).await.unwrap();
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

pub(crate) async fn what_was_bought_with_a_token_ends_with_it<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let bought = |of, secret: &str| NewToken {
        of: Some(of),
        ..token(secret)
    };
    let mut brief = token("brief");
    brief.lifetime = Some(SignedDuration::from_secs(10));
    let brief = store.put_token(brief).await.unwrap().digest;
    let lasting = store.put_token(token("lasting")).await.unwrap().digest;
    let of_brief = bought(brief, "session of brief");
    let of_brief = store.put_token(of_brief).await.unwrap().digest;
    let of_lasting = bought(lasting, "session of lasting");
    let of_lasting = store.put_token(of_lasting).await.unwrap().digest;
    let mut ticket = bought(of_lasting, "ticket");
    ticket.once = true;
    let ticket = store.put_token(ticket).await.unwrap().digest;
    for digest in [of_brief, of_lasting] {
        assert!(store.use_token(digest).await.unwrap().is_some());
    }
    scene.wait(10);
    assert_eq!(
        store.use_token(of_brief).await,
        Ok(None),
        "its token is over"
    );
    assert!(store.use_token(of_lasting).await.unwrap().is_some());
    store.revoke_token(lasting, None).await.unwrap();
    assert_eq!(store.use_token(of_lasting).await, Ok(None));
    assert_eq!(
        store.use_token(ticket).await,
        Ok(None),
        "nor a ticket of that"
    );
}

pub(crate) async fn a_session_outlives_the_launch_token_that_it_spent<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let mut launch = token("launch");
    (launch.once, launch.lifetime) = (true, Some(SignedDuration::from_secs(10)));
    let launch = store.put_token(launch).await.unwrap().digest;
    store.use_token(launch).await.unwrap().unwrap();
    let session = NewToken {
        of: Some(launch),
        ..token("session")
    };
    let session = store.put_token(session).await.unwrap().digest;
    scene.wait(60);
    assert!(store.use_token(session).await.unwrap().is_some());
    store.revoke_token(launch, None).await.unwrap();
    assert_eq!(store.use_token(session).await, Ok(None));
}

pub(crate) async fn who_makes_and_revokes_a_token_is_audited<S: Store>(scene: Scene<S>) {
    let store = &scene.store;
    let mut new = token("secret");
    new.by = Some(actor(Role::Operator));
    let row = store.put_token(new).await.unwrap();
    store.put_token(token("ticket of nobody")).await.unwrap();
    let by = Some(actor(Role::Supervisor));
    store.revoke_token(row.digest, by).await.unwrap();
    store.revoke_token(row.digest, None).await.unwrap();
    let rows = store.audit(ALL).await.unwrap();
    let said: Vec<_> = rows
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Token {
                token,
                event,
                holder,
                actor,
                ..
            } => Some((token, event, holder.name, actor.map(|actor| actor.role))),
            _ => None,
        })
        .collect();
    let token = |event: &str, role| {
        let name = ActorName::new("ada").unwrap();
        (row.short_name(), event.to_owned(), name, Some(role))
    };
    assert_eq!(
        said,
        [
            token("created", Role::Operator),
            token("revoked", Role::Supervisor)
        ],
        "once each, and not what nobody made"
    );
    let secret = "secret";
    assert!(rows.iter().all(|row| !row.entry.contains(secret)));
}
