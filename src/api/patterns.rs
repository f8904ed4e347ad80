//! The patterns of the contract in words, for validation messages.

/// What a text that matches the pattern looks like, as the end of a sentence that begins with the field.
pub(crate) fn describe(pattern: &str) -> Option<String> {
    const EMAIL: &str = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$";
    let id = pattern.strip_prefix('^').and_then(|rest| rest.split_once("_[0-7]"));
    if let Some((prefix, _)) = id.filter(|(prefix, _)| prefix.bytes().all(|byte| byte.is_ascii_lowercase())) {
        return Some(format!("must be an id that begins with `{prefix}_`, with 26 characters after it"));
    }
    let words = match pattern {
        EMAIL => "must hold one @ between two parts without blanks",
        r"^[^\x00-\x1f\x7f]*$" => "must not hold control characters, such as line breaks",
        r"^[^\x00]*$" => "must not hold the character NUL (U+0000)",
        "^[!-~]+$" => "must be visible ASCII characters without blanks",
        "^[A-Z]{3}$" => "must be a currency code of three capital letters, such as `USD`",
        "^[a-z0-9]+(-[a-z0-9]+)*$" => {
            "must be lower-case letters and digits, with single hyphens between them, such as `ink-and-line`"
        }
        "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" => "must be a language tag (BCP 47), such as `en` or `pt-BR`",
        "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$" => {
            "must be the name of an IANA time zone, such as `Europe/Berlin`"
        }
        _ => return None,
    };
    Some(words.to_owned())
}
