//! Doc comments, which become the descriptions in schemas.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among these attributes; empty if there are none.
pub(crate) fn doc_text(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    lines.join("\n").trim().to_owned()
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &pair.value
    else {
        return None;
    };
    let text = text.value();
    pair.path.is_ident("doc").then(|| {
        text.strip_prefix(' ')
            .unwrap_or(&text)
            .trim_end()
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::doc_text;
    use syn::{ItemStruct, parse_quote};

    #[test]
    fn lines_are_joined_and_other_attributes_left_out() {
        let item: ItemStruct = parse_quote! {
            /// First line.
            ///
            /// - a list
            #[derive(Debug)]
            struct Documented;
        };
        assert_eq!(doc_text(&item.attrs), "First line.\n\n- a list");
    }
}
