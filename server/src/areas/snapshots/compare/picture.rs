//! Pictures in memory.

use super::error::PictureError;
use super::limits::{PICTURE_PIXELS_MAX, PICTURE_SIDE_MAX};
use super::plane::{Pixel, Plane};

/// Bytes of a pixel: red, green, blue and alpha.
pub(super) const PIXEL_BYTES: usize = 4;

/// A picture of at least one pixel and at most [`PICTURE_PIXELS_MAX`]. Colours are not multiplied
/// by alpha.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Picture {
    /// Returns the picture of `rgba`: four bytes for each pixel, row by row from the top.
    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Result<Self, PictureError> {
        let expected = pixels_of(width, height)? * PIXEL_BYTES as u64;
        if rgba.len() as u64 != expected {
            return Err(PictureError::WrongLength { expected, bytes: rgba.len() });
        }
        Ok(Self { width, height, rgba })
    }

    /// Returns the number of pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns four bytes for each pixel, row by row from the top.
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// Returns the pixels.
    pub(super) fn plane(&self) -> Plane<'_> {
        Plane::new(self.pixels(), self.width as usize, self.height as usize)
    }

    /// Returns the pixels, row by row from the top.
    pub(super) fn pixels(&self) -> &[Pixel] {
        self.rgba.as_chunks().0
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { width, height, .. } = self;
        write!(formatter, "Picture({width} x {height})")
    }
}

/// Returns the number of pixels of a picture, or that its size is beyond the limits.
pub(super) fn pixels_of(width: u32, height: u32) -> Result<u64, PictureError> {
    let sides = 1..=PICTURE_SIDE_MAX;
    if !sides.contains(&width) || !sides.contains(&height) {
        return Err(PictureError::InvalidSide { width, height });
    }
    let pixels = u64::from(width) * u64::from(height);
    if pixels > PICTURE_PIXELS_MAX {
        return Err(PictureError::TooManyPixels { pixels });
    }
    Ok(pixels)
}
