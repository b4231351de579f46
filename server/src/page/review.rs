//! The review: the question, everything that a reviewer needs to answer it, and the answer.

mod answering;
mod claiming;
mod late_answer;
mod status;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use control::{
    Caller, DecisionParts, Destination, NewDecision, QuestionContent, Right, not_open,
    request_schema, target_of,
};
use interrupt_router::{DecisionId, RunId};
use interrupts::Digest;
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Family, Interrupt, State as Life, Verdict};
use interrupts::store::{Filter, Page, Pages, StoreError};
use journal::Suggestion;
use maud::{Markup, html};
use planning::{PlanPreview, StoredPlan};
use serde_json::{Map, Value, json};

use super::form;
use super::layout::{NavigationItem, again, banner, page, refused, time_text};
use super::matter::{self, pretty};
use super::plan;
use super::quoted::{asks, headline};
use super::rules;
use super::visitor::Visitor;
use crate::acting::{self, DecisionOrder, interrupt_named, plan_of};
use crate::app::App;
use crate::body::FormFields;
use crate::metrics::Way;
use crate::parameters::{Segment, wrong};
use crate::problem::Problem;
use crate::visible::visible;
use crate::wire::{DecisionView, label};

use answering::{allows, answer_form};
pub(super) use claiming::{claim, claim_of_another, claimed, look};
pub(super) use status::{after, status};
use status::{followed, meanwhile};

/// The prefix of the names of the confirmations in the form.
const CONFIRM: &str = "confirm.";

/// Where the answer went when the page was shown.
const SHOWN_TARGET: &str = "shown_target";

/// The most other questions of a run that are listed.
const MOST_SIBLINGS: u32 = 20;

/// How many are read at once until one is found that is not held.
const READ: u32 = 50;

