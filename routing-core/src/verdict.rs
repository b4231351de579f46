//! What a person, a rule or a deadline decides, and what that means for the code that asked.

use serde::{Deserialize, Serialize};

use crate::handler::DecidedBy;
use crate::review::Answer;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Go on as asked.
    Approve,
    /// Go on with what the person changed.
    Edit,
    /// Do not go on as asked.
    Reject,
    /// An answer in words or choices.
    Respond,
    /// No answer; go on without one.
    Ignore,
    /// Go on somewhere else.
    Reroute,
    /// Change the plan.
    ModifyPlan,
    /// Cancel it, without side effects.
    Cancel,
    /// Go on after a pause.
    Resume,
    /// A stop was carried out. Only a policy says so.
    Applied,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Approve,
        Self::Edit,
        Self::Reject,
        Self::Respond,
        Self::Ignore,
        Self::Reroute,
        Self::ModifyPlan,
        Self::Cancel,
        Self::Resume,
        Self::Applied,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Respond => "respond",
            Self::Ignore => "ignore",
            Self::Reroute => "reroute",
            Self::ModifyPlan => "modify_plan",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
            Self::Applied => "applied",
        }
    }

    /// Whether it says no: nothing that was asked about is done, and no route is taken.
    pub const fn declines(self) -> bool {
        matches!(self, Self::Reject | Self::Ignore | Self::Cancel)
    }
}

/// What a decision means for the code that asked: the one thing to look at before a route is taken.
///
/// [`DecidedAs::of`] is the one rule, for agents of this program and for workers in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedAs {
    /// Yes: do what was asked about. A person may have changed it.
    Approved,
    /// Neither yes nor no: words, choices or a refused confirmation, which the code has to read.
    Answered,
    /// It goes elsewhere, by a person or by a supervisor's event. What was asked about is not done.
    Rerouted,
    /// No: it was rejected, ignored or cancelled. Nothing is done, and no route is taken.
    Declined,
    /// No one answered in time. Nothing is done, and no route is taken.
    Expired,
}

impl DecidedAs {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Approved,
        Self::Answered,
        Self::Rerouted,
        Self::Declined,
        Self::Expired,
    ];

    /// What a decision means. A deadline never approves; an answer is an approval only if nothing was chosen and no
    /// confirmation was refused, because these may say no.
    pub fn of(verdict: Verdict, by: DecidedBy, is_rerouted: bool, answer: &Answer) -> Self {
        match verdict {
            Verdict::Reject | Verdict::Ignore | Verdict::Cancel => match by {
                DecidedBy::Deadline => Self::Expired,
                DecidedBy::Person
                | DecidedBy::Policy
                | DecidedBy::Rule
                | DecidedBy::Model { .. } => Self::Declined,
            },
            Verdict::Reroute => Self::Rerouted,
            _ if is_rerouted => Self::Rerouted,
            // The request that the person has written says it all.
            Verdict::Edit => Self::Approved,
            Verdict::Respond | Verdict::ModifyPlan => Self::Answered,
            Verdict::Approve | Verdict::Resume | Verdict::Applied => {
                let has_to_be_read = !answer.selected_choices.is_empty()
                    || answer.confirmations.values().any(|confirmed| !confirmed);
                if has_to_be_read {
                    Self::Answered
                } else {
                    Self::Approved
                }
            }
        }
    }

    /// Whether the answer takes a route, so that the request of that route is filled in.
    pub const fn takes_route(self) -> bool {
        matches!(self, Self::Approved | Self::Answered | Self::Rerouted)
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Answered => "answered",
            Self::Rerouted => "rerouted",
            Self::Declined => "declined",
            Self::Expired => "expired",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DecidedAs, Verdict};
    use crate::handler::DecidedBy;
    use crate::review::Answer;

    const PERSON: DecidedBy = DecidedBy::Person;

    fn chosen(value: &str) -> Answer {
        Answer {
            selected_choices: vec![value.to_owned()],
            ..Answer::default()
        }
    }

    fn confirmed(confirmed: bool) -> Answer {
        Answer {
            confirmations: [("seen".to_owned(), confirmed)].into(),
            ..Answer::default()
        }
    }

    fn words(text: &str) -> Answer {
        Answer {
            text: Some(text.to_owned()),
            ..Answer::default()
        }
    }

    #[test]
    fn a_no_takes_no_route_whoever_says_it_and_whatever_else_is_said() {
        let bys = [
            PERSON,
            DecidedBy::Policy,
            DecidedBy::Rule,
            DecidedBy::Deadline,
            DecidedBy::Model { confidence: 99 },
        ];
        for verdict in Verdict::ALL.into_iter().filter(|it| it.declines()) {
            for by in bys {
                for is_rerouted in [false, true] {
                    for answer in [
                        Answer::default(),
                        chosen("yes"),
                        confirmed(true),
                        words("yes"),
                    ] {
                        let meaning = DecidedAs::of(verdict, by, is_rerouted, &answer);
                        assert!(!meaning.takes_route(), "{verdict:?} {by:?} {answer:?}");
                        let is_late = by == DecidedBy::Deadline;
                        assert_eq!(meaning == DecidedAs::Expired, is_late, "{verdict:?} {by:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_a_plain_yes_or_an_edit_is_an_approval() {
        let of = |verdict, answer| DecidedAs::of(verdict, PERSON, false, &answer);
        let table = [
            (Verdict::Approve, Answer::default(), DecidedAs::Approved),
            (Verdict::Approve, words("be quick"), DecidedAs::Approved),
            (Verdict::Approve, confirmed(true), DecidedAs::Approved),
            (Verdict::Approve, confirmed(false), DecidedAs::Answered),
            (Verdict::Approve, chosen("no"), DecidedAs::Answered),
            (Verdict::Edit, chosen("no"), DecidedAs::Approved),
            (Verdict::Respond, words("no"), DecidedAs::Answered),
            (Verdict::Respond, chosen("yes"), DecidedAs::Answered),
            (Verdict::ModifyPlan, words("later"), DecidedAs::Answered),
            (Verdict::Resume, Answer::default(), DecidedAs::Approved),
            (Verdict::Reroute, Answer::default(), DecidedAs::Rerouted),
        ];
        for (verdict, answer, expected) in table {
            assert_eq!(
                of(verdict, answer.clone()),
                expected,
                "{verdict:?} {answer:?}"
            );
        }
    }

    #[test]
    fn an_approval_that_a_supervisors_event_sends_elsewhere_approves_nothing_here() {
        for verdict in Verdict::ALL.into_iter().filter(|it| !it.declines()) {
            let meaning = DecidedAs::of(verdict, PERSON, true, &Answer::default());
            assert_eq!(meaning, DecidedAs::Rerouted, "{verdict:?}");
        }
    }
}
