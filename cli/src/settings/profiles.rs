//! The profiles of models in the user's file, under names of one's own.
//!
//! The file of a folder has none: a profile says where keys are sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use llm::ModelProfile;
use serde::Deserialize;
use serde_json::Value;

use super::paths::{CONFIG_VARIABLE, read, user_file, write};
use crate::exit::{Exit, Failure};

/// What the file says about models.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Profiles {
    /// Profiles of models, by their names.
    pub(crate) models: BTreeMap<String, ModelProfile>,
}

impl Profiles {
    /// Reads the file; if it does not exist, there are no profiles.
    ///
    /// # Errors
    ///
    /// If it cannot be read or understood.
    pub(crate) fn read() -> Result<Self, Failure> {
        let Some(path) = user_file() else {
            return Ok(Self::default());
        };
        let text = read(&path)?.unwrap_or_default();
        toml::from_str(&text).map_err(|error| {
            let text = format!("{}: {}", path.display(), error.message());
            Failure::new(Exit::Usage, text).hint("docs/models.md says what the file may say")
        })
    }

    /// Keeps a profile under a name, in place of one that has it; returns the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or its location is not known.
    pub(crate) fn keep(name: &str, profile: &ModelProfile) -> Result<PathBuf, Failure> {
        let refused = |text: String| Failure::new(Exit::Failure, text);
        let path = user_file()
            .ok_or_else(|| refused(format!("set {CONFIG_VARIABLE} to the path of a file")))?;
        let before = read(&path)?.unwrap_or_default();
        let after = with_profile(&before, name, profile);
        write(&path, &after)
            .map_err(|error| refused(format!("cannot write {}: {error}", path.display())))?;
        Ok(path)
    }
}

/// The text of the file with this profile. All other lines stay as they are, comments too.
fn with_profile(text: &str, name: &str, profile: &ModelProfile) -> String {
    let header = format!("[models.{}]", key(name));
    let mut kept = String::new();
    let mut is_old = false;
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with('[') {
            is_old = start.trim_end() == header;
        }
        if !is_old {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let mut all = kept.trim_end().to_owned();
    if !all.is_empty() {
        all.push_str("\n\n");
    }
    all.push_str(&header);
    all.push('\n');
    // A profile is a flat table, whose texts, numbers and truths are written in TOML as they are in JSON.
    if let Ok(Value::Object(fields)) = serde_json::to_value(profile) {
        for (field, value) in fields {
            // Writing to a string cannot fail.
            let _ = writeln!(all, "{field} = {value}");
        }
    }
    all
}

/// A name as TOML writes it.
fn key(name: &str) -> String {
    let is_bare = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::schema::Dialect;
    use llm::ModelProfile;

    use super::{Profiles, with_profile};

    #[test]
    fn a_profile_is_kept_and_everything_else_stays() {
        let profile = |context| ModelProfile {
            model: Some("openai:local".to_owned()),
            base_url: Some("http://127.0.0.1:8080/v1".to_owned()),
            dialect: Some(Dialect::Grammar),
            context: Some(context),
            temperature: Some(0.2),
            ..ModelProfile::default()
        };
        let before =
            "# mine\n[models.local]\ncontext = 1\n\n[models.other]\n# it is slow\nfirst_s = 9\n";
        let text = with_profile(before, "local", &profile(2));
        assert!(
            text.starts_with("# mine\n") && text.contains("# it is slow"),
            "{text}"
        );
        let settings: Profiles = toml::from_str(&text).unwrap();
        assert_eq!(settings.models["local"], profile(2));
        assert_eq!(settings.models["other"].first_s, Some(9));
        let named = with_profile(&text, "a b", &profile(3));
        let settings: Profiles = toml::from_str(&named).unwrap();
        assert_eq!(settings.models["a b"], profile(3));
    }
}
