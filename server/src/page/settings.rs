//! Settings: the caller's identity, keys, notices, standing rules, and the tokens for operators of the installation.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use control::{Credential, Right, as_called, role_name};
use maud::{Markup, html};

use super::layout::{NavigationItem, page, refused, time};
use super::rules;
use super::visitor::Visitor;
use crate::access::Proof;
use crate::app::App;
use crate::visible::visible;

/// The keys of the page.
const KEYS: [(&str, &str); 8] = [
    ("j, k", "next and previous in a list"),
    ("Enter", "open what is focused"),
    ("n", "next open question"),
    ("a", "to the answer form"),
    ("i", "inbox"),
    ("r", "runs"),
    ("g", "agents"),
    ("?", "this page"),
];

/// The settings.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    proof: Proof,
) -> Response {
    let tokens = if Right::Operate.is_of(caller.actor.role) {
        match app.store().tokens().await {
            Ok(tokens) => Some(tokens),
            Err(error) => return refused(&error.into(), Some(&caller)),
        }
    } else {
        None
    };
    let now = app.now();
    let rules = match rules::newest(&app).await {
        Ok(rules) => rules,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let body = html! {
        h1 { "Settings" }
        section aria-labelledby="you" { h2 id="you" { "You" }
            p { "You are " strong { (visible(caller.actor.name.as_str())) } ", a " strong { (role_name(caller.actor.role)) } ". This name stands beside what you decide." }
            @if proof.credential == Credential::Session {
                form method="post" action="/session/end" { button.quiet type="submit" { "Leave: end this session" } }
            }
        }
        section aria-labelledby="notices" { h2 id="notices" { "Notices" }
            p { "The title of the page shows how many questions wait. Your browser can tell you of new ones while the inbox is open." }
            p { button type="button" id="notify" hidden { "Let this browser tell me" } span id="notify-state" role="status" {} }
        }
        section aria-labelledby="keys" { h2 id="keys" { "Keys" } (keys()) }
        section aria-labelledby="looks" { h2 id="looks" { "Looks" } p { "Light or dark, as your system is set." } }
        (rules::section(&rules, &caller, now))
        @if let Some(tokens) = tokens {
            section aria-labelledby="tokens" { h2 id="tokens" { "Tokens" }
                p { "Make one with " code { (as_called("irq token create")) } ", make one void with " code { (as_called("irq token revoke")) } ". Secrets are kept nowhere." }
                div.wide role="region" aria-label="List of tokens" tabindex="0" { table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Role" } th scope="col" { "Made" } th scope="col" { "Ends" } th scope="col" { "Holds" } } }
                    tbody { @for token in &tokens { tr {
                        td { (visible(token.name.as_str())) } td { (role_name(token.role)) } td { (time(token.created_at, now)) }
                        td { @match token.expires_at { Some(end) => (time(end, now)), None => "never" } }
                        td { @if token.holds_among(&tokens, now) { "yes" } @else { "no" } }
                    } } }
                } }
            }
        }
    };
    page("Settings", NavigationItem::Settings, Some(&caller), &body).into_response()
}

fn keys() -> Markup {
    html! {
        dl.keys { @for (key, does) in KEYS { dt { kbd { (key) } } dd { (does) } } }
    }
}
