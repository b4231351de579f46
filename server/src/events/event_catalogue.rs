//! The catalogue of the feed: every name of an event, with what it means, for readers of the reference.

/// The names of all events, and what each of them says.
pub(crate) const TOLD: [(&str, &str); 48] = [
    (
        "run.created",
        "A run was created: `goal` and `workflow` say for what.",
    ),
    ("run.running", "A run works, for the first time or again."),
    ("run.stopping", "A run was told to stop."),
    (
        "run.paused",
        "A run is paused until it is resumed: `reason` says why, `open_interrupts` which decisions are open.",
    ),
    (
        "run.waiting",
        "A run waits for an answer to one of its `open_interrupts`.",
    ),
    (
        "run.completed",
        "A run has reached its end: `summary` is what came of it.",
    ),
    ("run.failed", "A run has failed."),
    ("run.cancelled", "A run was ended on request."),
    ("agent.status_changed", "An agent does something else now."),
    (
        "agent.finished",
        "Nothing can happen to an agent any more; `status` says how it ended.",
    ),
    (
        "agent.message_added",
        "A message to an agent was accepted: `text`.",
    ),
    (
        "llm.call_started",
        "An agent asks its model: `reads` is what was said to it, or to its run, that it reads with that.",
    ),
    (
        "llm.call_finished",
        "The model has answered: `field` is what it has set, `usage` the tokens. Without them its agent was cut off before.",
    ),
    (
        "llm.call_cancelled",
        "A call was interrupted before the model had answered: `tokens_may_be_billed` says whether anything of it was sent.",
    ),
    ("tool.started", "An agent uses a tool."),
    ("tool.finished", "A call of a tool has ended by itself."),
    (
        "tool.interrupted",
        "A call of a tool was stopped while it ran; `left_behind` says whether something of it may still run.",
    ),
    (
        "tool.skipped",
        "A stop kept a call of a tool from starting.",
    ),
    ("effect.started", "Something else that is done once begins."),
    (
        "effect.finished",
        "Something else that is done once has been done: of an interrupt, that its answer goes on, with who decided and who wrote the request.",
    ),
    ("checkpoint.saved", "A run can be resumed from here."),
    (
        "interrupt.requested",
        "An interrupt was accepted; it has not taken hold yet.",
    ),
    ("interrupt.delivered", "The process of the run has it."),
    ("interrupt.acknowledged", "The agent has acknowledged it."),
    ("interrupt.opened", "It waits for a person."),
    (
        "interrupt.claimed",
        "A reviewer claimed it: `claimed_by` says who, and until when no one else can decide it. The end of a claim sends no event.",
    ),
    (
        "interrupt.released",
        "The claim was given back: everybody can decide it.",
    ),
    (
        "interrupt.held",
        "It waits until another interrupt is decided: `held_by`.",
    ),
    (
        "interrupt.updated",
        "Its review has changed otherwise: a reviewer was assigned, or nothing holds it any more.",
    ),
    ("interrupt.mode_raised", "A harder stop was asked for."),
    (
        "interrupt.asked",
        "A further request for the stop, or a harder one: `asking` says who and why, `source` is the most human source by now.",
    ),
    (
        "interrupt.taken_back",
        "Requests for the stop were withdrawn: `askings` are their ids, `withdrawn_by` says by whom.",
    ),
    (
        "interrupt.resolved",
        "It was decided: `decision` and `decided_by` say what and by whom.",
    ),
    (
        "interrupt.rerouted",
        "It was decided, and the answer goes elsewhere: to `target`.",
    ),
    ("interrupt.expired", "It was not answered in time."),
    ("interrupt.cancelled", "It ended without a decision."),
    (
        "interrupt.dead_lettered",
        "It could not be delivered; an operator has to look at it.",
    ),
    ("interrupt.redriven", "It is tried again."),
    (
        "reroute.pending",
        "A supervisor's event waits for its agent's interrupt.",
    ),
    (
        "reroute.bound",
        "It is bound to the interrupt that answers it.",
    ),
    ("reroute.consumed", "The decision has used it."),
    ("reroute.expired", "It has waited too long."),
    (
        "reroute.superseded",
        "A newer event for the same agent has taken its place.",
    ),
    ("reroute.cancelled", "It was given up."),
    ("rule.created", "A standing rule was made."),
    ("rule.used", "A standing rule has answered a question."),
    ("rule.expired", "A standing rule has ended; `why` says how."),
    (
        "stream.reset",
        "Events are gone for this reader: `snapshot` says where to read what is now.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use interrupt_router::reroute::{CancelCause, RerouteState};
    use interrupt_router::{DecisionId, EventId, InterruptId, StopMode, StopSource};
    use interrupts::life::{Actor, Asking, Claim, Notice, ReviewStep, Role, RunState, State};
    use interrupts::store::{NodeActivity, RuleEvent};
    use interrupts::{ActorName, EffectId, RouteName};

    use super::TOLD;
    use crate::events::content::{effect_topic, interrupt_topic, node_topic, reroute_name};
    use crate::events::envelope::{RESET_TYPE, event_type};

    fn someone() -> Actor {
        Actor {
            name: ActorName::new("alex").unwrap(),
            role: Role::Supervisor,
        }
    }

    fn notices() -> Vec<Notice> {
        vec![
            Notice::Admitted,
            Notice::Delivered,
            Notice::Acknowledged,
            Notice::ReviewOpened,
            Notice::ReviewChanged {
                step: ReviewStep::Claimed(Claim {
                    by: ActorName::new("alex").unwrap(),
                    until: jiff::Timestamp::UNIX_EPOCH,
                }),
            },
            Notice::ReviewChanged {
                step: ReviewStep::Released,
            },
            Notice::ReviewChanged {
                step: ReviewStep::Held {
                    by: InterruptId::generate(),
                },
            },
            Notice::ReviewChanged {
                step: ReviewStep::Unnamed,
            },
            Notice::ModeRaised,
            Notice::Asked {
                asking: Box::new(Asking {
                    number: 2,
                    by: someone(),
                    source: StopSource::User,
                    mode: StopMode::Graceful,
                    reason: "wait".to_owned(),
                    at: jiff::Timestamp::UNIX_EPOCH,
                    withdrawn: None,
                    content: String::new(),
                }),
            },
            Notice::TakenBack {
                askings: vec![1],
                by: someone(),
            },
            Notice::Dispatch {
                effect: EffectId::of_dispatch(InterruptId::generate(), 1),
                target: RouteName::new("ORCHESTRATOR").unwrap(),
                decision: DecisionId::generate(),
            },
            Notice::Ended,
            Notice::DeadLettered,
            Notice::Redriven,
        ]
    }

    /// The names that the feed gives to the store's notifications.
    fn names() -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for notice in notices() {
            let topics = State::ALL.map(|state| interrupt_topic(&notice, state));
            names.extend(topics.map(str::to_owned));
        }
        names.extend(RunState::ALL.map(|state| format!("run.{state}")));
        for activity in [NodeActivity::Running, NodeActivity::Completed] {
            names.insert(node_topic(activity).to_owned());
        }
        for kind in ["model_call", "tool_call", "anything"] {
            names.extend([false, true].map(|done| effect_topic(kind, done).to_owned()));
        }
        let interrupt = InterruptId::generate();
        let reroutes = [
            RerouteState::Pending,
            RerouteState::Bound { interrupt },
            RerouteState::Consumed {
                interrupt,
                decision: DecisionId::generate(),
            },
            RerouteState::Expired,
            RerouteState::Superseded {
                by: EventId::generate(),
            },
            RerouteState::Cancelled {
                cause: CancelCause::NodeEnded,
            },
        ];
        names.extend(reroutes.map(|state| format!("reroute.{}", reroute_name(&state))));
        let rules = [RuleEvent::Created, RuleEvent::Used, RuleEvent::Expired];
        names.extend(rules.map(|event| format!("rule.{}", event.name())));
        // These have one name each.
        names.extend(
            [
                "agent.message_added",
                "checkpoint.saved",
                "llm.call_cancelled",
                "stream.reset",
                "tool.interrupted",
                "tool.skipped",
            ]
            .map(str::to_owned),
        );
        names
    }

    #[test]
    fn every_event_that_is_told_has_its_meaning_and_no_other_has() {
        let listed: BTreeSet<String> = TOLD.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed.len(), TOLD.len(), "each once");
        assert_eq!(listed, names());
        assert_eq!(event_type("stream.reset"), RESET_TYPE);
    }
}
