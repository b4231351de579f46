//! `irq plan`: the plan of a run, and its change while it waits for a person.

mod given;

use std::io::{self, IsTerminal};

use control::plan_not_changed;
use interrupts::life::Interrupt;
use interrupts::store::Run;
use jiff::Timestamp;
use planning::PlanChangeRequest;
use planning::{PlanEditError, PlanPreview, StoredPlan};
use serde_json::{Value, json};

use super::print;
use super::review::{Aftermath, decided_text};
use crate::address::find_run;
use crate::advice::advised;
use crate::arguments::{Global, PlanArguments, StoreArguments};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::plan::{
    PlanPage, again, apply, change_text, none_proposed, not_held, preview_json, preview_text,
    proposal_of, read, record, refuse_other_workflow, short, suggestion,
};
use crate::reviewer::Alone;
use crate::storage::complete;
use crate::view::{self, json_line};

/// Shows a plan, or changes it.
///
/// # Errors
///
/// If the run has no plan, does not wait for a person, or the change is not the one that was previewed.
pub(crate) fn plan(
    arguments: &PlanArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let run = find_run(&*backend, &arguments.run).await?;
        refuse_other_workflow(&run)?;
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        let command = PlanInvocation {
            at: &*backend,
            run,
            arguments,
            palette,
            global,
        };
        command.perform().await
    })
}

struct PlanInvocation<'a> {
    at: &'a dyn Backend,
    run: Run,
    arguments: &'a PlanArguments,
    palette: Palette,
    global: Global,
}

