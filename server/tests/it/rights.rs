//! Who may do what: every operation of the description, as every role.

use control::{
    Ask, AskAgent, AskAgents, AskAudit, AskCatalogueOfInterrupt, AskCatalogueOfRun, AskCheckpoints,
    AskInterrupt, AskInterruptOf, AskInterrupts, AskJournal, AskMessages, AskPlan, AskProgress,
    AskRule, AskRules, AskRun, AskRuns, AskTokens, COMMANDS, QUESTIONS,
};
use interrupt_router::{InterruptId, NodeId, RuleId, RunId};
use interrupts::IdempotencyKey;
use interrupts::life::{Interrupt, Role};
use interrupts::store::{Filter, Page, Run};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::house::{House, ROLES, problem, token};
use crate::scene::{open_question, running};

/// The roles that have each right.
pub(crate) fn roles_of(right: &str) -> &'static [&'static str] {
    match right {
        "read" => &["viewer", "agent", "reviewer", "supervisor", "admin"],
        "decide" => &["reviewer", "supervisor", "admin"],
        "survey" => &["viewer", "reviewer", "supervisor", "admin"],
        "request" => &["agent", "supervisor", "admin"],
        "direct" => &["supervisor", "admin"],
        "operate" => &["admin"],
        "work" => &["worker"],
        other => panic!("there is no right `{other}`"),
    }
}

