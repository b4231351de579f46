//! `irq mcp`: lets any MCP client ask people.

use std::time::Duration;

use tokio::runtime::Builder;

use crate::arguments::{McpArguments, StoreArguments};
use crate::exit::Exit;
use crate::mcp::{McpOrder, serve};

/// Serves MCP until the client has gone.
///
/// # Errors
///
/// If the store cannot be opened, the address cannot be listened at, or the client speaks something else.
pub(crate) fn mcp(arguments: &McpArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let order = McpOrder {
        listen: arguments.listen,
        name: arguments.name.clone(),
        wait: Duration::try_from(arguments.wait)?,
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(order, store));
    // If standard input is no pipe, the thread that reads it cannot be ended.
    runtime.shutdown_background();
    served?;
    Ok(Exit::Success)
}
