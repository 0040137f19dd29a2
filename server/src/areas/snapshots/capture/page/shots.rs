//! Takes screenshots until two in a row are equal.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::time::sleep;

use super::evaluate::ScriptError;
use super::open::OpenPage;
use super::settle::SettleStep;
use super::wire::{LayoutMetrics, Screenshot};
use crate::areas::snapshots::capture::limits::{IMAGE_PIXELS_MAX, SHOT_PAUSE, SHOTS_MAX};
use crate::areas::snapshots::capture::request::{CaptureRequest, PageArea};
use crate::areas::snapshots::capture::sizes::ImageArea;
use crate::platform::vetting_proxy::ProxyCounts;

/// Bytes before the width in a PNG: the signature, and the length and name of the first chunk.
const PNG_BYTES_BEFORE_WIDTH: usize = 16;

/// A captured page.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The image.
    pub png: Vec<u8>,
    /// Its width in device pixels.
    pub width: u32,
    /// Its height in device pixels.
    pub height: u32,
    /// The status of the response that the page is.
    pub http_status: Option<u16>,
    /// The URL of the page at last, after redirects.
    pub url: String,
    /// Whether the page is higher than the image.
    pub is_truncated: bool,
    /// Whether the page changed from one screenshot to the next.
    pub is_unstable: bool,
    /// How long the capture took.
    pub duration: Duration,
    /// What the page sent and received, and what it was refused.
    pub traffic: ProxyCounts,
}

/// An image of a page.
#[derive(Debug)]
pub(super) struct PageImage {
    pub(super) png: Vec<u8>,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) is_truncated: bool,
    pub(super) is_unstable: bool,
}

/// Why there is no image.
#[derive(Debug)]
pub(super) enum ImageError {
    /// It would have too many pixels.
    TooLarge,
    /// A script failed, or Chromium refused.
    Script(ScriptError),
    /// Chromium returned no PNG.
    NotPng,
}

impl<E: Into<ScriptError>> From<E> for ImageError {
    fn from(error: E) -> Self {
        Self::Script(error.into())
    }
}

impl OpenPage {
    /// Takes screenshots until two in a row are equal, and returns the last one.
    pub(super) async fn image(&self, request: &CaptureRequest) -> Result<PageImage, ImageError> {
        let area = self.image_area(request).await?;
        let mut last = self.shot(request, area).await?;
        let mut is_unstable = true;
        for taken in 1..SHOTS_MAX {
            if taken > 1 {
                sleep(SHOT_PAUSE).await;
            }
            let shot = self.shot(request, area).await?;
            is_unstable = shot != last;
            last = shot;
            if !is_unstable {
                break;
            }
        }
        let png = STANDARD.decode(&last).map_err(|_| ImageError::NotPng)?;
        let (width, height) = png_size(&png).ok_or(ImageError::NotPng)?;
        Ok(PageImage { png, width, height, is_truncated: area.is_truncated, is_unstable })
    }

    /// Returns which part of the page is in the image.
    async fn image_area(&self, request: &CaptureRequest) -> Result<ImageArea, ImageError> {
        let viewport = request.viewport();
        let height = match request.page_area() {
            PageArea::Viewport => f64::from(viewport.height()),
            PageArea::FullPage => {
                let metrics: LayoutMetrics = self.call("Page.getLayoutMetrics", json!({})).await?;
                metrics.css_content_size.height
            }
        };
        viewport.area(height).ok_or(ImageError::TooLarge)
    }

    /// Takes a screenshot. Returns a PNG in base64.
    async fn shot(&self, request: &CaptureRequest, area: ImageArea) -> Result<String, ImageError> {
        self.settle_frames(SettleStep::BeforeShot, request).await?;
        let params = match request.page_area() {
            PageArea::Viewport => json!({ "format": "png" }),
            PageArea::FullPage => json!({
                "format": "png",
                "captureBeyondViewport": true,
                "clip": { "x": 0, "y": 0, "width": area.width, "height": area.height, "scale": 1 },
            }),
        };
        let shot: Screenshot = self.call("Page.captureScreenshot", params).await?;
        Ok(shot.data)
    }
}

/// Returns the width and height of a PNG.
fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let header = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let rest = header.get(PNG_BYTES_BEFORE_WIDTH - 8..)?;
    let (width, rest) = rest.split_first_chunk()?;
    let (height, _) = rest.split_first_chunk()?;
    let (width, height) = (u32::from_be_bytes(*width), u32::from_be_bytes(*height));
    let pixels = u64::from(width).saturating_mul(height.into());
    (1..=IMAGE_PIXELS_MAX).contains(&pixels).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_png_is_read_from_its_header() {
        let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x02\xd0\x08\x06";
        assert_eq!(png_size(header), Some((1_280, 720)));
        assert_eq!(png_size(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05"), None);
        assert_eq!(png_size(b"GIF89a"), None);
        for size in [[0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]] {
            let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &size].concat();
            assert_eq!(png_size(&png), None, "no pixels, or too many");
        }
    }
}
