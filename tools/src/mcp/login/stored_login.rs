//! What is kept of a login: the tokens, and the client that they were given to. In a file that this user alone can
//! read, where there is a folder for it, else in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};

use crate::mcp::name::{ServerName, fingerprint};

/// What is kept of a login.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    /// The address of the server: a token is for this one alone.
    pub(super) url: String,
    /// The tokens, and the id of the client.
    pub(super) credentials: Option<StoredCredentials>,
    /// The secret of the client, where one was given to it.
    pub(super) client_secret: Option<String>,
    /// What the server demanded; it may be the only one to say where its metadata is.
    pub(super) challenge: Option<String>,
}

/// Where it is kept.
enum LoginStorage {
    File(PathBuf),
    Memory(Mutex<Option<Box<StoredLogin>>>),
}

/// The one place of what is kept of the login to a server.
pub(super) struct Keep {
    url: String,
    place: LoginStorage,
}

impl Keep {
    /// In a file of this folder, which is named after the server and its address; in memory where there is no folder.
    pub(super) fn of(folder: Option<&Path>, server: &ServerName, url: &str) -> Arc<Self> {
        let mark = fingerprint(url.as_bytes());
        let file =
            |folder: &Path| LoginStorage::File(folder.join(format!("{server}-{mark:016x}.json")));
        Arc::new(Self {
            url: url.to_owned(),
            place: folder.map_or_else(|| LoginStorage::Memory(Mutex::default()), file),
        })
    }

    /// What is kept; nothing of another address.
    pub(super) fn read(&self) -> io::Result<Option<StoredLogin>> {
        let kept = match &self.place {
            LoginStorage::Memory(kept) => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.as_deref().cloned()
            }
            LoginStorage::File(path) => match std::fs::read(path) {
                Ok(bytes) => Some(serde_json::from_slice(&bytes)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            },
        };
        Ok(kept.filter(|kept: &StoredLogin| kept.url == self.url))
    }

    /// Keeps this instead. A process that dies meanwhile leaves what was there before.
    pub(super) fn write(&self, mut kept: StoredLogin) -> io::Result<()> {
        kept.url.clone_from(&self.url);
        let path = match &self.place {
            LoginStorage::Memory(place) => {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(kept));
                return Ok(());
            }
            LoginStorage::File(path) => path,
        };
        make_folder(path)?;
        let unfinished = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = own_file().truncate(true).write(true).open(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(&kept)?)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)
    }

    /// Forgets it.
    pub(super) fn forget(&self) -> io::Result<()> {
        match &self.place {
            LoginStorage::Memory(place) => {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Ok(())
            }
            LoginStorage::File(path) => match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            },
        }
    }

    /// Locked while the token is renewed: a token for renewal may work once, and two processes would lose the login.
    fn lock(&self) -> io::Result<Option<File>> {
        let LoginStorage::File(path) = &self.place else {
            return Ok(None);
        };
        make_folder(path)?;
        let file = own_file().write(true).open(path.with_extension("lock"))?;
        file.lock()?;
        Ok(Some(file))
    }
}

/// Makes the folder of a file, for this user's eyes alone.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true).mode(0o700);
    path.parent().map_or(Ok(()), |above| folder.create(above))
}

/// Opens a file for this user's eyes alone.
fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

/// What the library sees of it.
#[derive(Clone)]
pub(super) struct ClientLogin {
    pub(super) keep: Arc<Keep>,
    /// What is kept beside the credentials.
    pub(super) login: StoredLogin,
}

#[async_trait]
impl CredentialStore for ClientLogin {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let kept = self.keep.read().map_err(|error| unkept(&error))?;
        Ok(kept.and_then(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let kept = StoredLogin {
            credentials: Some(credentials),
            ..self.login.clone()
        };
        self.keep.write(kept).map_err(|error| unkept(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.keep.forget().map_err(|error| unkept(&error))
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let keep = Arc::clone(&self.keep);
        let locked = tokio::task::spawn_blocking(move || keep.lock()).await;
        let locked = locked.map_err(io::Error::other).and_then(|locked| locked);
        let file = locked.map_err(|error| unkept(&error))?;
        Ok(file.map(CredentialRefreshGuard::new))
    }
}

fn unkept(error: &io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
