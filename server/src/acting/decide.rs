//! Deciding an interrupt.

use interrupts::Digest;
use interrupts::life::{Choosing, Interrupt, Judge, Refusal, Role, Verdict};
use interrupts::store::ChangeError;
use routing_core::DecisionId;
use serde_json::Value;

use super::answer::{Answered, answer_of};
use super::keyed;
use super::plan::check_plan;
use crate::access::{Caller, Right};
use crate::app::App;
use crate::metrics::Way;
use crate::problem::{Kind, Problem, not_decided, of_change};
use crate::wire::verdict_name;

/// A decision that somebody wants to make.
#[derive(Debug, Clone)]
pub(crate) struct DecisionOrder {
    /// The version that was shown.
    pub(crate) version: Option<u64>,
    /// The digest of what was shown, where the caller names it.
    pub(crate) shown: Option<Digest>,
    /// What makes it the same decision when it is sent again.
    pub(crate) key: Option<String>,
    /// What is decided.
    pub(crate) verdict: Verdict,
    /// The answer.
    pub(crate) payload: Option<Value>,
    /// Words for the agent.
    pub(crate) message: Option<String>,
    /// Where to go instead.
    pub(crate) reroute_to: Option<String>,
    /// How it came here.
    pub(crate) way: Way,
}

/// What deciding did.
#[derive(Debug)]
pub(crate) enum Decided {
    /// The decision was made.
    Now(Interrupt),
    /// It was made before, by the same request.
    Before(Interrupt),
}

impl Decided {
    /// The interrupt.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        match self {
            Self::Now(interrupt) | Self::Before(interrupt) => interrupt,
        }
    }
}

/// Decides. However many try, one decision stands, and the others are told which.
pub(crate) async fn decide(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    order: DecisionOrder,
) -> Result<Decided, Problem> {
    Right::Decide.demand(caller)?;
    let about = format!("/v1/interrupts/{}", interrupt.id);
    let id = decision_id(caller, interrupt, order.key.as_deref());
    if let Some(before) = made_before(interrupt, id, &order)? {
        return Ok(before);
    }
    if let Some(problem) = not_decided(interrupt, app.now()) {
        return Err(problem.about(about));
    }
    refuse_own_question(caller, interrupt).map_err(|problem| problem.about(about.clone()))?;
    let version = order.version.ok_or_else(|| version_needed(interrupt))?;
    let fits = check_plan(app, interrupt, &order).await;
    fits.map_err(|problem| problem.about(&*about))?;
    let choosing = choosing(interrupt, id, &order).map_err(|problem| problem.about(&*about))?;
    let shown = order
        .shown
        .or(interrupt.review.as_ref().map(|review| review.shown))
        .unwrap_or(Digest::ZERO);
    let judge = Judge::Person {
        actor: caller.actor.clone(),
        version,
        shown,
    };
    let decided = app.store().decide(interrupt.id, judge, choosing).await;
    match decided {
        Ok(decided) => {
            app.metrics.decided(order.verdict, order.way);
            app.metrics.waited(&decided);
            app.wake_run(decided.run).await;
            Ok(Decided::Now(decided))
        }
        Err(error) => Err(lost(app, interrupt, error).await.about(about)),
    }
}

/// Whether a decision would be accepted now, as far as can be said without making it.
pub(crate) fn check_decision(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    order: &DecisionOrder,
) -> Result<(), Problem> {
    let id = decision_id(caller, interrupt, order.key.as_deref());
    if made_before(interrupt, id, order)?.is_some() {
        return Ok(());
    }
    if let Some(problem) = not_decided(interrupt, app.now()) {
        return Err(problem);
    }
    refuse_own_question(caller, interrupt)?;
    choosing(interrupt, id, order)?;
    let review = interrupt.review.as_ref();
    let shown = review.map(|review| review.shown);
    if order.shown.is_some() && order.shown != shown {
        return Err(of_change(&Refusal::ShownDiffers.into(), app.now()));
    }
    let given = order.version.unwrap_or_default();
    if given != interrupt.version {
        let current = interrupt.version;
        let stale = Refusal::StaleVersion { given, current };
        return Err(of_change(&stale.into(), app.now()));
    }
    Ok(())
}

