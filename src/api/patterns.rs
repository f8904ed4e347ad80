//! Descriptions of the contract's patterns for validation messages.

/// Describes the strings that match a pattern, as the end of a sentence that begins with the field's name. Returns
/// `None` for an unknown pattern.
pub(crate) fn describe(pattern: &str) -> Option<String> {
    const EMAIL: &str = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$";
    // The pattern of an id begins with its prefix, such as `^crs_[0-7]`.
    let id_prefix = pattern.strip_prefix('^').and_then(|id_pattern| Some(id_pattern.split_once("_[0-7]")?.0));
    if let Some(prefix) = id_prefix.filter(|prefix| prefix.bytes().all(|byte| byte.is_ascii_lowercase())) {
        return Some(format!("must be an id: `{prefix}_` followed by 26 characters"));
    }
    let description = match pattern {
        EMAIL => "must contain exactly one @, with text on both sides and no whitespace",
        r"^[^\x00-\x1f\x7f]*$" => "must not contain control characters, such as line breaks",
        r"^[^\x00]*$" => "must not contain the character NUL (U+0000)",
        "^[!-~]+$" => "must contain only visible ASCII characters and no spaces",
        "^[!-9;-~]+$" => "must be the name of a header, such as `X-Tenant`",
        "^[A-Z]{3}$" => "must be a currency code of three uppercase letters, such as `USD`",
        "^[a-z0-9]+(-[a-z0-9]+)*$" => {
            "must contain only lowercase letters and digits, separated by single hyphens, such as `ink-and-line`"
        }
        "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" => "must be a language tag (BCP 47), such as `en` or `pt-BR`",
        "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$" => {
            "must be the name of an IANA time zone, such as `Europe/Berlin`"
        }
        _ => return None,
    };
    Some(description.to_owned())
}
