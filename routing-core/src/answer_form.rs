//! What an answer to a question is: the one rule that every surface, rule and policy goes by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// What an answer to a question is, where the asker says so.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// Exactly one of the choices.
    OneOf,
    /// Any of the choices: at least one, or words.
    AnyOf,
    /// Words.
    Words,
    /// A yes or a no to what is proposed.
    YesOrNo,
}

impl AnswerForm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OneOf, Self::AnyOf, Self::Words, Self::YesOrNo];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneOf => "one_of",
            Self::AnyOf => "any_of",
            Self::Words => "words",
            Self::YesOrNo => "yes_or_no",
        }
    }

    /// What the form comes to for a question that has choices, or has none: a model may say what does not fit what it
    /// offers. `None` where the answer may be anything, as if no form was said.
    pub const fn with_choices(self, has_choices: bool) -> Option<Self> {
        match (self, has_choices) {
            (Self::OneOf | Self::AnyOf, false) => Some(Self::Words),
            (Self::YesOrNo, true) => Some(Self::OneOf),
            (Self::Words, true) => None,
            (form, _) => Some(form),
        }
    }

    /// Whether this verdict can be an answer: there is nothing to approve where a choice or words are wanted, and words
    /// are neither a yes nor a no.
    pub const fn allows(self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Approve => matches!(self, Self::YesOrNo),
            Verdict::Respond | Verdict::ModifyPlan => !matches!(self, Self::YesOrNo),
            Verdict::Edit
            | Verdict::Reject
            | Verdict::Ignore
            | Verdict::Reroute
            | Verdict::Cancel
            | Verdict::Resume
            | Verdict::Applied => true,
        }
    }

    /// What is wanted, for the one who answers.
    pub const fn wanted(self) -> &'static str {
        match self {
            Self::OneOf => "choose exactly one",
            Self::AnyOf => "choose any, or answer in words",
            Self::Words => "answer in words",
            Self::YesOrNo => "answer yes or no",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerForm;
    use crate::interrupt::{Choice, ConfirmationItem, InterruptDetails, InterruptType};
    use crate::review::{Answer, Unsaid};
    use crate::verdict::Verdict;

    fn details(form: Option<AnswerForm>, choices: &[&str], items: &[&str]) -> InterruptDetails {
        let choice = |value: &&str| Choice {
            label: (*value).to_owned(),
            value: (*value).to_owned(),
            description: String::new(),
        };
        let item = |id: &&str| ConfirmationItem {
            id: (*id).to_owned(),
            prompt: (*id).to_owned(),
            default_value: Some(true),
            impact_if_no: None,
        };
        InterruptDetails {
            choices: choices.iter().map(choice).collect(),
            confirmation_items: items.iter().map(item).collect(),
            answer_form: form,
            ..InterruptDetails::new(InterruptType::HumanReview, "which?")
        }
    }

    fn answer(chosen: &[&str], text: &str) -> Answer {
        Answer {
            selected_choices: chosen.iter().map(|it| (*it).to_owned()).collect(),
            text: Some(text.to_owned()),
            ..Answer::default()
        }
    }

    #[test]
    fn only_a_yes_or_a_no_is_approved_and_no_words_answer_it() {
        for form in AnswerForm::ALL {
            let is_yes_or_no = form == AnswerForm::YesOrNo;
            assert_eq!(form.allows(Verdict::Approve), is_yes_or_no, "{form:?}");
            assert_eq!(form.allows(Verdict::Respond), !is_yes_or_no, "{form:?}");
            for no in Verdict::ALL.into_iter().filter(|it| it.declines()) {
                assert!(form.allows(no), "a no fits each question: {form:?} {no:?}");
            }
        }
    }

    #[test]
    fn a_form_that_does_not_fit_what_is_offered_is_the_nearest_that_does() {
        let form = |form, choices: &[&str]| details(Some(form), choices, &[]).form();
        assert_eq!(form(AnswerForm::OneOf, &[]), Some(AnswerForm::Words));
        assert_eq!(form(AnswerForm::AnyOf, &[]), Some(AnswerForm::Words));
        assert_eq!(form(AnswerForm::YesOrNo, &["a"]), Some(AnswerForm::OneOf));
        assert_eq!(form(AnswerForm::Words, &["a"]), None);
        let pause = InterruptDetails {
            r#type: InterruptType::Pause,
            ..details(Some(AnswerForm::Words), &[], &[])
        };
        assert_eq!(pause.form(), None, "a pause asks nothing");
    }

    #[test]
    fn what_a_form_demands_and_is_not_said_is_named() {
        use AnswerForm::{AnyOf, OneOf, Words};
        let offered = vec!["a".to_owned(), "b".to_owned()];
        let one = Some(Unsaid::OneChoice {
            offered: offered.clone(),
        });
        let any = Some(Unsaid::Choice { offered });
        let table = [
            (Some(OneOf), 2, answer(&["a"], ""), None),
            (Some(OneOf), 2, answer(&["a", "b"], ""), one.clone()),
            (Some(OneOf), 2, answer(&[], "neither"), one),
            (Some(AnyOf), 2, answer(&["a", "b"], ""), None),
            (Some(AnyOf), 2, answer(&[], "neither"), None),
            (Some(AnyOf), 2, answer(&[], " "), any.clone()),
            (Some(Words), 0, answer(&[], "Ofen 4"), None),
            (Some(Words), 0, answer(&[], " "), Some(Unsaid::Words)),
            (None, 2, answer(&["a", "b"], ""), None),
            (None, 2, answer(&[], " "), any),
            (None, 0, answer(&[], " "), None),
        ];
        for (form, choices, said, missing) in table {
            let details = details(form, &["a", "b"][..choices], &[]);
            assert_eq!(
                said.unsaid(Verdict::Respond, &details),
                missing,
                "{form:?} {said:?}"
            );
            let no = answer(&[], "").unsaid(Verdict::Reject, &details);
            assert_eq!(no, None, "a no needs nothing: {form:?}");
        }
    }

    #[test]
    fn two_are_marked_where_one_is_wanted_and_a_yes_confirms_nothing() {
        let marked = answer(&["a", "b"], "").unsaid(
            Verdict::Edit,
            &details(Some(AnswerForm::OneOf), &["a", "b"], &[]),
        );
        assert!(marked.is_some(), "two are marked where one is wanted");
        let yes = details(Some(AnswerForm::YesOrNo), &[], &["seen"]);
        let items = vec!["seen".to_owned()];
        assert_eq!(
            Answer::default().unsaid(Verdict::Approve, &yes),
            Some(Unsaid::Confirmations { items }),
            "a yes to the question is none to what must be confirmed"
        );
    }
}
