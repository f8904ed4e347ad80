//! Case folding of email addresses, for comparisons.

/// Folds the case of an email address: maps each character to Unicode lower case, and the two lower-case forms of the Greek
/// sigma to one.
///
/// Each character is mapped on its own, so the result does not depend on its neighbors. (`str::to_lowercase` would map
/// a sigma at the end of a word differently.) No other characters are unified: `ss` and `ß`, or `i` and `ı`, have the
/// same upper case but occur in the addresses of different people.
pub fn fold_email(email: &str) -> String {
    let fold_sigma = |letter| if letter == 'ς' { 'σ' } else { letter };
    email.chars().flat_map(char::to_lowercase).map(fold_sigma).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folding_ignores_case_in_every_alphabet() {
        assert_eq!(fold_email("Ada@Example.COM"), "ada@example.com");
        assert_eq!(fold_email("ÄGNES@BÜCHER.DE"), fold_email("ägnes@bücher.de"));
        assert_eq!(fold_email("ΣΟΦΟΣ@x"), "σοφοσ@x");
        assert_eq!(fold_email("ΟΔΥΣΣΕΥΣ@x.gr"), fold_email("οδυσσευς@x.gr"));
        assert_ne!(fold_email("strasse@x"), fold_email("straße@x"));
        assert_ne!(fold_email("ada@example.com"), fold_email("ada@example.org"));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(email in "\\PC{0,40}") {
            prop_assert_eq!(fold_email(&fold_email(&email)), fold_email(&email));
        }

        #[test]
        fn lower_casing_first_makes_no_difference(email in "[ΣςσΑ-Ωα-ωİIa-z@. ]{0,40}") {
            prop_assert_eq!(fold_email(&email.to_lowercase()), fold_email(&email));
        }

        #[test]
        fn ascii_case_makes_no_difference(email in "[ -~]{0,40}") {
            prop_assert_eq!(fold_email(&email.to_ascii_uppercase()), fold_email(&email.to_ascii_lowercase()));
        }
    }
}
