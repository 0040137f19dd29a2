//! What the area keeps in memory, and the browser.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use telltale_engine::FileDigest;
use tokio::sync::{Semaphore, watch};

use super::capture::{Browser, BrowserSettings};
use super::documents::DocumentLock;
use super::error::SnapshotError;
use super::ids::SnapshotId;
use super::library::Library;
use super::settings::SnapshotSettings;
use crate::areas::AreaParts;
use crate::areas::alerting::OptionalBaseUrl;
use crate::platform::outbound::{OutboundDialler, OutboundPolicy};
use crate::platform::sealing::SecretStore;

/// The folder of the profiles of browsers, in the data directory.
const PROFILES: &str = "browser";

/// The state of snapshots.
#[derive(Debug)]
pub struct Snapshots {
    documents: DocumentLock,
    secrets: Arc<SecretStore>,
    settings: SnapshotSettings,
    public_url: OptionalBaseUrl,
    dialler: Arc<OutboundDialler>,
    library: Library,
    browser: Browser,
    compare_slots: Arc<Semaphore>,
    /// The snapshots that this process captures now.
    captured_now: Mutex<HashSet<SnapshotId>>,
    /// Counts the snapshots that became final.
    finished: watch::Sender<u64>,
}

/// A capture that runs. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct RunningCapture<'a> {
    id: SnapshotId,
    of: &'a Snapshots,
}

impl Snapshots {
    /// Reads what is stored. Blocks.
    pub fn open(parts: AreaParts<'_>, settings: &SnapshotSettings) -> Result<Self, SnapshotError> {
        let policy = OutboundPolicy::new(parts.outbound);
        let browser = BrowserSettings {
            executable: settings.browser.get().map(Path::to_owned),
            sandbox: settings.sandbox,
            // The browser runs in a directory of its own.
            profile_root: absolute(parts.engine.directory())?.join(PROFILES),
        };
        let dialler = Arc::new(OutboundDialler::new(policy));
        let slots = Arc::new(Semaphore::new(settings.captures_at_once.max(1)));
        let library = Library::open(parts.engine)?;
        library.check_images(parts.engine);
        // The newest baseline is current also if the clock was ahead when it was made.
        parts.ids.continue_after(library.greatest_id());
        Ok(Self {
            documents: DocumentLock::default(),
            secrets: Arc::clone(parts.secrets),
            public_url: parts.public_url.clone(),
            library,
            browser: Browser::new(browser, Arc::clone(&dialler) as Arc<_>, slots),
            compare_slots: Arc::new(Semaphore::new(settings.comparisons_at_once.max(1))),
            captured_now: Mutex::default(),
            finished: watch::Sender::new(0),
            settings: settings.clone(),
            dialler,
        })
    }

    /// Returns the lock that every change of the area's documents holds.
    pub(super) fn documents(&self) -> &DocumentLock {
        &self.documents
    }

    /// Returns the key for secrets.
    pub(super) fn secrets(&self) -> &SecretStore {
        &self.secrets
    }

    /// Returns the settings.
    pub(super) fn settings(&self) -> &SnapshotSettings {
        &self.settings
    }

    /// Returns the URL under which users reach the server, if it is known.
    pub(super) fn public_url(&self) -> Option<&str> {
        self.public_url.get().map(|url| url.as_str())
    }

    /// Returns which addresses pages may reach.
    pub(super) fn policy(&self) -> &OutboundPolicy {
        self.dialler.policy()
    }

    /// Returns the snapshots, baselines and comparisons.
    pub(super) fn library(&self) -> &Library {
        &self.library
    }

    /// Returns the browser.
    pub(super) fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Returns what limits the comparisons that run at the same time.
    pub(super) fn compare_slots(&self) -> Arc<Semaphore> {
        Arc::clone(&self.compare_slots)
    }

    /// Begins a capture; `None` if it runs already.
    pub(super) fn begin_capture(&self, id: SnapshotId) -> Option<RunningCapture<'_>> {
        let is_new = self.captured_now.lock().insert(id);
        // Made only if it is new, and after the lock is released: dropping it takes the lock, and
        // ends the capture of this snapshot.
        if is_new { Some(RunningCapture { id, of: self }) } else { None }
    }

    /// Returns whether this process captures a snapshot now.
    pub(super) fn is_captured_now(&self, id: SnapshotId) -> bool {
        self.captured_now.lock().contains(&id)
    }

    /// Wakes those who wait for snapshots.
    pub(super) fn wake_waiting(&self) {
        self.finished.send_modify(|finished| *finished += 1);
    }

    /// Returns what changes when a snapshot becomes final.
    pub(super) fn finished(&self) -> watch::Receiver<u64> {
        self.finished.subscribe()
    }

    /// Returns whether a file of the engine is an image that something shows.
    pub(in crate::areas) fn uses_file(&self, digest: FileDigest) -> bool {
        self.library.uses_image(digest)
    }

    /// Returns roughly how much memory the area takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.library.memory_bytes()
    }
}

/// Returns a path that does not depend on the working directory.
fn absolute(path: &Path) -> Result<PathBuf, SnapshotError> {
    std::path::absolute(path).map_err(|error| {
        let reason = format!("the data directory {} has no absolute path: {error}", path.display());
        telltale_engine::Error::Storage(reason).into()
    })
}

impl Drop for RunningCapture<'_> {
    fn drop(&mut self) {
        self.of.captured_now.lock().remove(&self.id);
    }
}
