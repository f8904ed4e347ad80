//! When two addresses are the same.

/// The address without regard to case: each character in Unicode lower case, and the two lower cases of a Greek sigma as one.
///
/// Character by character, so that the result does not depend on a character's neighbours. Whoever wrote a whole text in lower
/// case has the other sigma at the ends of words, and means the same. No more is brought together: `ss` and `ß`, `i` and `ı`
/// have one upper case, and stand in the addresses of different people.
pub fn fold(email: &str) -> String {
    let one_sigma = |letter| if letter == 'ς' { 'σ' } else { letter };
    email.chars().flat_map(char::to_lowercase).map(one_sigma).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_makes_no_difference_in_any_alphabet() {
        assert_eq!(fold("Ada@Example.COM"), "ada@example.com");
        assert_eq!(fold("ÄGNES@BÜCHER.DE"), fold("ägnes@bücher.de"));
        assert_eq!(fold("ΣΟΦΟΣ@x"), "σοφοσ@x");
        assert_eq!(fold("ΟΔΥΣΣΕΥΣ@x.gr"), fold("οδυσσευς@x.gr"));
        assert_ne!(fold("strasse@x"), fold("straße@x"));
        assert_ne!(fold("ada@example.com"), fold("ada@example.org"));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(email in "\\PC{0,40}") {
            prop_assert_eq!(fold(&fold(&email)), fold(&email));
        }

        #[test]
        fn lower_case_is_the_same(email in "[ΣςσΑ-Ωα-ωİIa-z@. ]{0,40}") {
            prop_assert_eq!(fold(&email.to_lowercase()), fold(&email));
        }

        #[test]
        fn ascii_case_never_matters(email in "[ -~]{0,40}") {
            prop_assert_eq!(fold(&email.to_ascii_uppercase()), fold(&email.to_ascii_lowercase()));
        }
    }
}
