//! Labels: what a worker has, and what a run needs of the worker that executes it.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most characters of a label.
const LONGEST: usize = 60;

/// The most labels of a worker or a run.
const MOST: usize = 50;

/// A word for something that a worker has: `gpu`, `region=eu`, `model:opus`. It means what its users agree on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

/// A text that is not a label, or too many labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// It is not a word.
    #[error(
        "a label has 1 to {LONGEST} letters, digits and -_.:=/, and {0:?} is none: gpu, region=eu"
    )]
    NotALabel(String),
    /// There are too many.
    #[error("at most {MOST} labels are taken, and there are {0}")]
    TooMany(usize),
}

impl Label {
    /// The label of this text.
    ///
    /// # Errors
    ///
    /// [`LabelError::NotALabel`] if it is empty, longer than 60 characters, or has others than letters, digits and
    /// `-_.:=/`.
    pub fn new(text: impl Into<String>) -> Result<Self, LabelError> {
        let text = text.into();
        let fits = |it: char| it.is_ascii_alphanumeric() || "-_.:=/".contains(it);
        if (1..=LONGEST).contains(&text.len()) && text.chars().all(fits) {
            Ok(Self(text))
        } else {
            Err(LabelError::NotALabel(text))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Label {
    type Error = LabelError;

    fn try_from(text: String) -> Result<Self, LabelError> {
        Self::new(text)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        Self::new(text)
    }
}

impl Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Some labels, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<Label>")]
pub struct Labels(BTreeSet<Label>);

impl Labels {
    /// These labels.
    ///
    /// # Errors
    ///
    /// [`LabelError::TooMany`] if there are more than 50.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Result<Self, LabelError> {
        Self::try_from(labels.into_iter().collect::<BTreeSet<_>>())
    }

    /// Whether all of `needed` are among them.
    pub fn cover(&self, needed: &Self) -> bool {
        needed.0.is_subset(&self.0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.0.iter()
    }
}

impl TryFrom<BTreeSet<Label>> for Labels {
    type Error = LabelError;

    fn try_from(labels: BTreeSet<Label>) -> Result<Self, LabelError> {
        if labels.len() > MOST {
            return Err(LabelError::TooMany(labels.len()));
        }
        Ok(Self(labels))
    }
}

impl Display for Labels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for label in &self.0 {
            write!(formatter, "{separator}{label}")?;
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, LabelError, Labels};

    fn labels(words: &[&str]) -> Labels {
        Labels::new(words.iter().map(|word| Label::new(*word).unwrap())).unwrap()
    }

    #[test]
    fn a_worker_covers_what_a_run_needs_where_it_has_all_of_it() {
        let has = labels(&["gpu", "region=eu"]);
        assert!(has.cover(&labels(&[])));
        assert!(has.cover(&labels(&["gpu"])));
        assert!(has.cover(&labels(&["region=eu", "gpu", "gpu"])));
        assert!(!has.cover(&labels(&["gpu", "region=us"])));
        assert!(!labels(&[]).cover(&labels(&["gpu"])));
    }

    #[test]
    fn what_is_no_label_or_too_much_is_refused() {
        for text in ["", "two words", "a,b", "größe", &"x".repeat(61)] {
            assert!(
                matches!(Label::new(text), Err(LabelError::NotALabel(_))),
                "{text}"
            );
            let json = serde_json::to_string(&[text]).unwrap();
            assert!(serde_json::from_str::<Labels>(&json).is_err(), "{text}");
        }
        let many: Vec<Label> = (0..51)
            .map(|it| Label::new(it.to_string()).unwrap())
            .collect();
        assert_eq!(Labels::new(many), Err(LabelError::TooMany(51)));
    }
}
