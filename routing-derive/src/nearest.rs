//! The known word that a misspelt one was probably meant to be.

/// The known word nearest to `given`, if any is near enough to be meant.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = given.chars().count().div_ceil(3).max(1);
    known
        .map(|word| (distance(given, word), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many letters must be added, left out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, other_letter) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other_letter);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let known = ["marker", "agent_type", "rename", "returns"];
        let nearest = |given| nearest(given, known.into_iter());
        assert_eq!(nearest("markr"), Some("marker"));
        assert_eq!(nearest("agenttype"), Some("agent_type"));
        assert_eq!(nearest("agent_typ"), Some("agent_type"));
        assert_eq!(nearest("return"), Some("returns"));
    }

    #[test]
    fn another_word_is_not_guessed_at() {
        assert_eq!(nearest("colour", ["marker", "rename"].into_iter()), None);
    }
}
