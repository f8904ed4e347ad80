//! Substring search, as a condition with the same results on both databases.

use sea_orm::sea_query::{Expr, ExprTrait as _, Func, LikeExpr};
use sea_orm::{ColumnTrait, Condition};

/// The maximum length of a search string in bytes. No searched column holds a longer value, and SQLite rejects patterns of more
/// than 50,000 bytes.
const MAX_LENGTH_BYTES: usize = 4_000;
/// The character that escapes `%` and `_`.
const ESCAPE: char = '\\';

/// Returns the condition that one of the columns contains the string, ignoring case.
///
/// SQLite folds ASCII only, so it finds other letters only in the case entered or in lower case. A sigma at the end of the
/// string also matches the medial form, and matches everywhere in folded email addresses.
pub(crate) fn anywhere<C: ColumnTrait>(columns: impl IntoIterator<Item = C>, text: &str) -> Condition {
    if text.len() > MAX_LENGTH_BYTES {
        return Condition::all().add(Expr::cust("1 = 0"));
    }
    // The database folds either ASCII or all letters to lower case.
    let (ascii, all) = (text.to_ascii_lowercase(), text.to_lowercase());
    let mut texts = vec![pattern(&ascii)];
    if all != ascii {
        texts.push(pattern(&all));
    }
    if all.contains('ς') {
        texts.push(pattern(&all.replace('ς', "σ")));
    }
    columns.into_iter().fold(Condition::any(), |any, column| {
        texts.iter().fold(any, |any, text| {
            let folded = Expr::from(Func::lower(column.into_expr()));
            any.add(folded.like(LikeExpr::new(text.clone()).escape(ESCAPE)))
        })
    })
}

/// Returns the `LIKE` pattern for a string with any text before and after it.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
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
