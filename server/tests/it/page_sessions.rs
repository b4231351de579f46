//! Coming in to the page, and leaving it.

use interrupts::life::Role;
use reqwest::StatusCode;

use crate::house::{House, token};
use crate::page::{Browser, client, cookie, launch_token};
use crate::scene::{open_question, running};

#[tokio::test]
async fn nobody_sees_anything_but_how_to_come_in() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    for path in [
        "/".to_owned(),
        "/inbox".to_owned(),
        "/runs".to_owned(),
        format!("/runs/{}", run.id),
        format!("/review/{}", asked.id),
        "/history".to_owned(),
        "/settings".to_owned(),
    ] {
        let response = house.client.get(house.url(&path)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        let page = response.text().await.unwrap();
        assert!(
            page.contains("Sign in") && !page.contains("clarification"),
            "{path}: {page}"
        );
    }
}

#[tokio::test]
async fn the_printed_address_lets_in_once_and_leaves_no_secret_behind() {
    let house = House::open().await;
    let secret = launch_token(&house).await;
    let address = house.url(&format!("/?launch={secret}"));
    let first = client().get(&address).send().await.unwrap();
    assert_eq!(first.status(), StatusCode::SEE_OTHER);
    assert_eq!(first.headers()["location"], "/");
    let cookie = cookie(&first);
    assert!(!cookie.contains(&secret));
    let page = client()
        .get(house.url("/"))
        .header("Cookie", &cookie)
        .send()
        .await
        .unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    assert!(page.text().await.unwrap().contains("alex (admin)"));
    let second = client().get(&address).send().await.unwrap();
    assert_eq!(second.status(), StatusCode::UNAUTHORIZED);
    assert!(!second.text().await.unwrap().contains(&secret));
}

#[tokio::test]
async fn whoever_leaves_is_gone_though_somebody_kept_his_cookie() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let left = browser.post("/session/end", &[]).await;
    assert_eq!(left.status(), StatusCode::SEE_OTHER);
    assert_eq!(browser.get("/").await.0, StatusCode::UNAUTHORIZED);
    let api = browser
        .client
        .get(house.url("/v1/runs"))
        .header("Cookie", &browser.cookie);
    assert_eq!(api.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_session_ends_with_the_token_that_it_was_bought_with() {
    let house = House::open().await;
    let secret = token(&*house.store, "alex", Role::Reviewer).await;
    let come_in = || async {
        let request = client()
            .post(house.url("/session"))
            .header("Origin", house.url(""))
            .form(&[("token", &secret)]);
        cookie(&request.send().await.unwrap())
    };
    let cookie = come_in().await;
    let read = |cookie: String| {
        let request = client().get(house.url("/v1/runs"));
        request.header("Cookie", cookie).send()
    };
    assert_eq!(read(cookie.clone()).await.unwrap().status(), StatusCode::OK);
    let digest = interrupts::Digest::of(secret.as_bytes());
    house.store.revoke_token(digest, None).await.unwrap();
    let ended = read(cookie).await.unwrap();
    assert_eq!(ended.status(), StatusCode::UNAUTHORIZED);
    let tokens = house.get("admin", "/v1/tokens").send().await.unwrap();
    let tokens: serde_json::Value = tokens.json().await.unwrap();
    let session = tokens
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["bought_with"].is_string());
    assert_eq!(session.unwrap()["holds"], false);
    let history = house.read("/v1/history?kind=token&actor=alex").await;
    let rows = history["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "who began the session is audited: {history}");
    assert_eq!(rows[0]["entry"]["holder"]["name"], "alex");
}
