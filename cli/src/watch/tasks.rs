//! Carries out what the keys ask for, through the backend.

use control::{AskAgent, ChangeClaim, DecisionParts, NewDecision, StopOrder};
use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode};
use interrupts::life::{Interrupt, Scope, State, USUAL_CLAIM, Verdict};
use interrupts::store::Run;
use interrupts::{Digest, RouteName};
use jiff::Timestamp;

use super::action::{Action, Done};
use super::continuation::{RunContinuation, Way};
use crate::advice::advised;
use crate::asking;
use crate::backend::{Backend, goes_on_there};
use crate::exit::{Exit, Failure};
use crate::plan;
use crate::refused::no_interrupt;
use crate::request::{Addressee, AskRequest};
use crate::run_owner::has_process;
use crate::state_words::state_words;
use crate::time::Grace;
use crate::withdrawal;

/// The message when this process continues what was decided.
const GOES_ON: &str = "Decided; it goes on.";

/// Who continues a run whose pause was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follower {
    /// Another process, or none: that is looked up and shown.
    Somebody,
    /// The process that shows the screens, once they are left.
    ThisProcess,
}

/// Carries out an action that concerns the backend.
///
/// # Cancel safety
///
/// Dropped, it was done or not; the next snapshot shows it.
pub(super) async fn perform(at: &dyn Backend, action: Action, follower: Follower) -> Done {
    // The words for an agent, if they are all that this would bring to it.
    let words = if let Action::Resume { run, input, .. } = &action {
        input.clone().map(|words| (*run, words))
    } else {
        None
    };
    let done = match action {
        Action::Interrupt { run, node, grace } => interrupt(at, run, node, grace).await,
        Action::Harden { interrupt } => harden(at, interrupt).await,
        Action::Widen {
            run,
            interrupt: narrow,
        } => widen(at, run, narrow).await,
        Action::RerouteAgent {
            run,
            node,
            interrupt,
            target,
        } => reroute(at, (run, node), interrupt, &target).await,
        Action::Resume {
            interrupt, input, ..
        } => resume(at, interrupt, input, follower).await,
        Action::Suggest { run, request } => {
            let proposed = suggest(at, run, &request).await;
            return proposed.unwrap_or_else(|failure| Done::NotProposed(failure.to_string()));
        }
        Action::ApplyPlan { run, digest } => apply_plan(at, run, &digest, follower).await,
        Action::Withdraw { interrupt } => withdraw(at, interrupt).await,
        Action::Stop { run, scope } => stop(at, run, scope).await,
        Action::Decide { .. } => decide(at, action).await,
        Action::Claim {
            interrupt,
            version,
            take,
        } => claim(at, interrupt, version, take).await,
        // The screens do this themselves.
        Action::Edit { .. } | Action::Quit => Ok(Done::Told(String::new())),
    };
    done.unwrap_or_else(|failure| {
        let hint = failure.advice().map(|hint| format!(" — {}", advised(hint)));
        let why = format!("{failure}{}", hint.unwrap_or_default());
        match words {
            Some((run, words)) => Done::NotSent { run, words, why },
            None => Done::Refused(why),
        }
    })
}

async fn addressee(
    at: &dyn Backend,
    run: RunId,
    node: Option<NodeId>,
) -> Result<Addressee, Failure> {
    let gone = || Failure::new(Exit::NotFound, format!("there is no {run}"));
    let found = at.run(run).await?.ok_or_else(gone)?;
    let Some(node) = node else {
        return Addressee::whole(at, found).await;
    };
    let ask = AskAgent {
        run,
        node: node.clone(),
    };
    let row = at.ask(ask).await?.ok_or_else(gone)?;
    Ok(Addressee::agent(found, &row))
}

async fn interrupt(
    at: &dyn Backend,
    run: RunId,
    node: Option<NodeId>,
    grace: Grace,
) -> Result<Done, Failure> {
    let scope = if node.is_some() {
        Scope::Agent
    } else {
        Scope::Run
    };
    let to = addressee(at, run, node).await?;
    let wanted = StopOrder {
        limit_ms: grace.millis(),
        ..StopOrder::new(
            InterruptType::Pause,
            StopMode::Graceful,
            scope,
            "interrupted from the terminal".to_owned(),
        )
    };
    let interrupt = at.stop(&to, &wanted).await?.into_interrupt();
    Ok(Done::Interrupted {
        interrupt: interrupt.id,
    })
}

