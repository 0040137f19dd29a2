//! The key of this server: read when the first secret is sealed or opened, so that a server
//! without secrets has none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::key_file::{self, KeyFileError};
use super::sealer::Sealer;
use super::secret_key::SecretKey;
use super::settings::SecretSettings;

/// The key for secrets.
#[derive(Debug)]
pub struct SecretStore {
    /// Where the file with the key is.
    data: PathBuf,
    /// The key of the environment, which takes precedence.
    given: Option<String>,
    sealer: Mutex<Option<Arc<Sealer>>>,
}

impl SecretStore {
    /// Returns the store of a data directory. Reads nothing yet.
    pub fn new(data: &Path, settings: &SecretSettings) -> Self {
        let given = settings.key.expose();
        let given = (!given.is_empty()).then(|| given.to_owned());
        Self { data: data.to_owned(), given, sealer: Mutex::default() }
    }

    /// Returns the sealer of the existing key. Reads the key file the first time.
    pub fn sealer(&self) -> Result<Arc<Sealer>, KeyFileError> {
        self.open(key_file::load)
    }

    /// Returns the sealer of the key, which is made if there is none. Only for a server without
    /// sealed values: a new key beside values that it cannot open would hide that the old one is
    /// missing.
    pub fn first_sealer(&self) -> Result<Arc<Sealer>, KeyFileError> {
        self.open(key_file::load_or_create)
    }

    fn open(
        &self,
        read: fn(Option<&str>, &Path) -> Result<SecretKey, KeyFileError>,
    ) -> Result<Arc<Sealer>, KeyFileError> {
        let mut sealer = self.sealer.lock();
        if let Some(sealer) = &*sealer {
            return Ok(Arc::clone(sealer));
        }
        let made = Arc::new(Sealer::new(&read(self.given.as_deref(), &self.data)?));
        *sealer = Some(Arc::clone(&made));
        Ok(made)
    }
}
