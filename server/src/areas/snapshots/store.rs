//! The parts that stored documents have in common.

use serde::{Deserialize, Serialize};
use telltale_engine::FileDigest;

use super::capture::Viewport;
use super::images::StoredImage;

/// The JSON of a viewport.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ViewportDocument {
    width: u32,
    height: u32,
    device_scale_factor: f64,
}

/// The JSON of an image.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ImageDocument {
    digest: String,
    bytes: u64,
    width: u32,
    height: u32,
}

impl TryFrom<ViewportDocument> for Viewport {
    type Error = String;

    fn try_from(document: ViewportDocument) -> Result<Self, String> {
        Self::new(document.width, document.height)
            .and_then(|viewport| viewport.with_device_scale_factor(document.device_scale_factor))
            .map_err(|error| error.to_string())
    }
}

impl From<Viewport> for ViewportDocument {
    fn from(viewport: Viewport) -> Self {
        Self {
            width: viewport.width(),
            height: viewport.height(),
            device_scale_factor: viewport.device_scale_factor(),
        }
    }
}

impl TryFrom<ImageDocument> for StoredImage {
    type Error = String;

    fn try_from(document: ImageDocument) -> Result<Self, String> {
        let ImageDocument { digest, bytes, width, height } = document;
        let digest: FileDigest = digest.parse().map_err(|_| "a digest is not valid".to_owned())?;
        Ok(Self { digest, bytes, width, height })
    }
}

impl From<StoredImage> for ImageDocument {
    fn from(image: StoredImage) -> Self {
        let StoredImage { digest, bytes, width, height } = image;
        Self { digest: digest.to_string(), bytes, width, height }
    }
}
