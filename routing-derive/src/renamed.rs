//! `#[routing(crate = "path")]`: the router's crate under another name.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Path};

use crate::attr::{CRATE, Options};
use crate::errors::Errors;

/// The name by which all expanded code finds the router.
const USUAL: &str = "interrupt_router";

/// The expanded code, with the path that `#[name(crate = "path")]` gives in place of `::interrupt_router`.
pub(crate) fn renamed(expanded: TokenStream, attributes: &[Attribute], name: &str) -> TokenStream {
    // Other mistakes in the options are reported by the code that reads all of them.
    let options = Options::read(attributes, name, &[CRATE], &mut Errors::default());
    let Some(text) = options.text(CRATE.0) else {
        return expanded;
    };
    match text.parse::<Path>() {
        Ok(path) => replaced(expanded, &path.into_token_stream()),
        Err(_no_path) => {
            let remedy = "`crate` takes the path of the router's crate; write `crate = \"router\"`";
            let error = syn::Error::new_spanned(text, remedy).into_compile_error();
            TokenStream::from_iter([expanded, error])
        }
    }
}

fn replaced(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    let mut done: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == USUAL && ends_with_colons(&done) => {
                done.truncate(done.len().saturating_sub(2));
                done.extend(path.clone());
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), path));
                inner.set_span(group.span());
                done.push(inner.into());
            }
            token @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {
                done.push(token);
            }
        }
    }
    done.into_iter().collect()
}

fn ends_with_colons(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ':');
    matches!(tokens, [.., first, second] if is_colon(first) && is_colon(second))
}

#[cfg(test)]
mod tests {
    use syn::{DeriveInput, parse_quote};

    use super::renamed;

    fn expanded(input: &DeriveInput, name: &str) -> String {
        let tokens = match name {
            "agent_type" => crate::agent_type::derive(input),
            "routing" => crate::routing::derive(input),
            _ => crate::interrupt_request::derive(input),
        };
        renamed(tokens, &input.attrs, name).to_string()
    }

    #[test]
    fn nothing_that_is_expanded_names_the_router_otherwise() {
        let agents = parse_quote! {
            #[agent_type(crate = "facade::router")]
            enum Desk { Writer, Legal }
        };
        let record = parse_quote! {
            #[routing(agent_types = Desk, crate = "facade::router", actions = Actions)]
            struct Next {
                #[route(marker = Write, agent_type = Writer)]
                rewrite: Option<Article>,
                #[route(marker = Object, agent_type = Legal)]
                object: Option<Objection>,
            }
        };
        let request = parse_quote! {
            #[interrupt(kind = Desk, crate = "facade::router")]
            enum Asked { Writer(Details), Legal(Details) }
        };
        for (input, name) in [
            (agents, "agent_type"),
            (record, "routing"),
            (request, "interrupt"),
        ] {
            let text = expanded(&input, name);
            assert!(text.contains("facade :: router :: __private"), "{text}");
            assert!(!text.contains("interrupt_router"), "{name}: {text}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused_with_the_remedy() {
        let agents = parse_quote! {
            #[agent_type(crate = "no path")]
            enum Desk { Writer }
        };
        let text = expanded(&agents, "agent_type");
        assert!(
            text.contains("takes the path of the router's crate"),
            "{text}"
        );
    }
}
