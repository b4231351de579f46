//! The conversation of one question: lines in, what to show next out. Knows no terminal.

mod form;
mod page;

use interrupt_router::review::{Answer, Question};
use interrupt_router::{AnswerForm, Verdict};
use journal::tool::{CHOICE_NO, CHOICE_YES, ToolQuestionKind};
use serde_json::Value;

use super::consent::{Consent, NoAnswer, yes_or_no};
use crate::palette::Palette;
use crate::visible::visible_line;
use interrupts::nearest;

use form::Form;
use page::QuestionPage;

/// What comes next.
#[derive(Debug, PartialEq)]
pub(super) enum DialogueStep {
    /// Show this and wait for a line.
    Ask(String),
    /// Let the person edit the request, then call [`Dialogue::edited`].
    Edit,
    /// The answer is whole.
    Done(Answer),
}

/// What the next line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Answer,
    Route,
    Confirmation(usize),
    Field,
}

/// One question on its way to an answer.
#[derive(Debug)]
pub(super) struct Dialogue<'q> {
    question: &'q Question,
    page: QuestionPage<'q>,
    topic: Topic,
    answer: Answer,
    /// What is filled in field by field, once that has begun.
    form: Form,
}

impl<'q> Dialogue<'q> {
    /// A question that was not shown yet, for a screen of so many columns.
    pub(super) fn new(question: &'q Question, columns: usize, palette: Palette) -> Self {
        Self {
            question,
            page: QuestionPage {
                question,
                asks: ToolQuestionKind::of(question),
                columns,
                palette,
            },
            topic: Topic::Answer,
            answer: Answer::default(),
            form: Form::of(&question.request_schema),
        }
    }

    /// The whole question, without where its answer goes and without a prompt.
    pub(super) fn page(&self) -> String {
        self.page.opening()
    }

    /// What to show first.
    pub(super) fn opening(&self) -> String {
        let Self { page, .. } = self;
        format!("{}\n{}\n{}", page.opening(), page.way(), page.prompt())
    }

    /// Takes what was typed.
    pub(super) fn line(&mut self, line: &str) -> DialogueStep {
        let line = line.trim();
        match self.topic {
            Topic::Answer => self.answer_line(line),
            Topic::Route => self.route_line(line),
            Topic::Confirmation(index) => self.confirmation_line(index, line),
            Topic::Field => self.field_line(line),
        }
    }

    /// Takes the request as it was edited; `None` if it was left as it was.
    pub(super) fn edited(&mut self, request: Option<Value>) -> DialogueStep {
        match request {
            Some(request) => {
                self.answer.edited_request = Some(request);
                self.confirm_from(0)
            }
            None => self.again("Nothing was edited."),
        }
    }

    /// Says what is wrong, and asks again.
    pub(super) fn again(&self, problem: &str) -> DialogueStep {
        let prompt = match self.topic {
            Topic::Answer => self.page.prompt(),
            Topic::Route => self.page.route_prompt(),
            Topic::Confirmation(index) => self.page.confirmation(index),
            Topic::Field => self.page.field(&self.form),
        };
        DialogueStep::Ask(format!("{}{prompt}", self.page.problem(problem)))
    }

    fn answer_line(&mut self, line: &str) -> DialogueStep {
        match self.page.asks {
            Some(ToolQuestionKind::Input) => self.input_line(line),
            Some(ToolQuestionKind::Permission | ToolQuestionKind::UnknownOutcome) => {
                self.consent_line(line)
            }
            None => self.agent_line(line),
        }
    }

    /// The answer to a question whether a call may be made, now or again.
    fn consent_line(&mut self, line: &str) -> DialogueStep {
        match Consent::read(line) {
            Consent::Allow => self.chosen(CHOICE_YES, None),
            Consent::Deny(why) => self.chosen(CHOICE_NO, why),
            Consent::Edit(None) => DialogueStep::Edit,
            Consent::Edit(Some(json)) => self.inline_edit(json),
            Consent::Show => self.ask_again(),
            Consent::Help => self.helped(),
            Consent::Nothing => self.nothing_said(),
            Consent::Words(words) => match words.strip_prefix('=') {
                Some(words) => self.read_line(words.trim()),
                None => self.choice_or_text(words),
            },
        }
    }

