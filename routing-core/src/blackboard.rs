//! blackboard
