//! Which tools a model is offered, if there are more than its provider takes.

use interrupt_router::model::{Dialect, ToolOffer};

/// The most tools of one request.
const fn most(dialect: Dialect) -> Option<usize> {
    match dialect {
        // https://platform.openai.com/docs/api-reference/chat/create#chat_create-tools
        Dialect::OpenAiStrict => Some(128),
        Dialect::JsonSchema | Dialect::Anthropic | Dialect::Gemini | Dialect::Grammar => None,
    }
}

/// The tools that a model is offered, and those left out for lack of room.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Offering {
    pub(super) offers: Vec<ToolOffer>,
    pub(super) left_out: Vec<String>,
}

impl Offering {
    /// As many of the offers as a provider takes: our own tools first, then those of servers in the order of the
    /// configuration. `place` says of which server a tool is.
    pub(super) fn of(
        mut offers: Vec<ToolOffer>,
        dialect: Dialect,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Self {
        let most = most(dialect).unwrap_or(usize::MAX);
        if offers.len() <= most {
            return Self {
                offers,
                left_out: Vec::new(),
            };
        }
        // Tools without a server come first: `None` sorts before every server.
        offers.sort_by_cached_key(|offer| place(&offer.name));
        let left_out = offers.split_off(most);
        let left_out = left_out.into_iter().map(|offer| offer.name);
        let left_out = left_out.collect();
        // A model gets the list in the order of names, no matter what was left out.
        offers.sort_by(|one, other| one.name.cmp(&other.name));
        Self { offers, left_out }
    }

    /// The note about those that are left out, if any.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.left_out.first()?;
        let last = self.left_out.last()?;
        Some(format!(
            "this model's provider takes {} tools at most, and {} are left out, from {first} to {last}: name those \
             that are needed in the `tools` of their servers",
            self.offers.len(),
            self.left_out.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::{Dialect, ToolOffer};
    use serde_json::json;

    use super::Offering;

    fn offers(names: impl Iterator<Item = String>) -> Vec<ToolOffer> {
        let offer = |name| ToolOffer {
            name,
            description: String::new(),
            arguments: json!({}),
        };
        names.map(offer).collect()
    }

    /// Fifty tools of each of three servers, of which `b` is the first in the configuration, and one of our own.
    fn many() -> Vec<ToolOffer> {
        let of_servers = ["a", "b", "c"]
            .into_iter()
            .flat_map(|server| (0..50).map(move |number| format!("{server}__{number:02}")));
        offers(of_servers.chain(["shell".to_owned()]))
    }

    fn place(name: &str) -> Option<usize> {
        let (server, _tool) = name.split_once("__")?;
        ["b", "c", "a"].iter().position(|it| *it == server)
    }

    #[test]
    fn what_a_provider_does_not_take_is_left_out_from_the_end_of_the_configuration() {
        let offering = Offering::of(many(), Dialect::OpenAiStrict, place);
        assert_eq!(offering.offers.len(), 128);
        let count = |server: &str| {
            let offers = offering.offers.iter();
            offers
                .filter(|offer| offer.name.starts_with(server))
                .count()
        };
        assert_eq!(
            (count("shell"), count("b__"), count("c__"), count("a__")),
            (1, 50, 50, 27)
        );
        assert_eq!(offering.left_out.len(), 23);
        assert!(
            offering
                .offers
                .is_sorted_by(|one, other| one.name < other.name)
        );
        let note = offering.note().unwrap();
        assert!(
            note.contains("takes 128 tools at most, and 23 are left out, from a__27 to a__49"),
            "{note}"
        );
    }

    #[test]
    fn where_all_are_taken_nothing_is_left_out_or_said() {
        for dialect in [
            Dialect::Anthropic,
            Dialect::Gemini,
            Dialect::JsonSchema,
            Dialect::Grammar,
        ] {
            let offering = Offering::of(many(), dialect, place);
            assert_eq!((offering.offers.len(), offering.note()), (151, None));
        }
        let few = many().into_iter().take(128).collect();
        assert_eq!(Offering::of(few, Dialect::OpenAiStrict, place).note(), None);
    }
}
