//! Reading what a rule says.

use jiff::SignedDuration;

use super::PolicyReader;
use crate::life::{ExpiryOutcome, Verdict};
use crate::names::RouteName;
use crate::policy::rule_settings::{
    Answering, AutomaticAnswer, Batching, Resuming, RuleSettings, VERDICTS,
};
use crate::settings::Found;

/// What is written before a target.
const REROUTE: &str = "reroute:";

/// The priorities that a rule may give; 0 stays with people's own interrupts.
const PRIORITIES: std::ops::RangeInclusive<u32> = 1..=99;

impl PolicyReader<'_> {
    pub(super) fn provisions(&self) -> RuleSettings {
        let priority = self.table.integer("priority", PRIORITIES);
        RuleSettings {
            priority: priority.and_then(|found| u8::try_from(found.value).ok()),
            answer: self.answer(),
            resume: self.resume(),
            batch: self.batch(),
            review_limit: self.limit("review_limit"),
            on_expiry: self.on_expiry(),
            grace: self.limit("grace"),
            handler_limit: self
                .table
                .duration("handler_limit")
                .map(|found| found.value),
        }
    }

    fn answer(&self) -> Option<Answering> {
        let said = self.table.text("answer");
        let text = self.table.text("answer_text");
        let choices = self.table.texts("answer_choices");
        let confirm = self.table.boolean("answer_confirm");
        let has_content = text.is_some() || choices.is_some() || confirm.is_some();
        let Some(said) = said else {
            if has_content {
                self.table
                    .refuse(self.table.span(), "what the answer says needs an `answer`");
            }
            return None;
        };
        if said.value == "ask" {
            return Some(Answering::Ask);
        }
        let (verdict, target) = self.verdict(&said)?;
        if verdict == Verdict::Respond && !has_content {
            self.table.refuse(
                &said.span,
                "`respond` needs answer_text, answer_choices or answer_confirm",
            );
        }
        if verdict == Verdict::Approve && has_content {
            self.table
                .refuse(&said.span, "to approve is to add nothing; write `respond`");
        }
        let choices = choices.unwrap_or_default();
        Some(Answering::Automatic(AutomaticAnswer {
            verdict,
            target,
            text: text.map(|text| text.value.to_owned()),
            choices: choices
                .iter()
                .map(|choice| choice.value.to_owned())
                .collect(),
            confirm: confirm.map(|confirm| confirm.value),
        }))
    }

    fn verdict(&self, said: &Found<&str>) -> Option<(Verdict, Option<RouteName>)> {
        if let Some(target) = self.target(said) {
            return target.map(|target| (Verdict::Reroute, Some(target)));
        }
        let named = VERDICTS.iter().find(|(name, _verdict)| *name == said.value);
        if named.is_none() {
            let names = ["ask", "reroute:TARGET"].into_iter();
            let verdicts = VERDICTS.iter().map(|(name, _verdict)| *name);
            self.unknown(said, "automatic answer", names.chain(verdicts));
        }
        named.map(|(_name, verdict)| (*verdict, None))
    }

    /// The target of a reroute: `None` if the text is not a reroute, and `Some(None)` if its target is refused.
    fn target(&self, said: &Found<&str>) -> Option<Option<RouteName>> {
        let target = said.value.strip_prefix(REROUTE)?;
        let found = Found {
            value: target.trim(),
            span: said.span.clone(),
        };
        self.check_known(&found, "route", &self.vocabulary.routes);
        let name = RouteName::new(found.value)
            .map_err(|error| self.table.refuse(&found.span, error.to_string()));
        Some(name.ok())
    }

    fn resume(&self) -> Option<Resuming> {
        let said = self.table.text("resume");
        let input = self.table.text("resume_input");
        let Some(said) = said else {
            if input.is_some() {
                self.table
                    .refuse(self.table.span(), "`resume_input` needs a `resume`");
            }
            return None;
        };
        let pause = match said.value {
            "never" => return Some(Resuming::Never),
            "at once" => SignedDuration::ZERO,
            time => time
                .parse()
                .ok()
                .filter(SignedDuration::is_positive)
                .or_else(|| {
                    let message = format!(
                        "`resume` is \"never\", \"at once\", or a time such as \"30s\", not `{time}`"
                    );
                    self.table.refuse(&said.span, message);
                    None
                })?,
        };
        Some(Resuming::After {
            pause,
            input: input.map(|input| input.value.to_owned()),
        })
    }

    fn batch(&self) -> Option<Batching> {
        let said = self.table.text("batch")?;
        match said.value {
            "separately" => Some(Batching::Separately),
            "together" => Some(Batching::Together),
            _other => {
                let known = ["separately", "together"].into_iter();
                self.unknown(&said, "way to show interrupts", known);
                None
            }
        }
    }

    /// A time, or `none`: the outer `None` says nothing, the inner one that there is no limit.
    fn limit(&self, key: &'static str) -> Option<Option<SignedDuration>> {
        if self.table.is_text(key, "none") {
            return Some(None);
        }
        self.table.duration(key).map(|found| Some(found.value))
    }

    fn on_expiry(&self) -> Option<ExpiryOutcome> {
        let said = self.table.text("on_expiry")?;
        if let Some(target) = self.target(&said) {
            return target.map(|target| ExpiryOutcome::Reroute { target });
        }
        match said.value {
            "reject" => Some(ExpiryOutcome::Reject),
            "cancel" => Some(ExpiryOutcome::Cancel),
            "approve" | "respond" | "edit" | "resume" => {
                let message = format!(
                    "a question that expires is never taken for `{}`; write reject, cancel or reroute:TARGET",
                    said.value
                );
                self.table.refuse(&said.span, message);
                None
            }
            _other => {
                let known = ["reject", "cancel", "reroute:TARGET"].into_iter();
                self.unknown(&said, "outcome", known);
                None
            }
        }
    }
}
