//! Images: files of the engine, which documents name by their digest.

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, X_CONTENT_TYPE_OPTIONS};
use telltale_engine::{FileDigest, MemoryOwner};

use super::error::SnapshotError;
use crate::app::App;
use crate::http::{ApiResult, Request, Response, etag_of_immutable};

/// An image in the files of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredImage {
    pub(super) digest: FileDigest,
    pub(super) bytes: u64,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// An image, and the resource that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct OwnedImage {
    pub(super) image: StoredImage,
    /// The id of the resource.
    pub(super) owner: String,
}

/// Responds with an image, which never changes. Nothing is read if the client has it, and its
/// memory is reserved before it is read.
pub(super) async fn respond_with_image(
    app: &std::sync::Arc<App>,
    request: &Request,
    find: impl FnOnce(&App) -> Result<OwnedImage, SnapshotError> + Send + 'static,
) -> ApiResult<Response> {
    let OwnedImage { image, owner } = app.blocking(find).await?;
    let etag = etag_of_immutable(&image.digest.to_string());
    let response = if request.has_version(&etag) {
        Response::bytes("image/png", Vec::new())
    } else {
        let share = app.engine().memory().take(MemoryOwner::Answers, image.bytes);
        let share = share.map_err(SnapshotError::from)?;
        let contents = app.blocking(move |app| read_image(app, image, &owner)).await?;
        Response::bytes("image/png", contents).held_by(share)?
    };
    Ok(response
        .header(ETAG, etag)
        .header(CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400, immutable"))
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")))
}

/// Stores an image and calls `name`, which stores what names it. The image is not deleted
/// meanwhile; it is deleted later if nothing names it.
pub(super) fn store_image<T>(
    app: &App,
    contents: &[u8],
    name: impl FnOnce(FileDigest) -> Result<T, SnapshotError>,
) -> Result<T, SnapshotError> {
    let stored = app.engine().files().put(contents);
    // A failed write may leave a file.
    let file = stored.inspect_err(|_| app.file_waste().set())?;
    let digest = file.digest();
    let named = name(digest);
    match &named {
        // The change may be found applied at the next start.
        Err(SnapshotError::Engine(_)) => file.keep(),
        _ => drop(file),
    }
    if !app.snapshots().library().uses_image(digest) {
        app.file_waste().set();
    }
    named
}

/// Checks that there may be another image.
pub(super) fn check_space(app: &App) -> Result<(), SnapshotError> {
    let of_repositories = app.repositories().file_bytes();
    let bytes = app.engine().files().bytes().saturating_sub(of_repositories);
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
    match app.engine().files().read_sized(image.digest, image.bytes) {
        Ok(Some(contents)) => Ok(contents),
        Ok(None) | Err(telltale_engine::Error::Corrupt(_)) => {
            Err(SnapshotError::ImageLost(owner.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}
