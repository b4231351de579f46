//! Rules about paths: files and folders that file tools do not open, whichever of them is asked to, and however.

use std::path::Path;
use std::sync::Arc;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::policy::{PolicyError, whole};

/// A rule about paths as it is written in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRuleConfig {
    /// A pattern that the whole path must fit, or the path of a folder above it. Paths are relative to the workspace.
    pub deny: String,
    /// What is said of it to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Rules about paths that are ready for use.
#[derive(Debug, Clone, Default)]
pub struct PathRules {
    rules: Arc<[PathRule]>,
}

#[derive(Debug)]
struct PathRule {
    deny: Regex,
    reason: Option<String>,
}

/// A path that a rule denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeniedPath<'rules> {
    /// What the rule says of it.
    pub(crate) reason: Option<&'rules str>,
}

impl PathRules {
    /// Makes configured rules ready.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] of the first rule that cannot be used.
    pub fn new(config: &[PathRuleConfig]) -> Result<Self, PolicyError> {
        let rules = config.iter().enumerate().map(|(index, rule)| {
            let deny = whole(&rule.deny).map_err(|error| PolicyError::of_path(index, &error))?;
            let reason = rule.reason.clone();
            Ok(PathRule { deny, reason })
        });
        Ok(Self {
            rules: rules.collect::<Result<_, PolicyError>>()?,
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule that denies a path, or a folder above it. The path is relative to the workspace and has no `..`.
    pub(crate) fn denial(&self, path: &Path) -> Option<DeniedPath<'_>> {
        let above = path.ancestors().filter(|it| !it.as_os_str().is_empty());
        let mut texts: Vec<_> = above.map(Path::to_string_lossy).collect();
        if texts.is_empty() {
            texts.push(".".into());
        }
        let denies = |rule: &&PathRule| texts.iter().any(|text| rule.deny.is_match(text));
        let rule = self.rules.iter().find(denies)?;
        let reason = rule.reason.as_deref();
        Some(DeniedPath { reason })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PathRuleConfig, PathRules};

    fn denied(pattern: &str, path: &str) -> bool {
        let rule = PathRuleConfig {
            deny: pattern.to_owned(),
            reason: None,
        };
        let rules = PathRules::new(&[rule]).unwrap();
        rules.denial(Path::new(path)).is_some()
    }

    #[test]
    fn a_pattern_fits_the_whole_path_or_that_of_a_folder_above() {
        assert!(denied(r".*\.env", ".env"));
        assert!(denied(r".*\.env", "deep/prod.env"));
        assert!(denied("secrets", "secrets/a/key"));
        assert!(denied("secrets/.*", "secrets/a/key"));
        assert!(denied(".*", ""));
        assert!(!denied("secrets", "more/secrets"));
        assert!(!denied("secrets", ""));
        assert!(!denied(r".*\.env", ".envelope"));
    }

    #[test]
    fn a_pattern_that_is_none_is_refused_with_its_rule() {
        let rule = PathRuleConfig {
            deny: "(".to_owned(),
            reason: None,
        };
        let error = PathRules::new(&[rule]).unwrap_err().to_string();
        assert!(error.starts_with("rule 1 about paths "), "{error}");
    }
}
