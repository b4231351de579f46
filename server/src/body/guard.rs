//! What a JSON text must not do, whatever it is parsed as: nest too deeply, or contain an integer that readers round.

/// Why a JSON text is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GuardError {
    /// It nests deeper than is allowed.
    #[error("the JSON nests deeper than {most} levels")]
    TooDeep {
        /// How deep it may nest.
        most: usize,
    },
    /// An integer does not fit into 64 bits.
    #[error("the JSON has an integer at byte {position} that does not fit into 64 bits")]
    Integer {
        /// Where it begins.
        position: usize,
    },
    /// A number is too large for any reader.
    #[error("the JSON has a number at byte {position} that no reader can hold")]
    Number {
        /// Where it begins.
        position: usize,
    },
}

/// Scans a JSON text once. Text that is not JSON is left to the parser to refuse.
pub(crate) fn check_json(text: &[u8], most: usize) -> Result<(), GuardError> {
    let (mut depth, mut position) = (0_usize, 0_usize);
    while let Some(&byte) = text.get(position) {
        match byte {
            b'"' => position = end_of_string(text, position),
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return Err(GuardError::TooDeep { most });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(text, position);
                check_number(text.get(position..end).unwrap_or_default(), position)?;
                position = end - 1;
            }
            _ => {}
        }
        position += 1;
    }
    Ok(())
}

/// The position of the quote that ends a string.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while let Some(&byte) = text.get(position) {
        match byte {
            b'"' => return position,
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    position
}

fn end_of_number(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
        .count();
    start + length.max(1)
}

fn check_number(number: &[u8], position: usize) -> Result<(), GuardError> {
    let Ok(number) = std::str::from_utf8(number) else {
        return Ok(());
    };
    if number
        .bytes()
        .any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    {
        return match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(()),
            // Text that is not a number is left to the parser to refuse.
            Err(_) => Ok(()),
            Ok(_) => Err(GuardError::Number { position }),
        };
    }
    let fits = number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok();
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    if fits || digits < 19 {
        Ok(())
    } else {
        Err(GuardError::Integer { position })
    }
}

#[cfg(test)]
mod tests {
    use super::{GuardError, check_json};

    #[test]
    fn depth_is_counted_outside_strings_alone() {
        assert_eq!(check_json(br#"{"a":"[[[[","b":["\"[[["]}"#, 2), Ok(()));
        assert_eq!(
            check_json(b"[[[]]]", 2),
            Err(GuardError::TooDeep { most: 2 })
        );
        let deep = "[".repeat(1_000_000);
        assert!(check_json(deep.as_bytes(), 64).is_err());
    }

    #[test]
    fn an_integer_that_would_be_rounded_is_refused() {
        for fine in [
            "18446744073709551615",
            "-9223372036854775808",
            "[1.5e3, 0, -0]",
            r#""99999999999999999999999""#,
        ] {
            assert_eq!(check_json(fine.as_bytes(), 8), Ok(()), "{fine}");
        }
        for bad in [
            "18446744073709551616",
            "-9223372036854775809",
            r#"{"a": 100000000000000000000}"#,
        ] {
            assert!(
                matches!(
                    check_json(bad.as_bytes(), 8),
                    Err(GuardError::Integer { .. })
                ),
                "{bad}"
            );
        }
        assert!(matches!(
            check_json(b"1e999", 8),
            Err(GuardError::Number { position: 0 })
        ));
    }

    #[test]
    fn a_text_that_ends_anywhere_is_looked_at_to_its_end() {
        let text = br#"{"a\u0022":[-12.5e7,"\\"],"b":{}}"#;
        for end in 0..=text.len() {
            assert_eq!(check_json(&text[..end], 4), Ok(()), "{end}");
        }
    }
}