/// The review of an interrupt.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segment(id): Segment,
) -> Response {
    match interrupt_named(&app, &id).await {
        Ok(interrupt) => {
            let shown = ReviewContext::of(&app, &interrupt).await;
            let body = body(&app, &caller, &interrupt, None, &shown);
            page(
                &headline(&interrupt),
                NavigationItem::Inbox,
                Some(&caller),
                &body,
            )
            .into_response()
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

/// Decides by the form. If that is refused, what was filled in is shown again.
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
    match fields.first("decision") {
        Some(plan::PREVIEW) => return preview(&app, &caller, &interrupt, &fields, None).await,
        Some("resume" | "respond" | "approve") if loses_plan(&app, &interrupt, &fields).await => {
            let note = Some(plan::unapplied());
            return preview(&app, &caller, &interrupt, &fields, note).await;
        }
        Some(_) | None => {}
    }
    let catalogue = app.catalogue_of(&interrupt).await.ok().flatten();
    let decided = match order_of(&interrupt, catalogue.as_deref(), &fields) {
        Ok(order) => acting::decide(&app, &caller, &interrupt, order).await,
        Err(problem) => Err(problem),
    };
    match decided {
        Ok(decided) => Redirect::to(&format!("/review/{}", decided.interrupt().id)).into_response(),
        Err(problem) => {
            // As it is now, which may be why it was refused.
            let interrupt = interrupt_named(&app, &id).await.unwrap_or(interrupt);
            let shown = ReviewContext::of(&app, &interrupt).await;
            let tried = Some((&problem, &fields));
            let body = body(&app, &caller, &interrupt, tried, &shown);
            let page = page(
                &headline(&interrupt),
                NavigationItem::Inbox,
                Some(&caller),
                &body,
            );
            again(&problem, page)
        }
    }
}

/// What is shown beside the interrupt itself.
struct ReviewContext {
    /// Another question that waits.
    next: Option<String>,
    /// The other waiting ones of its run.
    siblings: Vec<Interrupt>,
    /// The plan of its run, if it carries out one.
    plan: Option<StoredPlan>,
    /// A change of the plan that can be applied.
    preview: Option<PlanPreview>,
    /// What the reviewing model would have said, if it was not sure enough.
    suggestion: Option<Suggestion>,
    /// The catalogue that the interrupt was raised under.
    catalogue: Option<SharedCatalogue>,
}

impl ReviewContext {
    async fn of(app: &App, interrupt: &Interrupt) -> Self {
        let plan = plan_of(app, interrupt).await.ok().flatten();
        Self {
            next: next_open(app, interrupt).await.ok().flatten(),
            siblings: siblings(app, interrupt).await.unwrap_or_default(),
            // What another reviewer has proposed can be applied here too.
            preview: plan
                .as_ref()
                .and_then(|plan| plan.proposal().ok().flatten()),
            plan,
            // The question is complete without it.
            suggestion: Suggestion::of(app.store(), interrupt).await.ok().flatten(),
            catalogue: app.catalogue_of(interrupt).await.ok().flatten(),
        }
    }
}

/// Whether going on would throw away what is written about the plan.
async fn loses_plan(app: &App, interrupt: &Interrupt, fields: &FormFields) -> bool {
    let plan = plan_of(app, interrupt).await.ok().flatten();
    plan.is_some_and(|plan| plan::is_edited(&plan, fields))
}

/// Shows what other steps would do, without a decision.
async fn preview(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    fields: &FormFields,
    note: Option<Problem>,
) -> Response {
    let mut shown = ReviewContext::of(app, interrupt).await;
    let previewed = match &shown.plan {
        Some(plan) => plan::previewed(plan, fields),
        None => Err(wrong("plan", "the run carries out no plan of steps")),
    };
    let (problem, tried) = match previewed {
        Ok(preview) => {
            shown.preview = Some(preview);
            (note, Some(fields))
        }
        Err(problem) => (Some(problem), Some(fields)),
    };
    let tried = problem.as_ref().zip(tried);
    let filled = tried.map_or(Some(fields), |(_, fields)| Some(fields));
    let body = body_with(app, caller, interrupt, tried, filled, &shown);
    let page = page(
        &headline(interrupt),
        NavigationItem::Inbox,
        Some(caller),
        &body,
    );
    match &problem {
        Some(problem) => again(problem, page),
        None => page.into_response(),
    }
}

fn order_of(
    interrupt: &Interrupt,
    catalogue: Option<&Catalogue>,
    fields: &FormFields,
) -> Result<DecisionOrder, Problem> {
    let named = fields.first("decision").unwrap_or_default();
    let verdict = Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.name() == named)
        .ok_or_else(|| wrong("decision", "choose one of the buttons"))?;
    let shown = fields.first("shown_digest").map(str::parse).transpose();
    let shown = shown.map_err(|error| wrong("shown_digest", format!("{error}")))?;
    let version = if is_as_shown(interrupt, shown, fields) {
        Some(interrupt.version)
    } else {
        fields.first("version").and_then(|text| text.parse().ok())
    };
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
            && let Some(schema) = request_schema(interrupt, catalogue, target)
            && let Some(request) = form::filled_in(&schema, fields)
        {
            payload.insert("editedRequest".to_owned(), request);
        }
    }
    Ok(DecisionOrder {
        decision: NewDecision {
            version,
            shown,
            parts: DecisionParts {
                verdict,
                payload: Some(Value::Object(payload)),
                message: fields.first("text").map(str::to_owned),
                reroute_to,
            },
            remember: rules::remembered(fields)?,
        },
        key: fields.first("key").map(str::to_owned),
        way: Way::Page,
    })
}

/// Whether everything that the reviewer was shown is unchanged: what is asked, and where the answer goes. If it was
/// held, or claimed, and is free again, it has another version, but nothing that the reviewer would have to look at.
fn is_as_shown(interrupt: &Interrupt, shown: Option<Digest>, fields: &FormFields) -> bool {
    let asks = interrupt.review.as_ref().map(|review| review.shown);
    let target = fields.first(SHOWN_TARGET);
    shown.is_some() && shown == asks && target == Some(target_of(interrupt).as_str())
}

