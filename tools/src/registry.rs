//! The tools that there are, by name.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::arguments::{ArgumentsError, ArgumentsSchema};
use crate::tool::{Tool, ToolName, ToolSpec};
use interrupts::SchemaError;
use serde_json::Value;

/// Why a tool was not taken into the registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// There is one of that name.
    #[error("there are two tools called `{name}`")]
    Doubled {
        /// The name.
        name: ToolName,
    },
    /// The schema of its arguments cannot be used.
    #[error("the tool `{name}` cannot be used")]
    Schema {
        /// Its name.
        name: ToolName,
        /// Why.
        source: SchemaError,
    },
}

/// The tools that there are, by name.
#[derive(Default, Clone)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<Registered>>,
}

/// A tool with its schema made ready.
pub(crate) struct Registered {
    pub(crate) tool: Arc<dyn Tool>,
    schema: ArgumentsSchema,
}

impl Registered {
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        self.schema.check(arguments)
    }
}

impl Debug for ToolRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.tools.keys()).finish()
    }
}

impl ToolRegistry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// [`RegisterError`]; the registry is as it was then.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        if self.tools.contains_key(name.as_str()) {
            return Err(RegisterError::Doubled { name });
        }
        let schema = ArgumentsSchema::compile(&tool.spec().arguments).map_err(|source| {
            RegisterError::Schema {
                name: name.clone(),
                source,
            }
        })?;
        let registered = Arc::new(Registered { tool, schema });
        self.tools.insert(name.as_str().to_owned(), registered);
        Ok(())
    }

    /// Removes a tool; its running calls continue. Whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// What the tools say of themselves, in the order of their names: the list that a model is shown.
    pub fn specs(&self) -> Vec<&ToolSpec> {
        self.tools
            .values()
            .map(|registered| registered.tool.spec())
            .collect()
    }

    /// The tools, in the order of their names.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.values().map(|registered| &*registered.tool)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.tools.get(name).cloned()
    }
}
