//! Pauses that a policy ends after some time: which ones, when, and their end.

use std::sync::Arc;

use control::not_changed;
use interrupt_router::{DecisionId, InterruptType, RunId};
use interrupts::life::{Actor, Choosing, Family, Interrupt, Judge, Role, RunState, State};
use interrupts::manager::{RunEnd, StopCause, StopNote};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{ChangeError, Deciding, Filter, Run, Store, TogetherError};
use interrupts::{ActorName, Digest};
use jiff::{SignedDuration, Timestamp};

use crate::branched::is_left_by_branch;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::question::matter;
use crate::run_owner::{LocalRun, RunOwner, not_taken};

/// The shortest time between a pause and its end: a pause that fails again at once must not become a load.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);

/// All that a run waits for, if the policy ends each of them.
pub(crate) struct Due {
    pauses: Vec<DuePause>,
    /// When the last of them ends.
    pub(crate) at: Timestamp,
}

/// A pause that the policy ends.
struct DuePause {
    pause: Interrupt,
    choosing: Choosing,
    at: Timestamp,
}

impl Due {
    /// What the policy ends of a run; `None` if anything else is open in it, if nothing is, or if a BRANCH has left the
    /// run.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn of(
        store: &dyn Store,
        policy: &Policy,
        run: &Run,
    ) -> Result<Option<Self>, Failure> {
        let open = open_in(store, run).await?;
        let pauses = open.into_iter().map(|pause| due(policy, pause));
        let Some(pauses) = pauses.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let Some(at) = pauses.iter().map(|due| due.at).max() else {
            return Ok(None);
        };
        let is_left = is_left_by_branch(store, run).await?;
        Ok((!is_left).then_some(Self { pauses, at }))
    }

    /// Decides all of them as the policy says, or none if someone else has decided one. Returns whether it did.
    async fn decide(self, store: &dyn Store) -> Result<bool, Failure> {
        let pauses = self.pauses.into_iter();
        let decisions = pauses.map(|due| deciding(due.pause, due.choosing));
        let decisions = decisions.collect::<Result<Vec<_>, _>>()?;
        match store.decide_together(decisions).await {
            Ok(_) => Ok(true),
            Err(TogetherError::Refused(_)) => Ok(false),
            Err(TogetherError::Store(error)) => Err(error.into()),
            Err(error) => Err(Failure::new(Exit::Failure, error.to_string())),
        }
    }
}

/// Whether nothing holds up a paused or waiting run: what it waited for has been decided or withdrawn, and no process
/// has continued it. If a BRANCH has left it, a person has to ask for it to continue.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn is_free(store: &dyn Store, run: &Run) -> Result<bool, Failure> {
    let state_words = matches!(run.state, RunState::Paused | RunState::Waiting);
    if !state_words || !open_in(store, run).await?.is_empty() {
        return Ok(false);
    }
    let is_left = is_left_by_branch(store, run).await;
    Ok(!is_left?)
}

/// The interrupts of a run that have not ended, and that no one has to try again.
async fn open_in(store: &dyn Store, run: &Run) -> Result<Vec<Interrupt>, Failure> {
    let filter = Filter {
        run: Some(run.id),
        states: vec![
            State::Requested,
            State::Delivered,
            State::Acknowledged,
            State::AwaitingReview,
        ],
        ..Filter::default()
    };
    let open = listing::interrupts_in(store, &filter).await;
    Ok(open?)
}

