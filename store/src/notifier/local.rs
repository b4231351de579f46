//! A notifier of datagram sockets.

use std::fmt::{self, Debug};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::os::unix::net;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use interrupts::{Digest, Notifier, OwnerName};
use tokio::net::UnixDatagram;

/// What is appended to the path of the store's file.
const FOLDER: &str = ".bells";

/// How many characters of a digest represent an owner: its socket has a short name, no matter what the owner's name
/// contains.
const NAME: usize = 24;

/// The longest path that a socket's address can hold, with room for the zero at its end.
const LONGEST_PATH: usize = 100;

/// A socket that no process has open is removed when it is this old. A younger one may just be coming to be.
const STALE: Duration = Duration::from_secs(60);

/// A notifier for the processes of this user that use the same file.
pub struct LocalNotifier {
    folder: Folder,
    /// Where others notify it.
    own: PathBuf,
    heard: UnixDatagram,
    notifying: net::UnixDatagram,
}

/// Why there is no notifier.
#[derive(Debug, thiserror::Error)]
#[error("failed to {what} {}", path.display())]
pub struct NotifierError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl LocalNotifier {
    /// Opens the notifier of an owner, beside the file of a store. One that this owner's name had before is taken
    /// down; so are those of processes that are gone.
    ///
    /// Must be called within a Tokio runtime. Dropped, it takes itself down.
    ///
    /// # Errors
    ///
    /// [`NotifierError`] where the folder cannot be made, or its file system has no sockets.
    pub fn open(store: &Path, owner: &OwnerName) -> Result<Self, NotifierError> {
        let folder = Folder::beside(store)?;
        folder.clear_stale();
        let own = folder.path.join(socket_of(owner));
        // The process that had it under this name is gone, for names of owners are not used twice at a time.
        let _absent = std::fs::remove_file(&own);
        let bind = |source| NotifierError {
            what: "bind a bell at",
            path: own.clone(),
            source,
        };
        let address = folder.address(&socket_of(owner));
        let heard = UnixDatagram::bind(address).map_err(bind)?;
        let notifying = net::UnixDatagram::unbound().map_err(bind)?;
        notifying.set_nonblocking(true).map_err(bind)?;
        Ok(Self {
            folder,
            own,
            heard,
            notifying,
        })
    }
}

impl Debug for LocalNotifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LocalBell({})", self.own.display())
    }
}

impl Drop for LocalNotifier {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.own) {
            tracing::debug!(%error, notifier = ?self, "the bell was taken down by another process");
        }
    }
}

#[async_trait]
impl Notifier for LocalNotifier {
    async fn notify(&self, owner: &OwnerName) {
        let address = self.folder.address(&socket_of(owner));
        match self.notifying.send_to(&[], address) {
            Ok(_sent) => {}
            // So many notifications are waiting there that it will hear one anyway.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => tracing::debug!(%error, %owner, "no process hears the bell"),
        }
    }

    async fn heard(&self) {
        let mut nothing = [0; 1];
        match self.heard.recv(&mut nothing).await {
            // All notifications so far are heard now.
            Ok(_length) => while self.heard.try_recv(&mut nothing).is_ok() {},
            Err(error) => {
                tracing::warn!(%error, "the bell is broken; the next poll has to do");
                std::future::pending().await
            }
        }
    }
}

/// The folder of the sockets.
struct Folder {
    path: PathBuf,
    /// Kept open if the path is too long for an address: then it is reached by its descriptor.
    open: Option<File>,
}

impl Folder {
    fn beside(store: &Path) -> Result<Self, NotifierError> {
        let failed = |what, path: &Path| {
            let path = path.to_owned();
            move |source| NotifierError { what, path, source }
        };
        // However a process names the file, the folder is the same.
        let store = std::path::absolute(store).map_err(failed("find", store))?;
        let store = store.canonicalize().unwrap_or(store);
        let mut path = store.into_os_string();
        path.push(FOLDER);
        let path = PathBuf::from(path);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(failed("make", &path))?;
        let is_long = path.as_os_str().len() + 1 + NAME > LONGEST_PATH;
        let open = is_long
            .then(|| File::open(&path).map_err(failed("open", &path)))
            .transpose()?;
        Ok(Self { path, open })
    }

    /// The address of a socket in this folder.
    fn address(&self, socket: &str) -> PathBuf {
        match &self.open {
            Some(open) => PathBuf::from(format!("/proc/self/fd/{}/{socket}", open.as_raw_fd())),
            None => self.path.join(socket),
        }
    }

