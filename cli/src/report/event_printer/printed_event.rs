//! One occurrence in words.

use agents::plan_execute::{PlanNews, PlanStepStarted};
use engine::run::{NamedEvent, RunEvent};
use interrupt_router::NodeId;
use interrupt_router::event::INTERRUPT_REQUEST_MARK;
use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::model::CallNote;
use interrupt_router::review::Answer;
use planning::{Fact, FactKind};

use tools::{CallEnd, Progress, ToolMessage, Verdict};

use crate::activity;
use crate::layout::cut;
use crate::model::Unanswered;
use crate::palette::Tone;
use crate::report::Detail;
use crate::report::agent_tree::AgentTree;
use crate::tooling::is_interrupted;
use crate::visible::visible_line;

/// The first line of a message that tells an agent how its interrupt was decided.
const DECISION_MARK: &str = "[decision]";

/// The field of every agent's record that has its interrupts.
const INTERRUPT_FIELD: &str = "interruptRequest";

/// How much is shown of a call's arguments, and of what came of it.
const WIDEST_CALL: usize = 160;

/// An event as text.
#[derive(Debug)]
pub(super) struct PrintedEvent {
    pub(super) symbol: &'static str,
    pub(super) tone: Tone,
    /// Whom it is about; empty if it is about the run.
    pub(super) who: String,
    pub(super) what: String,
    /// The least detail with which it is shown.
    pub(super) detail: Detail,
    /// Whether it is the plain course of work, which a tree shows too.
    pub(super) is_step: bool,
}

impl PrintedEvent {
    fn of_run(symbol: &'static str, tone: Tone, what: impl Into<String>) -> Option<Self> {
        Some(Self {
            symbol,
            tone,
            who: String::new(),
            what: what.into(),
            detail: Detail::Usual,
            is_step: false,
        })
    }

    fn of(who: String, symbol: &'static str, tone: Tone, what: impl Into<String>) -> Option<Self> {
        Self::of_run(symbol, tone, what).map(|moment| Self { who, ..moment })
    }

    fn change(who: String, what: impl Into<String>) -> Option<Self> {
        Self::of(who, "·", Tone::Faint, what).map(|moment| Self {
            detail: Detail::Much,
            ..moment
        })
    }
}

