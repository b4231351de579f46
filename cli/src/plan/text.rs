//! Plans and changes of plans, for people.

use control::decider;
use interrupts::Digest;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::Run;
use jiff::Timestamp;
use planning::{
    Activity, Cause, DiffLine, FactKind, Phase, PlanDiff, PlanEnd, PlanPreview, PlanRevision,
    PlanStep, PlanVersion, QuestionFate, StoredPlan,
};

use crate::advice::advised;
use crate::layout::cut;
use crate::palette::{Palette, Tone};
use crate::run_owner::has_process;
use crate::time::ago;
use crate::view::goal;
use crate::visible::visible_line;

/// How many versions are shown if not all are asked for.
const LAST_VERSIONS: usize = 5;

/// The longest line of what came of a step, in columns.
const RESULT: usize = 100;

/// The beginning of a digest: enough to tell two changes apart, and to be typed.
pub(crate) fn short(digest: &Digest) -> String {
    digest.to_string().chars().take(12).collect()
}

/// The lines of a change: a sign before each step.
fn diff_lines(diff: &PlanDiff, palette: Palette) -> String {
    let lines = diff.lines.iter().map(|line| {
        let (tone, text) = match line {
            DiffLine::Kept { task } => (Tone::Plain, format!("    {}", visible_line(task))),
            DiffLine::Added { task } => (Tone::Good, format!("  + {}", visible_line(task))),
            DiffLine::Removed { task } => (Tone::Bad, format!("  - {}", visible_line(task))),
            DiffLine::Moved { task, from } => (
                Tone::Route,
                format!("  ~ {} (was {from})", visible_line(task)),
            ),
        };
        format!("{}\n", palette.paint(tone, &text))
    });
    lines.collect()
}

/// A change that is not applied: what it would do.
pub(crate) fn preview_text(preview: &PlanPreview, palette: Palette) -> String {
    let mut text = match preview.completed_steps {
        0 => String::new(),
        1 => "  1 step is done and stays.\n".to_owned(),
        done => format!("  {done} steps are done and stay.\n"),
    };
    text.push_str(&diff_lines(&preview.diff, palette));
    if preview.diff.is_empty() {
        text.push_str("  Nothing would change.\n");
    }
    match &preview.next {
        Some(step) => text.push_str(&format!("  Then next: {}\n", visible_line(&step.task))),
        None => text.push_str("  No step is left then: it is asked whether the goal is reached.\n"),
    }
    match preview.question {
        Some(QuestionFate::ShownAgain) => {
            text.push_str("  The question that waits is shown again.\n");
        }
        Some(QuestionFate::Withdrawn) => {
            text.push_str(
                "  The question that waits is withdrawn: its step is not next any more.\n",
            );
        }
        None => {}
    }
    text
}

/// What a change of the plan has done.
pub(crate) fn change_text(version: &PlanVersion, palette: Palette) -> String {
    format!(
        "{}\n{}",
        palette.paint(Tone::Strong, &version_line(version)),
        diff_lines(&version.diff, palette)
    )
}

fn version_line(version: &PlanVersion) -> String {
    let what = match version.kind {
        FactKind::Undone => "a change taken back",
        FactKind::Redone => "a change made again",
        FactKind::PlanChanged if version.number == 1 => "the plan was made",
        FactKind::PlanChanged
        | FactKind::UserEscape
        | FactKind::HumanInput
        | FactKind::SystemError
        | FactKind::OpenSteps
        | FactKind::Retry
        | FactKind::Clash
        | FactKind::Answered
        | FactKind::QuestionShownAgain
        | FactKind::QuestionWithdrawn
        | FactKind::ModificationRequested
        | FactKind::Told
        | FactKind::Resumed
        | FactKind::StepDone
        | FactKind::Completed
        | FactKind::Cancelled => "changed",
    };
    let when = ago(version.at, Timestamp::now());
    let mut line = format!("version {}  {what}, {when}", version.number);
    if let Some(request) = &version.request {
        line.push_str(&format!(": {}", visible_line(request)));
    }
    line
}

