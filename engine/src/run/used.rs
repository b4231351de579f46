//! What a run has used so far, read from its journal: by all its processes, even those that died.

use std::collections::HashSet;
use std::time::Duration;

use interrupt_router::RunId;
use interrupt_router::model::{ModelReply, TokenUsage, ToolRequest};
use interrupts::EffectId;
use interrupts::manager::Times;
use interrupts::store::{JournalEntry, Pages, RunHold, Store, StoreError};
use jiff::Timestamp;
use serde::Deserialize;

use crate::run::working::{WORK, Worked};
use journal::RESUMED;
use journal::allowance::{ALLOWANCE, Allowance};
use journal::attempts::{ATTEMPT, AttemptEnd, AttemptIntent};
use journal::entry::Prompt;
use journal::input::INPUT;
use journal::kind::{DISPATCH, MODEL_CALL, OF_OLD_FORKS};

/// How many entries are read together.
const PAGE: u32 = 1_000;

/// The longest time between two renewals of a lease.
const LONGEST_BEAT: Duration = Duration::from_secs(10);

/// What a run has used by now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RunUse {
    /// Each try of a call to a model.
    pub calls: Vec<CallUse>,
    /// How long processes have worked on it. For one that died, this counts until its last record, as far as its
    /// heartbeats confirm that: a change of the clock meanwhile does not count as work.
    pub worked: Duration,
    /// What it may use in total, if a resume has changed that.
    pub allowance: Option<Allowance>,
}

/// What one try of a call has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallUse {
    /// How much was asked.
    pub prompt: Prompt,
    /// The bytes of what had arrived, with the tools that it asked for.
    pub answer_bytes: u64,
    /// What the provider said.
    pub usage: TokenUsage,
    /// How it ended.
    pub end: TryEnd,
}

/// How a try of a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryEnd {
    /// With an answer.
    Answered,
    /// It was interrupted.
    CutShort,
    /// It failed, and nothing of it is billed.
    NotBilled,
    /// Its use is unknown: it failed on its way, its process died, or it is under way.
    Unknown,
}

/// The part of a call's intent that matters here.
#[derive(Deserialize)]
struct ModelCallIntent {
    #[serde(default)]
    prompt: Prompt,
}

/// The part of its result that matters here.
#[derive(Deserialize)]
struct ModelCallResult {
    #[serde(default)]
    text: String,
    #[serde(default)]
    tool_requests: Vec<ToolRequest>,
    #[serde(default)]
    usage: TokenUsage,
    /// Why there is no answer, if its agent was left out before. Its cost is recorded with its tries.
    #[serde(default)]
    left_out: Option<String>,
}

/// The part of a process's work entry that matters here.
#[derive(Deserialize)]
struct WorkStart {
    #[serde(default)]
    epoch: u64,
}

impl RunUse {
    /// Reads what a run has used.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; also if an entry is not of the form that this version knows.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn of(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        Ok(UseReading::of(store, run).await?.done())
    }

    /// The same from the whole journal of a run, in its order, and the times for which its owners had it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if an entry is not of the form that this version knows.
    pub fn among(journal: &[JournalEntry], holds: &[RunHold]) -> Result<Self, StoreError> {
        let mut reading = UseReading::default();
        reading.holds.extend_from_slice(holds);
        reading.take_all(journal)?;
        Ok(reading.done())
    }
}

/// A process's work on a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkPeriod {
    pub(super) effect: EffectId,
    /// The epoch in which it owned the run.
    epoch: u64,
    began: Timestamp,
    /// How long it took, if the process has said so.
    pub(super) said: Option<Duration>,
}

/// The work of each process on a run, and how long it took.
pub(super) async fn work_of(
    store: &dyn Store,
    run: RunId,
) -> Result<Vec<(WorkPeriod, Duration)>, StoreError> {
    let UseReading {
        work, times, holds, ..
    } = UseReading::of(store, run).await?;
    let lengths: Vec<_> = lengths(&work, &times, &holds).collect();
    Ok(work.into_iter().zip(lengths).collect())
}

impl UseReading {
    async fn of(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        let mut reading = Self::default();
        if let Some(row) = store.run(run).await? {
            reading.holds = row.holds;
        }
        let mut pages = Pages::of(PAGE);
        while let Some(entries) = pages.next(|page| store.journal(run, page)).await? {
            reading.take_all(&entries)?;
        }
        Ok(reading)
    }

    fn take_all(&mut self, entries: &[JournalEntry]) -> Result<(), StoreError> {
        for entry in entries {
            self.take(entry).map_err(|error| StoreError::Corrupt {
                detail: format!("entry {} of the journal: {error}", entry.position),
            })?;
        }
        Ok(())
    }
}

