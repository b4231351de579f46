//! The request type in the `Option` of a field.

use syn::{GenericArgument, PathArguments, Type};

/// The `T` of `Option<T>`, `std::option::Option<T>` or `core::option::Option<T>`.
pub(super) fn optional(written: &Type) -> Option<&Type> {
    let Type::Path(path) = ungrouped(written) else {
        return None;
    };
    let names: Vec<String> = path
        .path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_option = match names.as_slice() {
        ["Option"] => path.path.leading_colon.is_none(),
        ["std" | "core", "option", "Option"] => true,
        _ => false,
    };
    if path.qself.is_some() || !is_option {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    if let Some(GenericArgument::Type(request)) = arguments.args.first()
        && arguments.args.len() == 1
    {
        return Some(request);
    }
    None
}

/// The type without the invisible brackets that a declarative macro puts around it.
fn ungrouped(written: &Type) -> &Type {
    if let Type::Group(group) = written {
        return ungrouped(&group.elem);
    }
    written
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{Type, parse_quote};

    use super::optional;

    fn request(written: &Type) -> Option<String> {
        optional(written).map(|request| request.to_token_stream().to_string())
    }

    #[test]
    fn every_spelling_of_option_is_known() {
        let spellings: [Type; 4] = [
            parse_quote!(Option<Request>),
            parse_quote!(std::option::Option<Request>),
            parse_quote!(::std::option::Option<Request>),
            parse_quote!(core::option::Option<Request>),
        ];
        for spelling in &spellings {
            assert_eq!(request(spelling).as_deref(), Some("Request"));
        }
    }

    #[test]
    fn other_types_are_not_optional() {
        let others: [Type; 4] = [
            parse_quote!(Request),
            parse_quote!(Vec<Request>),
            parse_quote!(mine::Option<Request>),
            parse_quote!(Option),
        ];
        for other in &others {
            assert_eq!(request(other), None);
        }
    }
}
