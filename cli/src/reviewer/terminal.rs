//! A person at the terminal, or a program at the other end of a pipe.

use std::collections::HashMap;
use std::io::IsTerminal;

use async_trait::async_trait;
use interrupt_router::review::{
    Answer, Answerer, AnswererKind, Pause, Question, Resume, ReviewError, Reviewer,
};
use interrupt_router::{InterruptId, Outcome, StopReason, StopScope};
use tokio::sync::Mutex;

use super::dialogue::{Dialogue, DialogueStep};
use super::editor;
use super::lines::NoLine;
use super::typing::{Turn, Typing};
use crate::actor::actor;
use crate::keyboard::DraftAnswer;
use crate::layout::{screen_size, wrap};
use crate::palette::{Palette, Tone};
use crate::terminal_output::{TerminalConversation, TerminalOutput};
use crate::visible::visible_line;

/// Asks one question after the other, in the order in which they come.
pub(crate) struct Terminal {
    output: TerminalOutput,
    typing: Typing,
    palette: Palette,
    /// Who has the screen; the drafts of requests that were edited, for a question that is asked again.
    turn: Mutex<HashMap<InterruptId, String>>,
}

/// Why no line came.
enum Silence {
    Stopped(StopReason),
    NobodyThere,
    /// Esc was pressed after these words: another part of the program has the terminal for a while.
    Escaped(String),
    Broken(String),
}

impl From<Silence> for ReviewError {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Broken(detail) => Self::Unavailable { detail },
            Silence::NobodyThere | Silence::Escaped(_) | Silence::Stopped(_) => Self::NobodyThere,
        }
    }
}

impl Terminal {
    /// Asks on the terminal output and reads what is typed.
    pub(crate) fn new(output: TerminalOutput, typing: Typing, palette: Palette) -> Self {
        Self {
            output,
            typing,
            palette,
            turn: Mutex::new(HashMap::new()),
        }
    }

    async fn ask(
        &self,
        (turn, conversation): (&Turn<'_>, &TerminalConversation),
        text: String,
        scope: &StopScope,
    ) -> Result<String, Silence> {
        let mut shown = text;
        loop {
            turn.forget().await;
            conversation.ask(shown).await;
            let line = tokio::select! {
                biased; // A stopped run wants no more answers.
                reason = scope.stopping() => return Err(Silence::Stopped(reason)),
                line = turn.line() => line,
            };
            match line {
                Ok(line) => {
                    let is_shown = std::io::stdin().is_terminal();
                    conversation.typed((!is_shown).then(|| visible_line(&line)));
                    return Ok(line);
                }
                Err(NoLine::Unusable(problem)) => {
                    conversation.typed(None);
                    shown = format!("  {problem}; try again\n  > ");
                }
                Err(NoLine::End | NoLine::Withdrawn) => return Err(Silence::NobodyThere),
                Err(NoLine::Escape(words)) => return Err(Silence::Escaped(words)),
                Err(error @ NoLine::Unreadable(_)) => {
                    return Err(Silence::Broken(error.to_string()));
                }
            }
        }
    }

    /// Waits until the terminal is free for a question, which is asked anew if Esc has taken it away.
    async fn begin(&self, scope: &StopScope) -> Result<Turn<'_>, Silence> {
        tokio::select! {
            biased; // A stopped run wants no more answers.
            reason = scope.stopping() => Err(Silence::Stopped(reason)),
            turn = self.typing.begin() => Ok(turn),
        }
    }

    async fn converse(
        &self,
        question: &Question,
        drafts: &mut HashMap<InterruptId, String>,
        scope: &StopScope,
    ) -> Result<Answer, Silence> {
        let turn = self.begin(scope).await?;
        let (columns, _rows) = screen_size();
        let conversation = self.output.converse();
        let mut dialogue = Dialogue::new(question, columns - 1, self.palette);
        let begun = self.kept(question.interrupt);
        let mut text = dialogue.opening();
        if let Some(begun) = &begun {
            text = format!("{}{text}", begun.text());
        }
        let mut is_answer = true;
        loop {
            let line = match self.ask((&turn, &conversation), text, scope).await {
                Err(Silence::Escaped(words)) => {
                    self.keep(question.interrupt, DraftAnswer { words, is_answer }, begun);
                    return Err(Silence::Escaped(String::new()));
                }
                line => line?,
            };
            let line = DraftAnswer::meant(begun.as_ref(), line, is_answer);
            is_answer = false;
            let mut step = dialogue.line(&line);
            if step == DialogueStep::Edit {
                step = self.edit(question, &mut dialogue, drafts).await;
            }
            match step {
                DialogueStep::Ask(next) => text = next,
                DialogueStep::Done(answer) => return Ok(answer),
                DialogueStep::Edit => text = dialogue.opening(),
            }
        }
    }

