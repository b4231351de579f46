//! The review: what is asked, everything that one needs to answer it, and the answer.

use agents::plan_execute::{PlanPreview, StoredPlan};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use interrupts::life::{Family, Interrupt, Verdict};
use maud::{Markup, html};
use routing_core::{Choice, ConfirmationItem, DecisionId};
use serde_json::{Map, Value, json};

use super::form;
use super::layout::{Place, again, banner, page, refused, time, time_text};
use super::plan;
use super::rules;
use super::visitor::Visitor;
use crate::access::{Caller, Right};
use crate::acting::{self, DecisionOrder, interrupt_named, plan_of};
use crate::app::App;
use crate::body::FormFields;
use crate::metrics::Way;
use crate::parameters::{Segment, wrong};
use crate::problem::{Problem, not_decided};
use crate::routes::waiting;
use crate::visible::visible;
use crate::wire::{DecisionView, Question, label, request_schema, target_of, verdict_name};

/// What precedes the names of the confirmations in the form.
const CONFIRM: &str = "confirm.";

/// The review of an interrupt.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
) -> Response {
    match interrupt_named(&app, &id).await {
        Ok(interrupt) => {
            let shown = Shown::of(&app, &interrupt).await;
            let body = body(&app, &caller, &interrupt, None, &shown);
            page(&interrupt.reason, Place::Inbox, Some(&caller), &body).into_response()
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// Decides by the form. What was filled in is shown again where it is refused.
pub(super) async fn decide(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
    fields: FormFields,
) -> Response {
    let interrupt = match interrupt_named(&app, &id).await {
        Ok(interrupt) => interrupt,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    if fields.first("decision") == Some(plan::PREVIEW) {
        return preview(&app, &caller, &interrupt, &fields).await;
    }
    let decided = match order_of(&interrupt, &fields) {
        Ok(order) => acting::decide(&app, &caller, &interrupt, order).await,
        Err(problem) => Err(problem),
    };
    match decided {
        Ok(decided) => Redirect::to(&format!("/review/{}", decided.interrupt().id)).into_response(),
        Err(problem) => {
            // As it is now, which may be why it was refused.
            let interrupt = interrupt_named(&app, &id).await.unwrap_or(interrupt);
            let shown = Shown::of(&app, &interrupt).await;
            let tried = Some((&problem, &fields));
            let body = body(&app, &caller, &interrupt, tried, &shown);
            let page = page(&interrupt.reason, Place::Inbox, Some(&caller), &body);
            again(&problem, page)
        }
    }
}

/// What is shown beside the interrupt itself.
struct Shown {
    /// Another question that waits.
    next: Option<String>,
    /// The plan of its run, where it carries out one.
    plan: Option<StoredPlan>,
    /// A change of the plan that can be applied.
    preview: Option<PlanPreview>,
}

impl Shown {
    async fn of(app: &App, interrupt: &Interrupt) -> Self {
        let plan = plan_of(app, interrupt).await.ok().flatten();
        Self {
            next: next_open(app, interrupt).await,
            // What somebody else has proposed can be applied here too.
            preview: plan
                .as_ref()
                .and_then(|plan| plan.proposal().ok().flatten()),
            plan,
        }
    }
}

/// Shows what other steps would do. Nothing is decided.
async fn preview(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    fields: &FormFields,
) -> Response {
    let mut shown = Shown::of(app, interrupt).await;
    let previewed = match &shown.plan {
        Some(plan) => plan::previewed(plan, fields),
        None => Err(wrong("plan", "the run carries out no plan of steps")),
    };
    let (problem, tried) = match previewed {
        Ok(preview) => {
            shown.preview = Some(preview);
            (None, None)
        }
        Err(problem) => (Some(problem), Some(fields)),
    };
    let tried = problem.as_ref().zip(tried);
    let filled = tried.map_or(Some(fields), |(_, fields)| Some(fields));
    let body = body_with(app, caller, interrupt, tried, filled, &shown);
    let page = page(&interrupt.reason, Place::Inbox, Some(caller), &body);
    match &problem {
        Some(problem) => again(problem, page),
        None => page.into_response(),
    }
}

fn order_of(interrupt: &Interrupt, fields: &FormFields) -> Result<DecisionOrder, Problem> {
    let named = fields.first("decision").unwrap_or_default();
    let verdict = Verdict::ALL
        .into_iter()
        .find(|verdict| verdict_name(*verdict) == named)
        .ok_or_else(|| wrong("decision", "choose one of the buttons"))?;
    let version = fields.first("version").and_then(|text| text.parse().ok());
    let shown = fields.first("shown_digest").map(str::parse).transpose();
    let shown = shown.map_err(|error| wrong("shown_digest", format!("{error}")))?;
    let reroute_to = (verdict == Verdict::Reroute)
        .then(|| fields.first("reroute_to").map(str::to_owned))
        .flatten();
    let mut payload = Map::new();
    if verdict == Verdict::ModifyPlan && fields.first("plan").is_some() {
        if let Value::Object(change) = plan::payload(fields) {
            payload = change;
        }
    } else if interrupt.family() == Family::Question {
        let chosen: Vec<Value> = fields.all("choice").map(Value::from).collect();
        payload.insert("selectedChoices".to_owned(), chosen.into());
        payload.insert("confirmations".to_owned(), confirmed(fields).into());
        let target = reroute_to.as_deref().and_then(|target| {
            interrupt
                .routes
                .iter()
                .find(|route| route.as_str() == target)
        });
        if matches!(verdict, Verdict::Edit)
            && let Some(schema) = request_schema(interrupt, target)
            && let Some(request) = form::filled_in(&schema, fields)
        {
            payload.insert("editedRequest".to_owned(), request);
        }
    }
    Ok(DecisionOrder {
        version,
        shown,
        key: fields.first("key").map(str::to_owned),
        verdict,
        payload: Some(Value::Object(payload)),
        message: fields.first("text").map(str::to_owned),
        reroute_to,
        remember: rules::remembered(fields)?,
        way: Way::Page,
    })
}

fn confirmed(fields: &FormFields) -> Map<String, Value> {
    fields
        .0
        .iter()
        .filter_map(|(name, value)| {
            let id = name.strip_prefix(CONFIRM)?;
            let said = match value.as_str() {
                "yes" => true,
                "no" => false,
                _ => return None,
            };
            Some((id.to_owned(), json!(said)))
        })
        .collect()
}

/// Another question that waits, for whoever has done with this one.
async fn next_open(app: &App, this: &Interrupt) -> Option<String> {
    let open = waiting(app).await.ok()?;
    open.iter()
        .filter(|other| other.held_by.is_none())
        .find(|other| other.id != this.id)
        .map(|other| format!("/review/{}", other.id))
}

fn body(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    tried: Option<(&Problem, &FormFields)>,
    shown: &Shown,
) -> Markup {
    let filled = tried.map(|(_, fields)| fields);
    body_with(app, caller, interrupt, tried, filled, shown)
}

fn body_with(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    tried: Option<(&Problem, &FormFields)>,
    filled: Option<&FormFields>,
    shown: &Shown,
) -> Markup {
    let now = app.now();
    let next = shown.next.as_deref();
    let is_open = is_undecided(interrupt, app) && Right::Decide.is_of(caller.actor.role);
    let question = Question::of(interrupt);
    let may = Right::Decide.is_of(caller.actor.role);
    let ended = not_decided(interrupt, now);
    html! {
        p.crumbs { a href="/" { "Inbox" } " / " a href=(format!("/runs/{}", interrupt.run)) { "Run" } " / " (visible(interrupt.node.as_str())) }
        h1 { (visible(&interrupt.reason)) }
        @if let Some((problem, _)) = tried { (banner(problem)) }
        p.facts data-testid="review" data-state=(interrupt.state.name()) {
            span.state { (label(interrupt.state.name())) }
            span { (label(interrupt.kind.as_str())) " asks" }
            span { (interrupt.interrupt_type.name()) }
            span { (time(interrupt.requested_at, now)) }
            @if let Some(deadline) = interrupt.deadline { span { "its time ends " (time(deadline, now)) } }
            @if let Some(claim) = interrupt.review.as_ref().and_then(|review| review.claim_at(now)) {
                span { (visible(claim.by.as_str())) " looks at it now" }
            }
        }
        @if let Some(holder) = interrupt.held_by {
            p.banner { "Another interrupt goes first: " a href=(format!("/review/{holder}")) { "decide that one" } ". Then this one is shown again." }
        }
        (context(&question))
        @if let Some(plan) = &shown.plan { (plan::current(plan)) }
        @if is_open && allows(interrupt, Verdict::ModifyPlan) {
            @if let Some(preview) = &shown.preview { (plan::proposed(interrupt, preview)) }
            @if let Some(plan) = &shown.plan {
                details open[filled.is_some_and(|filled| filled.first("plan").is_some())] {
                    summary { "Change the plan" }
                    (plan::editor(interrupt, plan, filled))
                }
            }
        }
        (destination(interrupt))
        @match (DecisionView::of(interrupt), &ended, may) {
            (Some(decision), _, _) => (result(&decision, next, now)),
            (None, Some(problem), _) => (banner(problem)),
            (None, None, true) => (answer_form(interrupt, &question, caller, filled)),
            (None, None, false) => p.banner { "Your role only looks. Reviewers can decide." },
        }
        @if let Some(next) = next { p { a id="next" href=(next) { "Next open question" } } }
        details { summary { "Everything, as JSON" } pre tabindex="0" { (visible(&pretty(&question.content))) } }
    }
}

/// Whether it can still be decided.
fn is_undecided(interrupt: &Interrupt, app: &App) -> bool {
    not_decided(interrupt, app.now()).is_none()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// What one needs to know to decide.
fn context(question: &Question) -> Markup {
    html! {
        @if !question.context_for_decision.is_empty() {
            section aria-labelledby="context" {
                h2 id="context" { "What one needs to know" }
                div.text { (visible(&question.context_for_decision)) }
            }
        }
        @if !question.own_fields.is_empty() {
            section aria-labelledby="more" {
                h2 id="more" { "What the agent adds" }
                dl {
                    @for (name, value) in &question.own_fields {
                        @if !is_blank(value) {
                            dt { (visible(name)) }
                            dd { @match value.as_str() {
                                Some(text) => div.text { (visible(text)) },
                                None => pre tabindex="0" { (visible(&pretty(value))) },
                            } }
                        }
                    }
                }
            }
        }
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Where the answer goes, and why nowhere else.
fn destination(interrupt: &Interrupt) -> Markup {
    let target = target_of(interrupt);
    html! {
        section aria-labelledby="route" {
            h2 id="route" { "Where the answer goes" }
            p { strong data-testid="target" { (label(target.as_str())) }
                @if let Some(bound) = &interrupt.bound {
                    ", because the event " code { (visible(bound.event.as_str())) } " sends it there."
                } @else if *target == interrupt.origin {
                    ": back to whoever asked."
                } @else { "." }
            }
            details { summary { "Why not elsewhere" }
                p { "The agent's model is shown the one route above and no other, so it cannot go astray. A person may send the answer to any of these:" }
                ul { @for route in &interrupt.routes { @if route != target { li { (label(route.as_str())) } } } }
            }
        }
    }
}

fn result(decision: &DecisionView, next: Option<&str>, now: jiff::Timestamp) -> Markup {
    html! {
        section aria-labelledby="result" data-testid="decision" data-state=(decision.decision) {
            h2 id="result" { "Decided: " (label(&decision.decision)) }
            p { "By " strong { (visible(&decision.by)) } ", " (time_text(&decision.at, now)) ". Goes on at " strong { (label(&decision.target)) } "." }
            @if let Some(payload) = &decision.payload { pre tabindex="0" { (visible(&pretty(payload))) } }
            @if next.is_none() { p { "Nothing else waits." } }
        }
    }
}

fn answer_form(
    interrupt: &Interrupt,
    question: &Question,
    caller: &Caller,
    filled: Option<&FormFields>,
) -> Markup {
    let asks = interrupt.family() == Family::Question;
    let shown = interrupt
        .review
        .as_ref()
        .map(|review| review.shown.to_string());
    let text = filled
        .and_then(|filled| filled.first("text"))
        .unwrap_or_default();
    html! {
        form.stack method="post" action=(format!("/review/{}", interrupt.id)) id="decision" {
            input type="hidden" name="version" value=(interrupt.version);
            input type="hidden" name="key" value=(DecisionId::generate());
            @if let Some(shown) = shown { input type="hidden" name="shown_digest" value=(shown); }
            @if asks {
                (choices(&question.choices, filled))
                (confirmations(&question.confirmation_items, filled))
            }
            label for="text" { @if asks { "In words" } @else { "New input for the agent" } }
            textarea id="text" name="text" rows="4" { (text) }
            (rules::remember(interrupt, caller, filled))
            (buttons(interrupt))
            @if allows(interrupt, Verdict::Reroute) {
                fieldset { legend { "Send it elsewhere" }
                    label for="reroute_to" { "To" }
                    select id="reroute_to" name="reroute_to" {
                        @for route in &interrupt.routes {
                            @if route != target_of(interrupt) {
                                option value=(route.as_str()) selected[filled.and_then(|f| f.first("reroute_to")) == Some(route.as_str())] { (label(route.as_str())) }
                            }
                        }
                    }
                    button type="submit" name="decision" value="reroute" { "Reroute" }
                }
            }
            @if asks && allows(interrupt, Verdict::Edit) && let Some(schema) = request_schema(interrupt, None) {
                details open[filled.is_some_and(|filled| filled.first("decision") == Some("edit"))] {
                    summary { "Fill in the agent's request yourself" }
                    p.hint { "No model is asked then." }
                    (form::fields(&schema, filled))
                    button type="submit" name="decision" value="edit" { "Send this request" }
                }
            }
        }
    }
}

fn allows(interrupt: &Interrupt, verdict: Verdict) -> bool {
    interrupt.allowed.contains(&verdict)
}

/// What can be decided by one button, in the order in which it is mostly wanted.
fn buttons(interrupt: &Interrupt) -> Markup {
    let asks = interrupt.family() == Family::Question;
    let named: &[(Verdict, &str)] = if asks {
        &[
            (Verdict::Respond, "Answer"),
            (Verdict::Approve, "Approve"),
            (Verdict::Reject, "Reject"),
            (Verdict::Ignore, "Go on without an answer"),
            (Verdict::Cancel, "Give the matter up"),
        ]
    } else {
        &[
            (Verdict::Resume, "Resume unchanged"),
            (Verdict::Respond, "Resume with this input"),
            (Verdict::Cancel, "Give the matter up"),
        ]
    };
    html! {
        p.buttons role="group" aria-label="Decide" {
            @for (verdict, name) in named {
                @if allows(interrupt, *verdict) {
                    button.danger[matches!(verdict, Verdict::Reject | Verdict::Cancel)] type="submit" name="decision" value=(verdict_name(*verdict)) data-testid=(verdict_name(*verdict)) { (name) }
                }
            }
        }
    }
}

fn choices(choices: &[Choice], filled: Option<&FormFields>) -> Markup {
    html! {
        @if !choices.is_empty() {
            fieldset { legend { "Choose" }
                @for (number, choice) in choices.iter().enumerate() {
                    @let id = format!("choice-{number}");
                    @let chosen = filled.is_some_and(|filled| filled.all("choice").any(|value| value == choice.value));
                    p.choice {
                        input type="checkbox" id=(id) name="choice" value=(choice.value) checked[chosen];
                        label for=(id) { strong { (visible(&choice.label)) } " " span { (visible(&choice.description)) } }
                    }
                }
            }
        }
    }
}

fn confirmations(items: &[ConfirmationItem], filled: Option<&FormFields>) -> Markup {
    html! {
        @for (number, item) in items.iter().enumerate() {
            @let name = format!("{CONFIRM}{}", item.id);
            @let said = filled.and_then(|filled| filled.first(&name));
            @let yes = said.map_or(item.default_value == Some(true), |said| said == "yes");
            @let no = said.map_or(item.default_value == Some(false), |said| said == "no");
            fieldset { legend { (visible(&item.prompt)) }
                @if let Some(impact) = &item.impact_if_no { p.hint { "If not: " (visible(impact)) } }
                p.choice {
                    input type="radio" id=(format!("confirm-{number}-yes")) name=(name) value="yes" checked[yes];
                    label for=(format!("confirm-{number}-yes")) { "Yes" }
                }
                p.choice {
                    input type="radio" id=(format!("confirm-{number}-no")) name=(name) value="no" checked[no];
                    label for=(format!("confirm-{number}-no")) { "No" }
                }
            }
        }
    }
}
