//! Determines whether two patterns can match the same property name.
//!
//! If this is uncertain, they are assumed to overlap.

use regex::Regex;

/// Whether a name can match both patterns: not if they require different prefixes.
pub(super) fn may_meet(left: &str, right: &str) -> bool {
    match (beginning(left), beginning(right)) {
        (Some(left), Some(right)) => left.starts_with(&right) || right.starts_with(&left),
        _ => true,
    }
}

/// Whether a pattern is a supported regular expression.
pub(super) fn is_readable(pattern: &str) -> bool {
    Regex::new(pattern).is_ok()
}

/// Returns the literal prefix of every match, or `None` if a match can begin with any character.
fn beginning(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^').filter(|rest| !rest.contains('|'))?;
    let is_plain = |letter: &char| letter.is_alphanumeric() || ['_', '-', ':', '/'].contains(letter);
    let mut plain: String = rest.chars().take_while(is_plain).collect();
    if rest[plain.len()..].starts_with(['*', '?', '{']) {
        // The quantifier makes the last character optional.
        plain.pop();
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::may_meet;

    #[test]
    fn only_patterns_with_different_prefixes_never_overlap() {
        for (left, right, meet) in [
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
            assert_eq!((may_meet(left, right), may_meet(right, left)), (meet, meet), "{left} {right}");
        }
    }
}
