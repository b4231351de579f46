//! What a mistyped name may have meant.

/// How alike two names must be to suggest one for the other, from 0 (nothing alike) to 1 (the same).
const ALIKE: f64 = 0.75;

/// The known name that is most like the given one, if one is alike enough.
pub(crate) fn nearest<'n>(given: &str, known: &[&'n str]) -> Option<&'n str> {
    known
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), *name))
        .filter(|(likeness, _name)| *likeness >= ALIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_likeness, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["openai", "anthropic", "ollama"];
        assert_eq!(nearest("opnai", &known), Some("openai"));
        assert_eq!(nearest("xyz", &known), None);
    }
}