    /// The answer to a question of a tool that wants to know something.
    fn input_line(&mut self, line: &str) -> DialogueStep {
        match Consent::read(line) {
            Consent::Nothing | Consent::Allow => self.next_field(),
            Consent::Deny(why) => self.chosen(CHOICE_NO, why),
            Consent::Edit(None) => DialogueStep::Edit,
            Consent::Edit(Some(json)) => self.inline_edit(json),
            Consent::Show => self.ask_again(),
            Consent::Help => self.helped(),
            Consent::Words("1") => self.chosen(CHOICE_NO, None),
            Consent::Words(_) => self.again("Press Enter to fill it in, or type n to decline."),
        }
    }

    fn chosen(&mut self, choice: &str, why: Option<&str>) -> DialogueStep {
        self.answer.selected_choices = vec![choice.to_owned()];
        self.answer.text = why.map(str::to_owned);
        self.confirm_from(0)
    }

    fn ask_again(&self) -> DialogueStep {
        DialogueStep::Ask(format!("{}{}", self.page.payload(), self.page.prompt()))
    }

    fn helped(&self) -> DialogueStep {
        DialogueStep::Ask(format!("{}{}", self.page.help(), self.page.prompt()))
    }

    /// Asks for the next field; the answer is whole when none is left.
    fn next_field(&mut self) -> DialogueStep {
        match self.form.next() {
            Some(_field) => {
                self.topic = Topic::Field;
                DialogueStep::Ask(self.page.field(&self.form))
            }
            None => {
                let filled = self.form.filled();
                self.edited(Some(filled))
            }
        }
    }

    fn field_line(&mut self, line: &str) -> DialogueStep {
        match self.form.take(line) {
            Ok(()) => self.next_field(),
            Err(problem) => self.again(&problem),
        }
    }

    fn agent_line(&mut self, line: &str) -> DialogueStep {
        if self.question.details.form() == Some(AnswerForm::YesOrNo) {
            let (word, words) = said_with_words(line);
            match yes_or_no(word) {
                Some(true) => {
                    self.answer.verdict = Some(Verdict::Approve);
                    self.answer.text = words;
                    return self.confirm_from(0);
                }
                Some(false) => {
                    return DialogueStep::Done(Answer::declined(Verdict::Reject, words));
                }
                None => {}
            }
        }
        match line {
            "" => self.nothing_said(),
            "?" | "h" | "help" => self.helped(),
            "r" | "reroute" => {
                self.topic = Topic::Route;
                DialogueStep::Ask(format!(
                    "{}{}",
                    self.page.routes(),
                    self.page.route_prompt()
                ))
            }
            "e" | "edit" => DialogueStep::Edit,
            "s" | "show" => self.ask_again(),
            _ => match (
                line.strip_prefix('='),
                line.strip_prefix("r "),
                line.strip_prefix("e "),
            ) {
                (Some(text), _, _) => self.read_line(text.trim()),
                (_, Some(route), _) if self.means_a_route(route.trim()) => {
                    self.route_line(route.trim())
                }
                (_, _, Some(json)) if json.trim_start().starts_with('{') => self.inline_edit(json),
                _ => match self.rejection(line) {
                    Some(why) => DialogueStep::Done(Answer::declined(Verdict::Reject, why)),
                    None => self.choice_or_text(line),
                },
            },
        }
    }

    /// The words of a no; `None` if the line is none. A choice of that name is a choice.
    fn rejection(&self, line: &str) -> Option<Option<String>> {
        let (word, why) = said_with_words(line);
        let word = word.to_ascii_lowercase();
        if !["x", "reject"].contains(&word.as_str()) || matches!(self.choices(&word), Some(Ok(_))) {
            return None;
        }
        Some(why)
    }

    fn nothing_said(&mut self) -> DialogueStep {
        let details = &self.question.details;
        if details.choices.is_empty() && !details.confirmation_items.is_empty() {
            return self.confirm_from(0);
        }
        self.again("Nothing was typed.")
    }

    fn inline_edit(&mut self, json: &str) -> DialogueStep {
        match serde_json::from_str(json) {
            Ok(request) => self.edited(Some(request)),
            Err(error) => self.again(&format!("That is no JSON: {error}.")),
        }
    }

