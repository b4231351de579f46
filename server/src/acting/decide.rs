//! Deciding an interrupt.

use control::{Caller, NewDecision, RememberOrder, Right};
use interrupt_router::{DecisionId, RuleId};
use interrupts::life::{Choosing, Interrupt};
use interrupts::store::Deciding;

use crate::app::App;
use crate::clearing::end_of_gone;
use crate::metrics::Way;
use crate::problem::{Code, Problem};

/// A decision that a caller wants to make.
#[derive(Debug, Clone)]
pub(crate) struct DecisionOrder {
    /// The decision, as the caller wrote it.
    pub(crate) decision: NewDecision,
    /// The key by which a repeated request is the same decision.
    pub(crate) key: Option<String>,
    /// How it came here.
    pub(crate) way: Way,
}

/// What deciding did.
#[derive(Debug)]
pub(crate) enum DecideOutcome {
    /// The decision was made.
    Now(Interrupt),
    /// It was made before, by the same request.
    Before(Interrupt),
}

impl DecideOutcome {
    /// The interrupt.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        match self {
            Self::Now(interrupt) | Self::Before(interrupt) => interrupt,
        }
    }
}

/// Decides. However many callers try, one decision wins, and the others get that one.
pub(crate) async fn decide(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    order: DecisionOrder,
) -> Result<DecideOutcome, Problem> {
    let about = |problem: Problem| problem.about(format!("/v1/interrupts/{}", interrupt.id));
    let orders = [(interrupt.clone(), order)];
    let made = decide_all(app, caller, &orders).await;
    let made = made.map(|made| made.into_iter().next());
    let refused = match made {
        Ok(Some(outcome)) => return Ok(outcome),
        Ok(None) => None,
        Err(refused) => refused.into_iter().next(),
    };
    Err(about(refused.map_or_else(not_made, |(_, problem)| problem)))
}

/// A decision that was refused among others, with its place among them.
pub(crate) type RefusedAt = (usize, Problem);

