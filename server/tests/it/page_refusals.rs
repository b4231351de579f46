//! What is refused is said in words to people, and by a problem document to programs.

use interrupts::life::Role;
use reqwest::{Method, Response, StatusCode};

use crate::house::{House, token};
use crate::page::{Browser, PAGES};

async fn asked(house: &House, method: Method, path: &str, accept: &str) -> Response {
    let secret = token(&*house.store, "alex", Role::Observer).await;
    let request = tls::client()
        .build()
        .unwrap()
        .request(method, house.url(path));
    let request = request.bearer_auth(secret).header("Accept", accept);
    request.send().await.unwrap()
}

fn kind_of(response: &Response) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

#[tokio::test]
async fn a_browser_gets_a_page_for_what_cannot_be_read() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    for (path, refused, says) in [
        (
            "/history?before=yesterday",
            StatusCode::BAD_REQUEST,
            "before",
        ),
        (
            "/agents?status=a&status=b",
            StatusCode::BAD_REQUEST,
            "status",
        ),
        ("/review/%FF", StatusCode::BAD_REQUEST, "path"),
        ("/nothing", StatusCode::NOT_FOUND, "nothing at this address"),
    ] {
        let (status, page) = browser.get(path).await;
        assert_eq!(status, refused, "{path}: {page}");
        for part in [
            says,
            "<html",
            "data-testid=\"problem\"",
            "Back to the inbox",
        ] {
            assert!(page.contains(part), "{path}: {part}: {page}");
        }
    }
    let response = asked(&house, Method::DELETE, "/history", PAGES).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(kind_of(&response), "text/html; charset=utf-8");
    // It keeps what a page may do, and which methods there are.
    assert!(response.headers().contains_key("content-security-policy"));
    assert_eq!(response.headers()["allow"], "GET,HEAD");
}

#[tokio::test]
async fn a_program_gets_a_problem_document_wherever_it_asks() {
    let house = House::open().await;
    for (path, accept) in [
        ("/history?before=yesterday", "*/*"),
        ("/nothing", "application/json"),
        // The interface answers in one way, whoever asks.
        ("/v1/agents?nonsense=1", PAGES),
        ("/v1/nothing", PAGES),
    ] {
        let response = asked(&house, Method::GET, path, accept).await;
        assert!(response.status().is_client_error(), "{path}");
        assert_eq!(kind_of(&response), "application/problem+json", "{path}");
    }
}

#[tokio::test]
async fn a_refused_form_says_once_what_is_wrong_with_it() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let refused = browser.post("/rules/rule_none/revoke", &[]).await;
    let page = refused.text().await.unwrap();
    let (_head, main) = page.split_once("<main").unwrap();
    let (_, title) = main.split_once("<h1>").unwrap();
    let (title, _) = title.split_once("</h1>").unwrap();
    assert_eq!(main.matches(title).count(), 1, "{page}");
    assert!(main.contains("role=\"alert\""), "{page}");
}
