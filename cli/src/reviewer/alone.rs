//! A person at a terminal that shows no run: one question, asked on standard error.

use std::io::{self, Write};

use interrupt_router::review::{Answer, Question};

use super::consent::yes_or_no;
use super::dialogue::{Dialogue, DialogueStep};
use super::editor;
use super::lines::{NoLine, forget_typed_ahead, read_line};
use crate::keyboard::DraftAnswer;
use crate::layout::{screen_size, wrap};
use crate::palette::{Palette, Tone};
use crate::visible::visible_line;

/// Where the person who is asked types.
pub(crate) trait Typed {
    /// Discards what was typed so far: it was typed before the next question could be seen.
    fn forget(&self);

    /// The next line, without its end. Blocks.
    ///
    /// # Errors
    ///
    /// [`NoLine`].
    fn line(&self) -> Result<String, NoLine>;
}

/// The terminal of this process, if its keys are not listened for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandardInput;

impl Typed for StandardInput {
    fn forget(&self) {
        forget_typed_ahead();
    }

    fn line(&self) -> Result<String, NoLine> {
        read_line(&mut io::stdin().lock())
    }
}

/// What the person who is asked does.
#[derive(Debug)]
pub(crate) enum Reply<T> {
    /// Answers.
    Given(T),
    /// Leaves it open.
    Left,
    /// Presses Esc: another part of the program has the terminal for a while.
    Escaped(DraftAnswer),
    /// Does nothing: the question was answered elsewhere.
    Withdrawn,
}

impl<T> Reply<T> {
    /// The answer, if one was given.
    pub(crate) fn given(self) -> Option<T> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Left | Self::Escaped(_) | Self::Withdrawn => None,
        }
    }
}

/// Asks at the terminal of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alone {
    palette: Palette,
}

impl Alone {
    /// In these colours.
    pub(crate) const fn new(palette: Palette) -> Self {
        Self { palette }
    }

    /// What the question looks like, without asking it.
    pub(crate) fn page(self, question: &Question) -> String {
        self.dialogue(question).page()
    }

    /// Asks until the answer fits, as `check` says. What was begun before is shown, and Enter alone sends it. Blocks.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read or written.
    pub(crate) fn answer(
        self,
        question: &Question,
        (typed, mut begun): (&dyn Typed, Option<DraftAnswer>),
        check: impl Fn(&Answer) -> Result<(), String>,
    ) -> io::Result<Reply<Answer>> {
        typed.forget();
        let mut question = question.clone();
        loop {
            let answer = match self.converse(&question, (typed, begun.take()))? {
                Reply::Given(answer) => answer,
                reply @ (Reply::Left | Reply::Escaped(_) | Reply::Withdrawn) => return Ok(reply),
            };
            match check(&answer) {
                Ok(()) => return Ok(Reply::Given(answer)),
                Err(problem) => question.problem = Some(problem),
            }
        }
    }

    /// Asks for one line; `None` if the person leaves. Blocks.
    ///
    /// # Errors
    ///
    /// As [`Alone::answer`].
    pub(crate) fn line(self, text: &str) -> io::Result<Option<String>> {
        Ok(ask(text, &StandardInput)?.given())
    }

    /// Asks for a yes; anything else is none. Blocks.
    ///
    /// # Errors
    ///
    /// As [`Alone::answer`].
    pub(crate) fn confirmed(self, text: &str) -> io::Result<bool> {
        let line = self.line(text)?.unwrap_or_default();
        Ok(yes_or_no(&line) == Some(true))
    }

    /// The prompt of a run that was paused.
    pub(crate) fn pause(self, kind: &str, reason: &str) -> String {
        let title = format!("  ‖ {} is paused", visible_line(kind));
        let mut lines = vec![String::new(), self.palette.paint(Tone::Waiting, &title)];
        lines.push(String::new());
        lines.extend(wrap(&visible_line(reason), columns(), "    "));
        lines.push(String::new());
        let how = "  Enter resumes it unchanged · or write new input · Ctrl+D leaves it paused";
        lines.push(self.palette.paint(Tone::Faint, how));
        lines.push(format!("{} ", self.palette.paint(Tone::Waiting, "  >")));
        lines.join("\n")
    }