/// What binds a form to the interrupt as it was shown.
pub(super) fn bound_to(interrupt: &Interrupt) -> Markup {
    let shown = interrupt.review.as_ref().map(|review| review.shown);
    html! {
        input type="hidden" name="version" value=(interrupt.version);
        input type="hidden" name="key" value=(DecisionId::generate());
        input type="hidden" name=(SHOWN_TARGET) value=(target_of(interrupt).as_str());
        @if let Some(shown) = shown { input type="hidden" name="shown_digest" value=(shown); }
    }
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

/// Another question that waits, for a reviewer who is done with this one.
async fn next_open(app: &App, this: &Interrupt) -> Result<Option<String>, StoreError> {
    let (filter, mut pages) = (waiting(None), Pages::of(READ));
    let read = |page| app.store().interrupts(&filter, page);
    while let Some(rows) = pages.next(read).await? {
        let mut others = rows.iter().filter(|(_position, one)| one.id != this.id);
        if let Some((_position, next)) = others.find(|(_position, one)| one.held_by.is_none()) {
            return Ok(Some(format!("/review/{}", next.id)));
        }
    }
    Ok(None)
}

/// The others of the same run that wait.
async fn siblings(app: &App, this: &Interrupt) -> Result<Vec<Interrupt>, StoreError> {
    let page = Page {
        after: 0,
        limit: MOST_SIBLINGS + 1,
    };
    let rows = app
        .store()
        .interrupts(&waiting(Some(this.run)), page)
        .await?;
    let of_run = rows.into_iter().map(|(_position, one)| one);
    let others = of_run.filter(|one| one.id != this.id);
    Ok(others.take(MOST_SIBLINGS as usize).collect())
}

/// What waits for a person: of a run, or of all.
fn waiting(run: Option<RunId>) -> Filter {
    Filter {
        run,
        states: vec![Life::AwaitingReview],
        ..Filter::default()
    }
}

/// What the reviewing model would have said.
fn suggested(suggestion: &Suggestion) -> Markup {
    let answer = &suggestion.answer;
    html! {
        section aria-labelledby="suggestion" {
            h2 id="suggestion" { "What a model would say" }
            p { "A reviewing model was only " (answer.confidence) " % sure, so a person is asked." }
            @for choice in &answer.selected_choices { p { "It would choose " code { (visible(choice)) } } }
            @for item in &answer.confirmations {
                p { "It would " @if item.confirmed { "confirm " } @else { "not confirm " } code { (visible(&item.id)) } }
            }
            @if !answer.text.is_empty() { div.text { (visible(&answer.text)) } }
        }
    }
}

fn body(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    tried: Option<(&Problem, &FormFields)>,
    shown: &ReviewContext,
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
    shown: &ReviewContext,
) -> Markup {
    let now = app.now();
    let next = shown.next.as_deref();
    let is_open = is_undecided(interrupt, app) && Right::Decide.is_of(caller.actor.role);
    let question = QuestionContent::of(interrupt);
    let content: Value = serde_json::from_str(&interrupt.content).unwrap_or_default();
    let claim = claim_of_another(interrupt, caller, now);
    let may = Right::Decide.is_of(caller.actor.role);
    let ended = not_open(interrupt, now).map(Problem::from);
    let request = request_schema(interrupt, shown.catalogue.as_deref(), None);
    html! {
        p.crumbs { a href="/" { "Inbox" } " / " a href=(format!("/runs/{}", interrupt.run)) { "Run" } " / " (visible(interrupt.node.as_str())) }
        h1 { (visible(&headline(interrupt))) }
        @if let Some((problem, _)) = tried { (banner(problem)) }
        (followed(interrupt, caller, now))
        @if is_open && may { p { a href="#decision" { "To the decision" } } }
        (matter::whole(interrupt, &question))
        @if let Some(suggestion) = &shown.suggestion { (suggested(suggestion)) }
        @if let Some(plan) = &shown.plan { (plan::current(plan)) }
        @if is_open && allows(interrupt, Verdict::ModifyPlan) {
            @if let Some(preview) = &shown.preview { (plan::proposed(interrupt, preview, claim)) }
            @if let Some(plan) = &shown.plan {
                details open[filled.is_some_and(|filled| filled.first("plan").is_some())] {
                    summary { "Change the plan" }
                    (plan::editor(interrupt, plan, filled))
                }
            }
        }
        @if interrupt.family() == Family::Question { (destination(interrupt)) }
        @match (DecisionView::of(interrupt), &ended, may) {
            (Some(decision), _, _) => { (result(&decision, interrupt, next, now)) (late_answer::kept(&question, filled)) }
            (None, Some(problem), _) => { (banner(problem)) (meanwhile(&html! {})) (late_answer::kept(&question, filled)) }
            (None, None, true) => (answer_form(interrupt, (&question.details, request.as_ref()), caller, claim, filled)),
            (None, None, false) => { p.banner { "Your role only looks. Reviewers can decide." } (late_answer::kept(&question, filled)) }
        }
        (beside(shown))
        details { summary { "Everything, as JSON" } pre tabindex="0" { (visible(&pretty(&content))) } }
    }
}

/// What else waits: of the same run first.
fn beside(shown: &ReviewContext) -> Markup {
    html! {
        @if !shown.siblings.is_empty() {
            section aria-labelledby="siblings" { h2 id="siblings" { "Also open in this run" }
                ul { @for one in &shown.siblings { li { a href=(format!("/review/{}", one.id)) { (asks(one)) } } } }
            }
        }
        @if let Some(next) = &shown.next { p { a id="next" href=(next) { "Next open question" } } }
    }
}

/// Whether it can still be decided.
fn is_undecided(interrupt: &Interrupt, app: &App) -> bool {
    not_open(interrupt, app.now()).is_none()
}

/// Where the answer goes, and why nowhere else.
fn destination(interrupt: &Interrupt) -> Markup {
    let (target, destination) = (target_of(interrupt), Destination::of(interrupt));
    html! {
        section aria-labelledby="route" {
            h2 id="route" { "Where the answer goes" }
            p data-testid="target" { (visible(&destination.to_string())) }
            @if interrupt.decision.is_none() && destination != Destination::Call && interrupt.routes.len() > 1 {
                details { summary { "Why not elsewhere" }
                    p { "The agent's model is shown the one route above and no other, so it cannot go astray. A person may send the answer to any of these:" }
                    ul { @for route in &interrupt.routes { @if route != target { li { (label(route.as_str())) } } } }
                }
            }
        }
    }
}

/// What was answered, in words: of a no what was said with it.
fn answer(interrupt: &Interrupt) -> Markup {
    let kept = interrupt.decision.as_ref().and_then(|it| it.answer().ok());
    let question = QuestionContent::of(interrupt);
    html! {
        @if let Some((answer, _confidence)) = kept {
            dl data-testid="answer" {
                @for value in &answer.selected_choices {
                    @let choice = question.details.choices.iter().find(|choice| choice.value == *value);
                    dt { "Chosen" } dd { (visible(choice.map_or(value, |choice| &choice.label))) }
                }
                @for (id, confirmed) in &answer.confirmations {
                    @let item = question.details.confirmation_items.iter().find(|item| item.id == *id);
                    dt { (visible(item.map_or(id, |item| &item.prompt))) } dd { @if *confirmed { "yes" } @else { "no" } }
                }
                @if let Some(text) = &answer.text { dt { "In words" } dd { div.text { (visible(text)) } } }
                @if let Some(request) = &answer.edited_request { dt { "The request, as edited" } dd { pre tabindex="0" { (visible(&pretty(request))) } } }
            }
        }
    }
}

fn result(
    decision: &DecisionView,
    interrupt: &Interrupt,
    next: Option<&str>,
    now: jiff::Timestamp,
) -> Markup {
    html! {
        section aria-labelledby="result" data-testid="decision" data-state=(decision.decision) {
            h2 id="result" { "Decided: " (label(&decision.decision)) }
            p { "By " strong { (visible(&decision.by)) } ", " (time_text(&decision.at, now)) ". " (visible(&Destination::of(interrupt).to_string())) }
            p { a href=(format!("/runs/{}", interrupt.run)) { "See how the run goes on" } }
            (answer(interrupt))
            @if next.is_none() { p { "Nothing else waits." } }
        }
    }
}