    /// Clears away what processes left behind that ended without removing their sockets.
    fn clear_stale(&self) {
        let Ok(entries) = std::fs::read_dir(&self.path) else {
            return;
        };
        for entry in entries.flatten() {
            if self.is_stale(&entry).unwrap_or(false) {
                let _faster = std::fs::remove_file(entry.path());
            }
        }
    }

    fn is_stale(&self, entry: &std::fs::DirEntry) -> io::Result<bool> {
        let metadata = entry.metadata()?;
        let age = SystemTime::now().duration_since(metadata.modified()?);
        if !metadata.file_type().is_socket() || age.is_ok_and(|age| age < STALE) {
            return Ok(false);
        }
        let name = entry.file_name();
        let address = self.address(&name.to_string_lossy());
        let tried = net::UnixDatagram::unbound()?.connect(address);
        Ok(tried.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused))
    }
}

fn socket_of(owner: &OwnerName) -> String {
    let mut name = Digest::of(owner.as_str().as_bytes()).to_string();
    name.truncate(NAME);
    name
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use interrupts::{Notifier as _, OwnerName};

    use super::{Folder, LocalNotifier, socket_of};

    const CHILD_STORE: &str = "IRQ_BELL_TEST_STORE";

    fn owner(name: &str) -> OwnerName {
        OwnerName::new(name).unwrap()
    }

    #[tokio::test]
    async fn several_before_the_wait_are_heard_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let (ada, bob) = (owner("host/1"), owner("host/2"));
        let (of_ada, of_bob) = (
            LocalNotifier::open(&store, &ada).unwrap(),
            LocalNotifier::open(&store, &bob).unwrap(),
        );
        // More than a socket queues: no notification waits to be heard.
        for _ring in 0..1_000 {
            of_ada.notify(&bob).await;
        }
        of_bob.heard().await;
        of_ada.notify(&owner("nobody")).await;
        of_bob.notify(&ada).await;
        of_ada.heard().await;
        let silence = tokio::time::timeout(Duration::ZERO, of_bob.heard()).await;
        assert!(silence.is_err(), "each ring was heard once");
    }

    /// Without the variable it is no child, and there is nothing to do.
    #[tokio::test]
    async fn child_that_answers_each_time() {
        let Some(store) = std::env::var_os(CHILD_STORE) else {
            return;
        };
        let notifier = LocalNotifier::open(store.as_ref(), &owner("child")).unwrap();
        let mut output = std::io::stdout();
        writeln!(output, "hung").unwrap();
        output.flush().unwrap();
        loop {
            notifier.heard().await;
            notifier.notify(&owner("parent")).await;
        }
    }

    #[tokio::test]
    async fn two_processes_hear_each_other_and_the_socket_of_a_dead_one_is_cleared_away() {
        use std::io::{BufRead as _, BufReader};

        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let notifier = LocalNotifier::open(&store, &owner("parent")).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("notifier::local::tests::child_that_answers_each_time")
            .env(CHILD_STORE, &store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("hung")));
        for _round in 0..100 {
            notifier.notify(&owner("child")).await;
            notifier.heard().await;
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let left = Folder::beside(&store).unwrap().path;
        let left = left.join(socket_of(&owner("child")));
        assert!(left.exists(), "it had no time to take its bell down");
        drop(LocalNotifier::open(&store, &owner("early")).unwrap());
        assert!(left.exists(), "a young socket may be coming to be");
        age(&left);
        let own = Folder::beside(&store).unwrap().path;
        let own = own.join(socket_of(&owner("parent")));
        age(&own);
        drop(LocalNotifier::open(&store, &owner("late")).unwrap());
        assert!(!left.exists());
        assert!(own.exists(), "somebody holds it, however old it is");
        drop(notifier);
        assert!(!own.exists());
    }

    /// Makes a socket look older than any that may be coming to be.
    fn age(socket: &std::path::Path) {
        let touched = Command::new("touch")
            .args(["-d", "2001-01-01"])
            .arg(socket)
            .status();
        assert!(touched.unwrap().success());
    }

    #[tokio::test]
    async fn a_store_far_down_has_a_notifier_too() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(120)).join("e".repeat(120));
        std::fs::create_dir_all(&deep).unwrap();
        let store = deep.join("store.db");
        let (one, two) = (
            LocalNotifier::open(&store, &owner("one")).unwrap(),
            LocalNotifier::open(&store, &owner("two")).unwrap(),
        );
        one.notify(&owner("two")).await;
        two.heard().await;
    }
}
