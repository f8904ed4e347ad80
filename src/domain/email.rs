//! Email addresses: the key by which they are compared, and the rules for addresses of people who sign in.
//!
//! Only the mail server of a domain knows which spellings of the part before the `@` it delivers to one mailbox, so of that
//! part only ASCII letters are folded. The domain is compared in its ASCII form (IDNA), which is what mail servers look up.

use std::borrow::Cow;

use unicode_normalization::is_nfc;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Returns the key of an address. Two addresses belong to the same person if their keys are equal.
///
/// ASCII letters before the `@` become lower case, and the domain is converted to its ASCII form. A domain without one only
/// becomes ASCII lower case.
pub fn comparison_key(address: &str) -> String {
    let (local_part, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    let domain = ascii_domain(domain).map_or_else(|| domain.to_ascii_lowercase(), Cow::into_owned);
    format!("{}@{domain}", local_part.to_ascii_lowercase())
}

/// Returns whether two addresses belong to the same person.
pub fn is_same(left: &str, right: &str) -> bool {
    comparison_key(left) == comparison_key(right)
}

/// Returns the address as mail is sent to it: with the domain in its ASCII form, which every mail server accepts.
pub fn mailbox(address: &str) -> Cow<'_, str> {
    match address.rsplit_once('@').map(|(local_part, domain)| (local_part, ascii_domain(domain))) {
        Some((local_part, Some(domain))) => Cow::Owned(format!("{local_part}@{domain}")),
        _ => Cow::Borrowed(address),
    }
}

/// Returns why people cannot sign in with this address, as a message for its field. `None` if they can.
///
/// Rejects what other programs could change or hide: a character before the `@` that is invisible or not in the composed
/// form (NFC), and a domain that does not exist in the DNS.
pub(crate) fn sign_in_error(address: &str) -> Option<&'static str> {
    let (local_part, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    if !is_nfc(local_part) || local_part.chars().any(is_invisible) {
        return Some(
            "must not contain invisible or decomposed characters before the `@`; type the address instead of pasting it",
        );
    }
    ascii_domain(domain).is_none().then_some(
        "must have a valid domain name after the `@`; correct it, or enter its ASCII form, such as `xn--bcher-kva.example`",
    )
}

/// Returns the ASCII form of a domain (UTS #46, nontransitional, with the strict rules for ASCII characters, hyphens and
/// lengths). `None` if it has none.
fn ascii_domain(domain: &str) -> Option<Cow<'_, str>> {
    use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
    Uts46::new().to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::Check, DnsLength::Verify).ok()
}

fn is_invisible(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator};
    matches!(
        character.general_category(),
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | SpaceSeparator
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_key_of_a_key_is_the_key(address in "\\PC{0,20}@[a-zA-ZäßK。.xn_-]{0,20}") {
            prop_assert_eq!(comparison_key(&comparison_key(&address)), comparison_key(&address));
        }

        #[test]
        fn ascii_case_makes_no_difference(address in "[ -~]{0,20}@[ -~äΩ]{0,20}") {
            prop_assert!(is_same(&address.to_ascii_uppercase(), &address.to_ascii_lowercase()));
        }

        #[test]
        fn other_characters_before_the_at_sign_make_a_difference(left in "[kKKsſıiß]{0,3}", right in "[kKKsſıiß]{0,3}") {
            let is_equal = left.eq_ignore_ascii_case(&right);
            prop_assert_eq!(is_same(&format!("{left}@a.example"), &format!("{right}@a.example")), is_equal);
        }

        #[test]
        fn mail_to_an_address_reaches_the_same_person(address in "\\PC{0,20}@\\PC{0,20}") {
            prop_assert!(is_same(&mailbox(&address), &address));
        }
    }
}
