//! What a question looks like.

use interrupt_router::AnswerForm;
use interrupt_router::review::{Question, QuestionKind};
use journal::tool::ToolQuestionKind;

use super::super::consent::{CONSENTS, suggested};
use super::form::Form;
use crate::layout::{columns_of, fit, wrap};
use crate::palette::{Palette, Tone};
use crate::quoted::asked_lines;
use crate::visible::{visible_line, visible_lines};

/// The widest column of labels.
const WIDEST_LABEL: usize = 28;

/// What can be typed at every question.
const ALWAYS: [(&str, &str); 2] = [
    (
        "Ctrl+D",
        "leave the question open: the run ends and waits for an answer",
    ),
    ("Ctrl+C", "stop the run"),
];

/// What can be typed when a tool wants to know something.
const INPUTS: [(&str, &str); 5] = [
    ("Enter", "fill it in, field by field"),
    ("n", "decline: the tool is told that you do (also: no)"),
    ("e", "write it as JSON, in $VISUAL or $EDITOR"),
    ("e {…}", "the same at once"),
    ("s", "show all of it"),
];

/// Lays a question out.
#[derive(Debug)]
pub(super) struct QuestionPage<'q> {
    pub(super) question: &'q Question,
    /// What is asked about a tool, if it is about one.
    pub(super) asks: Option<ToolQuestionKind>,
    pub(super) columns: usize,
    pub(super) palette: Palette,
}

