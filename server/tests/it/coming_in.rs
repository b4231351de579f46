//! How somebody comes in to the page: by an address once, by a token that lasts only where it is typed in.

use control::{TokenOrder, issue_token};
use interrupts::ActorName;
use interrupts::life::Role;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use crate::house::{House, token};

fn client() -> Client {
    tls::client().redirect(Policy::none()).build().unwrap()
}

#[tokio::test]
async fn a_token_that_lasts_lets_nobody_in_by_an_address() {
    let house = House::open().await;
    let lasting = token(&*house.store, "kim", Role::Reviewer).await;
    let address = house.url(&format!("/?launch={lasting}"));
    for site in ["none", "cross-site"] {
        let request = client().get(&address).header("Sec-Fetch-Site", site);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{site}");
        assert!(!response.headers().contains_key("set-cookie"), "{site}");
        let page = response.text().await.unwrap();
        assert!(page.contains("holds a token that lasts"), "{page}");
        assert!(
            page.contains("name=\"token\"") && !page.contains(&lasting),
            "{page}"
        );
    }
    // Nor does the token of a session that somebody has begun with it.
    let typed_in = client()
        .post(house.url("/session"))
        .header("Origin", house.url(""));
    let response = typed_in.form(&[("token", &lasting)]).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let cookie = response.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .to_owned();
    let secret = cookie.split(['=', ';']).nth(1).unwrap();
    let address = house.url(&format!("/runs?launch={secret}"));
    let response = client().get(&address).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_token_for_one_use_that_was_used_is_as_good_as_none() {
    let house = House::open().await;
    let order = TokenOrder {
        name: ActorName::new("alex").unwrap(),
        role: Role::Operator,
        lifetime: None,
        once: true,
        scope: None,
        by: None,
    };
    let once = issue_token(&*house.store, order).await.unwrap();
    let address = house.url(&format!("/?launch={}", once.secret));
    let first = client().get(&address).send().await.unwrap();
    assert_eq!(first.status(), StatusCode::SEE_OTHER);
    let tokens = house.store.tokens().await.unwrap();
    let used = tokens.iter().find(|token| token.digest == once.row.digest);
    assert!(used.unwrap().used_at.is_some());
    let second = client().get(&address).send().await.unwrap();
    assert_eq!(second.status(), StatusCode::UNAUTHORIZED);
    let page = second.text().await.unwrap();
    assert!(!page.contains("holds a token that lasts"), "{page}");
}
