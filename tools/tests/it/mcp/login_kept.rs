//! What is kept of a login, and how long it serves.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::guarded::{Guarded, no_person, visitor};
use super::stage::finished;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_of_a_login_is_for_its_user_alone_and_is_gone_when_forgotten() {
    let guarded = Guarded::with(&[]);
    let stage = guarded.connected(visitor()).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&guarded.kept()), 0o600);
    assert_eq!(mode(&guarded.logins()), 0o700);
    let name = tools::ServerName::new("s").unwrap();
    assert!(stage.servers.has_logged_in(&name));
    stage.servers.forget_login(&name).unwrap();
    let error = guarded.refused(no_person(), "").await;
    assert!(error.contains("wants a person to log in"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_has_ended_is_renewed_without_a_person_also_by_two_at_once() {
    // Within half a minute of its end a token is renewed; so is each of these.
    let guarded = Guarded::with(&[("LIFE", "20")]);
    guarded.connected(visitor()).await;
    let (one, other) = tokio::join!(
        guarded.connected(no_person()),
        guarded.connected(no_person())
    );
    for _time in 0..3 {
        let (one, other) = tokio::join!(one.call("look", json!({})), other.call("look", json!({})));
        assert_eq!(finished(&one), "look: done");
        assert_eq!(finished(&other), "look: done");
    }
    let log = guarded.log();
    assert!(log.contains(&"token refresh_token".to_owned()), "{log:?}");
    assert!(!log.contains(&"renewal refused".to_owned()), "{log:?}");
    assert_eq!(
        log.iter().filter(|line| line.starts_with("page ")).count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_of_another_address_is_not_sent() {
    let guarded = Guarded::with(&[]);
    guarded.connected(visitor()).await;
    let other = Guarded::with(&[]);
    other.connected(visitor()).await;
    std::fs::copy(guarded.kept(), other.kept()).unwrap();
    let error = other.refused(no_person(), "").await;
    assert!(error.contains("wants a person to log in"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_began_without_a_login_takes_up_and_renews_that_of_another_one() {
    let guarded = Guarded::with(&[("OPEN", "yes"), ("LIFE", "20")]);
    let alone = guarded.connected(no_person()).await;
    let text = alone.call("look", json!({})).await.text();
    assert!(text.contains("wants a person to log in"), "{text}");
    let other = guarded.connected(visitor()).await;
    assert_eq!(finished(&other.call("look", json!({})).await), "look: done");
    // Its token has to be renewed, by a client that this program did not register.
    assert_eq!(finished(&alone.call("look", json!({})).await), "look: done");
}
