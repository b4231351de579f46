//! A decision about an interrupt, checked against what was asked before it reaches the store.

mod invalid;

use interrupt_router::InterruptDetails;
use interrupt_router::review::{Answer, Resume};
use interrupts::RouteName;
use interrupts::catalogue::Catalogue;
use interrupts::life::{Actor, Family, Interrupt, Role, Verdict};
use journal::tool::ToolQuestionContent;
use planning::PlanRevision;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::question::request_misfits;

pub use invalid::InvalidDecision;

/// A decision in the parts in which it was written.
#[derive(Debug, Clone)]
pub struct DecisionParts {
    /// What is decided.
    pub verdict: Verdict,
    /// The answer: to a question an [`Answer`], to a stop a [`Resume`], about the steps of a plan a [`PlanRevision`].
    pub payload: Option<Value>,
    /// Words for the agent, if the payload has none.
    pub message: Option<String>,
    /// The route to go to instead, with [`Verdict::Reroute`].
    pub reroute_to: Option<String>,
}

/// What the store keeps of a decision beside its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionContent {
    /// The answer, as JSON.
    pub content: String,
    /// The route to go to instead.
    pub target: Option<RouteName>,
}

impl DecisionParts {
    /// A decision that says nothing beside its verdict.
    pub fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            payload: None,
            message: None,
            reroute_to: None,
        }
    }

    /// A decision with an answer that is typed already.
    ///
    /// # Errors
    ///
    /// [`InvalidDecision::Unreadable`] if it cannot be written as JSON.
    pub fn with_answer(verdict: Verdict, answer: &Answer) -> Result<Self, InvalidDecision> {
        let payload = serde_json::to_value(answer).map_err(unreadable)?;
        Ok(Self {
            payload: Some(payload),
            ..Self::new(verdict)
        })
    }

    /// The content for the store, if each part fits what was asked. Without the interrupt's catalogue, an edited
    /// request is taken as it is.
    ///
    /// # Errors
    ///
    /// [`InvalidDecision`] names the first part that does not fit.
    pub fn content(
        &self,
        interrupt: &Interrupt,
        catalogue: Option<&Catalogue>,
    ) -> Result<DecisionContent, InvalidDecision> {
        if !interrupt.verdicts().any(|allowed| allowed == self.verdict) {
            return Err(InvalidDecision::NotAllowed {
                verdict: self.verdict,
                allowed: interrupt.verdicts().collect(),
            });
        }
        let target = self.target(interrupt)?;
        let content = if self.revises_plan() {
            written(&self.revision()?)?
        } else {
            match interrupt.family() {
                Family::Question => self.answer(interrupt, catalogue, target.as_ref())?,
                Family::Stop => self.input()?,
            }
        };
        Ok(DecisionContent { content, target })
    }

    /// Whether it says which steps of a plan are to be left.
    pub fn revises_plan(&self) -> bool {
        let names_steps = |payload: &Value| payload.get("plan").is_some_and(|plan| !plan.is_null());
        self.verdict == Verdict::ModifyPlan && self.payload.as_ref().is_some_and(names_steps)
    }

    /// The change of a plan that it carries.
    ///
    /// # Errors
    ///
    /// [`InvalidDecision`] if its payload is none, or says in other words what its message says.
    pub fn revision(&self) -> Result<PlanRevision, InvalidDecision> {
        let mut revision: PlanRevision = self.read()?;
        self.add_message("input", &mut revision.input)?;
        Ok(revision)
    }

    fn target(&self, interrupt: &Interrupt) -> Result<Option<RouteName>, InvalidDecision> {
        let routes = || interrupt.routes.clone();
        let in_payload = self
            .payload
            .as_ref()
            .and_then(|payload| payload.get("rerouteTo")?.as_str());
        let Some(given) = self.reroute_to.as_deref().or(in_payload) else {
            return if self.verdict == Verdict::Reroute {
                Err(InvalidDecision::NoTarget { routes: routes() })
            } else {
                Ok(None)
            };
        };
        if self.verdict != Verdict::Reroute {
            return Err(InvalidDecision::NoReroute { routes: routes() });
        }
        let mut known = interrupt.routes.iter();
        let Some(route) = known.find(|route| route.as_str() == given) else {
            return Err(InvalidDecision::UnknownTarget {
                given: given.to_owned(),
                routes: routes(),
            });
        };
        if in_payload.is_some_and(|of| of != given) {
            return Err(InvalidDecision::TwoTargets {
                given: given.to_owned(),
                routes: routes(),
            });
        }
        Ok(Some(route.clone()))
    }

    /// What answers a question.
    fn answer(
        &self,
        interrupt: &Interrupt,
        catalogue: Option<&Catalogue>,
        target: Option<&RouteName>,
    ) -> Result<String, InvalidDecision> {
        let mut answer: Answer = self.read()?;
        self.add_message("text", &mut answer.text)?;
        answer.reroute_to = target.map(|target| target.as_str().to_owned());
        let about_tool = ToolQuestionContent::of(&interrupt.content);
        let details = interrupt.details();
        self.check_choices(&details, about_tool.as_ref(), &answer)?;
        // A person says it, whatever an agent proposed. What may be decided about a call says by itself what is meant.
        if about_tool.is_none()
            && let Some(unsaid) = answer.unsaid(self.verdict, &details)
        {
            return Err(InvalidDecision::Unsaid(unsaid));
        }
        let says_nothing = !says_something(&answer);
        if says_nothing && self.verdict == Verdict::ModifyPlan {
            return Err(InvalidDecision::NoChange);
        }
        if says_nothing && self.verdict == Verdict::Respond {
            return Err(InvalidDecision::NothingSaid);
        }
        let takes_request = matches!(self.verdict, Verdict::Edit | Verdict::Reroute);
        match &answer.edited_request {
            Some(_) if !takes_request => return Err(InvalidDecision::NoEdit),
            Some(request) => {
                let misfits = request_misfits(interrupt, catalogue, target, request);
                if !misfits.is_empty() {
                    return Err(InvalidDecision::Request { misfits });
                }
            }
            None if self.verdict == Verdict::Edit => return Err(InvalidDecision::NoRequest),
            None => {}
        }
        written(&answer.kept_with(self.verdict))
    }

    /// The input with which a stopped agent goes on.
    fn input(&self) -> Result<String, InvalidDecision> {
        let mut resume: Resume = self.read()?;
        self.add_message("input", &mut resume.input)?;
        let input = resume.input.as_deref().unwrap_or_default();
        if self.verdict == Verdict::ModifyPlan && input.trim().is_empty() {
            return Err(InvalidDecision::NoChange);
        }
        written(&resume)
    }

    fn read<T: DeserializeOwned + Default>(&self) -> Result<T, InvalidDecision> {
        match &self.payload {
            None => Ok(T::default()),
            Some(payload @ Value::Object(_)) => T::deserialize(payload).map_err(unreadable),
            Some(_) => Err(InvalidDecision::Unreadable {
                problem: "this is no object".to_owned(),
            }),
        }
    }

    fn check_choices(
        &self,
        details: &InterruptDetails,
        about_tool: Option<&ToolQuestionContent>,
        answer: &Answer,
    ) -> Result<(), InvalidDecision> {
        // The choices about a tool are what may be decided about it: one of them says no other than the decision.
        let about_tool = about_tool.map(ToolQuestionContent::shown_choices);
        let about_tool = about_tool.into_iter().flatten();
        let decided = about_tool.filter(|choice| choice.value == self.verdict.name());
        let decided = decided.map(|choice| choice.value);
        let offered: Vec<String> = details.values().into_iter().chain(decided).collect();
        for (place, given) in answer.selected_choices.iter().enumerate() {
            let given = given.clone();
            if answer.selected_choices[..place].contains(&given) {
                return Err(InvalidDecision::ChosenTwice { given });
            }
            if !offered.contains(&given) {
                return Err(InvalidDecision::NotOffered { given, offered });
            }
        }
        for given in answer.confirmations.keys() {
            let items = details.items();
            if !items.contains(given) {
                let given = given.clone();
                return Err(InvalidDecision::UnknownItem { given, items });
            }
        }
        Ok(())
    }

    /// Puts the message into the payload's text field, which must be empty.
    fn add_message(
        &self,
        field: &'static str,
        words: &mut Option<String>,
    ) -> Result<(), InvalidDecision> {
        let Some(message) = &self.message else {
            return Ok(());
        };
        if words.is_some() {
            return Err(InvalidDecision::SaidTwice { field });
        }
        *words = Some(message.clone());
        Ok(())
    }
}

/// Whether this person may answer: no one answers their own question, under any role. An agent that asks under its own id,
/// such as `root`, is no person, even if a person has that name.
///
/// # Errors
///
/// [`InvalidDecision::OwnQuestion`].
pub(crate) fn check_decider(interrupt: &Interrupt, person: &Actor) -> Result<(), InvalidDecision> {
    let asker = &interrupt.requested_by;
    let is_agent = asker.name.as_str() == interrupt.node.as_str();
    if asker.role == Role::Requester && asker.name == person.name && !is_agent {
        return Err(InvalidDecision::OwnQuestion);
    }
    Ok(())
}

/// Whether there is anything in it that the agent could read.
fn says_something(answer: &Answer) -> bool {
    let text = answer.text.as_deref().unwrap_or_default();
    !text.trim().is_empty()
        || !answer.selected_choices.is_empty()
        || !answer.confirmations.is_empty()
}

fn written(value: &impl Serialize) -> Result<String, InvalidDecision> {
    serde_json::to_string(value).map_err(unreadable)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unreadable(error: serde_json::Error) -> InvalidDecision {
    InvalidDecision::Unreadable {
        problem: error.to_string(),
    }
}
