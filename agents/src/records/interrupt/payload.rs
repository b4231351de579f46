//! The six fields that all payloads share, written once.

/// Declares a payload: the shared fields, then the agent's own.
macro_rules! payload {
    (
        $(#[$documentation:meta])*
        $name:ident {
            $($(#[$field_documentation:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$documentation])*
        #[derive(
            Debug,
            Clone,
            PartialEq,
            Eq,
            ::serde::Serialize,
            ::serde::Deserialize,
            ::schemars::JsonSchema,
        )]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            /// What the interrupt does.
            pub r#type: ::interrupt_router::InterruptType,
            /// Why it is raised, in one or two sentences.
            pub reason: String,
            /// The answers to choose from; empty where any answer will do.
            pub choices: Vec<::interrupt_router::Choice>,
            /// What must be confirmed; empty where nothing must.
            pub confirmation_items: Vec<::interrupt_router::ConfirmationItem>,
            /// What one needs to know to decide.
            pub context_for_decision: String,
            /// What an answer is. Say it whenever you ask: the person is offered what fits, and nothing else.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub answer_form: Option<::interrupt_router::AnswerForm>,
            $($(#[$field_documentation])* pub $field: $type,)*
        }

        impl ::interrupt_router::AgentInterrupt for $name {
            fn details(&self) -> ::interrupt_router::InterruptDetails {
                ::interrupt_router::InterruptDetails {
                    r#type: self.r#type,
                    reason: self.reason.clone(),
                    choices: self.choices.clone(),
                    confirmation_items: self.confirmation_items.clone(),
                    context_for_decision: self.context_for_decision.clone(),
                    answer_form: self.answer_form,
                }
            }
        }

        impl ::core::convert::From<::interrupt_router::InterruptDetails> for $name {
            /// The interrupt with its own fields left empty, for one that no model has raised.
            fn from(details: ::interrupt_router::InterruptDetails) -> Self {
                Self {
                    r#type: details.r#type,
                    reason: details.reason,
                    choices: details.choices,
                    confirmation_items: details.confirmation_items,
                    context_for_decision: details.context_for_decision,
                    answer_form: details.answer_form,
                    $($field: ::core::default::Default::default(),)*
                }
            }
        }
    };
}

pub(super) use payload;