/// What to say of an event; `None` if it is not worth a line.
#[expect(
    clippy::too_many_lines,
    reason = "a table with one line or two for each event"
)]
pub(super) fn moment_of(event: &RunEvent, tree: &AgentTree) -> Option<PrintedEvent> {
    let line = visible_line;
    match event {
        RunEvent::Started {
            goal,
            model,
            workspace,
        } => {
            // A workflow that concerns no folder names none.
            let on = match workspace.as_str() {
                "" => String::new(),
                folder => format!(" on {}", line(folder)),
            };
            let what = format!("“{}”{on} with {}", line(goal), line(model));
            PrintedEvent::of_run("▶", Tone::Active, what)
        }
        RunEvent::AgentSpawned { node, .. } => PrintedEvent::change(tree.label(node), "is there"),
        RunEvent::AgentStatusChanged { node, status, .. } => {
            PrintedEvent::change(tree.label(node), activity::words(*status))
        }
        RunEvent::MessageAdded { node, text } => message_added(tree, node, text),
        RunEvent::StepStarted { node, step, .. } => {
            PrintedEvent::change(tree.label(node), format!("step {step}, asks its model"))
        }
        RunEvent::AnswerChunk { .. } | RunEvent::ModelCallRecorded { .. } => None,
        RunEvent::ModelNoted { node, note } => noted(tree, node, note),
        RunEvent::AnswerCorrected {
            node,
            correction,
            path,
            reason,
        } => {
            let what = format!(
                "the answer does not fit, correction {correction}: {}: {}",
                line(path),
                line(reason)
            );
            PrintedEvent::of(tree.label(node), "✎", Tone::Waiting, what)
        }
        RunEvent::StepFinished {
            node,
            step,
            field,
            summary,
            ..
        } => {
            let what = format!("step {step}, {field}: {}", line(summary));
            // An interrupt is shown as such right after.
            let detail = match *field {
                INTERRUPT_FIELD => Detail::Much,
                _ => Detail::Usual,
            };
            PrintedEvent::of(tree.label(node), "✓", Tone::Good, what).map(|moment| PrintedEvent {
                is_step: true,
                detail,
                ..moment
            })
        }
        RunEvent::ToolStarted {
            node,
            tool,
            arguments,
            ..
        } => {
            let arguments = cut(&line(&arguments.to_string()), WIDEST_CALL);
            let what = format!("uses {}: {arguments}", line(tool));
            PrintedEvent::of(tree.label(node), "⚒", Tone::Plain, what)
        }
        RunEvent::ToolProgress {
            node,
            tool,
            progress,
            ..
        } => PrintedEvent::change(
            tree.label(node),
            format!(
                "{}: {}",
                line(tool),
                cut(&line(&progress_words(progress)), WIDEST_CALL)
            ),
        ),
        RunEvent::ToolEnded { node, message } => tool_ended(tree, node, message),
        RunEvent::StopDeferred { node } => PrintedEvent::of(
            tree.label(node),
            "■",
            Tone::Waiting,
            "a call that must not be interrupted is running; the stop waits for its end",
        ),
        RunEvent::ToolLateResultDropped { node, tool } => PrintedEvent::change(
            tree.label(node),
            format!("a result of {} came too late, and was dropped", line(tool)),
        ),
        RunEvent::EventPublished { event } => published(tree, event),
        RunEvent::EventRefused { event, reason } => PrintedEvent::of_run(
            "✗",
            Tone::Bad,
            format!("the event {event} was refused: {}", line(reason)),
        ),
        RunEvent::EventEnded { event, state } => PrintedEvent::of_run(
            "⚑",
            Tone::Faint,
            format!("the event {event} was not used: {}", line(state)),
        ),
        RunEvent::InterruptRaised { node, details, .. } => {
            let what = format!("interrupts, {}: {}", details.r#type, line(&details.reason));
            PrintedEvent::of(tree.label(node), "◆", Tone::Waiting, what)
        }
        RunEvent::InterruptBound {
            interrupt,
            event,
            target,
        } => PrintedEvent::of(
            tree.label_of(*interrupt),
            "⚑",
            Tone::Route,
            format!("the event {event} is bound to it: an answer goes to {target}"),
        ),
        RunEvent::InterruptOpened { question } => {
            PrintedEvent::change(tree.label(&question.node), "asks a person")
        }
        RunEvent::InterruptReviewed {
            interrupt,
            confidence,
            threshold,
        } => PrintedEvent::of(
            tree.label_of(*interrupt),
            "◇",
            Tone::Plain,
            format!("a reviewing model is {confidence} % sure, {threshold} % are needed"),
        ),
        RunEvent::AnswerRefused { interrupt, problem } => PrintedEvent::of(
            tree.label_of(*interrupt),
            "✗",
            Tone::Bad,
            format!("the answer does not fit: {}", line(problem)),
        ),
        RunEvent::InterruptAnswered { interrupt, answer } => {
            let what = format!("is answered: {}", answer_words(answer));
            PrintedEvent::of(tree.label_of(*interrupt), "✓", Tone::Good, what)
        }
        RunEvent::Paused { interrupt, reason } => PrintedEvent::of(
            tree.label_of(*interrupt),
            "‖",
            Tone::Waiting,
            format!("has paused the run: {}", line(reason)),
        ),
        RunEvent::Resumed { interrupt, input } => {
            let what = match input {
                Some(input) => format!("goes on with: {}", line(input)),
                None => "goes on unchanged".to_owned(),
            };
            PrintedEvent::of(tree.label_of(*interrupt), "▶", Tone::Active, what)
        }
        RunEvent::InterruptResolved {
            interrupt,
            target,
            decided_by,
            filled_by,
            reroute,
            ..
        } => {
            let mut what = format!(
                "goes to {target}: {}",
                decision_words(*decided_by, *filled_by)
            );
            if let Some(event) = reroute {
                what.push_str(&format!(", the event {event} is answered"));
            }
            PrintedEvent::of(tree.label_of(*interrupt), "→", Tone::Route, what)
        }
        RunEvent::InterruptDeclined {
            interrupt,
            verdict,
            decided_by,
        } => {
            let what = format!(
                "is {}: nothing that it asked about is done",
                declined_word(*verdict, *decided_by)
            );
            PrintedEvent::of(tree.label_of(*interrupt), "✗", Tone::Bad, what)
        }
        RunEvent::Pruned { node, reason, .. } => {
            let what = format!("is cut off with all below it: {}", line(reason));
            PrintedEvent::of(tree.label(node), "╳", Tone::Waiting, what)
        }
        RunEvent::CutOff { node, reason } => {
            let what = format!("is cut off from outside: {}", line(reason));
            PrintedEvent::of(tree.label(node), "╳", Tone::Waiting, what)
        }
        RunEvent::Branched {
            interrupt, branch, ..
        } => {
            let what = format!("the run is forked: {branch}");
            PrintedEvent::of(tree.label_of(*interrupt), "⑂", Tone::Route, what)
        }
        RunEvent::InterruptRefused { interrupt, reason } => PrintedEvent::of(
            tree.label_of(*interrupt),
            "✗",
            Tone::Bad,
            format!("the interrupt cannot be carried out: {}", line(reason)),
        ),
        RunEvent::AgentFinished { node, status, .. } => PrintedEvent::change(
            tree.label(node),
            format!("has ended: {}", activity::words(*status)),
        ),
        RunEvent::Told { .. } => of_plan(tree, &PlanNews::of(event)?),
        RunEvent::Stopping { reason } => PrintedEvent::of_run(
            "■",
            Tone::Waiting,
            format!("stopping: {}", line(&reason.message)),
        ),
        // The summary says how a run ended, the tree shows its plan.
        RunEvent::Completed { .. }
        | RunEvent::Stopped { .. }
        | RunEvent::CheckpointSaved { .. }
        | RunEvent::Cancelled { .. }
        | RunEvent::Waiting { .. }
        | RunEvent::Failed { .. } => None,
        // Events of later versions have no words yet.
        _ => None,
    }
}

/// What a running tool reports, in words.
fn progress_words(progress: &Progress) -> String {
    match progress {
        Progress::Output { text, .. } => text.trim_end().to_owned(),
        Progress::Step {
            done,
            total,
            message,
        } => {
            let far = match total {
                Some(total) => format!("{done} of {total}"),
                None => done.to_string(),
            };
            match message {
                Some(message) => format!("{far}, {message}"),
                None => far,
            }
        }
    }
}

/// A note about a call under way. What follows shows that a wait is over.
fn noted(tree: &AgentTree, node: &NodeId, note: &CallNote) -> Option<PrintedEvent> {
    if *note == CallNote::GoesOn {
        return None;
    }
    let what = visible_line(&note.to_string());
    PrintedEvent::of(tree.label(node), "‖", Tone::Waiting, what)
}

/// What became of a call. The outcome of an interrupt is given in the standard words.
fn tool_ended(tree: &AgentTree, node: &NodeId, message: &ToolMessage) -> Option<PrintedEvent> {
    let who = tree.label(node);
    if is_interrupted(&message.end) || matches!(message.end, CallEnd::TimedOut { .. }) {
        let what = visible_line(&tools::wording::line(message));
        return PrintedEvent::of(who, "⊘", Tone::Waiting, what);
    }
    let (symbol, tone) = match &message.end {
        CallEnd::Finished { output } if output.verdict == Verdict::Done => ("✓", Tone::Good),
        CallEnd::Denied { .. } => ("✗", Tone::Waiting),
        CallEnd::Finished { .. }
        | CallEnd::Failed { .. }
        | CallEnd::Interrupted { .. }
        | CallEnd::FinishedAnyway { .. }
        | CallEnd::FailedAnyway { .. }
        | CallEnd::Skipped { .. }
        | CallEnd::TimedOut { .. }
        | CallEnd::Unknown { .. } => ("✗", Tone::Bad),
    };
    let text = cut(&visible_line(&message.text()), WIDEST_CALL);
    // Never cut, whatever the tool wrote.
    let note = tools::wording::may_still_run(&message.end);
    let note = note.map(|note| format!(" [{}]", visible_line(&note)));
    let note = note.unwrap_or_default();
    let what = format!("{}: {text}{note}", visible_line(&message.tool));
    PrintedEvent::of(who, symbol, tone, what)
}

/// The text for a call to a model that has no whole answer: nothing else keeps what had arrived.
pub(super) fn moment_of_unanswered(why: &Unanswered, who: String) -> Option<PrintedEvent> {
    match why {
        Unanswered::Interrupted(text) if text.trim().is_empty() => None,
        Unanswered::Interrupted(text) => {
            // The mark comes first: what follows may be cut.
            let what = format!(
                "was interrupted in its answer [partial]: {}",
                cut(&visible_line(text), WIDEST_CALL)
            );
            PrintedEvent::of(who, "⊘", Tone::Waiting, what)
        }
        Unanswered::GivenUp(why) => PrintedEvent::change(
            who,
            format!("begins its answer again: {}", visible_line(why)),
        ),
    }
}

/// What is shown of a plan. Its state is in the tree.
fn of_plan(tree: &AgentTree, news: &PlanNews) -> Option<PrintedEvent> {
    match news {
        PlanNews::StepStarted(PlanStepStarted {
            node, step, task, ..
        }) => {
            let what = match task {
                Some(task) => format!("step {step}, asks its model: {}", visible_line(task)),
                None => format!("step {step}, asks its model"),
            };
            PrintedEvent::change(tree.label(node), what)
        }
        PlanNews::Fact(fact) => plan_told(fact),
        PlanNews::Progress(_) => None,
    }
}

/// What happened to a plan, and how much of it is done.
fn plan_told(fact: &Fact) -> Option<PrintedEvent> {
    let (symbol, tone, _words) = plan_signs(fact.kind);
    PrintedEvent::of_run(symbol, tone, plan_words(fact))
}

/// A symbol, its tone, and the words for a kind of fact.
const fn plan_signs(kind: FactKind) -> (&'static str, Tone, &'static str) {
    match kind {
        FactKind::UserEscape => ("‖", Tone::Waiting, "interrupted"),
        FactKind::HumanInput => ("◆", Tone::Waiting, "an agent asks"),
        FactKind::SystemError => ("✗", Tone::Bad, "it cannot go on"),
        FactKind::OpenSteps => ("◆", Tone::Waiting, "applied steps are still open"),
        FactKind::Retry => ("✎", Tone::Waiting, "failed, and is tried again"),
        FactKind::Clash => ("‖", Tone::Waiting, "the interrupt goes before a question"),
        FactKind::Answered => ("✓", Tone::Good, "the question is answered"),
        FactKind::QuestionShownAgain => ("◆", Tone::Waiting, "the question is shown again"),
        FactKind::QuestionWithdrawn => ("╳", Tone::Faint, "the question is not wanted any more"),
        FactKind::Told => ("✉", Tone::Active, "a message is read"),
        FactKind::ModificationRequested => ("✎", Tone::Active, "the plan is to be changed"),
        FactKind::PlanChanged => ("✎", Tone::Route, "the plan has changed"),
        FactKind::Undone => ("✎", Tone::Route, "a change of the plan is undone"),
        FactKind::Redone => ("✎", Tone::Route, "a change of the plan is made again"),
        FactKind::Resumed => ("▶", Tone::Active, "goes on"),
        FactKind::StepDone => ("✓", Tone::Good, "a step is done"),
        FactKind::Completed => ("✓", Tone::Good, "the plan is done"),
        FactKind::Cancelled => ("■", Tone::Waiting, "cancelled"),
    }
}

/// What happened to a plan, in one line.
pub(crate) fn plan_words(fact: &Fact) -> String {
    let (_symbol, _tone, words) = plan_signs(fact.kind);
    let mut what = format!(
        "plan {}/{}: {words}",
        fact.completed_steps, fact.total_steps
    );
    if let Some(reason) = &fact.reason {
        what.push_str(&format!(": {}", visible_line(reason)));
    }
    if let (FactKind::PlanChanged | FactKind::StepDone, Some(next)) =
        (fact.kind, fact.current_plan.first())
    {
        what.push_str(&format!("; next: {}", visible_line(next)));
    }
    what
}

fn message_added(tree: &AgentTree, node: &NodeId, text: &str) -> Option<PrintedEvent> {
    let what = format!("reads: {}", visible_line(text));
    let moment = PrintedEvent::of(tree.label(node), "✉", Tone::Plain, what);
    let is_known = [INTERRUPT_REQUEST_MARK, DECISION_MARK]
        .iter()
        .any(|mark| text.starts_with(mark));
    if is_known {
        // The event or the decision that it speaks of was shown just before.
        return moment.map(|moment| PrintedEvent {
            detail: Detail::Much,
            ..moment
        });
    }
    moment
}

fn published(tree: &AgentTree, event: &NamedEvent) -> Option<PrintedEvent> {
    let target = match &event.reroute_to_agent_type {
        Some(target) => format!(" and go on to {target}"),
        None => String::new(),
    };
    let what = format!(
        "a supervisor asks it to interrupt itself ({}){target}: {}",
        event.interrupt_type,
        visible_line(&event.reason),
    );
    PrintedEvent::of(tree.label(&event.node_id), "⚑", Tone::Route, what)
}

fn decision_words(decided_by: DecidedBy, filled_by: FilledBy) -> String {
    let decided = match decided_by {
        // A person, or a script in place of one: the port does not say which.
        DecidedBy::Person => "a reviewer decided".to_owned(),
        DecidedBy::Rule => "a standing rule decided".to_owned(),
        DecidedBy::Policy => "the policy decided".to_owned(),
        DecidedBy::Deadline => "no answer came in time".to_owned(),
        DecidedBy::Model { confidence } => {
            format!("a reviewing model decided, {confidence} % sure")
        }
    };
    let filled = match filled_by {
        FilledBy::Person => "and wrote the request",
        FilledBy::Unchanged => "the request stays as it was",
        FilledBy::Model { .. } => "a model wrote the request",
    };
    format!("{decided}, {filled}")
}

/// How an interrupt was declined, in a word.
pub(crate) const fn declined_word(
    verdict: interrupt_router::Verdict,
    decided_by: DecidedBy,
) -> &'static str {
    match (verdict, decided_by) {
        (_, DecidedBy::Deadline) => "expired",
        (interrupt_router::Verdict::Cancel, _) => "cancelled",
        (interrupt_router::Verdict::Ignore, _) => "skipped",
        _ => "rejected",
    }
}

/// An answer on one line.
pub(crate) fn answer_words(answer: &Answer) -> String {
    let verdict = answer.verdict.map(|verdict| verdict.name().to_owned());
    let mut parts: Vec<String> = verdict.into_iter().collect();
    let chosen = answer.selected_choices.iter();
    parts.extend(chosen.map(|choice| visible_line(choice)));
    if let Some(text) = &answer.text {
        parts.push(format!("“{}”", visible_line(text)));
    }
    for (item, confirmed) in &answer.confirmations {
        let word = if *confirmed { "yes" } else { "no" };
        parts.push(format!("{}: {word}", visible_line(item)));
    }
    if answer.edited_request.is_some() {
        parts.push("an edited request".to_owned());
    }
    if let Some(target) = &answer.reroute_to {
        parts.push(format!("sent to {}", visible_line(target)));
    }
    if parts.is_empty() {
        return "nothing said".to_owned();
    }
    parts.join(", ")
}