impl PlanInvocation<'_> {
    async fn perform(mut self) -> anyhow::Result<Exit> {
        let arguments = self.arguments;
        if let Some(request) = &arguments.suggest {
            let plan = self.change(suggestion(request)?).await?;
            return self.proposed(&plan).await;
        }
        if let Some(given) = &arguments.preview {
            let tasks = given::tasks(given)?;
            return self.preview(tasks).await;
        }
        if let Some(digest) = &arguments.apply {
            return self.apply(digest.as_deref()).await;
        }
        let turned = match (arguments.undo, arguments.redo) {
            (true, _) => Some(PlanChangeRequest::Undo),
            (false, true) => Some(PlanChangeRequest::Redo),
            (false, false) => None,
        };
        if let Some(turned) = turned {
            self.change(turned).await?;
            self.run = again(self.at, &self.run).await?;
            let versions = read(self.at, &self.run).await?.versions;
            if !arguments.json
                && let Some(last) = versions.last()
            {
                print(&format!("{}\n", change_text(last, self.palette)))?;
            }
        }
        self.show().await
    }

    async fn change(&self, wish: PlanChangeRequest) -> Result<StoredPlan, Failure> {
        let if_version = self.arguments.if_version;
        self.at.change_plan(&self.run, wish, if_version).await
    }

    async fn show(&self) -> anyhow::Result<Exit> {
        let reading = read(self.at, &self.run).await?;
        let proposal = proposal_of(&reading.plan)?;
        let text = if self.arguments.json {
            json_line(&record(&self.run, &reading, proposal.as_ref()))
        } else {
            let page = PlanPage {
                run: &self.run,
                plan: &reading.plan,
                versions: &reading.versions,
                escape: reading.escape.as_ref(),
                proposal: proposal.as_ref(),
                decided: reading.decided.as_ref(),
                unread: reading.unread,
                all_versions: self.arguments.history,
            };
            page.text(self.palette)
        };
        print(&text)?;
        Ok(Exit::Success)
    }

    /// Previews steps that a person wrote. They are kept to be applied if the plan waits for a person.
    async fn preview(&self, tasks: Vec<String>) -> anyhow::Result<Exit> {
        let reading = read(self.at, &self.run).await?;
        if reading.escape.is_some() {
            let plan = self.change(PlanChangeRequest::Propose { tasks }).await?;
            return self.proposed(&plan).await;
        }
        let (run, state) = (self.run.id, self.run.state);
        if state.is_final() {
            let error = PlanEditError::NotHeld { run, state };
            let refused = plan_not_changed(run, error, Timestamp::now());
            return Err(Failure::from(refused).into());
        }
        let preview = PlanPreview::of(reading.plan.state(), &tasks).map_err(|refused| {
            let look = format!("`irq plan {run}` shows the plan");
            Failure::new(Exit::Usage, refused.to_string()).hint(look)
        })?;
        self.told_preview(&preview, None)?;
        Ok(Exit::Success)
    }

    async fn proposed(&self, plan: &StoredPlan) -> anyhow::Result<Exit> {
        let Some(preview) = proposal_of(plan)? else {
            return Err(none_proposed(&self.run).into());
        };
        let escape = read(self.at, &self.run).await?.escape;
        self.told_preview(&preview, escape.as_ref())?;
        Ok(Exit::Success)
    }

    fn told_preview(&self, preview: &PlanPreview, escape: Option<&Interrupt>) -> io::Result<()> {
        let run = self.run.id;
        if self.arguments.json {
            return print(&json_line(&json!({
                "run_id": run,
                "interrupt": escape.map(|escape| escape.id),
                "applied": false,
                "proposal": preview_json(preview),
            })));
        }
        let mut text = preview_text(preview, self.palette);
        text.push_str(&advised(&match escape {
            Some(_) => {
                let digest = short(&preview.digest);
                format!("\nNothing is applied yet. Apply it: irq plan {run} --apply {digest}\n")
            }
            None => format!(
                "\nNothing is applied, and nothing can be: the run is {}. \
                 Stop it first: irq interrupt {run} --wait\n",
                self.run.state
            ),
        }));
        print(&text)
    }

    /// Decides the interrupt that holds the plan, with the change that was previewed.
    async fn apply(&self, digest: Option<&str>) -> anyhow::Result<Exit> {
        let digest = match digest {
            Some(digest) => digest.to_owned(),
            None => match self.confirmed().await? {
                Some(digest) => digest,
                None => {
                    print("Nothing was applied.\n")?;
                    return Ok(Exit::Success);
                }
            },
        };
        let (decided, preview) = apply(self.at, &self.run, &digest).await?;
        let text = if self.arguments.json {
            let mut view = view::interrupt(&decided);
            if let Value::Object(view) = &mut view {
                view.insert("applied".to_owned(), json!(true));
                view.insert("proposal".to_owned(), preview_json(&preview));
            }
            json_line(&view)
        } else {
            let after = Aftermath::of(self.at, &decided).await?;
            decided_text(self.at, &decided, &after)
        };
        print(&text)?;
        Ok(Exit::Success)
    }

    /// Shows the change and asks, if there is a person to ask; returns the digest of what was confirmed.
    async fn confirmed(&self) -> anyhow::Result<Option<String>> {
        let reading = read(self.at, &self.run).await?;
        if reading.escape.is_none() {
            return Err(not_held(&self.run).into());
        }
        let run = &self.run;
        let preview = proposal_of(&reading.plan)?.ok_or_else(|| none_proposed(run))?;
        let is_talked = io::stdin().is_terminal() && io::stderr().is_terminal();
        if !is_talked || self.arguments.json {
            let digest = short(&preview.digest);
            let text = "say which change: --apply DIGEST, as its preview has told it";
            let hint = format!(
                "the change that is proposed now is {digest}; look at it first: irq plan {}",
                run.id
            );
            return Err(Failure::new(Exit::Usage, text).hint(hint).into());
        }
        let palette = Palette::for_stream(&io::stderr(), self.global.no_color);
        let text = format!("{}\nApply it? [y/N] ", preview_text(&preview, palette));
        let is_wanted = Alone::new(palette).confirmed(&text)?;
        Ok(is_wanted.then(|| preview.digest.to_string()))
    }
}
