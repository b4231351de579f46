//! The options of an attribute: `#[name(flag, option = Path, option = "text")]`.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Lit, LitStr, Path, Token};

use crate::errors::Errors;
use crate::nearest::nearest;

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
    /// Nothing: the option's name alone.
    Flag,
    /// A text in quotes.
    Text,
    /// A name or a path, without quotes.
    Path,
}

/// An option that an attribute has.
pub(crate) type Known = (&'static str, ValueForm);

/// The path of `interrupt_router`, if the crate that derives has it under another name.
pub(crate) const CRATE: Known = ("crate", ValueForm::Text);

/// The options that were given in all attributes of one name: known, well-formed, none twice.
#[derive(Debug, Default)]
pub(crate) struct Options(Vec<AttributeOption>);

impl Options {
    /// Reads the attributes of this name; mistakes in them go into `errors`.
    pub(crate) fn read(
        attributes: &[Attribute],
        name: &str,
        known: &[Known],
        errors: &mut Errors,
    ) -> Self {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident(name)) {
            match attribute
                .parse_args_with(Punctuated::<AttributeOption, Token![,]>::parse_terminated)
            {
                Ok(entries) => {
                    for entry in entries {
                        options.add(entry, known, errors);
                    }
                }
                Err(error) => errors.add(error),
            }
        }
        options
    }

    /// Whether a flag was given.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }

    /// The text of an option.
    pub(crate) fn text(&self, name: &str) -> Option<&LitStr> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Path(_)) | None => None,
        }
    }

    /// The path of an option.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        match self.value(name) {
            Some(Value::Path(path)) => Some(path),
            Some(Value::Text(_)) | None => None,
        }
    }

    /// The name that an option takes, which is a path of one word.
    pub(crate) fn ident(&self, name: &str, errors: &mut Errors) -> Option<&Ident> {
        let path = self.path(name)?;
        let ident = path.get_ident();
        if ident.is_none() {
            errors.at(path, format_args!("`{name}` takes one word, not a path"));
        }
        ident
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|entry| entry.name == name)?
            .value
            .as_ref()
    }

    fn add(&mut self, entry: AttributeOption, known: &[Known], errors: &mut Errors) {
        let name = entry.name.to_string();
        let Some((_, form)) = known.iter().find(|(known, _)| *known == name) else {
            errors.at(&entry.name, unknown_option(&name, known));
            return;
        };
        if self.flag(&name) {
            errors.at(
                &entry.name,
                format_args!("the option `{name}` is given twice; keep one"),
            );
            return;
        }
        match (form, &entry.value) {
            (ValueForm::Flag, None)
            | (ValueForm::Text, Some(Value::Text(_)))
            | (ValueForm::Path, Some(Value::Path(_))) => self.0.push(entry),
            (ValueForm::Flag, Some(value)) => errors.at(
                value,
                format_args!("`{name}` takes no value; write `{name}` alone"),
            ),
            (ValueForm::Text, value) => errors.at(
                or_name(value, &entry.name),
                format_args!("`{name}` takes a text; write `{name} = \"...\"`"),
            ),
            (ValueForm::Path, value) => errors.at(
                or_name(value, &entry.name),
                format_args!("`{name}` takes a name without quotes; write `{name} = Name`"),
            ),
        }
    }
}

/// One option as it was written.
#[derive(Debug)]
struct AttributeOption {
    name: Ident,
    value: Option<Value>,
}

impl Parse for AttributeOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // A keyword is a misspelt option like any other.
        let name = input.call(Ident::parse_any)?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value })
    }
}

/// The value of an option.
#[derive(Debug)]
enum Value {
    Text(LitStr),
    Path(Path),
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Lit) {
            return input.parse().map(Self::Path);
        }
        let literal: Lit = input.parse()?;
        if let Lit::Str(text) = literal {
            return Ok(Self::Text(text));
        }
        Err(syn::Error::new_spanned(
            literal,
            "expected a text in quotes, or a name without them",
        ))
    }
}

impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            Self::Text(text) => text.to_tokens(tokens),
            Self::Path(path) => path.to_tokens(tokens),
        }
    }
}

/// Refuses an attribute in a place where it means nothing.
pub(crate) fn refuse(attributes: &[Attribute], name: &str, remedy: &str, errors: &mut Errors) {
    for attribute in attributes.iter().filter(|it| it.path().is_ident(name)) {
        errors.at(
            attribute,
            format_args!("`#[{name}(...)]` means nothing here: {remedy}"),
        );
    }
}

/// Refuses the attributes of serde and schemars: they would have no effect, for the derive itself writes the reader and
/// the schema, so that the two agree.
pub(crate) fn refuse_foreign(attributes: &[Attribute], remedy: &str, errors: &mut Errors) {
    for name in ["serde", "schemars"] {
        refuse(attributes, name, remedy, errors);
    }
}

fn or_name(value: &Option<Value>, name: &Ident) -> proc_macro2::TokenStream {
    match value {
        Some(value) => value.to_token_stream(),
        None => name.to_token_stream(),
    }
}

fn unknown_option(given: &str, known: &[Known]) -> String {
    let names = || known.iter().map(|(name, _)| *name);
    let meant = match nearest(given, names()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    };
    let known: Vec<&str> = names().collect();
    format!(
        "unknown option `{given}`{meant} (known options: {})",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use syn::{ItemStruct, parse_quote};

    use super::{Errors, Known, Options, ValueForm};

    const KNOWN: &[Known] = &[
        ("marker", ValueForm::Path),
        ("rename", ValueForm::Text),
        ("returns", ValueForm::Flag),
    ];

    fn read(item: &ItemStruct) -> (Options, Vec<String>) {
        let mut errors = Errors::default();
        let options = Options::read(&item.attrs, "route", KNOWN, &mut errors);
        let errors = errors
            .into_error()
            .map(|all| all.into_iter().map(|error| error.to_string()).collect())
            .unwrap_or_default();
        (options, errors)
    }

    #[test]
    fn options_are_read_from_all_attributes_of_the_name() {
        let (options, errors) = read(&parse_quote! {
            #[route(marker = review::Marker, returns)]
            #[other(colour = "red")]
            #[route(rename = "again")]
            struct Item;
        });
        assert_eq!(errors, Vec::<String>::new());
        assert!(options.flag("returns"));
        assert!(
            options
                .path("marker")
                .is_some_and(|path| path.segments.len() == 2)
        );
        assert_eq!(
            options.text("rename").map(syn::LitStr::value).as_deref(),
            Some("again")
        );
    }

    #[test]
    fn every_mistake_of_an_attribute_is_found() {
        let (options, errors) = read(&parse_quote! {
            #[route(markr = A, rename = Word, returns = "yes", marker = A, marker = B)]
            struct Item;
        });
        assert!(options.path("marker").is_some());
        assert_eq!(
            errors,
            [
                "unknown option `markr`; did you mean `marker`? (known options: marker, rename, returns)",
                "`rename` takes a text; write `rename = \"...\"`",
                "`returns` takes no value; write `returns` alone",
                "the option `marker` is given twice; keep one",
            ]
        );
    }
}
