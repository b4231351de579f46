//! A conversation about a paused plan: a change is shown before it is applied.

use control::DecisionParts;
use interrupt_router::InterruptType;
use interrupts::life::{Interrupt, Verdict};
use interrupts::store::Run;
use planning::{PlanPreview, is_plan};

use crate::backend::Backend;
use crate::palette::{Palette, Tone};
use crate::plan::{PlanPage, again, preview_text, revision_of, saved, suggestion};
use crate::refused::no_interrupt;
use crate::reviewer::{Alone, yes_or_no};

/// The hints while no change is shown, and while one is.
const FIRST: &str =
    "  Enter goes on unchanged · words let the model propose a change · Ctrl+D leaves it";
const THEN: &str =
    "  y applies it · other words ask again · Enter goes on unchanged · Ctrl+D leaves it";

/// The run of a pause, if it carries out a plan.
pub(super) async fn paused_run(
    backend: &dyn Backend,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Run>> {
    if interrupt.interrupt_type != InterruptType::Pause {
        return Ok(None);
    }
    Ok(backend.run(interrupt.run).await?.filter(is_plan))
}

/// Talks until the person decides; `None` if they leave. Returns the decision and the interrupt as it was when the person
/// saw what they decided about.
///
/// # Errors
///
/// If the terminal is broken, or the store cannot be read.
pub(super) async fn converse(
    backend: &dyn Backend,
    run: &Run,
    pause: &Interrupt,
    alone: Alone,
    palette: Palette,
) -> anyhow::Result<Option<(Interrupt, DecisionParts)>> {
    let mut pause = pause.clone();
    let mut text = opening(backend, run, &pause, palette).await?;
    let mut shown: Option<PlanPreview> = None;
    loop {
        let how = if shown.is_some() { THEN } else { FIRST };
        let prompt = palette.paint(Tone::Waiting, "  >");
        let asked = format!("{text}\n{}\n{prompt} ", palette.paint(Tone::Faint, how));
        let Some(line) = alone.line(&asked)? else {
            return Ok(None);
        };
        match (line.trim(), &shown) {
            ("", _) => return Ok(Some((pause, DecisionParts::new(Verdict::Resume)))),
            (line, Some(preview)) if yes_or_no(line) == Some(true) => {
                return Ok(Some((pause, revision_of(preview, None)?)));
            }
            (request, _) => {
                shown = None;
                let suggested = match suggestion(request) {
                    Ok(wish) => backend.change_plan(run, wish, None).await,
                    Err(failure) => Err(failure),
                };
                text = match suggested {
                    Ok(plan) => {
                        shown = plan.proposal()?;
                        shown.as_ref().map_or_else(
                            || "  Nothing was proposed.\n".to_owned(),
                            |preview| format!("\n{}", preview_text(preview, palette)),
                        )
                    }
                    Err(failure) => format!("  {failure}\n"),
                };
                // Proposing a change has given it a new version.
                let now = backend.interrupt(pause.id).await?;
                pause = now.ok_or_else(|| no_interrupt(pause.id))?;
            }
        }
    }
}

async fn opening(
    backend: &dyn Backend,
    run: &Run,
    pause: &Interrupt,
    palette: Palette,
) -> anyhow::Result<String> {
    let title = format!(
        "  ‖ The plan is paused: {}",
        crate::visible::visible_line(&pause.reason)
    );
    let mut text = format!("\n{}\n\n", palette.paint(Tone::Waiting, &title));
    let run = again(backend, run).await?;
    // A run that was stopped before it had a plan has none to show.
    if let Ok(Some(plan)) = saved(backend, &run).await {
        let page = PlanPage {
            run: &run,
            plan: &plan,
            versions: &[],
            escape: Some(pause),
            proposal: None,
            decided: None,
            unread: 0,
            all_versions: false,
        };
        text.push_str(&page.steps(palette));
    }
    Ok(text)
}
