//! Substring search that ignores case, as far as the database supports it: PostgreSQL ignores the case of all letters,
//! SQLite only that of ASCII letters.

use sea_orm::sea_query::{Expr, ExprTrait as _, Func, LikeExpr};
use sea_orm::{ColumnTrait, Condition};

/// The maximum length of a search string in bytes. No searched column holds a longer value, and SQLite rejects patterns
/// of more than 50,000 bytes.
const MAX_LENGTH_BYTES: usize = 4_000;
/// The character that escapes `%` and `_`.
const ESCAPE: char = '\\';

/// Returns the condition that one of the columns contains the string, ignoring case. A string that is too long matches
/// nothing.
///
/// SQLite's `lower` converts only ASCII letters, so it finds other letters only if they are stored as in `text` or in
/// lower case. A Greek sigma at the end of a word is `ς` in lower case. It also matches `σ`, the lower case of `Σ` in
/// PostgreSQL.
pub(crate) fn any_contains<C: ColumnTrait>(columns: impl IntoIterator<Item = C>, text: &str) -> Condition {
    if text.len() > MAX_LENGTH_BYTES {
        return Condition::all().add(Expr::cust("1 = 0"));
    }
    // The database converts either only ASCII letters or all letters to lower case.
    let (ascii_lowercase, lowercase) = (text.to_ascii_lowercase(), text.to_lowercase());
    let mut patterns = vec![pattern(&ascii_lowercase)];
    if lowercase != ascii_lowercase {
        patterns.push(pattern(&lowercase));
    }
    if lowercase.contains('ς') {
        patterns.push(pattern(&lowercase.replace('ς', "σ")));
    }
    columns.into_iter().fold(Condition::any(), |condition, column| {
        patterns.iter().fold(condition, |condition, pattern| {
            let value = Expr::from(Func::lower(column.into_expr()));
            condition.add(value.like(LikeExpr::new(pattern.clone()).escape(ESCAPE)))
        })
    })
}

/// Returns the `LIKE` pattern for a string with any text before and after it.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for character in text.chars() {
        if matches!(character, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn special_characters_of_patterns_are_escaped() {
        assert_eq!(pattern(r"50%_a\b"), r"%50\%\_a\\b%");
    }
}
