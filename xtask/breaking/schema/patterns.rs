//! Determines whether two patterns can match the same property name.
//!
//! If this is uncertain, they are assumed to match.

use regex::Regex;

/// Whether a name can match both patterns. Patterns that require different prefixes cannot match the same name.
pub(super) fn may_overlap(left: &str, right: &str) -> bool {
    match (literal_prefix(left), literal_prefix(right)) {
        (Some(left), Some(right)) => left.starts_with(&right) || right.starts_with(&left),
        _ => true,
    }
}

/// Whether a pattern is a supported regular expression.
pub(super) fn is_supported(pattern: &str) -> bool {
    Regex::new(pattern).is_ok()
}

/// Returns the prefix of every name that matches, or `None` if the pattern does not begin with `^` or has alternatives
/// (`|`).
fn literal_prefix(pattern: &str) -> Option<String> {
    let anchored = pattern.strip_prefix('^').filter(|anchored| !anchored.contains('|'))?;
    let is_literal = |letter: &char| letter.is_alphanumeric() || ['_', '-', ':', '/'].contains(letter);
    let mut prefix: String = anchored.chars().take_while(is_literal).collect();
    if anchored[prefix.len()..].starts_with(['*', '?', '{']) {
        // The quantifier can make the last character optional.
        prefix.pop();
    }
    Some(prefix)
}

#[cfg(test)]
mod tests {
    use super::may_overlap;

    #[test]
    fn only_patterns_with_different_prefixes_never_overlap() {
        for (left, right, overlap) in [
            ("^x-", "^y-", false),
            ("^xa", "^xb.*", false),
            ("^x", "^xa", true),
            ("x", "^y", true),
            ("^x|y", "^y", true),
            ("^x?y", "^y", true),
            ("^x+", "^y", false),
            ("^x{0}y", "^y", true),
            ("^[a-z]", "^y", true),
            ("", "^y", true),
        ] {
            assert_eq!(
                (may_overlap(left, right), may_overlap(right, left)),
                (overlap, overlap),
                "{left} {right}"
            );
        }
    }
}
