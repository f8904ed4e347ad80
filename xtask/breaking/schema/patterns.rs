//! Which names patterns can share.
//!
//! Owns when two patterns, or a pattern and named properties, surely speak of different names. What it cannot tell may
//! meet. It never compares schemas.

use regex::Regex;

/// Whether one name may match both patterns: not when each begins with letters of its own.
pub(super) fn may_meet(left: &str, right: &str) -> bool {
    match (beginning(left), beginning(right)) {
        (Some(left), Some(right)) => left.starts_with(&right) || right.starts_with(&left),
        _ => true,
    }
}

/// Whether a pattern can be read, so that it is known which names match.
pub(super) fn is_readable(pattern: &str) -> bool {
    Regex::new(pattern).is_ok()
}

/// The letters that every match begins with, as far as they are plain; `None` where a match may begin anywhere.
fn beginning(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^').filter(|rest| !rest.contains('|'))?;
    let is_plain = |letter: &char| letter.is_alphanumeric() || ['_', '-', ':', '/'].contains(letter);
    let mut plain: String = rest.chars().take_while(is_plain).collect();
    if rest[plain.len()..].starts_with(['*', '?', '{']) {
        // The last of them may be missing.
        plain.pop();
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::may_meet;

    #[test]
    fn only_patterns_that_begin_otherwise_never_meet() {
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
