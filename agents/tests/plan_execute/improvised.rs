//! A model that makes something up: another answer at every call, and none that it gives twice.

use interrupt_router::model::{Awaited, ModelCall, ModelError, ModelReply, PartialReply};
use interrupt_router::{Outcome, StopMode, StopReason, StopScope, StopSource};
use serde_json::{Value, json};

/// What the model makes up.
pub(crate) struct Improvised {
    /// Where its chances come from.
    seed: u64,
    /// How many calls there were.
    calls: u32,
    /// The call at which a person stops the run, and how.
    stop: Option<(u32, StopMode)>,
    /// Whether it comes to an end: every step goes well, and the goal is reached when none is left.
    ends: bool,
}

impl Improvised {
    /// A model that does anything that it may, and a person who stops its run at one of its calls.
    pub(crate) fn wild(seed: u64, stop: Option<(u32, StopMode)>) -> Self {
        Self {
            seed,
            calls: 0,
            stop,
            ends: false,
        }
    }

    /// A model that carries out what is left, and says then that it is done.
    pub(crate) fn ending(seed: u64) -> Self {
        Self {
            ends: true,
            ..Self::wild(seed, None)
        }
    }

    /// A number below a bound, by chance.
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's multiplier and increment for 64 bits (MMIX); its upper bits are good.
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % bound
    }

    pub(crate) fn answer(
        &mut self,
        call: &ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.calls += 1;
        if let Some((at, mode)) = self.stop
            && at == self.calls
        {
            let reason = StopReason {
                source: StopSource::User,
                mode,
                message: format!("stopped at call {at}"),
                timestamp: jiff::Timestamp::UNIX_EPOCH,
            };
            scope.stop(reason.clone());
            if mode == StopMode::Immediate {
                let partial = PartialReply::default();
                return Ok(Outcome::Interrupted { reason, partial });
            }
        }
        if !self.ends && self.below(12) == 0 {
            let limit = std::time::Duration::ZERO;
            return Err(ModelError::TimedOut {
                limit,
                awaited: Awaited::Whole,
            });
        }
        Ok(Outcome::Completed(ModelReply {
            text: self.made_up(call).to_string(),
            tool_requests: Vec::new(),
            usage: Default::default(),
            cut_off: false,
        }))
    }

    fn made_up(&mut self, call: &ModelCall) -> Value {
        if !self.ends && self.below(10) == 0 {
            let reason = format!("question {}", self.below(1_000_000));
            return json!({ "interruptRequest": {
                "type": "HUMAN_REVIEW", "reason": reason, "choices": [], "confirmationItems": [],
                "contextForDecision": "",
            } });
        }
        if call.caller.agent_type == "EXECUTOR" {
            let outcome = if !self.ends && self.below(4) == 0 {
                "REPLAN"
            } else {
                "PROCEED"
            };
            let result = format!("result {}", self.below(1_000_000));
            return json!({ "stepReport": { "result": result, "outcome": outcome } });
        }
        let may_respond = call.schema.as_deref().unwrap().name().contains("Replanner");
        if may_respond && (self.ends || self.below(2) == 0) {
            let summary = format!("answer {}", self.below(1_000_000));
            return json!({ "response": { "summary": summary } });
        }
        let first = u64::from(call.caller.agent_type == "PLANNER");
        let steps =
            (0..first + self.below(3)).map(|_| format!("thought of {}", self.below(1_000_000)));
        json!({ "plan": { "steps": steps.collect::<Vec<_>>() } })
    }
}
