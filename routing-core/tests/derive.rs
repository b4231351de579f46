//! What the derive macros make of agent types, routing records and sealed interrupt requests.

mod derive {
    mod actions;
    mod agent_types;
    mod interrupt_request;
    mod records;
    mod renamed;
    mod sizes;
    mod strictness;
    mod workflow;
}
