//! Images: files of the engine, which documents name by their digest.

use telltale_engine::FileDigest;

use super::error::SnapshotError;
use crate::app::App;

/// An image in the files of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredImage {
    pub(super) digest: FileDigest,
    pub(super) bytes: u64,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Checks that there may be another image.
pub(super) fn check_space(app: &App) -> Result<(), SnapshotError> {
    let bytes = app.engine().files().bytes();
    match bytes < app.snapshots().settings().images_bytes_max.bytes() {
        true => Ok(()),
        false => Err(SnapshotError::ImagesFull { bytes }),
    }
}

/// Returns an image, which `owner` uses.
pub(super) fn read_image(
    app: &App,
    image: StoredImage,
    owner: &str,
) -> Result<Vec<u8>, SnapshotError> {
    match app.engine().files().read(image.digest) {
        Ok(Some(contents)) => Ok(contents),
        Ok(None) | Err(telltale_engine::Error::Corrupt(_)) => {
            Err(SnapshotError::ImageLost(owner.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}
