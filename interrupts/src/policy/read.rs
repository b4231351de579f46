//! Reading a policy from TOML.

mod settings;

use interrupt_router::{InterruptType, StopSource};

use super::Policy;
use super::hooks::HookCommands;
use super::property::Property;
use super::rule::Rule;
use super::rule_settings::Resuming;
use crate::life::Family;
use crate::names::KindName;
use crate::settings::{Found, Settings, SettingsError, SettingsTable, nearest};

/// The names that a policy may use. An empty list allows every name.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// The kinds of agents.
    pub agents: Vec<String>,
    /// The routes.
    pub routes: Vec<String>,
}

impl Policy {
    /// Reads a policy: the rules as `[[rule]]`, and the defaults as `[default]`. Prices may be in the same text.
    ///
    /// A rule has a `name`; conditions `type`, `agent`, `source`, each a name or a list of names; and what it
    /// says:
    ///
    /// | key | value |
    /// | --- | --- |
    /// | `priority` | 1 to 99, smaller goes first |
    /// | `answer` | `ask`, `approve`, `respond`, `reject`, `ignore`, `cancel` or `reroute:TARGET` |
    /// | `answer_text`, `answer_choices`, `answer_confirm` | what the automatic answer says, chooses, confirms |
    /// | `resume` | `never`, `at once`, or a time after which a pause ends by itself |
    /// | `resume_input` | what the agent is told then |
    /// | `batch` | `separately` or `together` |
    /// | `review_limit` | a time, or `none` |
    /// | `on_expiry` | `reject`, `cancel` or `reroute:TARGET` |
    /// | `grace` | a time, or `none` |
    /// | `handler_limit` | a time |
    ///
    /// The table `[hooks]` names programs, each a text or a list of a program and its arguments: `before_stop` and
    /// `after_stop`.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with every mistake, its line and its remedy.
    pub fn from_toml(text: &str, vocabulary: &Vocabulary) -> Result<Self, SettingsError> {
        let settings = Settings::parse(text)?;
        let policy = read(&settings, vocabulary);
        settings.finish(policy)
    }
}

fn read(settings: &Settings<'_>, vocabulary: &Vocabulary) -> Policy {
    let root = settings.root();
    let mut policy = Policy::default();
    for (number, table) in (1..).zip(root.tables("rule")) {
        let rule = PolicyReader {
            table: &table,
            vocabulary,
        }
        .rule(number);
        let taken = policy.rules.iter().find(|other| other.name == rule.name);
        if let Some(other) = taken {
            let line = other.line;
            table.refuse(
                table.span(),
                format!("the rule in line {line} is called `{}` too", rule.name),
            );
        }
        policy.rules.push(rule);
    }
    if let Some(table) = root.table("default") {
        let reader = PolicyReader {
            table: &table,
            vocabulary,
        };
        let provisions = reader.provisions();
        table.finish();
        policy.default = Some(Rule {
            name: "default".to_owned(),
            line: table.line(),
            types: Vec::new(),
            agents: Vec::new(),
            sources: Vec::new(),
            provisions,
        });
    }
    if let Some(table) = root.table("hooks") {
        policy.hooks = HookCommands::read(&table);
    }
    root.finish();
    policy
}

struct PolicyReader<'table> {
    table: &'table SettingsTable<'table>,
    vocabulary: &'table Vocabulary,
}

impl PolicyReader<'_> {
    fn rule(&self, number: usize) -> Rule {
        let name = self.table.text("name");
        let rule = Rule {
            name: name.map_or_else(|| format!("rule {number}"), |name| name.value.to_owned()),
            line: self.table.line(),
            types: self.types(),
            agents: self.agents(),
            sources: self.sources(),
            provisions: self.provisions(),
        };
        self.table.finish();
        self.check(&rule);
        rule
    }

    /// Checks what no single value shows.
    fn check(&self, rule: &Rule) {
        let says = |property: Property| property.is_said_by(&rule.provisions);
        let mut properties = Property::ALL.into_iter();
        if !properties.any(|property| self.table.has(property.key())) {
            let keys = Property::ALL.map(Property::key).join(", ");
            let message = format!("this rule says nothing; a rule sets one of {keys}");
            self.table.refuse(self.table.span(), message);
        }
        let may_be = |wanted: fn(InterruptType) -> bool| {
            rule.types.is_empty() || rule.types.iter().copied().any(wanted)
        };
        if says(Property::Answer) && !may_be(|it| Family::of(it) == Family::Question) {
            self.table.refuse(
                self.table.span(),
                "`answer` is for questions; add HUMAN_REVIEW or AGENT_REVIEW to `type`",
            );
        }
        let resumes = matches!(rule.provisions.resume, Some(Resuming::After { .. }));
        if resumes && !may_be(|it| it == InterruptType::Pause) {
            self.table.refuse(
                self.table.span(),
                "`resume` is for pauses; add PAUSE to `type`",
            );
        }
        if resumes && rule.sources == [StopSource::User] {
            self.table.refuse(
                self.table.span(),
                "a pause that a person asked for never ends by itself; leave `resume` to other sources",
            );
        }
    }

    fn types(&self) -> Vec<InterruptType> {
        let known = InterruptType::ALL.map(|it| (it.name(), it));
        self.named("type", "type of interrupt", &known)
    }

    fn sources(&self) -> Vec<StopSource> {
        self.named(
            "source",
            "source",
            &StopSource::ALL.map(|source| (source.name(), source)),
        )
    }

    fn named<T: Copy>(&self, key: &'static str, what: &str, known: &[(&str, T)]) -> Vec<T> {
        let names = || known.iter().map(|(name, _value)| *name);
        let texts = self.table.texts(key).unwrap_or_default();
        let found = texts.iter().filter_map(|text| {
            let found = known.iter().find(|(name, _value)| *name == text.value);
            if found.is_none() {
                self.unknown(text, what, names());
            }
            found.map(|(_name, value)| *value)
        });
        found.collect()
    }

    fn agents(&self) -> Vec<KindName> {
        let texts = self.table.texts("agent").unwrap_or_default();
        let names = texts.iter().filter_map(|text| {
            self.check_known(text, "kind of agent", &self.vocabulary.agents);
            KindName::new(text.value)
                .map_err(|error| self.table.refuse(&text.span, error.to_string()))
                .ok()
        });
        names.collect()
    }

    fn check_known(&self, text: &Found<&str>, what: &str, known: &[String]) {
        if !known.is_empty() && !known.iter().any(|name| name == text.value) {
            self.unknown(text, what, known.iter().map(String::as_str));
        }
    }

    fn unknown<'name>(
        &self,
        text: &Found<&str>,
        what: &str,
        known: impl Iterator<Item = &'name str> + Clone,
    ) {
        let remedy = nearest(text.value, known.clone()).map_or_else(
            || format!("known are: {}", known.collect::<Vec<_>>().join(", ")),
            |name| format!("did you mean `{name}`?"),
        );
        let message = format!("`{}` is no {what}; {remedy}", text.value);
        self.table.refuse(&text.span, message);
    }
}