    /// What was begun as the answer to a question when Esc was pressed.
    fn kept(&self, question: InterruptId) -> Option<DraftAnswer> {
        self.typing.keyboard()?.kept(question)
    }

    /// Keeps what was begun, or else what was kept before.
    fn keep(&self, question: InterruptId, begun: DraftAnswer, before: Option<DraftAnswer>) {
        if let Some(keyboard) = self.typing.keyboard() {
            keyboard.keep(question, begun.or(before));
        }
    }

    /// Lets the person edit the request, as long as it is no JSON.
    async fn edit(
        &self,
        question: &Question,
        dialogue: &mut Dialogue<'_>,
        drafts: &mut HashMap<InterruptId, String>,
    ) -> DialogueStep {
        if !std::io::stdin().is_terminal() {
            return dialogue.again("An editor needs a terminal; type e {…} with the JSON.");
        }
        let begun = drafts.get(&question.interrupt).map(String::as_str);
        let draft = editor::draft(question.target, &question.request_schema, begun);
        let before = draft.clone();
        let edited = tokio::task::spawn_blocking(move || editor::edit(&draft)).await;
        let text = match edited {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => return dialogue.again(&format!("Not edited: {error}.")),
            Err(_ended) => return dialogue.again("Not edited."),
        };
        if text == before && !drafts.contains_key(&question.interrupt) {
            return dialogue.edited(None);
        }
        let read = editor::read_draft(&text);
        drafts.insert(question.interrupt, text);
        match read {
            Ok(request) => dialogue.edited(request),
            Err(error) => {
                let problem = format!("That is no JSON: {error}. Type e to go on editing.");
                dialogue.again(&problem)
            }
        }
    }

    async fn wait_for_input(
        &self,
        pause: &Pause,
        begun: &str,
        scope: &StopScope,
    ) -> Result<String, Silence> {
        let turn = self.begin(scope).await?;
        let conversation = self.output.converse();
        let mut text = self.pause_text(pause);
        if !begun.is_empty() {
            let begun = DraftAnswer {
                words: begun.to_owned(),
                is_answer: false,
            };
            text = format!("{}{text}", begun.text());
        }
        self.ask((&turn, &conversation), text, scope).await
    }

    fn pause_text(&self, pause: &Pause) -> String {
        let (columns, _rows) = screen_size();
        let title = format!("  ‖ {} has paused the run", pause.agent_type);
        let mut lines = vec![String::new(), self.palette.paint(Tone::Waiting, &title)];
        lines.push(String::new());
        lines.extend(wrap(&visible_line(&pause.reason), columns - 1, "    "));
        lines.push(String::new());
        let how = "  Enter resumes it unchanged · or write new input for it";
        lines.push(self.palette.paint(Tone::Faint, how));
        lines.push(format!("{} ", self.palette.paint(Tone::Waiting, "  >")));
        lines.join("\n")
    }
}

#[async_trait]
impl Reviewer for Terminal {
    fn answerer(&self, _interrupt: InterruptId) -> Answerer {
        match actor() {
            Ok(actor) => Answerer {
                name: actor.name.to_string(),
                kind: AnswererKind::Person,
            },
            // A user whose name cannot be recorded was informed before the run began.
            Err(_nameless) => Answerer::default(),
        }
    }

    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        let mut drafts = tokio::select! {
            biased;
            reason = scope.stopping() => return Ok(interrupted(reason)),
            turn = self.turn.lock() => turn,
        };
        loop {
            match self.converse(question, &mut drafts, scope).await {
                Ok(answer) => return Ok(Outcome::Completed(answer)),
                Err(Silence::Escaped(_kept)) => {}
                Err(Silence::Stopped(reason)) => return Ok(interrupted(reason)),
                Err(silence) => return Err(silence.into()),
            }
        }
    }

    async fn resume(
        &self,
        pause: &Pause,
        scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        let _turn = tokio::select! {
            biased;
            reason = scope.stopping() => return Ok(interrupted(reason)),
            turn = self.turn.lock() => turn,
        };
        let mut begun = String::new();
        loop {
            match self.wait_for_input(pause, &begun, scope).await {
                Ok(line) => {
                    let input = Some(line.trim().to_owned()).filter(|input| !input.is_empty());
                    return Ok(Outcome::Completed(Resume { input }));
                }
                Err(Silence::Escaped(words)) if words.trim().is_empty() => {}
                Err(Silence::Escaped(words)) => begun = words,
                Err(Silence::Stopped(reason)) => return Ok(interrupted(reason)),
                Err(silence) => return Err(silence.into()),
            }
        }
    }
}

fn interrupted<T>(reason: StopReason) -> Outcome<T> {
    Outcome::Interrupted {
        reason,
        partial: (),
    }
}
