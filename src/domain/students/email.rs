//! When two addresses are the same.

/// The address without regard to case: each character in Unicode lower case.
///
/// Character by character, so that the result does not depend on a character's neighbours, as the lower case of
/// a Greek sigma would.
pub fn fold(email: &str) -> String {
    email.chars().flat_map(char::to_lowercase).collect()
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
        assert_ne!(fold("ada@example.com"), fold("ada@example.org"));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(email in "\\PC{0,40}") {
            prop_assert_eq!(fold(&fold(&email)), fold(&email));
        }

        #[test]
        fn ascii_case_never_matters(email in "[ -~]{0,40}") {
            prop_assert_eq!(fold(&email.to_ascii_uppercase()), fold(&email.to_ascii_lowercase()));
        }
    }
}
