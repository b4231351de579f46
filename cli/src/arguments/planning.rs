//! The arguments of `irq plan`.

use clap::Args;

/// The arguments of `irq plan`.
///
/// Without an option it shows the plan: what is done, what is carried out now, what is next, and its versions.
/// All else needs a paused run: interrupt it first, and it stops before its next step. Nothing but
/// --apply lets it go on; --apply decides the interrupt with the change that was previewed, by its digest.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The run; the beginning of its id is enough where no other one begins so
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Let the run's model propose a changed plan, from a request in words; nothing is applied
    #[arg(long, value_name = "TEXT", group = "change", help_heading = "Changing")]
    pub(crate) suggest: Option<String>,
    /// Show what other steps would do: a JSON list, @FILE, or - for standard input (JSON, or one step a line);
    /// nothing is applied
    #[arg(long, value_name = "PLAN", group = "change", help_heading = "Changing")]
    pub(crate) preview: Option<String>,
    /// Apply the change that was previewed, by its digest; on a terminal it is shown and asked for
    #[arg(
        long,
        value_name = "DIGEST",
        num_args = 0..=1,
        group = "change",
        help_heading = "Changing"
    )]
    pub(crate) apply: Option<Option<String>>,
    /// Take the last change of the plan back
    #[arg(long, group = "change", help_heading = "Changing")]
    pub(crate) undo: bool,
    /// Make the change again that was taken back last
    #[arg(long, group = "change", help_heading = "Changing")]
    pub(crate) redo: bool,
    /// Change it only where it still has this version
    #[arg(
        long,
        value_name = "VERSION",
        requires = "change",
        conflicts_with = "apply",
        help_heading = "Changing"
    )]
    pub(crate) if_version: Option<usize>,
    /// All versions, each with what it changed
    #[arg(long, conflicts_with = "change")]
    pub(crate) history: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
