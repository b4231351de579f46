//! The page for people, as a browser without scripts uses it.

use control::{TokenOrder, issue_token};
use interrupts::ActorName;
use interrupts::life::{Role, State};
use jiff::SignedDuration;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::json;

use crate::house::{House, token};
use crate::scene::{asked, awaiting, checkpoint, open_choice, open_question, question, running};

/// A browser with a session.
pub(crate) struct Browser<'house> {
    house: &'house House,
    pub(crate) client: Client,
    pub(crate) cookie: String,
}

/// What browsers say that they accept when they go to a page.
pub(crate) const PAGES: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

pub(crate) fn client() -> Client {
    tls::client().redirect(Policy::none()).build().unwrap()
}

pub(crate) async fn launch_token(house: &House) -> String {
    let order = TokenOrder {
        name: ActorName::new("alex").unwrap(),
        role: Role::Operator,
        lifetime: Some(SignedDuration::from_mins(10)),
        once: true,
        scope: None,
        by: None,
    };
    issue_token(&*house.store, order).await.unwrap().secret
}

impl<'house> Browser<'house> {
    /// Comes in with a token that is typed in.
    pub(crate) async fn of(house: &'house House, name: &str, role: Role) -> Self {
        let secret = token(&*house.store, name, role).await;
        let client = client();
        let response = client
            .post(house.url("/session"))
            .header("Origin", house.url(""))
            .form(&[("token", &secret)])
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let cookie = cookie(&response);
        Self {
            house,
            client,
            cookie,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, String) {
        let request = self.client.get(self.house.url(path));
        let request = request.header("Accept", PAGES);
        let response = request.header("Cookie", &self.cookie).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }

    /// The response to going to a page, wherever that leads.
    pub(crate) async fn look(&self, path: &str) -> Response {
        let request = self.client.get(self.house.url(path));
        let request = request.header("Accept", PAGES);
        request.header("Cookie", &self.cookie).send().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        self.client
            .post(self.house.url(path))
            .header("Accept", PAGES)
            .header("Cookie", &self.cookie)
            .header("Origin", self.house.url(""))
            .form(fields)
            .send()
            .await
            .unwrap()
    }
}

/// The session that a response begins.
pub(crate) fn cookie(response: &Response) -> String {
    let set = response.headers()["set-cookie"].to_str().unwrap();
    assert!(
        set.contains("HttpOnly") && set.contains("SameSite=Strict"),
        "{set}"
    );
    set.split(';').next().unwrap().to_owned()
}

/// The value of a hidden field.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.split(&start).nth(1).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_question_is_found_understood_and_answered_without_scripts() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, inbox) = browser.get("/").await;
    let path = format!("/review/{}", asked.id);
    assert!(inbox.contains(&format!("href=\"{path}\"")), "{inbox}");
    let (status, review) = browser.get(&path).await;
    assert_eq!(status, StatusCode::OK);
    for text in [
        "Need clarification on discovery scope",
        "Fifteen modules were found",
        "Keep narrow",
        "It may cost more",
        "Discovery orchestrator",
        "Why not elsewhere",
    ] {
        assert!(review.contains(text), "{text}");
    }
    let (version, digest) = (hidden(&review, "version"), hidden(&review, "shown_digest"));
    let response = browser
        .post(
            &path,
            &[
                ("version", &version),
                ("shown_digest", &digest),
                ("key", &hidden(&review, "key")),
                ("choice", "narrow"),
                ("confirm.cost", "yes"),
                ("text", "only the named ones"),
                ("reroute_to", "ORCHESTRATOR"),
                ("decision", "respond"),
            ],
        )
        .await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let decided = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(decided.state, State::Resolved);
    let content = decided.decision.unwrap().content.unwrap();
    let answer: interrupt_router::review::Answer = serde_json::from_str(&content).unwrap();
    assert_eq!(answer.selected_choices, ["narrow"]);
    assert!(answer.confirmations["cost"]);
    assert_eq!(answer.text.as_deref(), Some("only the named ones"));
    let (_, result) = browser.get(&path).await;
    assert!(
        result.contains("Decided: Respond") && result.contains("alex"),
        "{result}"
    );
}

