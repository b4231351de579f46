//! Each interrupt: were its steps legal, is it what the audit says, and where did its decision lead?

use interrupt_router::InterruptId;
use interrupt_router::reroute::RerouteState;
use interrupts::Digest;
use interrupts::life::{Decision, Interrupt, State, Transition, Verdict};
use interrupts::store::{Filter, Page, Store, StoreError};

use super::history::{History, Moment, PAGE};
use super::{Finding, Report};

pub(super) async fn all(store: &dyn Store) -> Result<Vec<Interrupt>, StoreError> {
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let rows = store.interrupts(&Filter::default(), page).await?;
        let Some((last, _interrupt)) = rows.last() else {
            return Ok(found);
        };
        after = *last;
        found.extend(rows.into_iter().map(|(_position, interrupt)| interrupt));
    }
}

pub(super) async fn check(
    store: &dyn Store,
    history: &History,
    report: &mut Report,
) -> Result<(), StoreError> {
    for interrupt in all(store).await? {
        report.interrupts += 1;
        let life = history
            .lives
            .get(&interrupt.id)
            .map_or(&[][..], Vec::as_slice);
        steps(interrupt.id, life, report);
        let audited = life.last().map(|moment| moment.audited.to);
        if audited != Some(interrupt.state) {
            report.findings.push(Finding::Unlike {
                interrupt: interrupt.id,
                audited,
                found: interrupt.state,
            });
        }
        bound(&interrupt, life, report);
        if let Some(decision) = &interrupt.decision {
            report.decisions += 1;
            decided(&interrupt, decision, life, report);
        }
        rerouted(store, &interrupt, report).await?;
    }
    Ok(())
}

/// P5 and P21: the interrupt and its decision are those whose digests the audit has. Made here anew, of what the ports
/// give.
fn bound(interrupt: &Interrupt, life: &[Moment], report: &mut Report) {
    let mut lasting = serde_json::to_value(interrupt).unwrap_or_default();
    if let Some(members) = lasting.as_object_mut() {
        // Its owner may have renewed it since.
        members.shift_remove("lease");
    }
    let found = Digest::of(lasting.to_string().as_bytes());
    let bound = life.last().and_then(|moment| moment.bound);
    let made = life.iter().find_map(|moment| moment.audited.answer);
    let answer = interrupt.decision.as_ref().map(Decision::digest);
    if bound.is_some_and(|bound| bound != found) || made.is_some() && made != answer {
        report.findings.push(Finding::OtherContent {
            interrupt: interrupt.id,
        });
    }
}

/// P4: every pair of states that follow each other is in the table, and counters only grow.
fn steps(interrupt: InterruptId, life: &[Moment], report: &mut Report) {
    let mut wrong = |detail: String| {
        report
            .findings
            .push(Finding::IllegalStep { interrupt, detail });
    };
    let mut before: Option<&Moment> = None;
    for moment in life {
        let now = &moment.audited;
        match before.map(|before| &before.audited) {
            None if now.from.is_none() && now.to == State::Requested => {}
            None => wrong(format!("it begins with {:?} to {}", now.from, now.to)),
            Some(last) => {
                if now.from != Some(last.to) {
                    wrong(format!("{} follows {}", now.event, last.to));
                }
                if now.row.is_some() && Transition::between(last.to, now.to).is_none() {
                    wrong(format!("{} follows {} by {}", now.to, last.to, now.event));
                }
                if now.row.is_none() && now.to != last.to {
                    wrong(format!(
                        "{} changed the state without a transition",
                        now.event
                    ));
                }
                if now.version <= last.version || now.epoch < last.epoch {
                    wrong(format!("{} went back in version or epoch", now.event));
                }
            }
        }
        before = Some(moment);
    }
}

/// P8 and P9: one decision, and it leads where it may.
fn decided(interrupt: &Interrupt, decision: &Decision, life: &[Moment], report: &mut Report) {
    let ends = |moment: &&Moment| match moment.audited.to {
        State::Resolved | State::Rerouted | State::Expired => true,
        State::Requested
        | State::Delivered
        | State::Acknowledged
        | State::AwaitingReview
        | State::Cancelled
        | State::DeadLettered => false,
    };
    let times = life.iter().filter(ends).count();
    if times != 1 {
        let interrupt = interrupt.id;
        report
            .findings
            .push(Finding::DecidedTwice { interrupt, times });
    }
    let bound = interrupt.bound.as_ref();
    let expected = match (decision.verdict, interrupt.state) {
        // Whoever chose another target says which; that it may be chosen is looked at below.
        (Verdict::Reroute, _) | (_, State::Expired) => None,
        (_, _) => Some(bound.map_or(&interrupt.origin, |bound| &bound.target)),
    };
    let strays = expected.is_some_and(|expected| *expected != decision.target);
    if strays || !interrupt.allows_target(&decision.target) {
        report.findings.push(Finding::WrongDestination {
            interrupt: interrupt.id,
            detail: format!(
                "{:?} leads to {}, expected was {expected:?} among {:?}",
                decision.verdict, decision.target, interrupt.routes
            ),
        });
    }
}

/// P6: a bound reroute is consumed exactly where its interrupt was decided, and by that decision.
async fn rerouted(
    store: &dyn Store,
    interrupt: &Interrupt,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(bound) = &interrupt.bound else {
        return Ok(());
    };
    let state = store.reroute(&bound.event).await?.map(|row| row.state);
    let decision = interrupt.decision.as_ref().map(|decision| decision.id);
    let is_decided = match interrupt.state {
        State::Resolved | State::Rerouted => true,
        State::Requested
        | State::Delivered
        | State::Acknowledged
        | State::AwaitingReview
        | State::Expired
        | State::Cancelled
        | State::DeadLettered => false,
    };
    let consumed_here = matches!(
        &state,
        Some(RerouteState::Consumed { interrupt: by, decision: with })
            if *by == interrupt.id && Some(*with) == decision
    );
    report.consumed += usize::from(consumed_here);
    if is_decided != consumed_here {
        report.findings.push(Finding::RerouteDisagrees {
            event: bound.event.clone(),
            detail: format!(
                "{} is {}, its reroute is {state:?}",
                interrupt.id, interrupt.state
            ),
        });
    }
    Ok(())
}
