//! How a run talks with the process that started it.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use interrupt_router::review::Reviewer;
use llm::Script;

use crate::arguments::{Global, TalkArguments};
use crate::keyboard::Keyboard;
use crate::palette::{self, Palette};
use crate::report::{CloudEvents, Detail, Live, Palettes, Plain, Report, SharedEvents};
use crate::reviewer::{InterruptCount, NoReviewer, Scripted, Terminal, Typing};
use crate::terminal_output::TerminalOutput;

/// How a run talks.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct Talk {
    /// No one is asked.
    pub(in crate::commands) no_input: bool,
    /// One CloudEvent a line.
    pub(in crate::commands) json: bool,
    /// Whether standard input is still free for answers.
    pub(in crate::commands) input_is_free: bool,
    /// How fast the rehearsal speaks, if given.
    pub(in crate::commands) pace: Option<u32>,
}

impl Talk {
    pub(in crate::commands) const fn of(arguments: &TalkArguments) -> Self {
        Self {
            no_input: arguments.no_input,
            json: arguments.json,
            input_is_free: true,
            pace: arguments.pace,
        }
    }

    /// Whether Esc opens the window of the run.
    pub(super) fn hears_escape(self, global: Global) -> bool {
        !self.json
            && !self.no_input
            && self.input_is_free
            && !global.quiet
            && Keyboard::tells_keys()
    }

    /// Who answers, at this keyboard if there is one.
    pub(super) fn reviewer(
        self,
        keyboard: Option<Arc<Keyboard>>,
        script: Option<&Script>,
        count: &Arc<InterruptCount>,
        output: &TerminalOutput,
        global: Global,
    ) -> io::Result<Arc<dyn Reviewer>> {
        // A person who types has to see the question; a program at the other end of a pipe may know it.
        let is_blind = io::stdin().is_terminal() && !io::stderr().is_terminal();
        let people: Arc<dyn Reviewer> = if self.no_input || !self.input_is_free || is_blind {
            Arc::new(NoReviewer)
        } else {
            let palette = Palette::for_stream(&io::stderr(), global.no_color);
            Arc::new(Terminal::new(
                output.clone(),
                Typing::of(keyboard)?,
                palette,
            ))
        };
        let answers = script.map(Script::person_answers);
        Ok(match answers.filter(|answers| !answers.is_empty()) {
            Some(answers) => Arc::new(Scripted::new(
                answers,
                Arc::clone(count),
                output.clone(),
                people,
            )),
            None => people,
        })
    }

    /// The report of a run: for programs if there are events.
    pub(super) fn report(self, global: Global, events: Option<&SharedEvents>) -> Box<dyn Report> {
        if let Some(events) = events {
            return Box::new(CloudEvents::new(Arc::clone(events)));
        }
        let detail = match (global.quiet, global.verbose) {
            (true, _) => Detail::Little,
            (false, 0) => Detail::Usual,
            (false, _) => Detail::Much,
        };
        let palettes = Palettes {
            output: Palette::for_stream(&io::stdout(), global.no_color),
            error_output: Palette::for_stream(&io::stderr(), global.no_color),
        };
        let can_move = io::stderr().is_terminal() && !palette::is_dumb();
        if can_move && detail > Detail::Little {
            Box::new(Live::new(detail, palettes, self.hears_escape(global)))
        } else {
            Box::new(Plain::new(detail, palettes))
        }
    }
}