    fn dialogue(self, question: &Question) -> Dialogue<'_> {
        Dialogue::new(question, columns(), self.palette)
    }

    fn converse(
        self,
        question: &Question,
        (typed, begun): (&dyn Typed, Option<DraftAnswer>),
    ) -> io::Result<Reply<Answer>> {
        let mut dialogue = self.dialogue(question);
        let mut draft = None;
        let mut text = dialogue.opening();
        if let Some(begun) = &begun {
            text = format!("{}{text}", begun.text());
        }
        let mut is_answer = true;
        loop {
            let line = match ask(&text, typed)? {
                Reply::Given(line) => line,
                Reply::Left => return Ok(Reply::Left),
                Reply::Withdrawn => return Ok(Reply::Withdrawn),
                Reply::Escaped(now) => {
                    let now = DraftAnswer { is_answer, ..now };
                    return Ok(Reply::Escaped(now.or(begun)));
                }
            };
            let line = DraftAnswer::meant(begun.as_ref(), line, is_answer);
            is_answer = false;
            let mut step = dialogue.line(&line);
            if step == DialogueStep::Edit {
                step = edit(question, &mut dialogue, &mut draft);
            }
            match step {
                DialogueStep::Ask(next) => text = next,
                DialogueStep::Done(answer) => return Ok(Reply::Given(answer)),
                DialogueStep::Edit => text = dialogue.opening(),
            }
        }
    }

    /// Lets the person write the target's request; `None` if it was left as it was. Blocks.
    ///
    /// # Errors
    ///
    /// If there is no editor, or what was written is no JSON.
    pub(crate) fn request(self, question: &Question) -> io::Result<Option<serde_json::Value>> {
        let begun = editor::draft(question.target, &question.request_schema, None);
        let text = editor::edit(&begun)?;
        if text == begun {
            return Ok(None);
        }
        editor::read_draft(&text)
            .map_err(|error| io::Error::other(format!("that is no JSON: {error}")))
    }
}

/// Asks for one line.
fn ask(text: &str, typed: &dyn Typed) -> io::Result<Reply<String>> {
    let mut shown = text.to_owned();
    loop {
        write(&shown)?;
        match typed.line() {
            Ok(line) => return Ok(Reply::Given(line)),
            Err(NoLine::End) => {
                write("\n")?;
                return Ok(Reply::Left);
            }
            Err(NoLine::Withdrawn) => {
                write("\n")?;
                return Ok(Reply::Withdrawn);
            }
            Err(NoLine::Unreadable(error)) => return Err(error),
            Err(error @ NoLine::Unusable(_)) => shown = format!("  {error}; try again\n  > "),
            Err(NoLine::Escape(words)) => {
                let is_answer = false;
                return Ok(Reply::Escaped(DraftAnswer { words, is_answer }));
            }
        }
    }
}

/// Writes at once. The screen is free for others while the person types.
fn write(text: &str) -> io::Result<()> {
    let mut screen = io::stderr().lock();
    screen.write_all(text.as_bytes())?;
    screen.flush()
}

fn columns() -> usize {
    screen_size().0 - 1
}

fn edit(
    question: &Question,
    dialogue: &mut Dialogue<'_>,
    draft: &mut Option<String>,
) -> DialogueStep {
    let begun = editor::draft(question.target, &question.request_schema, draft.as_deref());
    let text = match editor::edit(&begun) {
        Ok(text) => text,
        Err(error) => return dialogue.again(&format!("Not edited: {error}.")),
    };
    if text == begun && draft.is_none() {
        return dialogue.edited(None);
    }
    let read = editor::read_draft(&text);
    *draft = Some(text);
    match read {
        Ok(request) => dialogue.edited(request),
        Err(error) => dialogue.again(&format!(
            "That is no JSON: {error}. Type e to go on editing."
        )),
    }
}