/// All that is shown of a plan.
pub(crate) struct PlanPage<'a> {
    /// The run.
    pub(crate) run: &'a Run,
    /// Its plan.
    pub(crate) plan: &'a StoredPlan,
    /// The versions of it.
    pub(crate) versions: &'a [PlanVersion],
    /// The interrupt that it waits for.
    pub(crate) escape: Option<&'a Interrupt>,
    /// The change that is proposed.
    pub(crate) proposal: Option<&'a PlanPreview>,
    /// The decision that is carried out when the run continues.
    pub(crate) decided: Option<&'a Interrupt>,
    /// How many messages are not read yet.
    pub(crate) unread: usize,
    /// Whether all versions are shown with what they changed.
    pub(crate) all_versions: bool,
}

impl PlanPage<'_> {
    /// The plan: done, now, next; what is proposed; its versions; what can be done.
    pub(crate) fn text(&self, palette: Palette) -> String {
        let state = self.plan.state();
        let head = format!(
            "{}  {}  plan {}/{}, version {}",
            self.run.id,
            self.run.state,
            state.plan().finished().len(),
            state.plan().total(),
            self.versions.len()
        );
        let mut text = format!("{}\n", palette.paint(Tone::Strong, &head));
        if let Some(goal) = goal(self.run) {
            text.push_str(&format!("  {}\n", visible_line(&goal)));
        }
        text.push_str(&format!("\n{}", self.steps(palette)));
        if let Some(line) = snapshot(self.plan) {
            text.push_str(&format!("\n{}\n", palette.paint(Tone::Waiting, &line)));
        }
        text.push_str(&self.waiting_to_go_on(palette));
        if let Some(proposal) = self.proposal.filter(|_| self.decided.is_none()) {
            let title = format!("Proposed, not applied: {}", short(&proposal.digest));
            text.push_str(&format!("\n{}\n", palette.paint(Tone::Strong, &title)));
            text.push_str(&preview_text(proposal, palette));
        }
        text.push_str(&self.told_versions(palette));
        text + &self.how()
    }

    /// What happens as soon as the run continues.
    fn waiting_to_go_on(&self, palette: Palette) -> String {
        let mut text = String::new();
        if let Some(decided) = self.decided.and_then(|it| it.decision.as_ref()) {
            let title = format!(
                "{} decided `{}`; it is carried out when the run goes on.",
                decider(&decided.by),
                decided.verdict.name()
            );
            text.push_str(&format!("\n{}\n", palette.paint(Tone::Strong, &title)));
            let content = decided.content.as_deref();
            let revision = content.and_then(|it| serde_json::from_str::<PlanRevision>(it).ok());
            if let Some(Ok(Some(preview))) = revision.map(|it| it.check(self.plan.state())) {
                text.push_str(&preview_text(&preview, palette));
            }
        }
        match self.unread {
            0 => {}
            1 => text.push_str("\n1 message is read before the next step.\n"),
            more => text.push_str(&format!(
                "\n{more} messages are read before the next step.\n"
            )),
        }
        text
    }

    /// The steps alone.
    pub(crate) fn steps(&self, palette: Palette) -> String {
        let plan = self.plan.state().plan();
        let mut text = String::new();
        for done in plan.finished() {
            let mark = palette.paint(Tone::Good, "✓");
            text.push_str(&format!("  {mark} {}\n", visible_line(&done.step.task)));
            let result = cut(&visible_line(&done.result), RESULT);
            text.push_str(&format!("    {}\n", palette.paint(Tone::Faint, &result)));
        }
        let now = self.plan.now().map(|step| step.id);
        for step in plan.left() {
            let task = visible_line(&step.task);
            let line = if Some(step.id) == now {
                let is_held = matches!(self.plan.state().phase(), Phase::Held(_));
                let is_resting = is_held || self.is_resting();
                let mark = if is_resting { "‖" } else { "▶" };
                let said = if is_resting {
                    "next when it goes on"
                } else {
                    "now"
                };
                let said = palette.paint(Tone::Faint, &format!("  ({said})"));
                format!("  {} {task}{said}\n", palette.paint(Tone::Active, mark))
            } else {
                format!("  {} {task}\n", palette.paint(Tone::Faint, "○"))
            };
            text.push_str(&line);
        }
        if plan.total() == 0 {
            text.push_str("  No step yet: the plan is being made.\n");
        }
        text
    }

    /// The question that has to be answered before all else, if there is one.
    fn to_answer(&self) -> String {
        let question = self.plan.snapshot.question.as_ref();
        match (self.plan.state().phase(), question) {
            (Phase::Asking { .. }, Some(question)) => {
                format!("Answer it first: irq review {}\n", question.interrupt)
            }
            _ => String::new(),
        }
    }

    /// Whether no process works on the run, so that nothing of it is under way.
    fn is_resting(&self) -> bool {
        matches!(self.run.state, RunState::Paused | RunState::Waiting) || !has_process(self.run)
    }

    fn told_versions(&self, palette: Palette) -> String {
        if self.all_versions {
            let told = self.versions.iter();
            return told
                .map(|version| format!("\n{}", change_text(version, palette)))
                .collect();
        }
        let skipped = self.versions.len().saturating_sub(LAST_VERSIONS);
        let mut text = String::from("\n");
        if skipped > 0 {
            text.push_str(&format!("  … {skipped} earlier versions: --history\n"));
        }
        for version in self.versions.iter().skip(skipped) {
            let line = format!("  {}\n", version_line(version));
            text.push_str(&palette.paint(Tone::Faint, &line));
        }
        text
    }

    fn how(&self) -> String {
        advised(&self.way_on())
    }

    fn way_on(&self) -> String {
        let run = self.run.id;
        if self.run.state.is_final() {
            return String::new();
        }
        if self.escape.is_none() && (self.decided.is_some() || self.is_resting()) {
            return format!("\n{}Go on with it: irq resume {run}\n", self.to_answer());
        }
        if self.escape.is_none() {
            return format!("\nStop it before its next step: irq interrupt {run} --wait\n");
        }
        let mut text = String::from("\n");
        if let Some(proposal) = self.proposal {
            let digest = short(&proposal.digest);
            text.push_str(&format!(
                "Apply what is proposed:  irq plan {run} --apply {digest}\n"
            ));
        }
        text.push_str(&format!(
            "Ask for a change:        irq plan {run} --suggest TEXT\n"
        ));
        text.push_str(&format!(
            "Write the steps:         irq plan {run} --preview @FILE\n"
        ));
        let history = self.plan.state().history();
        if history.can_undo() {
            text.push_str(&format!("Take the last back:      irq plan {run} --undo\n"));
        }
        if history.can_redo() {
            text.push_str(&format!("Make it again:           irq plan {run} --redo\n"));
        }
        text + &format!("Go on as it is:          irq resume {run}\n")
    }
}