impl QuestionPage<'_> {
    /// The whole question, without where its answer goes and without the prompt.
    pub(super) fn opening(&self) -> String {
        let question = self.question;
        let mut lines = vec![String::new(), self.title()];
        if let Some(problem) = &question.problem {
            lines.push(String::new());
            let text = format!("That answer does not fit. {}", visible_line(problem));
            lines.extend(self.painted(Tone::Bad, &text));
        }
        lines.push(String::new());
        let asked = asked_lines(question, self.columns, "    ").into_iter();
        lines.extend(asked.map(|(tone, line)| self.palette.paint(tone, &line)));
        lines.extend(self.why());
        if !question.details.choices.is_empty() {
            lines.push(String::new());
            lines.extend(self.choices());
        }
        lines.join("\n") + "\n"
    }

    /// The line of what can be typed, and the prompt.
    pub(super) fn prompt(&self) -> String {
        if let QuestionKind::UnfilledRequest { .. } = self.question.kind {
            return self.prompt_line("e write the request · x reject · ? help");
        }
        match self.asks {
            Some(ToolQuestionKind::Permission) => {
                let keys = "y allow · n deny · e edit · s show all · ? help";
                return self.prompt_line(keys);
            }
            Some(ToolQuestionKind::UnknownOutcome) => {
                let keys = "y run it again · n leave it · or write what came of it · ? help";
                return self.prompt_line(keys);
            }
            Some(ToolQuestionKind::Input) => {
                let keys = "Enter fill it in · n decline · e write it as JSON · ? help";
                return self.prompt_line(keys);
            }
            None => {}
        }
        let mut parts = Vec::new();
        let form = self.question.details.form();
        let count = self.question.details.choices.len();
        match (form, count) {
            (Some(AnswerForm::YesOrNo), _) => parts.push("y yes · n no".to_owned()),
            (_, 0) => parts.push("write an answer".to_owned()),
            (Some(AnswerForm::OneOf), _) => parts.push(format!("1-{count} choose exactly one")),
            (_, 1) => parts.push("1 choose, or write an answer".to_owned()),
            _ => parts.push(format!("1-{count} choose, or write an answer")),
        }
        if self.question.routes.len() > 1 {
            parts.push("r reroute".to_owned());
        }
        let schema = self.question.request_schema.as_object();
        if schema.is_some_and(|schema| !schema.is_empty()) {
            parts.push("e edit".to_owned());
        }
        if form != Some(AnswerForm::YesOrNo) {
            parts.push("x reject".to_owned());
        }
        parts.push("? help".to_owned());
        self.prompt_line(&parts.join(" · "))
    }

    /// The prompt for the answer's target.
    pub(super) fn route_prompt(&self) -> String {
        self.prompt_line("a number or a name · Enter goes back")
    }

    /// The routes that the answer may take.
    pub(super) fn routes(&self) -> String {
        let mut lines = vec![String::new()];
        for (index, route) in self.question.routes.iter().enumerate() {
            let mark = if *route == self.question.target {
                self.palette.paint(Tone::Faint, "  where it goes anyway")
            } else {
                String::new()
            };
            lines.push(format!("    {:>2}  {route}{mark}", index + 1));
        }
        lines.join("\n") + "\n"
    }

    /// The confirmation at `index`, with its prompt.
    pub(super) fn confirmation(&self, index: usize) -> String {
        let Some(item) = self.question.details.confirmation_items.get(index) else {
            return String::new();
        };
        let mut lines = vec![String::new()];
        lines.extend(self.painted(Tone::Strong, &visible_line(&item.prompt)));
        if let Some(impact) = &item.impact_if_no {
            let text = format!("if not: {}", visible_line(impact));
            lines.extend(self.painted(Tone::Faint, &text));
        }
        if let Some(said) = suggested(item) {
            lines.extend(self.painted(Tone::Faint, said));
        }
        format!("{}\n{}", lines.join("\n"), self.prompt_line("y/n"))
    }

    /// The field of a form that is filled in next, with its prompt.
    pub(super) fn field(&self, form: &Form) -> String {
        let Some(field) = form.next() else {
            return String::new();
        };
        let mut lines = vec![String::new()];
        lines.extend(self.painted(Tone::Strong, &visible_line(field.label())));
        if let Some(text) = &field.description {
            lines.extend(self.painted(Tone::Plain, &visible_line(text)));
        }
        let mut keys = visible_line(&field.wanted());
        if field.default.is_some() {
            keys.push_str(" · Enter takes that");
        } else if !field.is_required {
            keys.push_str(" · Enter leaves it out");
        }
        format!("{}\n{}", lines.join("\n"), self.prompt_line(&keys))
    }

    /// What was wrong with a line.
    pub(super) fn problem(&self, problem: &str) -> String {
        self.painted(Tone::Bad, problem).join("\n") + "\n"
    }

    /// Everything that can be typed.
    pub(super) fn help(&self) -> String {
        let consents = match self.asks {
            Some(ToolQuestionKind::Permission | ToolQuestionKind::UnknownOutcome) => &CONSENTS[..],
            Some(ToolQuestionKind::Input) => &INPUTS,
            None => return self.agent_help(),
        };
        let mut lines = vec![String::new()];
        for (typed, meaning) in consents.iter().chain(&ALWAYS) {
            lines.push(format!("    {}{meaning}", fit(typed, 10)));
        }
        lines.join("\n") + "\n"
    }

    fn agent_help(&self) -> String {
        let mut lines = vec![String::new()];
        for (typed, meaning) in [
            ("1   2,3", "choose by number, or by the value in brackets"),
            ("1: words", "choose, and add words"),
            ("words", "answer in your own words"),
            (
                "= words",
                "the same, also where the words look like a number or a command",
            ),
            ("r", "send the answer to another agent type"),
            ("r NAME", "the same at once"),
            (
                "e",
                "write the next request yourself, in $VISUAL or $EDITOR",
            ),
            ("e {…}", "the same at once, as JSON"),
            ("s", "show all that the agent sent"),
            ("y  n", "yes or no, where that is asked; n: words says why"),
            (
                "x: words",
                "reject it, with or without words: nothing of what was asked about is done",
            ),
        ]
        .iter()
        .chain(&ALWAYS)
        {
            lines.push(format!("    {}{meaning}", fit(typed, 10)));
        }
        let values: Vec<String> = self
            .question
            .details
            .choices
            .iter()
            .enumerate()
            .map(|(index, choice)| format!("{} [{}]", index + 1, visible_line(&choice.value)))
            .collect();
        if !values.is_empty() {
            lines.push(String::new());
            lines.extend(wrap(
                &format!("Values: {}", values.join(", ")),
                self.columns,
                "    ",
            ));
        }
        lines.join("\n") + "\n"
    }

    /// Everything that the agent sent.
    pub(super) fn payload(&self) -> String {
        let payload = serde_json::to_string_pretty(&self.question.payload).unwrap_or_default();
        let mut lines = vec![String::new()];
        for line in visible_lines(&payload) {
            let text = line.trim_start();
            let indent = " ".repeat(4 + line.len() - text.len());
            lines.extend(wrap(text, self.columns, &indent));
        }
        lines.join("\n") + "\n"
    }

    fn title(&self) -> String {
        let question = self.question;
        let left = format!("  ? {} asks", question.agent_type);
        let right = format!("{} · {}", question.details.r#type, question.node);
        let gap = self
            .columns
            .saturating_sub(columns_of(&left) + columns_of(&right) + 1);
        let (left, right) = (
            self.palette.paint(Tone::Waiting, &left),
            self.palette.paint(Tone::Faint, &right),
        );
        if gap < 2 {
            return format!("{left}\n    {right}");
        }
        format!("{left}{}{right}", " ".repeat(gap))
    }

    /// Why a person is asked, if the agent did not ask for one.
    fn why(&self) -> Vec<String> {
        let text = match &self.question.kind {
            QuestionKind::HumanReview | QuestionKind::Tool { .. } => return Vec::new(),
            QuestionKind::UnsureReview {
                suggestion,
                confidence,
                threshold,
            } => format!(
                "A reviewing model is {confidence} % sure where {threshold} % are needed. It would \
                 say: {}",
                visible_line(suggestion)
            ),
            QuestionKind::UnfilledRequest { problem, .. } => format!(
                "No model could write the request of {}: {}. Type e to write it.",
                self.question.target,
                visible_line(problem)
            ),
        };
        let mut lines = vec![String::new()];
        lines.extend(self.painted(Tone::Plain, &text));
        lines
    }

    fn choices(&self) -> Vec<String> {
        let choices = &self.question.details.choices;
        let label_columns = choices
            .iter()
            .map(|choice| columns_of(&visible_line(&choice.label)))
            .max()
            .unwrap_or(0)
            .min(WIDEST_LABEL);
        let indent = " ".repeat(8 + label_columns + 2);
        let mut lines = Vec::new();
        for (index, choice) in choices.iter().enumerate() {
            let label = visible_line(&choice.label);
            let number = self
                .palette
                .paint(Tone::Waiting, &format!("{:>6}", index + 1));
            let description = visible_line(&choice.description);
            let mut wrapped = wrap(&description, self.columns, &indent).into_iter();
            if columns_of(&label) > label_columns {
                // A label that is too long for its column has a line of its own.
                lines.push(format!("{number}  {label}"));
                lines.extend(wrapped);
                continue;
            }
            let first = wrapped.next().unwrap_or_default();
            let first = first.trim_start();
            let label = fit(&label, label_columns);
            lines.push(format!("{number}  {label}  {first}").trim_end().to_owned());
            lines.extend(wrapped);
        }
        lines
    }

    /// Where an answer that is typed goes.
    pub(super) fn way(&self) -> String {
        let text = match &self.question.kind {
            QuestionKind::Tool { .. } => "    The answer goes to the call.".to_owned(),
            QuestionKind::HumanReview
            | QuestionKind::UnsureReview { .. }
            | QuestionKind::UnfilledRequest { .. } => {
                format!("    The answer goes to {}.", self.question.target)
            }
        };
        self.palette.paint(Tone::Faint, &text)
    }

    fn painted(&self, tone: Tone, text: &str) -> Vec<String> {
        wrap(text, self.columns, "    ")
            .into_iter()
            .map(|line| self.palette.paint(tone, &line))
            .collect()
    }

    fn prompt_line(&self, what: &str) -> String {
        let what = self.palette.paint(Tone::Faint, &format!("  {what}"));
        let mark = self.palette.paint(Tone::Waiting, "  >");
        format!("\n{what}\n{mark} ")
    }
}