#[tokio::test]
async fn whoever_was_late_is_told_who_and_what_and_keeps_what_he_wrote() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/review/{}", asked.id);
    let first = Browser::of(&house, "alex", Role::Reviewer).await;
    let late = Browser::of(&house, "kim", Role::Reviewer).await;
    let (_, page) = first.get(&path).await;
    let version = hidden(&page, "version");
    let answer = |text: &'static str| {
        [
            ("version", version.clone()),
            ("text", text.to_owned()),
            ("decision", "approve".to_owned()),
        ]
    };
    let fields = answer("fine");
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(
        first.post(&path, &fields).await.status(),
        StatusCode::SEE_OTHER
    );
    let fields = answer("a long thought");
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let response = late.post(&path, &fields).await;
    assert_eq!(response.status(), StatusCode::CONFLICT);
    let page = response.text().await.unwrap();
    assert!(page.contains("alex decided `approve`"), "{page}");
    // A version that is not the current one keeps the form and what was written.
    let other = open_question(&*house.store, &run).await;
    let stale = [
        ("version", "1"),
        ("text", "a long thought"),
        ("decision", "respond"),
    ];
    let response = late.post(&format!("/review/{}", other.id), &stale).await;
    assert_eq!(response.status(), StatusCode::PRECONDITION_FAILED);
    assert!(
        response
            .text()
            .await
            .unwrap()
            .contains("a long thought</textarea>")
    );
}

#[tokio::test]
async fn a_person_fills_in_the_request_by_a_form_of_its_schema() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let path = format!("/review/{}", asked.id);
    let (_, page) = browser.get(&path).await;
    assert!(page.contains("name=\"edit.goal\""), "{page}");
    let version = hidden(&page, "version");
    let empty = [("version", version.as_str()), ("decision", "edit")];
    let refused = browser.post(&path, &empty).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let filled = [
        ("version", version.as_str()),
        ("decision", "edit"),
        ("edit.goal", "the three named modules"),
    ];
    assert_eq!(
        browser.post(&path, &filled).await.status(),
        StatusCode::SEE_OTHER
    );
    let decided = house.store.interrupt(asked.id).await.unwrap().unwrap();
    let content = decided.decision.unwrap().content.unwrap();
    let answer: serde_json::Value = serde_json::from_str(&content).unwrap();
    assert_eq!(
        answer["editedRequest"],
        json!({"goal": "the three named modules"})
    );
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let browser = Browser::of(&house, "alex", Role::Operator).await;
    let version = asked.version.to_string();
    let fields = [("version", version.as_str()), ("decision", "approve")];
    for path in [
        format!("/review/{}", asked.id),
        format!("/runs/{}/stop", run.id),
        "/session/end".to_owned(),
    ] {
        for origin in [None, Some("https://evil.example.org"), Some("null")] {
            let mut request = browser
                .client
                .post(house.url(&path))
                .header("Cookie", &browser.cookie)
                .form(&fields);
            if let Some(origin) = origin {
                request = request.header("Origin", origin);
            }
            let status = request.send().await.unwrap().status();
            assert_eq!(status, StatusCode::FORBIDDEN, "{path} from {origin:?}");
        }
    }
    let kept = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(kept.state, State::AwaitingReview);
    assert_eq!(browser.get("/").await.0, StatusCode::OK);
}

#[tokio::test]
async fn text_of_models_is_never_markup_and_hides_nothing() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let nasty = "<img src=x onerror=alert(1)>\"'>\u{202e}evil\u{200b}";
    let mut content = asked(nasty);
    for pointer in [
        "/contextForDecision",
        "/choices/0/label",
        "/choices/0/value",
        "/choices/0/description",
        "/confirmationItems/0/id",
        "/confirmationItems/0/prompt",
        "/phase",
    ] {
        *content.pointer_mut(pointer).unwrap() = json!(nasty);
    }
    let mut admission = question(&run, nasty);
    admission.content = content.to_string();
    let asked = awaiting(&*house.store, admission).await;
    let browser = Browser::of(&house, "alex", Role::Operator).await;
    token(&*house.store, nasty, Role::Reviewer).await;
    let other = question(&run, nasty);
    let other = awaiting(&*house.store, other).await;
    let remembered = [
        ("decision", "approve"),
        ("version", "4"),
        ("remember", "run"),
        ("remember_hours", "1"),
        ("remember_uses", "1"),
    ];
    let path = format!("/review/{}", other.id);
    let remembered = browser.post(&path, &remembered).await;
    assert_eq!(remembered.status(), StatusCode::SEE_OTHER);
    for path in [
        "/".to_owned(),
        format!("/review/{}", asked.id),
        format!("/review/{}", other.id),
        format!("/runs/{}", run.id),
        "/settings".to_owned(),
        "/history".to_owned(),
        format!("/?find={}", "%3Cimg%20src%3Dx%20onerror"),
    ] {
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(!page.contains("<img"), "{path}: {page}");
        // What a browser sends back in an attribute is as it was; what people read is made visible.
        let read: String = page
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect();
        assert!(
            !read.contains('\u{202e}') && !read.contains('\u{200b}'),
            "{path}"
        );
    }
    let (_, review) = browser.get(&format!("/review/{}", asked.id)).await;
    assert!(review.contains("\\u{202e}evil\\u{200b}"));
}

