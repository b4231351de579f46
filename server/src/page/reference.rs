//! The reference of the interface: its description, made readable.

mod feed;
mod schemas;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Extension;
use axum::response::Html;
use control::as_called;
use interrupts::life::Role;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::layout::{NavigationItem, page};
use crate::access::{Caller, Right, role_name};
use crate::problem::Kind;
use crate::routes::openapi;

use schemas::kind;

/// The roles that people and programs have.
const ROLES: [Role; 6] = [
    Role::Observer,
    Role::Requester,
    Role::Worker,
    Role::Reviewer,
    Role::Supervisor,
    Role::Operator,
];

/// The reference. It changes only with the program, so it is made once.
static REFERENCE: LazyLock<Markup> = LazyLock::new(|| PreEscaped(whole(&openapi()).into_string()));

/// The reference of the interface. It needs no login, like the description that it is made of: it says what the program
/// can do and nothing of what it has done.
pub(super) async fn show(caller: Option<Extension<Caller>>) -> Html<String> {
    let caller = caller.map(|Extension(caller)| caller);
    page(
        "API reference",
        NavigationItem::Reference,
        caller.as_ref(),
        &REFERENCE,
    )
}

/// An operation of the description.
struct Operation<'api> {
    method: String,
    path: &'api str,
    about: &'api Value,
}

impl Operation<'_> {
    fn id(&self) -> &str {
        text(self.about, "operationId")
    }
}

fn text<'value>(value: &'value Value, name: &str) -> &'value str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The members of an object.
fn members<'value>(
    value: &'value Value,
    name: &str,
) -> impl Iterator<Item = (&'value String, &'value Value)> {
    let object = value.get(name).and_then(Value::as_object);
    object.into_iter().flatten()
}

/// The operations by subject: the first part of their path, with server maintenance at the end.
fn groups(api: &Value) -> Vec<(String, Vec<Operation<'_>>)> {
    let mut groups: BTreeMap<String, Vec<Operation<'_>>> = BTreeMap::new();
    for (path, item) in members(api, "paths") {
        let operations = item.as_object().into_iter().flatten();
        for (method, about) in operations.filter(|(_, about)| about.get("responses").is_some()) {
            groups.entry(group_of(path)).or_default().push(Operation {
                method: method.to_uppercase(),
                path,
                about,
            });
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(group, _operations)| !group.starts_with("/v1/"));
    groups
}

fn group_of(path: &str) -> String {
    match path.strip_prefix("/v1/") {
        Some(rest) => {
            let end = rest.find(['/', ':']).unwrap_or(rest.len());
            format!("/v1/{}", &rest[..end])
        }
        None => path.to_owned(),
    }
}

/// The id of a group, for addresses inside of the page.
fn group_id(group: &str) -> String {
    format!("of{}", group.replace('/', "-"))
}

fn whole(api: &Value) -> Markup {
    let groups = groups(api);
    html! {
        h1 { "API reference" }
        p { "Made of " a href="/openapi.json" { code { "/openapi.json" } } ", the description of this very program by OpenAPI 3.1, which other tools can read." }
        p { "Programs send " code { "Authorization: Bearer SECRET" } " with each request; " code { (as_called("irq token create")) } " makes one. Bodies and answers are JSON where nothing else is said." }
        (contents(&groups))
        @for (group, operations) in &groups {
            h2 id=(group_id(group)) { code { (group) } }
            @for operation in operations { (operation_part(operation)) }
        }
        (feed::part())
        (problems())
        (schemas::part(api))
    }
}

fn contents(groups: &[(String, Vec<Operation<'_>>)]) -> Markup {
    html! {
        nav aria-label="Contents" {
            dl.contents {
                @for (group, operations) in groups {
                    dt { a href=(format!("#{}", group_id(group))) { (group) } }
                    @for operation in operations {
                        dd { a href=(format!("#{}", operation.id())) { (operation.method) " " (operation.path) } }
                    }
                }
                dt { "Beside it" }
                dd { a href="#feed" { "The live feed" } }
                dd { a href="#problems" { "Problems" } }
                dd { a href="#schemas" { "Schemas" } }
            }
        }
    }
}

fn operation_part(operation: &Operation<'_>) -> Markup {
    let about = operation.about;
    let parameters = about.get("parameters").and_then(Value::as_array);
    html! {
        article.operation data-testid="operation" {
            h3 id=(operation.id()) { a href=(format!("#{}", operation.id())) { code { (operation.method) " " (operation.path) } } }
            p { (prose(text(about, "summary"))) }
            @let more = text(about, "description");
            @if !more.is_empty() { p { (prose(more)) } }
            p.facts { (who(about)) }
            @if let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) {
                h4 { "Parameters" }
                dl { @for parameter in parameters { (parameter_part(parameter)) } }
            }
            @if let Some(body) = about.get("requestBody") {
                h4 { "Body" @if !is_required(body) { " (may be left out)" } }
                ul { @for (media, content) in members(body, "content") {
                    li { code { (media) } ": " (kind(&content["schema"])) }
                } }
            }
            h4 { "Answers" }
            dl { @for (status, answer) in members(about, "responses") {
                (answer_part(status, answer, text(about, "summary")))
            } }
        }
    }
}

/// Who may call an operation.
fn who(about: &Value) -> Markup {
    let right = text(about, "x-right");
    let roles = Right::named(right).map(|right| {
        let roles = ROLES.into_iter().filter(move |role| right.is_of(*role));
        roles.map(role_name).collect::<Vec<_>>().join(", ")
    });
    html! {
        @match roles {
            Some(roles) => { "Needs the right to " (right) ": " (roles) "." },
            None => "Anyone may ask: no token is needed.",
        }
    }
}

fn is_required(part: &Value) -> bool {
    part.get("required").and_then(Value::as_bool) == Some(true)
}

fn parameter_part(parameter: &Value) -> Markup {
    html! {
        dt { code { (text(parameter, "name")) } }
        dd {
            span.hint { "in the " (text(parameter, "in")) @if is_required(parameter) { ", needed" } ": " (kind(&parameter["schema"])) }
            @let meaning = text(parameter, "description");
            @if !meaning.is_empty() { br; (prose(meaning)) }
        }
    }
}

fn answer_part(status: &str, answer: &Value, summary: &str) -> Markup {
    let said = text(answer, "description");
    html! {
        dt { @if status == "default" { "Otherwise" } @else { code { (status) } } }
        dd {
            @if status == "default" { a href="#problems" { "A problem" } ": " }
            @if members(answer, "content").next().is_none() { "No body." }
            @for (media, content) in members(answer, "content") {
                code { (media) } ": " (kind(&content["schema"])) " "
            }
            @if said != summary && status != "default" { br; (prose(said)) }
        }
    }
}

/// The codes of problems, by which programs tell them apart.
fn problems() -> Markup {
    html! {
        h2 id="problems" { "Problems" }
        p { "Whatever is refused is refused with a " a href="#schema-Problem" { "problem document" } " of RFC 9457: " code { "code" } " says which one it is, " code { "detail" } " what happened, " code { "hint" } " what to do next. These are all of them:" }
        dl.codes {
            @for problem in Kind::ALL {
                dt { code { (problem.code()) } }
                dd { (problem.status().as_u16()) ": " (problem.title()) }
            }
        }
    }
}

/// Text of the description: what is between backticks is code.
fn prose(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
