//! Statements as PostgreSQL writes them. What they mean is said once, in the words of SQLite.

/// A statement in this dialect.
pub(super) fn translated(sql: &str) -> String {
    let sql = without_named_indexes(sql);
    let sql = numbered(&sql);
    functions(&sql)
}

/// The planner chooses its indexes by itself.
fn without_named_indexes(sql: &str) -> String {
    let mut words = sql.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "INDEXED" {
            let _by_name = (words.next(), words.next());
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// `?` and `?1` as `$1`.
fn numbered(sql: &str) -> String {
    let mut written = String::with_capacity(sql.len() + 16);
    let mut characters = sql.chars().peekable();
    let mut next = 0;
    let mut is_text = false;
    while let Some(character) = characters.next() {
        is_text ^= character == '\'';
        if character != '?' || is_text {
            written.push(character);
            continue;
        }
        written.push('$');
        match characters.next_if(char::is_ascii_digit) {
            Some(number) => written.push(number),
            None => {
                next += 1;
                written.push_str(&next.to_string());
            }
        }
    }
    written
}

/// The functions that SQLite has under other names.
fn functions(sql: &str) -> String {
    let mut sql = sql.to_owned();
    // As an array it is read once under any plan, and is no list to join with.
    const LISTED: &str = "IN (SELECT value FROM json_each(";
    while let Some(at) = sql.find(LISTED) {
        let list = at + LISTED.len();
        let Some(end) = sql[list..].find("))").map(|end| list + end) else {
            break;
        };
        let value = &sql[list..end];
        let array =
            format!("= ANY (ARRAY(SELECT json_array_elements_text(({value}::text)::json)))");
        sql.replace_range(at..end + "))".len(), &array);
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn values_have_numbers_and_texts_stay() {
        assert_eq!(
            translated("SELECT '?' FROM runs WHERE id = ? AND state = ?"),
            "SELECT '?' FROM runs WHERE id = $1 AND state = $2"
        );
        assert_eq!(
            translated("SELECT 1 WHERE ?2 IS NULL OR node = ?2 AND run = ?1"),
            "SELECT 1 WHERE $2 IS NULL OR node = $2 AND run = $1"
        );
    }

    #[test]
    fn lists_and_named_indexes_are_written_otherwise() {
        assert_eq!(
            translated(
                "SELECT id FROM interrupts INDEXED BY interrupts_open \
                 WHERE state IN (SELECT value FROM json_each(?1))"
            ),
            "SELECT id FROM interrupts WHERE state = \
             ANY (ARRAY(SELECT json_array_elements_text(($1::text)::json)))"
        );
    }
}