/// What the workflow does or waits for, in a line.
fn snapshot(plan: &StoredPlan) -> Option<String> {
    let line = match plan.state().phase() {
        Phase::Created => return None,
        Phase::Working { activity } => working(activity)?.to_owned(),
        Phase::Asking { question, .. } => {
            format!("An agent asks: {}", visible_line(&question.reason))
        }
        Phase::BackingOff {
            attempts, error, ..
        } => format!(
            "Tried {attempts} times, tries again: {}",
            visible_line(error)
        ),
        Phase::Held(held) => {
            let why = match &held.cause {
                Cause::UserEscape { reason } => format!(
                    "Interrupted: {}",
                    visible_line(reason.as_deref().unwrap_or("no reason was given"))
                ),
                Cause::SystemError { error, .. } => {
                    format!("It cannot go on: {}", visible_line(error))
                }
                Cause::OpenSteps { steps } => format!(
                    "It asks whether steps that were applied are to be done: {}",
                    visible_line(&tasks_of(steps))
                ),
            };
            match &held.question {
                Some(question) => format!(
                    "{why}\nBehind it an agent asks: {}",
                    visible_line(&question.reason)
                ),
                None => why,
            }
        }
        Phase::Ended(PlanEnd::Completed { response }) => {
            format!("Done: {}", visible_line(response))
        }
        Phase::Ended(PlanEnd::Cancelled { reason }) => format!(
            "Cancelled: {}",
            visible_line(reason.as_deref().unwrap_or("no reason was given"))
        ),
    };
    Some(line)
}

fn tasks_of(steps: &[PlanStep]) -> String {
    let tasks: Vec<&str> = steps.iter().map(|step| step.task.as_str()).collect();
    tasks.join("; ")
}

const fn working(activity: &Activity) -> Option<&'static str> {
    match activity {
        Activity::Planning => Some("The plan is being made."),
        Activity::Executing { .. } | Activity::Finishing { .. } => None,
        Activity::Replanning => Some("It is asked whether the goal is reached."),
        Activity::ForcedReplanning => Some("The plan is made anew, as it was asked for."),
    }
}
