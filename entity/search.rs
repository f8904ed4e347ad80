//! Text that people search for, as a condition that both databases understand alike.

use sea_orm::sea_query::{Expr, ExprTrait as _, Func, LikeExpr};
use sea_orm::{ColumnTrait, Condition};

/// Bytes of a text from which on it is found nowhere: no column that is searched holds as many, and a pattern of 50,000 is an
/// error of SQLite.
const MOST: usize = 4_000;
/// The sign that takes its meaning from `%` and `_`.
const ESCAPE: char = '\\';

/// True where one of the columns holds the text anywhere, without regard to case.
///
/// SQLite folds ASCII only: other letters are found there in the case in which they are typed, or in lower case. A sigma that
/// ends the text is also found as the one that stands inside words, and everywhere in folded addresses.
pub(crate) fn anywhere<C: ColumnTrait>(columns: impl IntoIterator<Item = C>, text: &str) -> Condition {
    if text.len() > MOST {
        return Condition::all().add(Expr::cust("1 = 0"));
    }
    // What the database folds to lower case may be ASCII alone, or all letters.
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

/// The text with anything before and behind it.
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
    fn what_has_a_meaning_in_patterns_loses_it() {
        assert_eq!(pattern(r"50%_a\b"), r"%50\%\_a\\b%");
    }
}
