//! A conversation on a terminal. One loop takes what happens, decides, and draws.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use crossterm::event::Event;
use interrupt_router::StopSource;
use interrupt_router::model::{AtProvider, CallNote, ModelError, PartialReply};
use interrupts::signals::{OsSignals, Signal};
use llm::{Conversation, ConversationEvent, ConversationRunEnd};
use tokio::task::{JoinError, JoinSet};
use tools::{InterruptController, wording};

use super::command::{self, COMMANDS, Submitted};
use super::happening::{Ended, EventSources, Happening};
use super::prompt::{Prompt, PromptAction};
use super::raw_terminal::RawTerminal;
use super::screen::Screen;
use super::tool_talk::{QUESTION_COMES, QUESTION_HINT, ToolTalk};
use super::tools::ToolControls;
use super::width::{broken, columns};
use super::{ended_line, failure, now, tool_line, usage_text};
use crate::arguments::Global;
use crate::exit::{Exit, Failure};
use crate::palette::{Palette, Tone};
use crate::terminal_events::TerminalEvents;
use crate::terminal_output::is_of_closed_terminal;
use crate::visible::{visible_line, visible_lines, visible_piece};

/// The mark after an interrupted answer.
const INTERRUPTED: &str = "[interrupted]";

/// The hint after a first Ctrl+C with nothing to interrupt.
const AGAIN: &str = "Press Ctrl+C again to exit";

/// Talks until the person leaves.
pub(super) async fn talk(
    conversation: Conversation,
    asked: ToolControls,
    global: Global,
) -> anyhow::Result<Exit> {
    let signals = OsSignals::listen()?;
    let events = conversation.events();
    let _raw = RawTerminal::take()?;
    let mut table = EventSources {
        keys: TerminalEvents::listen(),
        events,
        questions: asked.questions,
        runs: JoinSet::new(),
        signals,
    };
    let mut talk = Talk::new(conversation, global);
    talk.controller = asked.controller;
    talk.greet();
    let exit = loop {
        talk.settle_questions();
        match talk.draw(table.runs.is_empty()) {
            Ok(()) => talk.tools.drawn(),
            Err(error) if is_of_closed_terminal(&error) => break Exit::HungUp,
            Err(error) => return Err(error.into()),
        }
        let happening = table.next(talk.tools.due()).await;
        match talk.handle(happening, &mut table) {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(exit) => break exit,
        }
    };
    talk.conversation.interrupt(now("the conversation is over"));
    while let Some(ended) = table.runs.join_next().await {
        // Its events have already reported the result.
        drop(ended);
    }
    while let Ok(event) = table.events.try_recv() {
        talk.show_event(event);
    }
    talk.screen.close();
    match talk.write() {
        // The terminal is closed, so a last message would not be read.
        Err(error) if !is_of_closed_terminal(&error) => Err(error.into()),
        Ok(()) | Err(_) => Ok(exit),
    }
}

pub(super) struct Talk {
    pub(super) conversation: Conversation,
    pub(super) screen: Screen,
    pub(super) prompt: Prompt,
    palette: Palette,
    global: Global,
    /// Whether an event of the run under way has arrived.
    heard_of_answer: bool,
    /// Whether the run under way was interrupted and is about to end, and whether something was sent since.
    interrupted: bool,
    sent_since: bool,
    /// Whether Ctrl+C was pressed with nothing to interrupt, and nothing was done since.
    leaving: bool,
    /// What stops the tools, if there are any.
    controller: Option<InterruptController>,
    /// The running tools, and the questions about those that need permission.
    pub(super) tools: ToolTalk,
}

impl Talk {
    fn new(conversation: Conversation, global: Global) -> Self {
        Self {
            conversation,
            screen: Screen::new(columns()),
            prompt: Prompt::default(),
            palette: Palette::for_stream(&io::stdout(), global.no_color),
            global,
            heard_of_answer: false,
            interrupted: false,
            sent_since: false,
            leaving: false,
            controller: None,
            tools: ToolTalk::default(),
        }
    }

    fn greet(&mut self) {
        if !self.global.quiet {
            let name = self.conversation.model_name();
            self.notice(&format!(
                "{name} · /help lists the commands · Ctrl+C or Esc interrupts an answer · Ctrl+D leaves"
            ));
        }
    }

    /// Draws what has changed.
    fn draw(&mut self, is_resting: bool) -> io::Result<()> {
        let hint = match (is_resting, self.heard_of_answer) {
            (false, _) if self.tools.takes_answers() => QUESTION_HINT,
            (false, _) if self.tools.asks() => QUESTION_COMES,
            (false, _) if self.tools.running() > 0 => "a tool runs · Ctrl+C stops it",
            (false, false) => "waiting for the model · Esc interrupts",
            (false, true) => "Esc interrupts · Enter sends the next message when it has finished",
            (true, _) if self.conversation.waiting() > 0 => "Enter sends what waits",
            (true, _) => "",
        };
        let row = self.prompt.row(columns(), self.palette, hint);
        self.screen.prompt(row);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.screen.take_bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        let mut output = io::stdout().lock();
        output.write_all(bytes.as_bytes())?;
        output.flush()
    }