    fn choice_or_text(&mut self, line: &str) -> DialogueStep {
        let (list, note) = match line.split_once(':') {
            Some((list, note)) => (list, Some(note.trim())),
            None => (line, None),
        };
        match self.choices(list) {
            Some(Ok(chosen)) => {
                self.answer.selected_choices = chosen;
                self.answer.text = note.filter(|note| !note.is_empty()).map(str::to_owned);
                self.confirm_from(0)
            }
            Some(Err(number)) => {
                let count = self.question.details.choices.len();
                self.again(&format!(
                    "There is no choice {number}; there are 1 to {count}."
                ))
            }
            None if self.page.asks == Some(ToolQuestionKind::Permission) => {
                self.again(&NoAnswer.to_string())
            }
            None => self.read_line(line),
        }
    }

    fn read_line(&mut self, text: &str) -> DialogueStep {
        if text.is_empty() {
            return self.again("Nothing was typed.");
        }
        self.answer.text = Some(text.to_owned());
        self.confirm_from(0)
    }

    /// The values of the choices that a list of numbers, or a choice's own value, names; `None` if it is no list of
    /// choices at all, the number if there is no such choice.
    fn choices(&self, list: &str) -> Option<Result<Vec<String>, String>> {
        let choices = &self.question.details.choices;
        if choices.is_empty() {
            return None;
        }
        if let Some(choice) = choices.iter().find(|choice| choice.value == list.trim()) {
            return Some(Ok(vec![choice.value.clone()]));
        }
        let parts: Vec<&str> = list
            .split([',', ' '])
            .filter(|part| !part.is_empty())
            .collect();
        let is_list = !parts.is_empty()
            && parts
                .iter()
                .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_list {
            return None;
        }
        let mut chosen: Vec<String> = Vec::new();
        for part in parts {
            let choice = part
                .parse::<usize>()
                .ok()
                .and_then(|number| number.checked_sub(1))
                .and_then(|index| choices.get(index));
            match choice {
                Some(choice) if chosen.contains(&choice.value) => {}
                Some(choice) => chosen.push(choice.value.clone()),
                None => return Some(Err(part.to_owned())),
            }
        }
        Some(Ok(chosen))
    }

    fn route_line(&mut self, line: &str) -> DialogueStep {
        if line.is_empty() {
            self.topic = Topic::Answer;
            return DialogueStep::Ask(self.page.prompt());
        }
        match self.route(line) {
            Some(route) => {
                self.answer.reroute_to = Some(route.to_owned());
                self.confirm_from(0)
            }
            None => {
                let near = nearest(line, self.question.routes.iter().copied())
                    .map(|near| format!(" Did you mean {near}?"))
                    .unwrap_or_default();
                let given = visible_line(line);
                self.again(&format!("The answer cannot go to `{given}`.{near}"))
            }
        }
    }

    /// Whether the text after `r` is a route or a mistyped one, and no sentence that begins with `r`.
    fn means_a_route(&self, text: &str) -> bool {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let name = text.to_uppercase().replace('-', "_");
        is_number
            || self.route(text).is_some()
            || name.contains('_') && !name.contains(char::is_whitespace)
            || nearest(&name, self.question.routes.iter().copied()).is_some()
    }

    fn route(&self, text: &str) -> Option<&'static str> {
        let routes = &self.question.routes;
        if let Ok(number) = text.parse::<usize>() {
            return number
                .checked_sub(1)
                .and_then(|index| routes.get(index))
                .copied();
        }
        let name = text.to_uppercase().replace('-', "_");
        routes.iter().copied().find(|route| *route == name)
    }

    /// Asks for the confirmations from `index` on; the answer is whole when none is left.
    fn confirm_from(&mut self, index: usize) -> DialogueStep {
        if index < self.question.details.confirmation_items.len() {
            self.topic = Topic::Confirmation(index);
            return DialogueStep::Ask(self.page.confirmation(index));
        }
        DialogueStep::Done(std::mem::take(&mut self.answer))
    }

    fn confirmation_line(&mut self, index: usize, line: &str) -> DialogueStep {
        let Some(item) = self.question.details.confirmation_items.get(index) else {
            return self.confirm_from(index);
        };
        match yes_or_no(line) {
            Some(confirmed) => {
                self.answer.confirmations.insert(item.id.clone(), confirmed);
                self.confirm_from(index + 1)
            }
            None => self.again("Type y for yes or n for no."),
        }
    }
}

/// A line as what is said, and the words that come with it after a colon.
fn said_with_words(line: &str) -> (&str, Option<String>) {
    let (said, words) = line.split_once(':').unwrap_or((line, ""));
    let words = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
    (said.trim(), words)
}

#[cfg(test)]
mod tests;