/// Continues a run that this process has taken for that: ends all that it waits for as the policy says, unless someone
/// has ended it before. If anything else holds up the run by now, nothing is ended, and the run is given back. From now
/// on, requests go to the run's owner, so nothing comes between the check and the end.
///
/// # Errors
///
/// If the store cannot be read or written; the lease of the run runs out then.
///
/// # Cancel safety
///
/// Dropped, the pauses may be ended, and the run is let go as if this process had died.
pub(crate) async fn let_go_on(
    run_owner: &RunOwner,
    policy: &Policy,
    kept: LocalRun,
) -> Result<Option<LocalRun>, Failure> {
    let store = run_owner.store();
    let run = store.run(kept.run.run()).await;
    let may_go_on = match run? {
        Some(run) => match Due::of(store, policy, &run).await? {
            Some(due) if due.at <= Timestamp::now() => due.decide(store).await?,
            Some(_) => false,
            None => is_free(store, &run).await?,
        },
        None => false,
    };
    if may_go_on {
        // The run was found with these pauses: they no longer hold it up.
        let lifted = kept.run.goes_on(&actor()?).await;
        lifted.map_err(|error| not_taken(kept.run.run(), &error))?;
        return Ok(Some(kept));
    }
    let LocalRun { run, .. } = kept;
    let id = run.run();
    if let Ok(run) = Arc::try_unwrap(run) {
        let settled = run.settle(RunEnd::Stopped).await;
        settled.map_err(|error| not_taken(id, &error))?;
    }
    run_owner.carry_out_late(id).await?;
    Ok(None)
}

