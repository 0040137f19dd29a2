//! Sizes of viewports and images.

use super::limits::{
    DEVICE_SCALE_FACTOR_MAX, IMAGE_HEIGHT_MAX, IMAGE_PIXELS_MAX, VIEWPORT_HEIGHTS, VIEWPORT_WIDTHS,
};
use super::request::CaptureRequestError;

/// The part of a page that a browser window shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    width: u32,
    height: u32,
    device_scale_factor: f64,
}

/// The part of a page that is in its image, in CSS pixels from the upper left corner of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageArea {
    /// The width of the viewport.
    pub(super) width: u32,
    /// The height of the page, or as much of it as an image contains.
    pub(super) height: u32,
    /// Whether the page is higher.
    pub(super) is_truncated: bool,
}

impl Viewport {
    /// Returns a viewport of a size in CSS pixels, with one device pixel for each.
    pub fn new(width: u32, height: u32) -> Result<Self, CaptureRequestError> {
        if !VIEWPORT_WIDTHS.contains(&width) || !VIEWPORT_HEIGHTS.contains(&height) {
            return Err(CaptureRequestError::Viewport);
        }
        Ok(Self { width, height, device_scale_factor: 1.0 })
    }

    /// Returns the viewport with a number of device pixels for each CSS pixel.
    pub fn with_device_scale_factor(mut self, factor: f64) -> Result<Self, CaptureRequestError> {
        if !(1.0..=DEVICE_SCALE_FACTOR_MAX).contains(&factor) {
            return Err(CaptureRequestError::DeviceScaleFactor);
        }
        self.device_scale_factor = factor;
        Ok(self)
    }

    /// Returns the width in CSS pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in CSS pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the number of device pixels for each CSS pixel.
    pub fn device_scale_factor(&self) -> f64 {
        self.device_scale_factor
    }

    /// Returns the area of the image of a page of this height, in CSS pixels. The width is that of
    /// the viewport. `None` if the image has too many pixels.
    pub(super) fn area(&self, page_height: f64) -> Option<ImageArea> {
        let height_max = f64::from(IMAGE_HEIGHT_MAX) / self.device_scale_factor;
        let is_truncated = page_height.ceil() > height_max.floor();
        let height = page_height.ceil().max(f64::from(self.height)).min(height_max.floor());
        let device = |css: f64| (css * self.device_scale_factor).round();
        let pixels = device(f64::from(self.width)) * device(height);
        // The height is at most `IMAGE_HEIGHT_MAX`.
        let area = ImageArea { width: self.width, height: height as u32, is_truncated };
        (pixels <= IMAGE_PIXELS_MAX as f64).then_some(area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewports_and_images_have_limits() {
        assert!(Viewport::new(320, 240).is_ok() && Viewport::new(3_840, 2_160).is_ok());
        for (width, height) in [(319, 240), (3_841, 240), (320, 239), (320, 2_161), (0, 0)] {
            assert_eq!(Viewport::new(width, height), Err(CaptureRequestError::Viewport));
        }
        let small = Viewport::new(800, 600).unwrap();
        for factor in [0.5, 4.5, f64::NAN, f64::INFINITY, -1.0] {
            assert!(small.with_device_scale_factor(factor).is_err(), "{factor}");
        }
        let area = |viewport: Viewport, height| {
            viewport.area(height).map(|area| (area.height, area.is_truncated))
        };
        assert_eq!(area(small, 100.0), Some((600, false)));
        assert_eq!(area(small, 4_999.5), Some((5_000, false)));
        assert_eq!(area(small, 16_384.0), Some((16_384, false)));
        assert_eq!(area(small, 16_384.5), Some((16_384, true)));
        assert_eq!(area(small, f64::INFINITY), Some((16_384, true)));
        let sharp = small.with_device_scale_factor(2.0).unwrap();
        assert_eq!(area(sharp, 20_000.0), Some((8_192, true)));
        let wide = Viewport::new(3_840, 2_160).unwrap();
        assert_eq!(area(wide, 13_000.0), Some((13_000, false)));
        assert_eq!(area(wide, 14_000.0), None);
        assert_eq!(area(wide.with_device_scale_factor(4.0).unwrap(), 0.0), None);
    }
}