/// Decides several interrupts in one transaction: all of them, or none and every reason why not.
pub(crate) async fn decide_all(
    app: &App,
    caller: &Caller,
    orders: &[(Interrupt, DecisionOrder)],
) -> Result<Vec<DecideOutcome>, Vec<RefusedAt>> {
    let (mut deciding, mut places) = (Vec::new(), Vec::new());
    let (mut decided, mut refused) = (Vec::new(), Vec::new());
    for (place, (interrupt, order)) in orders.iter().enumerate() {
        let prepared = match Right::Decide.demand(caller) {
            Ok(()) => prepare(app, caller, interrupt, order).await,
            Err(refusal) => Err(refusal.into()),
        };
        match prepared {
            Ok(Prepared::Before(before)) => decided.push((place, *before)),
            Ok(Prepared::Deciding(one)) => {
                deciding.push(*one);
                places.push(place);
            }
            Err(problem) => refused.push((place, problem)),
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    match app.control().decide(deciding).await {
        Ok(Ok(made_now)) => {
            for (place, one) in places.into_iter().zip(made_now) {
                if let Some((_, order)) = orders.get(place) {
                    made(app, &one, order);
                }
                decided.push((place, DecideOutcome::Now(one)));
            }
            decided.sort_by_key(|(place, _)| *place);
            Ok(decided.into_iter().map(|(_, one)| one).collect())
        }
        Ok(Err(lost)) => {
            let place = |one: usize| places.get(one).copied().unwrap_or_default();
            let lost = lost.into_iter();
            Err(lost.map(|(one, why)| (place(one), why.into())).collect())
        }
        Err(failed) => Err(vec![(0, failed.into())]),
    }
}

/// The result of preparing an order, before the store is asked.
enum Prepared {
    /// The same request was carried out before.
    Before(Box<DecideOutcome>),
    /// It can be made, unless another caller is faster.
    Deciding(Box<Deciding>),
}

/// Checks everything about a decision that can be checked without making it.
async fn prepare(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    order: &DecisionOrder,
) -> Result<Prepared, Problem> {
    let id = decision_id(caller, interrupt, order.key.as_deref());
    if let Some(before) = made_before(app, interrupt, id, order).await? {
        return Ok(Prepared::Before(Box::new(before)));
    }
    let interrupt = still_asked(app, interrupt).await?;
    let catalogue = app.catalogue_of(&interrupt).await?;
    let decision = &order.decision;
    let about = (&interrupt, catalogue.as_deref());
    let deciding = decision.deciding(app.store(), about, (&caller.actor, id), app.now());
    Ok(Prepared::Deciding(Box::new(deciding.await?)))
}

/// The interrupt as it is now: withdrawn if the program that asked has gone.
async fn still_asked(app: &App, interrupt: &Interrupt) -> Result<Interrupt, Problem> {
    if let Some(run) = app.store().run(interrupt.run).await?
        && end_of_gone(app, Some(&run)).await
        && let Some(now) = app.store().interrupt(interrupt.id).await?
    {
        return Ok(now);
    }
    Ok(interrupt.clone())
}

/// What follows a decision that was made: it is counted, and the run goes on.
fn made(app: &App, decided: &Interrupt, order: &DecisionOrder) {
    app.metrics.decided(order.decision.parts.verdict, order.way);
    app.metrics.waited(decided);
    app.wake_run(decided.run);
}

pub(super) fn not_made() -> Problem {
    Problem::new(
        Code::NotInState,
        "the decision was not made",
        "read the interrupt again to see where it stands",
    )
}

/// If the same request was carried out before, its result. The same key with another request is refused.
pub(super) async fn made_before(
    app: &App,
    interrupt: &Interrupt,
    id: DecisionId,
    order: &DecisionOrder,
) -> Result<Option<DecideOutcome>, Problem> {
    let Some(decision) = interrupt
        .decision
        .as_ref()
        .filter(|decision| decision.id == id)
    else {
        return Ok(None);
    };
    let same = choosing(app, interrupt, id, order)
        .await
        .is_ok_and(|choosing| {
            choosing.verdict == decision.verdict && choosing.content == decision.content
        });
    if same && is_remembered_so(app, id, order.decision.remember).await? {
        return Ok(Some(DecideOutcome::Before(interrupt.clone())));
    }
    Err(Problem::new(
        Code::IdempotencyConflict,
        "the key was used for another decision on this interrupt",
        "use a new `Idempotency-Key` for a new decision",
    )
    .with("decision_id", decision.id.to_string()))
}

/// Whether a decision that was made is remembered as the order says. Its rule has the decision's id.
async fn is_remembered_so(
    app: &App,
    id: DecisionId,
    order: Option<RememberOrder>,
) -> Result<bool, Problem> {
    let rule = app.store().rule(RuleId::from_uuid(id.uuid())).await?;
    Ok(match (order, rule) {
        (None, None) => true,
        (Some(order), Some(rule)) => order.made(&rule),
        (None, Some(_)) | (Some(_), None) => false,
    })
}

pub(super) async fn choosing(
    app: &App,
    interrupt: &Interrupt,
    id: DecisionId,
    order: &DecisionOrder,
) -> Result<Choosing, Problem> {
    let catalogue = app.catalogue_of(interrupt).await?;
    Ok(order
        .decision
        .choosing(interrupt, catalogue.as_deref(), id)?)
}

/// The id of a decision: derived from the caller's key, so that a repeated request has the same.
pub(super) fn decision_id(caller: &Caller, interrupt: &Interrupt, key: Option<&str>) -> DecisionId {
    match key {
        Some(key) => {
            let purpose = format!("decision {}", interrupt.id);
            DecisionId::from_uuid(caller.keyed(&purpose, key))
        }
        None => DecisionId::generate(),
    }
}
