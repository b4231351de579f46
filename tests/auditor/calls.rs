//! The targets' own ledger: what was asked of them, and which of their answers reached a journal.

use std::collections::{BTreeMap, BTreeSet};

use interrupts::Digest;

use super::journal::Journal;
use super::{Finding, Report};

/// A call as its target saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetCall {
    /// Its number: 1 for the first that the target saw. The answer carries it.
    pub number: u64,
    /// The digest of all that was asked.
    pub request: Digest,
}

/// An answer in JSON that carries a call's number, invisibly: JSON allows any white space at its beginning, which
/// is also there of an answer that was given up while it arrived.
pub fn numbered(answer: &str, number: u64) -> String {
    let digits = format!("{number:b}");
    let spaces = digits
        .chars()
        .map(|digit| if digit == '1' { '\t' } else { ' ' });
    spaces.chain(['\n']).chain(answer.chars()).collect()
}

/// The number that an answer carries, where it carries one.
pub fn number_of(answer: &str) -> Option<u64> {
    let (spaces, _text) = answer.split_once('\n')?;
    let is_digit = |space: char| space == ' ' || space == '\t';
    if spaces.is_empty() || !spaces.chars().all(is_digit) {
        return None;
    }
    let digits: String = spaces
        .chars()
        .map(|space| if space == '\t' { '1' } else { '0' })
        .collect();
    u64::from_str_radix(&digits, 2).ok()
}

/// No target is asked for what the journal has, and no answer is in the journal that no target gave.
pub(super) fn check(calls: &[TargetCall], journals: &[Journal], report: &mut Report) {
    if calls.is_empty() {
        return;
    }
    let requests: BTreeMap<u64, Digest> = calls
        .iter()
        .map(|call| (call.number, call.request))
        .collect();
    // The call whose answer was kept, by what was asked, with its place in the run.
    let mut kept: BTreeMap<Digest, (u64, String)> = BTreeMap::new();
    let mut kept_numbers = BTreeSet::new();
    for entry in journals.iter().flat_map(|journal| &journal.entries) {
        let (Some(result), Some(place)) = (&entry.result, &entry.intent.place) else {
            continue;
        };
        if entry.intent.kind.as_str() != "model_call" {
            continue;
        }
        let content = serde_json::from_str::<serde_json::Value>(&result.content).ok();
        if content
            .as_ref()
            .is_some_and(|it| it.get("left_out").is_some())
        {
            // Its agent was cut off before it had an answer.
            continue;
        }
        let number = content.and_then(|content| number_of(content.get("text")?.as_str()?));
        match number.and_then(|number| Some((number, *requests.get(&number)?))) {
            Some((number, request)) => {
                kept_numbers.insert(number);
                kept.insert(request, (number, place.clone()));
            }
            None => report.findings.push(Finding::Invented {
                place: place.clone(),
            }),
        }
    }
    for call in calls {
        if kept_numbers.contains(&call.number) {
            continue;
        }
        report.lost_answers += 1;
        if let Some((number, place)) = kept.get(&call.request)
            && call.number > *number
        {
            report.findings.push(Finding::AskingOutcome {
                place: place.clone(),
                kept: *number,
                again: call.number,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{number_of, numbered};

    #[test]
    fn an_answer_carries_its_number_and_stays_the_same_json() {
        for number in [1, 2, 1023, u64::MAX] {
            let answer = numbered("{\"a\": 1}", number);
            assert_eq!(number_of(&answer), Some(number));
            let value: serde_json::Value = serde_json::from_str(&answer).unwrap_or_default();
            assert_eq!(value["a"], 1);
        }
        assert_eq!(number_of("\n{\"a\": 1}"), None);
    }
}
