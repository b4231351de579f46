//! Names that come from elsewhere, kept for as long as the process lives.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The longest name that is kept, in bytes, and the most of them: kinds of agents and fields of their records are few.
const LONGEST: usize = 200;
const MOST: usize = 4_096;

/// The replacement for names that are too many or too long.
const OTHER: &str = "...";

static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// A name with a static lifetime, like those of workflows in this program. The same name is kept once.
pub(crate) fn interned_name(name: &str) -> &'static str {
    // Only whole names are inserted, so a panic elsewhere leaves it intact.
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(name) {
        return known;
    }
    if name.len() > LONGEST || kept.len() >= MOST {
        return OTHER;
    }
    let name: &'static str = name.to_owned().leak();
    kept.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, OTHER, interned_name};

    #[test]
    fn the_same_name_is_kept_once_and_one_that_is_too_long_not_at_all() {
        let (once, again) = (String::from("LEGAL"), String::from("LEGAL"));
        let kept = interned_name(&once);
        assert_eq!(kept, "LEGAL");
        assert!(std::ptr::eq(kept, interned_name(&again)));
        assert_eq!(interned_name(&"x".repeat(LONGEST + 1)), OTHER);
    }
}