    fn handle(&mut self, happening: Happening, table: &mut EventSources) -> ControlFlow<Exit> {
        match happening {
            Happening::Signalled(Signal::Interrupt) => self.perform(PromptAction::Interrupt, table),
            Happening::Signalled(signal) => ControlFlow::Break(Exit::by(signal)),
            Happening::Terminal(Some(Ok(event))) => {
                if let Event::Resize(columns, _rows) = event {
                    self.screen.resize(usize::from(columns));
                }
                if matches!(event, Event::Key(_) | Event::Paste(_)) {
                    self.tools.touched();
                }
                match self.prompt.take(&event) {
                    Some(wish) => self.perform(wish, table),
                    None => ControlFlow::Continue(()),
                }
            }
            // The terminal has gone away.
            Happening::Terminal(None | Some(Err(_))) => ControlFlow::Break(Exit::HungUp),
            Happening::Told(event) => {
                self.show_event(event);
                // All events that have arrived are drawn together.
                while let Ok(event) = table.events.try_recv() {
                    self.show_event(event);
                }
                ControlFlow::Continue(())
            }
            Happening::Asked(question) => {
                self.ask_permission(*question);
                ControlFlow::Continue(())
            }
            Happening::Seen => {
                self.open_question();
                ControlFlow::Continue(())
            }
            Happening::RunEnded(ended) => self.run_ended(ended, table),
        }
    }

    fn perform(&mut self, wish: PromptAction, table: &mut EventSources) -> ControlFlow<Exit> {
        let is_running = !table.runs.is_empty();
        let was_leaving = std::mem::take(&mut self.leaving);
        match wish {
            PromptAction::Redraw => {}
            PromptAction::Clear => self.screen.clear(),
            PromptAction::Submit(line) if self.tools.takes_answers() => {
                self.answered_question(&line)
            }
            PromptAction::Submit(line) if self.tools.asks() => self.submitted_too_early(&line),
            PromptAction::Submit(line) => return self.submitted(command::read(&line), table),
            PromptAction::Interrupt | PromptAction::Escape if is_running => {
                let key = if wish == PromptAction::Escape {
                    "Esc"
                } else {
                    "Ctrl+C"
                };
                // Printed before anything has stopped.
                let waits = self
                    .controller
                    .as_ref()
                    .is_some_and(InterruptController::defers);
                if self.tools.begin_stop() {
                    self.notice(if waits {
                        wording::DEFERRED
                    } else {
                        wording::RECEIVED
                    });
                }
                self.conversation.interrupt(now(key));
            }
            PromptAction::Escape => {}
            PromptAction::Interrupt if !self.prompt.is_empty() => self.prompt.clear(),
            PromptAction::Interrupt if was_leaving => return ControlFlow::Break(Exit::Interrupted),
            PromptAction::Interrupt => {
                self.leaving = true;
                self.notice(AGAIN);
            }
            PromptAction::Leave => return ControlFlow::Break(Exit::Success),
        }
        ControlFlow::Continue(())
    }

    fn submitted(&mut self, submitted: Submitted, table: &mut EventSources) -> ControlFlow<Exit> {
        match submitted {
            Submitted::Nothing => self.run(table),
            Submitted::Message(text) => {
                // The text is not blank: a blank line is read as nothing.
                if self.conversation.send_message(text).is_ok() {
                    self.sent_since = self.interrupted;
                    self.run(table);
                }
            }
            Submitted::Help => self.help(),
            Submitted::Exit => return ControlFlow::Break(Exit::Success),
            Submitted::Unknown { given, near } => {
                let near = near.map_or(String::new(), |near| format!(" Did you mean {near}?"));
                self.notice(&format!(
                    "There is no command {given}.{near} /help lists them."
                ));
            }
        }
        ControlFlow::Continue(())
    }

    /// Begins a run if there is something to answer and none is under way.
    fn run(&mut self, table: &mut EventSources) {
        if table.runs.is_empty() && self.conversation.has_work() {
            self.heard_of_answer = false;
            self.interrupted = false;
            self.sent_since = false;
            table.runs.spawn(self.conversation.run());
        }
    }

    fn run_ended(
        &mut self,
        ended: Result<Ended, JoinError>,
        table: &mut EventSources,
    ) -> ControlFlow<Exit> {
        while let Ok(event) = table.events.try_recv() {
            self.show_event(event);
        }
        match ended {
            // A message that was sent as the run ended is answered by another run.
            Ok(Ok(ConversationRunEnd::Answered)) => self.run(table),
            // So is one that was sent after the person had read of the interrupt.
            Ok(Ok(ConversationRunEnd::Interrupted { .. })) if self.sent_since => self.run(table),
            Ok(
                Ok(ConversationRunEnd::Interrupted { .. } | ConversationRunEnd::Paused { .. })
                | Err(_),
            ) => {}
            // A panic was printed already, and the terminal was given back.
            Err(_panicked) => return ControlFlow::Break(Exit::Failure),
        }
        ControlFlow::Continue(())
    }