/// What stands in the gaps of paths.
pub(crate) fn gaps(run: &Run, asked: &Interrupt) -> [(&'static str, String); 9] {
    [
        ("run_id", run.id.to_string()),
        ("agent_id", format!("{}%2Forchestrator", run.id)),
        ("interrupt_id", asked.id.to_string()),
        ("event_id", "evt-1".to_owned()),
        ("rule_id", "rul_00000000000000000000000000000000".to_owned()),
        ("message", "1".to_owned()),
        ("token_id", "0000000000000000".to_owned()),
        ("name", "support".to_owned()),
        ("key", "refund".to_owned()),
    ]
}

/// Every operation that there is: those of the description, and those that it does not promise.
pub(crate) fn all_operations(api: &Value, gaps: &[(&str, String)]) -> Vec<(Method, String, Value)> {
    let mut all = operations(api, gaps);
    let named = |name: &str| {
        gaps.iter()
            .find(|(gap, _)| *gap == name)
            .unwrap()
            .1
            .as_str()
    };
    let (run, interrupt) = (named("run_id"), named("interrupt_id").parse().unwrap());
    let asks = asks(run.parse().unwrap(), interrupt);
    all.extend(asks.into_iter().map(|(path, right)| {
        let description = json!({"x-right": right});
        (Method::GET, path, description)
    }));
    all.extend(COMMANDS.iter().map(|(name, right)| {
        let right = format!("{right:?}").to_lowercase();
        let path = format!("/v1/commands/{name}");
        (Method::POST, path, json!({"x-right": right}))
    }));
    all
}

/// The paths of all that can be asked for as it is stored, and the right that it takes.
fn asks(run: RunId, id: InterruptId) -> Vec<(String, &'static str)> {
    let page = Page { after: 0, limit: 9 };
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let states = Vec::new();
    let name = run.to_string();
    let node = NodeId::root();
    let key = IdempotencyKey::new("evt-1").unwrap();
    let rule = RuleId::generate();
    let all = vec![
        (record_path(&AskRun { name: name.clone() }), "read"),
        (record_path(&AskRuns { states, page }), "read"),
        (record_path(&AskProgress { run }), "read"),
        (record_path(&AskPlan { run }), "read"),
        (record_path(&AskCatalogueOfRun { name }), "read"),
        (record_path(&AskAgent { run, node }), "read"),
        (record_path(&AskAgents { run, page }), "read"),
        (record_path(&AskCheckpoints { run, page }), "read"),
        (record_path(&AskJournal { run, page }), "read"),
        (record_path(&AskMessages { run, page }), "read"),
        (record_path(&AskInterrupt { id }), "read"),
        (record_path(&AskInterruptOf { key }), "read"),
        (record_path(&AskInterrupts { filter, page }), "read"),
        (record_path(&AskCatalogueOfInterrupt { id }), "read"),
        (record_path(&AskRule { id: rule }), "survey"),
        (record_path(&AskRules { page }), "survey"),
        (record_path(&AskTokens {}), "operate"),
        (record_path(&AskAudit { page }), "survey"),
    ];
    for question in QUESTIONS {
        let path = format!("/v1/records/{}?", question.name);
        assert!(
            all.iter().any(|(asked, _)| asked.starts_with(&path)),
            "{path}"
        );
    }
    all
}

/// The path at which something is asked for.
pub(crate) fn record_path<A: Ask>(ask: &A) -> String {
    let of = serde_json::to_string(ask).unwrap();
    let of = utf8_percent_encode(&of, NON_ALPHANUMERIC).to_string();
    format!("/v1/records/{}?of={of}", A::QUESTION.name)
}

/// Every operation of the description: method, path with something in its gaps, and what is said of it.
pub(crate) fn operations(api: &Value, gaps: &[(&str, String)]) -> Vec<(Method, String, Value)> {
    let mut operations = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        let mut filled = path.clone();
        for (name, value) in gaps {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        assert!(!filled.contains('{'), "{filled}");
        for (method, operation) in item.as_object().unwrap() {
            let Ok(method) = method.to_uppercase().parse() else {
                continue;
            };
            operations.push((method, filled.clone(), operation.clone()));
        }
    }
    operations
}

#[tokio::test]
async fn every_operation_lets_in_the_roles_that_its_description_names_and_no_others() {
    let mut house = House::open().await;
    let run = running(&*house.store, None).await;
    house.bind_agent(run.id).await;
    let asked = open_question(&*house.store, &run).await;
    let api: Value = house
        .client
        .get(house.url("/openapi.json"))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(api, server::openapi());
    assert!(
        !api.to_string().contains("/v1/records") && !api.to_string().contains("/v1/commands"),
        "rows are promised"
    );
    let operations = all_operations(&api, &gaps(&run, &asked));
    assert!(operations.len() > 30, "{}", operations.len());
    for (method, path, operation) in operations {
        let right = operation["x-right"].as_str();
        let nobody = house.client.request(method.clone(), house.url(&path));
        let nobody = nobody.send().await.unwrap().status();
        let Some(right) = right else {
            assert_eq!(nobody, StatusCode::OK, "{method} {path} as nobody");
            continue;
        };
        assert_eq!(
            nobody,
            StatusCode::UNAUTHORIZED,
            "{method} {path} as nobody"
        );
        for (role, _) in ROLES {
            let request = house
                .client
                .request(method.clone(), house.url(&path))
                .bearer_auth(&house.tokens[role])
                // Nothing is changed: what is asked is never the right thing.
                .header("content-type", "application/json")
                .body("{\"nothing\": [");
            let status = request.send().await.unwrap().status();
            let may = roles_of(right).contains(&role);
            assert_eq!(
                status != StatusCode::FORBIDDEN,
                may,
                "{method} {path} as {role}: {status}"
            );
            assert!(status.as_u16() < 500, "{method} {path} as {role}: {status}");
        }
    }
}

#[test]
fn the_description_says_of_each_operation_what_it_answers_and_names_no_schema_that_is_not_there() {
    let api = server::openapi();
    assert_eq!(api["openapi"], "3.1.0");
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let text = response["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{method} {path} {status}");
            }
        }
    }
    let text = api.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(api.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn the_description_names_every_form_of_the_history_and_the_ticket_of_both_feeds() {
    let api = server::openapi();
    let forms = &api["paths"]["/v1/history"]["get"]["responses"]["200"]["content"];
    let forms: Vec<&String> = forms.as_object().unwrap().keys().collect();
    assert_eq!(forms, ["application/json", "application/x-ndjson"]);
    for path in ["/v1/events", "/v1/ws"] {
        let parameters = api["paths"][path]["get"]["parameters"].as_array().unwrap();
        let ticket = parameters.iter().find(|it| it["name"] == "ticket");
        let ticket = ticket.unwrap_or_else(|| panic!("{path}: {parameters:#?}"));
        assert_eq!(ticket["in"], "query");
        assert_eq!(ticket["required"], false, "{path}");
    }
}

#[tokio::test]
async fn a_revoked_an_ended_and_an_invented_token_let_nobody_in() {
    let house = House::open().await;
    let secret = token(&*house.store, "leaver", Role::Operator).await;
    let digest = interrupts::Digest::of(secret.as_bytes());
    let read = |secret: String| {
        house
            .client
            .get(house.url("/v1/runs"))
            .bearer_auth(secret)
            .send()
    };
    assert_eq!(read(secret.clone()).await.unwrap().status(), StatusCode::OK);
    house.store.revoke_token(digest, None).await.unwrap();
    let invented = format!("irq_{}", "0".repeat(64));
    for secret in [
        secret,
        invented,
        String::new(),
        "irq_".to_owned(),
        "x".repeat(9_000),
    ] {
        problem(read(secret).await.unwrap(), StatusCode::UNAUTHORIZED).await;
    }
}

#[tokio::test]
async fn a_token_is_made_listed_without_its_secret_and_made_void() {
    let house = House::open().await;
    let body = json!({"name": "alex", "role": "reviewer", "lifetime_s": 3600});
    let made = house
        .post("admin", "/v1/tokens", &body)
        .send()
        .await
        .unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    let made: Value = made.json().await.unwrap();
    let secret = made["secret"].as_str().unwrap();
    let listed = house.get("admin", "/v1/tokens").send().await.unwrap();
    let listed = listed.text().await.unwrap();
    assert!(
        listed.contains("alex") && !listed.contains(secret),
        "{listed}"
    );
    let digest = interrupts::Digest::of(secret.as_bytes()).to_string();
    assert!(!listed.contains(&digest), "the whole digest is listed");
    let who = house.client.get(house.url("/v1/runs")).bearer_auth(secret);
    assert_eq!(who.send().await.unwrap().status(), StatusCode::OK);
    let path = format!("/v1/tokens/{}", made["token"]["id"].as_str().unwrap());
    let void = house
        .client
        .delete(house.url(&path))
        .bearer_auth(&house.tokens["admin"])
        .send()
        .await
        .unwrap();
    assert_eq!(void.status(), StatusCode::OK);
    let who = house.client.get(house.url("/v1/runs")).bearer_auth(secret);
    assert_eq!(who.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}