async fn stop(at: &dyn Backend, run: RunId, scope: Scope) -> Result<Done, Failure> {
    let to = addressee(at, run, None).await?;
    let wanted = StopOrder::new(
        InterruptType::Stop,
        StopMode::Immediate,
        scope,
        "ended from the terminal".to_owned(),
    );
    let interrupt = at.stop(&to, &wanted).await?.into_interrupt();
    Ok(Done::Told(format!(
        "{run} is being cancelled ({})",
        interrupt.id
    )))
}

async fn harden(at: &dyn Backend, id: InterruptId) -> Result<Done, Failure> {
    at.harden(id).await?;
    Ok(Done::Told("Stopping now.".to_owned()))
}

/// The whole run first, so that the agent has no moment to continue.
async fn widen(at: &dyn Backend, run: RunId, narrow: InterruptId) -> Result<Done, Failure> {
    let wide = interrupt(at, run, None, Grace::OF_ESCAPE).await?;
    if at.withdraw(narrow, None).await.is_err() {
        // It has taken effect.
        let _run = let_go_on(at, narrow, None).await?;
    }
    Ok(wide)
}

async fn reroute(
    at: &dyn Backend,
    (run, node): (RunId, NodeId),
    pause: InterruptId,
    target: &RouteName,
) -> Result<Done, Failure> {
    let wish = AskRequest {
        event: None,
        at: Timestamp::now(),
        interrupt_type: InterruptType::HumanReview,
        to: Some(target.clone()),
        reason: "sent elsewhere from the terminal".to_owned(),
    };
    let to = addressee(at, run, Some(node)).await?;
    at.publish(&to, wish).await?;
    let_go_on(at, pause, None).await?;
    let standing = RunContinuation::of(at, run).await?;
    Ok(Done::Told(format!(
        "{} It is asked to interrupt itself, and the answer goes to {target}.",
        standing.in_words()
    )))
}

/// The screen may be older than the stop that the run has received meanwhile.
async fn withdraw(at: &dyn Backend, id: InterruptId) -> Result<Done, Failure> {
    let interrupt = at.interrupt(id).await?.ok_or_else(|| no_interrupt(id))?;
    let run = interrupt.run;
    if interrupt.state != State::Requested && interrupt.state.is_live() {
        let found = at.run(run).await?;
        if found.is_some_and(|found| has_process(&found)) {
            return Ok(Done::StopsFirst { run, interrupt: id });
        }
    }
    let withdrawn = at.withdraw(id, None).await?;
    if let Some(names) = asking::still(&withdrawn).filter(|_names| withdrawn.state.is_live()) {
        return Ok(Done::Told(format!(
            "Withdrawn; it stays stopped: still requested by {names}."
        )));
    }
    Ok(Done::Told(
        match withdrawal::after(at, &withdrawn).await? {
            Some(why) => format!("Taken back too late: {why}"),
            None => "Taken back: it goes on unchanged.".to_owned(),
        },
    ))
}

async fn resume(
    at: &dyn Backend,
    id: InterruptId,
    input: Option<String>,
    follower: Follower,
) -> Result<Done, Failure> {
    let run = let_go_on(at, id, input).await?;
    if follower == Follower::ThisProcess {
        return Ok(Done::Told(GOES_ON.to_owned()));
    }
    Ok(Done::Told(RunContinuation::of(at, run).await?.in_words()))
}

/// Decides a pause, and returns its run. The same person's request just before may have changed it meanwhile: it is
/// still decided if what was shown is the same.
async fn let_go_on(
    at: &dyn Backend,
    id: InterruptId,
    input: Option<String>,
) -> Result<RunId, Failure> {
    loop {
        let decision = lets_go_on(at, id, input.as_deref()).await?;
        let (shown, version) = (decision.shown, decision.version);
        let refused = match at.decide(id, decision).await {
            Ok(decided) => return Ok(decided.run),
            Err(refused) => refused,
        };
        let now = lets_go_on(at, id, None).await;
        let is_as_shown = now.is_ok_and(|now| now.shown == shown && now.version != version);
        if refused.exit != Exit::Conflict || !is_as_shown {
            return Err(refused);
        }
    }
}

