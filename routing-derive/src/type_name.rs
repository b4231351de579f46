//! A type as its author would write it.

use quote::ToTokens;

/// The text of a type, without the spaces that a token stream puts between tokens.
pub(crate) fn type_name(tokens: impl ToTokens) -> String {
    let mut name = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" ;", ";"),
    ] {
        name = name.replace(spaced, tight);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::type_name;
    use quote::quote;

    #[test]
    fn no_spaces_stand_around_brackets() {
        assert_eq!(
            type_name(quote!(::std::vec::Vec<Batch<Ticket, [u8; 4]>>)),
            "::std::vec::Vec<Batch<Ticket, [u8; 4]>>"
        );
    }
}
