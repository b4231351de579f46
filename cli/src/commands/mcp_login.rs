//! `irq mcp-login`: a person logs in to an MCP server.

use std::sync::Arc;

use tools::{McpConfig, McpError, McpServers, McpServersConfig, ServerName};

use super::print;
use crate::arguments::McpLoginArguments;
use crate::exit::{Exit, Failure, causes};
use crate::logins;
use crate::storage::complete;
use crate::tooling::read_servers;

/// Logs in to a server, or forgets the login.
///
/// # Errors
///
/// [`Exit::NotFound`] if the file does not name the server, [`Exit::NotAuthorised`] if the login fails,
/// [`Exit::Unreachable`] if the server cannot be reached.
pub(crate) fn mcp_login(arguments: &McpLoginArguments) -> anyhow::Result<Exit> {
    let (name, config) = one_server(arguments)?;
    let folder = logins::folder().ok_or_else(|| {
        Failure::new(Exit::NotFound, "there is no folder to keep logins in")
            .hint("set HOME, or XDG_DATA_HOME")
    })?;
    let here = std::env::current_dir()?;
    let servers = McpServers::new(McpServersConfig {
        guide: Arc::new(logins::Guide {
            opens: arguments.open,
        }),
        logins: Some(folder.clone()),
        ..McpServersConfig::new(config, here)
    });
    if arguments.again || arguments.forget {
        servers.forget_login(&name)?;
    }
    if arguments.forget {
        print(&format!("The login to {name} is forgotten.\n"))?;
        return Ok(Exit::Success);
    }
    complete(async {
        let failures = servers.connect().await;
        if let Some(failure) = failures.into_iter().next() {
            return Err(failed(&failure.error).into());
        }
        let count = servers.tools().len();
        let how = if servers.has_logged_in(&name) {
            format!(
                "You are logged in to {name}. The login is kept in {}.",
                folder.display()
            )
        } else {
            format!("{name} wants no new login; --again makes one.")
        };
        servers.close().await;
        print(&format!("{how} It offers {count} tools.\n"))?;
        Ok(Exit::Success)
    })
}

/// The chosen server, and a configuration with no other.
fn one_server(arguments: &McpLoginArguments) -> Result<(ServerName, McpConfig), Failure> {
    let mut config = read_servers(&arguments.mcp)?;
    let names: Vec<&str> = config.servers.keys().map(ServerName::as_str).collect();
    let unknown = || {
        let text = format!(
            "{} names no server {}",
            arguments.mcp.display(),
            arguments.server
        );
        Failure::new(Exit::NotFound, text).hint(format!("it names {}", names.join(", ")))
    };
    let name = ServerName::new(&arguments.server).map_err(|_no_name| unknown())?;
    if !config.servers.contains_key(&name) {
        return Err(unknown());
    }
    config.servers.retain(|other, _server| *other == name);
    Ok((name, config))
}

fn failed(error: &McpError) -> Failure {
    let is_refused = matches!(
        error,
        McpError::LoginFailed { .. } | McpError::LoginWanted { .. }
    );
    let (exit, hint) = if is_refused {
        let hint =
            "docs/tools.md says how a server is logged in to, and what its table `login` may say";
        (Exit::NotAuthorised, hint)
    } else {
        let hint = "start the server, or correct its `url` in the file";
        (Exit::Unreachable, hint)
    };
    Failure::new(exit, causes(error)).hint(hint)
}
