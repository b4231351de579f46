//! Names in the casings that JSON and Rust use.

/// A casing for the names of fields in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Casing {
    Camel,
    Snake,
    Pascal,
    Kebab,
    ScreamingSnake,
}

impl Casing {
    /// All of them, with the names that `rename_all` takes.
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("camelCase", Self::Camel),
        ("snake_case", Self::Snake),
        ("PascalCase", Self::Pascal),
        ("kebab-case", Self::Kebab),
        ("SCREAMING_SNAKE_CASE", Self::ScreamingSnake),
    ];

    /// The casing of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, casing)| casing)
    }

    /// A field's name, which is in snake case, in this casing.
    pub(crate) fn apply(self, field: &str) -> String {
        match self {
            Self::Camel => decapitalised(&pascal(field)),
            Self::Snake => field.to_owned(),
            Self::Pascal => pascal(field),
            Self::Kebab => field.replace('_', "-"),
            Self::ScreamingSnake => field.to_uppercase(),
        }
    }
}

/// `review_request` as `ReviewRequest`.
pub(crate) fn pascal(field: &str) -> String {
    field.split('_').map(capitalised).collect()
}

/// `ReviewAgent` as `REVIEW_AGENT`, and `HTTPAgent` as `HTTP_AGENT`.
pub(crate) fn screaming_snake(variant: &str) -> String {
    let letters: Vec<char> = variant.chars().collect();
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let starts_word = at > 0
            && letter.is_uppercase()
            && (!letters[at - 1].is_uppercase()
                || letters.get(at + 1).is_some_and(|next| next.is_lowercase()));
        if starts_word && letters[at - 1] != '_' {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn decapitalised(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Casing, screaming_snake};

    #[test]
    fn fields_are_written_in_every_casing() {
        let written = Casing::ALL.map(|(_, casing)| casing.apply("review_request"));
        assert_eq!(
            written,
            [
                "reviewRequest",
                "review_request",
                "ReviewRequest",
                "review-request",
                "REVIEW_REQUEST"
            ]
        );
    }

    #[test]
    fn the_name_of_a_casing_is_that_casing() {
        assert_eq!(Casing::named("kebab-case"), Some(Casing::Kebab));
        assert_eq!(Casing::named("kebab_case"), None);
    }

    #[test]
    fn variants_are_written_in_capitals() {
        assert_eq!(screaming_snake("ReviewAgent"), "REVIEW_AGENT");
        assert_eq!(screaming_snake("Orchestrator"), "ORCHESTRATOR");
        assert_eq!(screaming_snake("HTTPAgent"), "HTTP_AGENT");
        assert_eq!(screaming_snake("Phase2Agent"), "PHASE2_AGENT");
    }
}