/// The same request was carried out before: its answer stands. The same key with another request is refused.
fn made_before(
    interrupt: &Interrupt,
    id: DecisionId,
    order: &DecisionOrder,
) -> Result<Option<Decided>, Problem> {
    let Some(decision) = interrupt
        .decision
        .as_ref()
        .filter(|decision| decision.id == id)
    else {
        return Ok(None);
    };
    let same = choosing(interrupt, id, order).is_ok_and(|choosing| {
        choosing.verdict == decision.verdict && choosing.content == decision.content
    });
    if same {
        return Ok(Some(Decided::Before(interrupt.clone())));
    }
    Err(Problem::new(
        Kind::IdempotencyConflict,
        "the key was used for another decision on this interrupt",
        "use a new `Idempotency-Key` for a new decision",
    )
    .with("decision_id", decision.id.to_string()))
}

/// The refusal of the store, with the decision that stands where somebody was first.
async fn lost(app: &App, interrupt: &Interrupt, error: ChangeError) -> Problem {
    let problem = of_change(&error, app.now());
    if problem.kind() != Kind::StaleVersion {
        return problem;
    }
    // Between the caller's look and now somebody decided: who and what says more than a version.
    match app.store().interrupt(interrupt.id).await {
        Ok(Some(now)) => not_decided(&now, app.now()).unwrap_or(problem),
        Ok(None) | Err(_) => problem,
    }
}

/// Whoever raised a question must not answer it, under whatever role.
fn refuse_own_question(caller: &Caller, interrupt: &Interrupt) -> Result<(), Problem> {
    let asker = &interrupt.requested_by;
    let own = asker.role == Role::Requester && asker.name == caller.actor.name;
    let is_agent = caller.actor.name.as_str() == interrupt.node.as_str();
    if own || is_agent {
        return Err(Problem::new(
            Kind::Forbidden,
            "whoever asks a question cannot answer it",
            "let somebody else decide",
        ));
    }
    Ok(())
}

fn version_needed(interrupt: &Interrupt) -> Problem {
    Problem::new(
        Kind::PreconditionRequired,
        "the decision does not say which version of the interrupt it is about",
        format!(
            "read the interrupt, then send its ETag: `If-Match: \"{}\"` at this moment",
            interrupt.version
        ),
    )
    .with("current_version", interrupt.version)
}

fn choosing(
    interrupt: &Interrupt,
    id: DecisionId,
    order: &DecisionOrder,
) -> Result<Choosing, Problem> {
    if !interrupt.allowed.contains(&order.verdict) || order.verdict == Verdict::Applied {
        let allowed: Vec<Value> = interrupt
            .allowed
            .iter()
            .filter(|&&verdict| verdict != Verdict::Applied)
            .map(|&verdict| Value::from(verdict_name(verdict)))
            .collect();
        return Err(Problem::new(
            Kind::DecisionNotAllowed,
            format!("`{}` cannot be decided here", verdict_name(order.verdict)),
            "choose one that is allowed",
        )
        .with("allowed_decisions", allowed));
    }
    let Answered { content, target } = answer_of(interrupt, order)?;
    Ok(Choosing {
        id,
        verdict: order.verdict,
        target,
        content,
    })
}

/// The id of a decision: of the caller's key, so that it is the same when it is sent again.
fn decision_id(caller: &Caller, interrupt: &Interrupt, key: Option<&str>) -> DecisionId {
    match key {
        Some(key) => {
            let purpose = format!("decision {}", interrupt.id);
            DecisionId::from_uuid(keyed(caller, &purpose, key))
        }
        None => DecisionId::generate(),
    }
}