/// Answers what is open in a run that this process continues, as the policy's rules say: questions that were raised
/// before such a rule applied. Questions that someone has claimed, or that something goes before, are left to people;
/// so is whether a tool may be called, which has rules of its own.
///
/// # Errors
///
/// If the store cannot be read or written.
///
/// # Cancel safety
///
/// Dropped, some questions are answered and others not.
pub(crate) async fn answer_open(
    store: &dyn Store,
    policy: &Policy,
    run: RunId,
) -> Result<(), Failure> {
    if *policy == Policy::default() {
        return Ok(());
    }
    let filter = Filter {
        run: Some(run),
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    let open = listing::interrupts_in(store, &filter).await;
    for question in open? {
        let Some(answer) = answered(policy, question)? else {
            continue;
        };
        let Deciding {
            interrupt,
            judge,
            choosing,
            ..
        } = answer;
        match store.decide(interrupt, judge, choosing).await {
            // Someone else was faster and has decided it, or has it in hand.
            Ok(_) | Err(ChangeError::Refused(_)) => {}
            Err(error) => {
                return Err(not_changed(Some(interrupt), error, Timestamp::now()).into());
            }
        }
    }
    Ok(())
}

/// How the policy answers a question, if it does.
fn answered(policy: &Policy, question: Interrupt) -> Result<Option<Deciding>, Failure> {
    let review = question.review.as_ref();
    let is_assigned = review.is_some_and(|review| review.assignee.is_some());
    let is_of_people = is_assigned || matter(&question).is_some();
    if question.family() != Family::Question || is_of_people {
        return Ok(None);
    }
    // An interrupt has one decision at most, so its own bits name it.
    match policy.decide(&question, DecisionId::from_uuid(question.id.uuid())) {
        Automatic::Decide { choosing, .. } => deciding(question, choosing).map(Some),
        Automatic::Ask { .. } => Ok(None),
    }
}

/// When and how the policy ends an interrupt, if it does.
fn due(policy: &Policy, pause: Interrupt) -> Option<DuePause> {
    if pause.interrupt_type != InterruptType::Pause {
        // A question that a rule answers is decided when it is raised, and when its run is resumed.
        return None;
    }
    // An interrupt has one decision at most, so its own bits name it.
    let id = DecisionId::from_uuid(pause.id.uuid());
    match policy.decide(&pause, id) {
        Automatic::Decide { choosing, after }
            if pause.state == State::AwaitingReview && may_end(&pause) =>
        {
            let since = pause.acknowledged_at.unwrap_or(pause.requested_at);
            let at = since.checked_add(after.max(SHORTEST)).ok()?;
            Some(DuePause {
                pause,
                choosing,
                at,
            })
        }
        Automatic::Decide { .. } | Automatic::Ask { .. } => None,
    }
}

/// Whether waiting can help: a limit that was reached stays reached, and a process that was asked to end ends, no
/// matter who else asks for the pause.
fn may_end(pause: &Interrupt) -> bool {
    let passes = |note: &StopNote| match note.cause {
        StopCause::Budget | StopCause::Timeout | StopCause::Resource | StopCause::Shutdown => false,
        StopCause::UserEscape
        | StopCause::Permission
        | StopCause::SystemError
        | StopCause::Policy
        | StopCause::Hook
        | StopCause::Code => true,
    };
    StopNote::in_force(pause).iter().all(passes)
}

/// In whose name a policy decides: the machinery's, and no person's.
fn actor() -> Result<Actor, Failure> {
    let name = ActorName::new("policy");
    Ok(Actor {
        name: name.map_err(|error| Failure::new(Exit::Failure, error.to_string()))?,
        role: Role::System,
    })
}

/// The decision of an interrupt, in the policy's name.
fn deciding(interrupt: Interrupt, choosing: Choosing) -> Result<Deciding, Failure> {
    let review = interrupt.review.as_ref();
    Ok(Deciding {
        interrupt: interrupt.id,
        judge: Judge::PolicyLater {
            actor: actor()?,
            version: interrupt.version,
            shown: review.map_or(Digest::ZERO, |it| it.shown),
        },
        choosing,
        remember: None,
    })
}

#[cfg(test)]
mod tests {
    use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
    use interrupts::life::{
        Admission, Event, ExpiryOutcome, Interrupt, Limits, NewAsking, Recurrence, Scope,
    };
    use interrupts::manager::StopCause;
    use interrupts::{IdempotencyKey, KindName, RouteName};
    use jiff::Timestamp;
    use serde_json::json;

    use super::{Actor, ActorName, Role, RunState, may_end};

    fn asking(by: &str, cause: StopCause, source: StopSource) -> NewAsking {
        NewAsking {
            by: Actor {
                name: ActorName::new(by).unwrap(),
                role: Role::System,
            },
            source,
            mode: StopMode::Graceful,
            reason: format!("{by} asks"),
            content: json!({"cause": cause}).to_string(),
        }
    }

    fn pause(by: NewAsking) -> Interrupt {
        let route = RouteName::new("ORCHESTRATOR").unwrap();
        let admission = Admission {
            id: InterruptId::generate(),
            run: RunId::generate(),
            node: NodeId::root(),
            kind: KindName::new("ORCHESTRATOR").unwrap(),
            origin: route.clone(),
            routes: vec![route],
            interrupt_type: InterruptType::Pause,
            source: by.source,
            requested_by: by.by,
            mode: by.mode,
            scope: Scope::Run,
            reason: by.reason,
            content: by.content,
            key: IdempotencyKey::new("once").unwrap(),
            allowed: Vec::new(),
            patience: None,
            on_expiry: ExpiryOutcome::Cancel,
            most_attempts: 3,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        };
        let (digest, limits) = (admission.digest(), Limits::default());
        let step = admission.admit(digest, RunState::Running, &limits, Timestamp::UNIX_EPOCH);
        step.unwrap().interrupt
    }

    #[test]
    fn a_limit_is_not_waited_for_whoever_asked_for_the_pause_before_it() {
        let program = asking("program", StopCause::Code, StopSource::Programmatic);
        let limit = asking("limit", StopCause::Budget, StopSource::System);
        assert!(may_end(&pause(program.clone())));
        assert!(!may_end(&pause(limit.clone())));
        let joined = |first: &NewAsking, asking: &NewAsking| {
            let asking = asking.clone();
            let step = pause(first.clone()).after(&Event::Ask { asking }, Timestamp::UNIX_EPOCH);
            step.unwrap().interrupt
        };
        assert!(!may_end(&joined(&program, &limit)));
        assert!(!may_end(&joined(&limit, &program)));
    }
}