/// The decision that continues a stopped run, in the pause's present state.
async fn lets_go_on(
    at: &dyn Backend,
    id: InterruptId,
    input: Option<&str>,
) -> Result<NewDecision, Failure> {
    let interrupt = at.interrupt(id).await?.ok_or_else(|| no_interrupt(id))?;
    let Some(review) = &interrupt.review else {
        return Err(Failure::new(
            Exit::Conflict,
            format!("{id} is {}", state_words(interrupt.state)),
        ));
    };
    Ok(NewDecision {
        version: Some(interrupt.version),
        shown: Some(review.shown),
        parts: DecisionParts {
            message: input.map(str::to_owned),
            ..DecisionParts::new(if input.is_some() {
                Verdict::Respond
            } else {
                Verdict::Resume
            })
        },
        remember: None,
    })
}

/// The message about a run that may continue now.
async fn told_to_go_on(at: &dyn Backend, decided: &Interrupt) -> Result<Done, Failure> {
    let run = decided.run;
    let standing = match at.run(run).await? {
        Some(found) if has_process(&found) => RunContinuation::GoesOn,
        Some(found) if goes_on_there(at, &found, decided) => RunContinuation::Server,
        Some(found) => RunContinuation::Alone(Way::of(&found)),
        None => RunContinuation::GoesOn,
    };
    Ok(Done::Told(standing.in_words()))
}

async fn run_of(at: &dyn Backend, run: RunId) -> Result<Run, Failure> {
    at.run(run)
        .await?
        .ok_or_else(|| Failure::new(Exit::NotFound, format!("there is no {run}")))
}

async fn suggest(at: &dyn Backend, run: RunId, request: &str) -> Result<Done, Failure> {
    let row = run_of(at, run).await?;
    let wish = plan::suggestion(request)?;
    let changed = at.change_plan(&row, wish, None).await?;
    Ok(match plan::proposal_of(&changed)? {
        Some(preview) => Done::Proposed {
            run,
            preview: Box::new(preview),
        },
        None => Done::NotProposed("nothing was proposed".to_owned()),
    })
}

async fn apply_plan(
    at: &dyn Backend,
    run: RunId,
    digest: &Digest,
    follower: Follower,
) -> Result<Done, Failure> {
    let row = run_of(at, run).await?;
    let (decided, _preview) = plan::apply(at, &row, &digest.to_string()).await?;
    if follower == Follower::ThisProcess {
        return Ok(Done::Told(GOES_ON.to_owned()));
    }
    told_to_go_on(at, &decided).await
}

async fn decide(at: &dyn Backend, action: Action) -> Result<Done, Failure> {
    let Action::Decide {
        interrupt,
        version,
        shown,
        verdict,
        target,
        answer,
    } = action
    else {
        return Ok(Done::Told(String::new()));
    };
    let answer = serde_json::to_value(&answer)
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let decision = NewDecision {
        version: Some(version),
        shown: Some(shown),
        parts: DecisionParts {
            payload: Some(answer),
            reroute_to: target.map(|target| target.to_string()),
            ..DecisionParts::new(verdict)
        },
        remember: None,
    };
    let decided = at.decide(interrupt, decision).await?;
    told_to_go_on(at, &decided).await
}

async fn claim(
    at: &dyn Backend,
    id: InterruptId,
    version: u64,
    take: bool,
) -> Result<Done, Failure> {
    let claim = ChangeClaim {
        interrupt: id,
        version: Some(version),
        lasting: take.then_some(USUAL_CLAIM),
    };
    at.carry_out(claim).await?;
    Ok(Done::Told(
        if take {
            "Claimed for 5 minutes."
        } else {
            "Given back."
        }
        .to_owned(),
    ))
}
