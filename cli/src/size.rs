//! Amounts of memory as people type them.

/// The units, from the longest name.
const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// Reads an amount of memory: `512MiB`, `2 GiB`, `1500MB`.
///
/// # Errors
///
/// In words, if the text is none, or is nothing.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no amount of memory; write 512MiB or 2GiB");
    let (number, unit) = UNITS
        .into_iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .ok_or_else(wrong)?;
    let number: u64 = number.trim().parse().map_err(|_no_number| wrong())?;
    number
        .checked_mul(unit)
        .filter(|size| *size > 0)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn amounts_of_memory_have_a_unit() {
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("2 GiB"), Ok(2 << 30));
        assert_eq!(parse_size("1500MB"), Ok(1_500_000_000));
        assert_eq!(parse_size("7B"), Ok(7));
        for text in [
            "",
            "512",
            "0MiB",
            "-1MiB",
            "much",
            "1.5GiB",
            "99999999999GiB",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