    /// Shows what happened.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what else happens is seen in the prompt"
    )]
    fn show_event(&mut self, event: ConversationEvent) {
        match event {
            ConversationEvent::StepStarted { messages } => {
                for message in messages {
                    self.echo(&message);
                }
            }
            ConversationEvent::Piece { text } => {
                self.heard_of_answer = true;
                self.screen.text(&visible_piece(&text));
            }
            ConversationEvent::Restarted => {
                self.heard_of_answer = false;
                self.marked("[broke off; asked again]");
            }
            ConversationEvent::Noted { note } if note != CallNote::GoesOn => {
                self.notice(&note.to_string());
            }
            ConversationEvent::Answered { usage, cut_off, .. } => {
                if cut_off {
                    self.marked("[cut off at the length limit]");
                }
                self.after_answer(&usage_text(usage));
            }
            ConversationEvent::Interrupted { reason, partial } => {
                self.interrupted = true;
                let tools_stopped = self.tools.over();
                if reason.source == StopSource::System {
                    // No key was pressed: the budget is exhausted.
                    self.notice(&format!("Not sent: {}.", reason.message));
                } else if let Some(partial) = partial {
                    self.marked(INTERRUPTED);
                    self.after_answer(&partial_text(&partial));
                } else if tools_stopped {
                    self.notice(wording::CHOICES);
                } else {
                    self.notice("Interrupted; no answer was under way.");
                }
                self.say_what_waits();
            }
            ConversationEvent::ToolStarted { request } => {
                self.tools.started();
                let request = self.tools.as_edited(request);
                self.notice(&tool_line(&request));
            }
            ConversationEvent::ToolEnded { request, result } => {
                let was_stopped = self.tools.ended();
                self.notice(&ended_line(&request, &result, was_stopped));
            }
            ConversationEvent::Paused { reason } if reason.source == StopSource::System => {
                self.notice(&format!("Paused: {}. Enter goes on.", reason.message));
            }
            ConversationEvent::Failed { error } => self.failed(&error),
            _ => {}
        }
    }

    fn echo(&mut self, message: &str) {
        let rows: Vec<String> = visible_lines(message)
            .iter()
            .flat_map(|line| broken(line, columns().saturating_sub(3)))
            .map(|row| self.palette.paint(Tone::Strong, &format!("> {row}")))
            .collect();
        self.screen.rows(rows.iter().map(String::as_str));
    }

    fn marked(&mut self, mark: &str) {
        let painted = self.palette.paint(Tone::Waiting, mark);
        self.screen.mark(mark, &painted);
        self.screen.end_row();
    }

    /// Ends an answer, with its details at a higher verbosity.
    fn after_answer(&mut self, detail: &str) {
        self.screen.end_row();
        if self.global.verbose > 0 && !detail.is_empty() {
            self.notice(detail);
        }
        self.screen.rows([""]);
    }

    fn say_what_waits(&mut self) {
        match self.conversation.waiting() {
            0 => {}
            1 => self.notice("1 message waits: Enter sends it."),
            count => self.notice(&format!("{count} messages wait: Enter sends them.")),
        }
    }

    fn failed(&mut self, error: &Arc<ModelError>) {
        let failure: Failure = failure(error);
        let mut text = format!("error: {failure}");
        if let Some(hint) = failure.advice() {
            text.push_str(&format!("; {hint}"));
        }
        text.push_str(" (Enter tries again)");
        let rows: Vec<String> = broken(&visible_line(&text), columns() - 1)
            .iter()
            .map(|row| self.palette.paint(Tone::Bad, row))
            .collect();
        self.screen.rows(rows.iter().map(String::as_str));
    }

    pub(super) fn notice(&mut self, text: &str) {
        let rows: Vec<String> = broken(&visible_line(text), columns() - 1)
            .iter()
            .map(|row| self.palette.paint(Tone::Faint, row))
            .collect();
        self.screen.rows(rows.iter().map(String::as_str));
    }

    /// A row of what a person decides about, never truncated.
    pub(super) fn question_row(&mut self, line: &str) {
        let rows = broken(line, columns() - 1);
        self.screen.rows(rows.iter().map(String::as_str));
    }

    fn help(&mut self) {
        for (name, meaning) in COMMANDS {
            let row = format!("  {name:<16}{meaning}");
            self.screen.rows([row.as_str()]);
        }
    }
}

/// What is known of an interrupted call.
fn partial_text(partial: &PartialReply) -> String {
    let provider = match partial.at_provider {
        AtProvider::NothingUnderWay => "no request was under way",
        AtProvider::ConnectionClosed => "the connection is closed",
        AtProvider::BeingTold => "the provider is being told to cancel it",
        AtProvider::OnlyDiscarded => "the answer is no longer read",
    };
    let billed = if partial.may_be_billed() {
        "; it may still be billed"
    } else {
        ""
    };
    format!("{provider}{billed}; {}", usage_text(partial.usage))
}
