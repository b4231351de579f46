//! What a policy decides by itself.

use std::fmt::{self, Display};

use interrupt_router::review::{Resume, Unsaid};
use interrupt_router::{DecisionId, InterruptType};
use jiff::SignedDuration;

use super::Policy;
use super::rule_settings::{Answering, AutomaticAnswer, Resuming};
use super::subject::Subject;
use crate::life::{Choosing, Family, Interrupt, Verdict};
use crate::names::RouteName;

/// What a policy does with an interrupt that was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Automatic {
    /// It decides, once the interrupt has been acknowledged for so long.
    Decide {
        /// The decision, made as the policy.
        choosing: Choosing,
        /// How long to wait before.
        after: SignedDuration,
    },
    /// It leaves the decision to others.
    Ask {
        /// Why, if it says that it would decide.
        why: Option<WhyAsk>,
    },
}

/// Why a policy does not decide though a rule says that it would. The question is asked instead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyAsk {
    /// The interrupt does not allow the verdict.
    VerdictNotAllowed {
        /// The verdict.
        verdict: Verdict,
    },
    /// The target is none of the interrupt's routes.
    TargetNotAllowed {
        /// The target.
        target: RouteName,
    },
    /// A choice is not offered.
    ChoiceNotOffered {
        /// The choice.
        choice: String,
    },
    /// Nothing is to be confirmed, or the question cannot be read.
    NothingToConfirm,
    /// Something has to be chosen, said or confirmed, and the answer does not.
    Unsaid(Unsaid),
    /// A person paused the run, and only a person resumes it then.
    PausedByPerson,
}

impl Display for WhyAsk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VerdictNotAllowed { verdict } => {
                write!(formatter, "the interrupt does not allow {verdict:?}")
            }
            Self::TargetNotAllowed { target } => {
                write!(formatter, "{target} is none of the interrupt's routes")
            }
            Self::ChoiceNotOffered { choice } => {
                write!(formatter, "the question does not offer `{choice}`")
            }
            Self::NothingToConfirm => formatter.write_str("the question asks to confirm nothing"),
            Self::Unsaid(unsaid) => write!(formatter, "{unsaid}"),
            Self::PausedByPerson => {
                formatter.write_str("a person paused the run, so a person resumes it")
            }
        }
    }
}

impl Policy {
    /// What the policy does with an interrupt, with the id that its decision gets.
    ///
    /// It never extends what the interrupt allows: if its answer does not fit the question, the question is asked.
    pub fn decide(&self, interrupt: &Interrupt, id: DecisionId) -> Automatic {
        let terms = self.terms(&Subject::of(interrupt));
        let decided = match (interrupt.family(), terms.answer, terms.resume) {
            (Family::Question, Answering::Automatic(answer), _) => {
                answered(interrupt, &answer, id).map(|choosing| (choosing, SignedDuration::ZERO))
            }
            (Family::Stop, _, Resuming::After { pause, input })
                if interrupt.interrupt_type == InterruptType::Pause =>
            {
                resumed(interrupt, input, id).map(|choosing| (choosing, pause))
            }
            (Family::Question, Answering::Ask, _) | (Family::Stop, _, _) => {
                return Automatic::Ask { why: None };
            }
        };
        match decided {
            Ok((choosing, after)) => Automatic::Decide { choosing, after },
            Err(why) => Automatic::Ask { why: Some(why) },
        }
    }
}

fn answered(
    interrupt: &Interrupt,
    answer: &AutomaticAnswer,
    id: DecisionId,
) -> Result<Choosing, WhyAsk> {
    check_verdict(interrupt, answer.verdict)?;
    if let Some(target) = &answer.target
        && !interrupt.allows_target(target)
    {
        let target = target.clone();
        return Err(WhyAsk::TargetNotAllowed { target });
    }
    let details = interrupt.details();
    let offered = details.values();
    if let Some(choice) = answer.choices.iter().find(|it| !offered.contains(it)) {
        let choice = choice.clone();
        return Err(WhyAsk::ChoiceNotOffered { choice });
    }
    let items = details.items();
    if answer.confirm.is_some() && items.is_empty() {
        return Err(WhyAsk::NothingToConfirm);
    }
    let said = answer.as_answer(&items);
    if let Some(unsaid) = said.unsaid(answer.verdict, &details) {
        return Err(WhyAsk::Unsaid(unsaid));
    }
    let content = match answer.verdict {
        // To approve is to add nothing.
        Verdict::Approve => None,
        Verdict::Edit
        | Verdict::Reject
        | Verdict::Respond
        | Verdict::Ignore
        | Verdict::Reroute
        | Verdict::ModifyPlan
        | Verdict::Cancel
        | Verdict::Resume
        | Verdict::Applied => serde_json::to_string(&said.kept_with(answer.verdict)).ok(),
    };
    Ok(Choosing {
        id,
        verdict: answer.verdict,
        target: answer.target.clone(),
        content,
    })
}

fn resumed(
    interrupt: &Interrupt,
    input: Option<String>,
    id: DecisionId,
) -> Result<Choosing, WhyAsk> {
    if interrupt.is_asked_by_person() {
        return Err(WhyAsk::PausedByPerson);
    }
    check_verdict(interrupt, Verdict::Resume)?;
    Ok(Choosing {
        id,
        verdict: Verdict::Resume,
        target: None,
        content: serde_json::to_string(&Resume { input }).ok(),
    })
}

fn check_verdict(interrupt: &Interrupt, verdict: Verdict) -> Result<(), WhyAsk> {
    if interrupt.allowed.contains(&verdict) {
        Ok(())
    } else {
        Err(WhyAsk::VerdictNotAllowed { verdict })
    }
}