/// What was read so far.
#[derive(Default)]
struct UseReading {
    used: RunUse,
    /// The calls that have their answers.
    answered: HashSet<String>,
    /// The calls whose first try has an entry of its own.
    tried: HashSet<String>,
    /// The tries without an end, each with its call.
    unended: Vec<(String, Prompt)>,
    /// The first tries that have no end.
    first: Vec<(String, Prompt)>,
    work: Vec<WorkPeriod>,
    times: Vec<Timestamp>,
    holds: Vec<RunHold>,
}

impl UseReading {
    fn take(&mut self, entry: &JournalEntry) -> Result<(), serde_json::Error> {
        if !is_from_outside(entry) {
            self.times.push(entry.begun_at);
            self.times.extend(entry.result.as_ref().map(|it| it.at));
        }
        let content = &entry.intent.content;
        let result = entry.result.as_ref().map(|it| it.content.as_str());
        match entry.intent.kind.as_str() {
            MODEL_CALL => {
                let Some(place) = &entry.intent.place else {
                    return Ok(());
                };
                let prompt = serde_json::from_str::<ModelCallIntent>(content)?.prompt;
                let result = result
                    .map(serde_json::from_str::<ModelCallResult>)
                    .transpose()?;
                match result.filter(|it| it.left_out.is_none()) {
                    Some(result) => {
                        self.answered.insert(place.clone());
                        let reply = ModelReply {
                            text: result.text,
                            tool_requests: result.tool_requests,
                            ..ModelReply::default()
                        };
                        self.add(prompt, reply.bytes(), result.usage, TryEnd::Answered);
                    }
                    None => self.first.push((place.clone(), prompt)),
                }
            }
            ATTEMPT => {
                let intent: AttemptIntent = serde_json::from_str(content)?;
                self.tried.insert(intent.call.clone());
                match result {
                    Some(result) => self.ended(intent.prompt, serde_json::from_str(result)?),
                    None => self.unended.push((intent.call, intent.prompt)),
                }
            }
            ALLOWANCE => self.used.allowance = Some(serde_json::from_str(content)?),
            WORK => {
                let said = result.map(serde_json::from_str::<Worked>).transpose()?;
                let WorkStart { epoch } = serde_json::from_str(content)?;
                self.work.push(WorkPeriod {
                    effect: entry.intent.effect,
                    epoch,
                    began: entry.begun_at,
                    said: said.map(|it| Duration::from_millis(it.worked_ms)),
                });
            }
            // Other entries cost nothing.
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, prompt: Prompt, end: AttemptEnd) {
        if end.was_not_made() {
            return;
        }
        let nothing = TokenUsage::default();
        match end {
            AttemptEnd::Answered => {}
            AttemptEnd::CutShort { text, usage } => {
                self.add(prompt, text.len(), usage, TryEnd::CutShort);
            }
            AttemptEnd::Failed { may_cost: true, .. } | AttemptEnd::Unknown => {
                self.add(prompt, 0, nothing, TryEnd::Unknown);
            }
            AttemptEnd::Failed {
                may_cost: false, ..
            } => self.add(prompt, 0, nothing, TryEnd::NotBilled),
        }
    }

    fn add(&mut self, prompt: Prompt, bytes: usize, usage: TokenUsage, end: TryEnd) {
        self.used.calls.push(CallUse {
            prompt,
            answer_bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            usage,
            end,
        });
    }

    fn done(mut self) -> RunUse {
        let first = std::mem::take(&mut self.first);
        for (call, prompt) in first {
            if !self.tried.contains(&call) {
                self.add(prompt, 0, TokenUsage::default(), TryEnd::Unknown);
            }
        }
        for (call, prompt) in std::mem::take(&mut self.unended) {
            if !self.answered.contains(&call) {
                self.add(prompt, 0, TokenUsage::default(), TryEnd::Unknown);
            }
        }
        let lengths = lengths(&self.work, &self.times, &self.holds);
        self.used.worked = lengths.fold(Duration::ZERO, Duration::saturating_add);
        self.used
    }
}

/// Whether it may be written while no process works: a decision, or a request or input of the caller that lets the run
/// go on.
fn is_from_outside(entry: &JournalEntry) -> bool {
    let kind = entry.intent.kind.as_str();
    [DISPATCH, INPUT, RESUMED].contains(&kind) || OF_OLD_FORKS.contains(&kind)
}

/// How long each process has worked. For one that did not say so, until the last record before the next one began,
/// within the limits that its heartbeats confirm.
fn lengths(
    work: &[WorkPeriod],
    times: &[Timestamp],
    holds: &[RunHold],
) -> impl Iterator<Item = Duration> {
    work.iter().enumerate().map(|(at, own)| {
        if let Some(said) = own.said {
            return said;
        }
        let next = work.get(at + 1).map(|next| next.began);
        let is_own = |time: &&Timestamp| next.is_none_or(|next| **time < next);
        let last = times.iter().filter(is_own).max();
        let by_the_clock = last.map_or(Duration::ZERO, |last| {
            Duration::try_from(last.duration_since(own.began)).unwrap_or(Duration::ZERO)
        });
        // A process of an earlier version did not count its heartbeats.
        match holds.iter().find(|hold| hold.epoch == own.epoch) {
            Some(hold) => by_the_clock.clamp(
                Times::default().heartbeat.saturating_mul(hold.renewals),
                LONGEST_BEAT.saturating_mul(hold.renewals.saturating_add(1)),
            ),
            None => by_the_clock,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use interrupt_router::model::ToolRequest;
    use interrupt_router::{NodeId, RunId};
    use interrupts::store::{Intent, JournalEntry, JournalResult, Repeating, RunHold};
    use interrupts::{EffectId, KindName};

    use super::{RunUse, WorkPeriod, lengths};

    fn work(began: i64, said: Option<Duration>) -> WorkPeriod {
        WorkPeriod {
            effect: EffectId::of_parts([]),
            epoch: u64::try_from(began).unwrap(),
            began: at(began),
            said,
        }
    }

    fn seconds(work: &[WorkPeriod], times: &[Timestamp]) -> Vec<u64> {
        lengths(work, times, &[])
            .map(|length| length.as_secs())
            .collect()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_work_of_a_process_that_died_ends_with_the_last_thing_that_it_recorded() {
        let said = Some(Duration::from_secs(5));
        // One died: it began at 100 and was last heard of at 107; the next one began at 200 and said 5 s.
        let times = [at(100), at(103), at(107), at(200), at(204)];
        assert_eq!(seconds(&[work(100, None), work(200, said)], &times), [7, 5]);
        // The one that works now is known until its last entry.
        assert_eq!(seconds(&[work(100, said), work(200, None)], &times), [5, 4]);
        assert!(seconds(&[], &times).is_empty());
    }

    #[test]
    fn a_clock_that_was_set_under_a_process_that_died_counts_as_no_work() {
        let seconds = |last: i64, renewals: u32| {
            let holds = [RunHold {
                epoch: 100,
                renewals,
            }];
            let times = [at(100), at(last)];
            let worked = [work(100, None)];
            let mut lengths = lengths(&worked, &times, &holds);
            lengths.next().unwrap().as_secs()
        };
        assert_eq!(seconds(107, 1), 7, "as the clock says, which was not set");
        assert_eq!(seconds(7_307, 1), 20, "two hours forward after one beat");
        assert_eq!(seconds(-7_093, 6), 30, "two hours back after six");
    }

    /// An entry of a kind that began at a second, and had its result at another.
    fn entry(kind: &str, began: i64, ended: Option<i64>, content: &str) -> JournalEntry {
        JournalEntry {
            position: 0,
            intent: Intent {
                effect: EffectId::of_parts([kind.as_bytes(), &began.to_be_bytes()]),
                run: RunId::generate(),
                node: NodeId::root(),
                kind: KindName::new(kind).unwrap(),
                repeating: Repeating::Idempotent,
                content: content.to_owned(),
                place: Some(format!("{kind}/{began}")),
            },
            begun_at: at(began),
            result: ended.map(|ended| JournalResult {
                at: at(ended),
                count: 0,
                content: "{}".to_owned(),
            }),
        }
    }

    #[test]
    fn what_is_decided_asked_and_said_after_a_process_died_is_no_work_of_it() {
        let journal = [
            entry("work", 100, None, "{}"),
            entry("model_call", 103, None, "{}"),
            // No process works any more when the pause is decided, and the run let go on.
            entry("dispatch", 200, Some(201), "{}"),
            entry("resumed", 202, Some(203), "{}"),
            entry("input", 204, Some(205), "{}"),
        ];
        let used = RunUse::among(&journal, &[]).unwrap();
        assert_eq!(used.worked, Duration::from_secs(3));
    }

    #[test]
    fn an_answer_that_asks_for_tools_has_used_what_it_asked_with() {
        let request = ToolRequest::new("1", "list", "{\"depth\":2}");
        let content = serde_json::json!({"text": "Now", "tool_requests": [request]});
        let mut call = entry("model_call", 1, Some(2), "{}");
        call.result.as_mut().unwrap().content = content.to_string();
        let used = RunUse::among(&[call], &[]).unwrap();
        assert_eq!(used.calls[0].answer_bytes, 3 + 4 + 11);
    }
}