#[tokio::test]
async fn a_run_is_watched_stopped_steered_and_continued_from_the_page() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let number = checkpoint(&*house.store, &run).await;
    let browser = Browser::of(&house, "alex", Role::Supervisor).await;
    let path = format!("/runs/{}", run.id);
    let (_, page) = browser.get(&path).await;
    for text in [
        "find the modules",
        "Discovery orchestrator",
        "Resume from here",
        "is now",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let stop = [
        ("node", "orchestrator/discovery"),
        ("mode", "immediate"),
        ("type", "PAUSE"),
        ("reason", "wrong way"),
    ];
    let stopped = browser.post(&format!("{path}/stop"), &stop).await;
    assert_eq!(stopped.status(), StatusCode::SEE_OTHER);
    let open = house
        .read(&format!("/v1/interrupts?run_id={}", run.id))
        .await;
    let open = &open["interrupts"][0];
    assert_eq!(open["reason"], "wrong way");
    assert_eq!(
        (&open["mode"], &open["scope"]),
        (&json!("immediate"), &json!("agent"))
    );
    let number = number.to_string();
    let fork = [("checkpoint", &*number)];
    let resume = format!("{path}/resume");
    let forked = browser.post(&resume, &fork).await;
    assert_eq!(forked.status(), StatusCode::SEE_OTHER);
    assert_ne!(forked.headers()["location"], path.as_str());
    let sent = browser
        .post(&format!("{path}/message"), &[("text", "look at the tests")])
        .await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    // What waits for an agent of this run is not handed on.
    let refused = browser.post(&resume, &fork).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let nobody = browser
        .post(&format!("{path}/stop"), &[("node", "nobody")])
        .await;
    assert_eq!(nobody.status(), StatusCode::NOT_FOUND);
    assert!(
        nobody
            .text()
            .await
            .unwrap()
            .contains("There is no such agent")
    );
}

#[tokio::test]
async fn a_viewer_sees_every_page_and_no_button_that_changes() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    checkpoint(&*house.store, &run).await;
    let browser = Browser::of(&house, "eve", Role::Observer).await;
    for path in [
        "/".to_owned(),
        "/?tab=mine".to_owned(),
        "/?tab=resolved".to_owned(),
        "/?tab=expired".to_owned(),
        "/runs".to_owned(),
        format!("/runs/{}", run.id),
        format!("/review/{}", asked.id),
        "/history?verify=1".to_owned(),
        "/settings".to_owned(),
    ] {
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        let forms = page.matches("method=\"post\"").count();
        let own = page.matches("action=\"/session/end\"").count();
        assert_eq!(forms, own, "{path}: {page}");
        // Nothing comes from elsewhere, and no script or style stands in the page itself.
        for outside in [
            "src=\"http",
            "href=\"http",
            "src=\"//",
            "<style",
            " style=",
            " onclick=",
        ] {
            assert!(!page.contains(outside), "{path}: {outside}");
        }
        assert!(
            page.contains("<html lang=\"en\">") && page.contains("<h1>"),
            "{path}"
        );
    }
    let version = asked.version.to_string();
    let tried = browser
        .post(
            &format!("/review/{}", asked.id),
            &[("version", &version), ("decision", "approve")],
        )
        .await;
    assert_eq!(tried.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn every_file_that_a_page_names_is_there() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (_, page) = browser.get("/").await;
    let mut named: Vec<&str> = page
        .split(['"', '='])
        .filter(|part| part.starts_with("/assets/"))
        .collect();
    named.sort_unstable();
    named.dedup();
    assert!(named.len() >= 5, "{named:?}");
    for name in named {
        let response = house.client.get(house.url(name)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{name}");
    }
    let none = house
        .client
        .get(house.url("/assets/..%2FCargo.toml"))
        .send()
        .await
        .unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}
