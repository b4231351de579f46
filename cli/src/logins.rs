//! Logins to MCP servers: where they are kept, and the person who logs in.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tools::{LoginGuide, LoginPage, McpError};

use crate::browser::open_in_browser;
use crate::exit::{causes, tell};

/// The folder that keeps logins, below the user's data; `None` if there is no home.
pub(crate) fn folder() -> Option<PathBuf> {
    folder_in(|name| std::env::var_os(name).map(PathBuf::from))
}

fn folder_in(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("irq/logins"))
}

/// Shows the page of a login to the person who gave the command.
pub(crate) struct Guide {
    /// Whether it is opened in the browser too.
    pub(crate) opens: bool,
}

#[async_trait]
impl LoginGuide for Guide {
    fn has_person(&self) -> bool {
        true
    }

    async fn show(&self, page: LoginPage) {
        tell(format_args!(
            "Log in to {} in a browser of this machine, within ten minutes:\n\n  {}\n",
            page.server, page.url
        ));
        if self.opens
            && let Err(error) = open_in_browser(&page.url)
        {
            tell(format_args!("note: no browser can be opened: {error}"));
        }
    }
}

/// Why a server cannot be used, with the command that helps if a person has to log in.
pub(crate) fn why(error: &McpError, file: &Path) -> String {
    // The library does not know the name of the file.
    let file = file.display();
    causes(error).replace("--mcp FILE", &format!("--mcp {file}"))
}

#[cfg(test)]
mod tests {
    use super::folder_in;

    #[test]
    fn logins_are_kept_below_the_users_data() {
        let of = |data: Option<&'static str>| {
            let folder = folder_in(|name| match name {
                "XDG_DATA_HOME" => data.map(Into::into),
                "HOME" => Some("/home/ada".into()),
                _other => None,
            });
            folder.unwrap().display().to_string()
        };
        assert_eq!(of(Some("/data")), "/data/irq/logins");
        assert_eq!(of(Some("relative")), "/home/ada/.local/share/irq/logins");
        assert_eq!(of(None), "/home/ada/.local/share/irq/logins");
    }
}
