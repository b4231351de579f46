//! A server that wants a login, and persons who log in.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tools::{LoginGuide, LoginPage, NoApprover};

use super::stage::{Elsewhere, Setting, Stage, serve, source};

/// A server that wants a login, and what is kept of logins to it.
pub(crate) struct Guarded {
    folder: tempfile::TempDir,
    _server: Elsewhere,
    port: u16,
}

impl Guarded {
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = ["python3".to_owned(), source("guarded.py")];
        let (port, server) = serve(&command, &folder.path().join("log"), variables);
        Self {
            folder,
            _server: server,
            port,
        }
    }

    pub(crate) fn logins(&self) -> PathBuf {
        self.folder.path().join("data/logins")
    }

    /// The one file that is kept.
    pub(crate) fn kept(&self) -> PathBuf {
        let files = std::fs::read_dir(self.logins()).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let mut kept = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        kept.next().unwrap()
    }

    /// What happened at the server.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A program that uses it, with this person beside it; not connected.
    pub(crate) fn program(&self, guide: Arc<dyn LoginGuide>, more: &str) -> Stage {
        let setting = Setting {
            guide,
            logins: Some(self.logins()),
            ..Setting::default()
        };
        let table = format!("url = \"http://127.0.0.1:{}/mcp\"\n{more}", self.port);
        Stage::unconnected(&table, &setting, tempfile::tempdir().unwrap())
    }

    /// A program that is connected.
    pub(crate) async fn connected(&self, guide: Arc<dyn LoginGuide>) -> Stage {
        let stage = self.program(guide, "");
        let failures = stage.servers.connect().await;
        assert!(failures.is_empty(), "{failures:?}");
        stage.with_tools()
    }

    /// Why a program cannot connect.
    pub(crate) async fn refused(&self, guide: Arc<dyn LoginGuide>, more: &str) -> String {
        let stage = self.program(guide, more);
        let failures = stage.servers.connect().await;
        failures[0].error.to_string()
    }
}

pub(crate) fn no_person() -> Arc<dyn LoginGuide> {
    Arc::new(NoApprover)
}

/// A person who opens each page.
pub(crate) struct Visitor;

#[async_trait]
impl LoginGuide for Visitor {
    fn has_person(&self) -> bool {
        true
    }

    async fn show(&self, page: LoginPage) {
        assert!(tls::get(&page.url).await.unwrap().status().is_success());
    }
}

pub(crate) fn visitor() -> Arc<dyn LoginGuide> {
    Arc::new(Visitor)
}
